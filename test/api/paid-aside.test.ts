/**
 * Money that came too late to count: the same order is not paid a second time, by any method, until it has been given back.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Reply } from '../../src/connectors/testing/scripted-upstream.ts';
import { bookLateMoney } from '../../src/usecases/attempt-book.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { listProofs, readProof } from '../../src/usecases/proof-read.ts';
import { expectRefusal } from '../support/envelope.ts';
import {
  codeOn,
  collect,
  collectWith,
  detailOf,
  mobileStatusOf,
  numberEnding,
  type Paying,
  payByPhone,
  payFromWallet,
  statusOf,
} from '../support/flows.ts';
import { givenBack } from '../support/late-verdict.ts';
import { rowsOf } from '../support/rows.ts';
import { addAccount, payByTransfer, pdfFile, upload } from '../support/transfer-flows.ts';
import { TURNED_AWAY } from '../support/wavering-carrier.ts';
import { openWaveringDesk, type WaveringDesk } from '../support/wavering-desk.ts';
import { collectBody, mint } from '../support/world.ts';

let desk: WaveringDesk;
let merchant: MerchantCreated;
beforeAll(async () => {
  desk = await openWaveringDesk();
  merchant = await desk.world.merchant();
});
afterAll(() => desk.close());

/** A payment whose first attempt was turned away, and pays while the second one calls; that one is answered with `reply`. */
async function firstPaysLate(reply: Reply) {
  const { world, carrier } = desk;
  const paying = await collect(world, merchant);
  const msisdn = numberEnding('42');
  carrier.answer(TURNED_AWAY);
  expectRefusal(await payByPhone(world, paying, msisdn), 502, '1404');
  const first = await desk.attemptOf(paying.transaction_id, 0);
  carrier.answer(async () => {
    await desk.hearOf(first, 'SUCCESSFUL');
    return reply;
  });
  return { paying, msisdn, first };
}

/** A pending payment whose first attempt, turned away, has paid while the second was calling: that money is in suspense. */
async function paidAside(): Promise<Paying> {
  const { world } = desk;
  const { paying, msisdn, first } = await firstPaysLate(TURNED_AWAY);
  expectRefusal(await payByPhone(world, paying, msisdn), 502, '1404');
  expect(await statusOf(world, paying)).toBe('pending');
  expect(await rowsOf(world, 'select reason from attempt where id = $1', [first.id])).toEqual([
    { reason: 'late_success' },
  ]);
  expectRefusal(await payByPhone(world, paying, msisdn), 400, '1110', 'PAID_BEFORE');
  return paying;
}

test('what a phone has paid aside is not taken again from a wallet, for another payment of the session, or by a token', async () => {
  const { world } = desk;
  const paying = await paidAside();
  const wallet = await world.wallet();
  expectRefusal(await payFromWallet(world, paying, wallet), 400, '1110', 'PAID_BEFORE');
  const second = { ...paying, ...(await collectWith(world, paying.token)) };
  expectRefusal(await payFromWallet(world, second, wallet), 400, '1110', 'PAID_BEFORE');
  const native = { native_pay_token: 'tok_approved', native_pay_token_type: 'PAYMENT_GATEWAY' };
  const body = collectBody(world, 'google_pay', native);
  const byToken = await world.call('POST', '/payments/collect', { bearer: paying.token, body });
  expectRefusal(byToken, 400, '1110', 'PAID_BEFORE');
});

test('who reads the payment is told not to pay again, until it has been given back', async () => {
  const { world } = desk;
  const paying = await paidAside();
  const read = () => detailOf(world, paying);
  const { message, ...rest } = await read();
  expect(rest).toMatchObject({ status: 'pending', late_payments: [{ amount: '12.50', booked_to: null }] });
  expect(message).toContain('Do not pay again');
  expect((await mobileStatusOf(world, paying)).message).toBe(message);
  const second = { ...paying, ...(await collectWith(world, paying.token)) };
  const { transaction_id } = paying;
  expect(await detailOf(world, second)).toMatchObject({
    message,
    late_payments: [{ transaction_id, booked_to: null }],
  });
  expect((await mobileStatusOf(world, second)).message).toBe(message);
  const first = await desk.attemptOf(paying.transaction_id, 0);
  await bookLateMoney(world.gateway.deps, first.id, givenBack(first.id));
  expect(await read()).toMatchObject({ message: 'The payment has been started. Choose how to pay and confirm.' });
});

