/**
 * A submit's refusal that concerns a payment it found names that payment (contract §2), remembered or not.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { merchantSet } from '../../src/commands/merchant.ts';
import { methodId } from '../../src/domain/method.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { collectByCard } from '../support/card-payments.ts';
import { expectRefusal } from '../support/envelope.ts';
import { collect, type Fields, freshKey, type Paying, payByPhone, payFromWallet } from '../support/flows.ts';
import { addAccount, payByTransfer } from '../support/transfer-flows.ts';
import { type Answer, collectBody, openWorld, type World } from '../support/world.ts';

let world: World;
let merchant: MerchantCreated;

beforeAll(async () => {
  world = await openWorld();
  merchant = await world.merchant();
});
afterAll(() => world.close());

function submit(paying: Paying, body: Fields, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  return world.call('POST', '/payments/submit', {
    bearer: paying.token,
    body: { payment_id: paying.payment_id, ...body },
    headers,
  });
}

/** Expects a refusal about that payment. */
function expectAbout(paying: Paying, answer: Answer, status: number, code: string, detail: string): void {
  expectRefusal(answer, status, code, detail);
  expect(answer.json.transaction_id, answer.text).toBe(paying.transaction_id);
}

test('a method that does not pay it', async () => {
  await addAccount(world, merchant);
  const paying = await collect(world, merchant, { method: 'flash' });
  expectAbout(paying, await submit(paying, { payment_method_id: 'cheque' }), 400, '1103', 'UNKNOWN_PAYMENT_METHOD');
  const byWallet = await payFromWallet(world, paying, await world.wallet());
  expectAbout(paying, byWallet, 400, '1103', 'METHOD_MISMATCH');
  const open = await collect(world, merchant);
  const byToken = await submit(open, { payment_method_id: methodId(merchant.merchant.id, 'google_pay') });
  expectAbout(open, byToken, 400, '1103', 'METHOD_NOT_AVAILABLE');
  expectAbout(open, await payByTransfer(world, open, 'bka_x'), 400, '1110', 'UNKNOWN_BANK_ACCOUNT');
});

test('a phone, a wallet or a form that cannot pay it', async () => {
  const kes = await collect(world, merchant, { minted: { amount: '500.00', currency: 'kes' } });
  expectAbout(kes, await payByPhone(world, kes, '+243810000042'), 400, '1103', 'CARRIER_CURRENCY');
  expectAbout(kes, await payByPhone(world, kes, '+33612345678'), 400, '1103', 'NO_CARRIER');
  expectAbout(kes, await payFromWallet(world, kes, await world.wallet()), 400, '1102', 'WALLET_CURRENCY');
  const card = await collectByCard(world, merchant);
  const otherForm = await submit(card, {
    payment_method_id: 'card',
    cardnet_payment_method: 'HOSTED_SESSION',
    session_id: 'SESSION0000000000000000000001',
  });
  expectAbout(card, otherForm, 400, '1110', 'OTHER_CARD_FORM');
});

test('an amount outside its method’s limits; asked again under the key, the same bytes', async () => {
  const limited = await world.merchant();
  await merchantSet(
    { deps: world.gateway.deps },
    { merchant: limited.merchant.id, methodLimit: 'wallet:usd:-10,mobile_money:usd:-10' },
  );
  const paying = await collect(world, limited);
  const [headers, wallet] = [freshKey(), await world.wallet()];
  const refused = await payFromWallet(world, paying, wallet, headers);
  expectAbout(paying, refused, 402, '1202', 'AMOUNT_ABOVE_MAXIMUM');
  const again = await payFromWallet(world, paying, wallet, headers);
  expect(again.text).toBe(refused.text);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expectAbout(paying, await payByPhone(world, paying, '+243810000001'), 402, '1202', 'AMOUNT_ABOVE_MAXIMUM');
});

test('an unknown payment is not named; of a session that has paid, the payment that it paid is', async () => {
  const [paying, wallet] = [await collect(world, merchant), await world.wallet()];
  const unknown = await payFromWallet(world, { ...paying, payment_id: `${paying.payment_id}x` }, wallet);
  expectRefusal(unknown, 404, '1204');
  expect(unknown.json.transaction_id).toBeNull();
  expect((await payFromWallet(world, paying, wallet)).json).toMatchObject({ status: 'approved' });
  const consumed = await payFromWallet(world, paying, wallet);
  expectAbout(paying, consumed, 401, '1001', 'SESSION_CONSUMED');
  const anew = await world.call('POST', '/payments/collect', {
    bearer: paying.token,
    body: collectBody(world, 'wallet'),
  });
  expectAbout(paying, anew, 401, '1001', 'SESSION_CONSUMED');
});

test('a body with a fault of form, on every call that names a payment', async () => {
  const paying = await collect(world, merchant);
  const pin = { payment_method_id: 'wallet', ewallet_number: (await world.wallet()).number, ewallet_pin: '12' };
  expectAbout(paying, await submit(paying, pin), 400, '1110', 'MALFORMED_PIN');
  expectAbout(paying, await submit(paying, {}), 400, '1109', 'REQUIRED');
  const post = (path: string, body: Fields, bearer = paying.token) => world.call('POST', path, { bearer, body });
  const { payment_id } = paying;
  expectAbout(paying, await post('/payments/verify-otp', { payment_id, otp_code: '12' }), 400, '1110', 'MALFORMED_OTP');
  // Nothing is said of another merchant's payment, of none, or by another merchant's session.
  const stranger = await collect(world, await world.merchant());
  for (const [body, bearer] of [
    [{ payment_id: stranger.payment_id }, paying.token],
    [{ payment_id }, stranger.token],
    [{ payment_id: 'pay_0123456789' }, paying.token],
    [{ payment_id: 7 }, paying.token],
  ] as const) {
    const refused = await post('/payments/submit', body, bearer);
    expect([refused.status, refused.json.transaction_id], refused.text).toEqual([400, null]);
  }
});