test('nobody is asked for the PIN of a second prompt once the first has paid', async () => {
  const { world } = desk;
  const { paying, msisdn } = await firstPaysLate({ status: 202, body: '' });
  const submitted = await payByPhone(world, paying, msisdn);
  expect(submitted.json.status, submitted.text).toBe('pending_mobile_money_verification');
  const { message } = await detailOf(world, paying);
  expect(message).toContain('Do not pay again');
  expect((await mobileStatusOf(world, paying)).message).toBe(message);
});

test('an order can be paid once what was paid aside has been given back', async () => {
  const { world } = desk;
  const paying = await paidAside();
  const first = await desk.attemptOf(paying.transaction_id, 0);
  await bookLateMoney(world.gateway.deps, first.id, givenBack(first.id));
  const paid = await payFromWallet(world, paying, await world.wallet());
  expect(paid.json.status, paid.text).toBe('approved');
});

test('a code that another session of the merchant sends does not pay what has been paid aside', async () => {
  const { world, carrier } = desk;
  const first = await collect(world, merchant, { minted: { amount: '600.00' } });
  carrier.answer(TURNED_AWAY);
  expectRefusal(await payByPhone(world, first, numberEnding('42')), 502, '1404');
  const wallet = await world.wallet({ balance: 1_000_00n });
  const second = { ...first, ...(await collectWith(world, first.token)) };
  const asked = await payFromWallet(world, second, wallet);
  expect(asked.json.status, asked.text).toBe('pending_otp_verification');
  await desk.hearOf(await desk.attemptOf(first.transaction_id, 0), 'SUCCESSFUL');
  const body = { payment_id: second.payment_id, otp_code: await codeOn(world, wallet.phone) };
  const { token: bearer } = await mint(world, merchant);
  const again = await world.call('POST', '/payments/resend-otp', { bearer, body: { payment_id: second.payment_id } });
  expectRefusal(again, 400, '1110', 'PAID_BEFORE');
  const said = await world.call('POST', '/payments/verify-otp', { bearer, body });
  expectRefusal(said, 400, '1110', 'PAID_BEFORE');
});

test('a refused call is not remembered under its key: once the money has been given back, the same call pays', async () => {
  const { world } = desk;
  const [byWallet, byPhone] = [await paidAside(), await paidAside()];
  const wallet = await world.wallet();
  const headers = { 'idempotency-key': 'until-given-back' };
  const submits = [
    () => payFromWallet(world, byWallet, wallet, headers),
    () => payByPhone(world, byPhone, numberEnding('42'), headers),
  ];
  for (const submit of submits) expectRefusal(await submit(), 400, '1110', 'PAID_BEFORE');
  for (const { transaction_id } of [byWallet, byPhone]) {
    const first = await desk.attemptOf(transaction_id, 0);
    await bookLateMoney(world.gateway.deps, first.id, givenBack(first.id));
  }
  desk.carrier.answer({ status: 202, body: '' });
  const answers = await Promise.all(submits.map((submit) => submit()));
  expect(answers.map(({ status, json }) => [status, json.status])).toEqual([
    [200, 'approved'],
    [200, 'pending_mobile_money_verification'],
  ]);
});

test.each<[string, (paying: Paying) => Promise<Paying>]>([
  ['itself', async (paying) => paying],
  [
    'another payment of its session',
    async (paying) => ({ ...paying, ...(await collectWith(desk.world, paying.token)) }),
  ],
])(
  'the operator who decides on the proof of a transfer sees that the order has been paid aside by %s',
  async (_, paidBy) => {
    const { world, carrier } = desk;
    const account = await addAccount(world, merchant);
    const paying = await collect(world, merchant);
    const other = await paidBy(paying);
    carrier.answer(TURNED_AWAY);
    expectRefusal(await payByPhone(world, other, numberEnding('42')), 502, '1404');
    await payByTransfer(world, paying, account.id);
    const { id } = (await upload(world, paying, pdfFile())).json.proof;
    const { deps } = world.gateway;
    expect(await readProof(deps, id)).toMatchObject({ paidAsideBy: null });
    const first = await desk.attemptOf(other.transaction_id, 0);
    await desk.hearOf(first, 'SUCCESSFUL');
    expect(await readProof(deps, id)).toMatchObject({ paidAsideBy: first.id });
    const listed = await listProofs(deps, { merchantId: merchant.merchant.id, limit: 10 });
    expect(listed.at(-1)).toMatchObject({ proof: { id }, paidAsideBy: first.id });
  },
);
