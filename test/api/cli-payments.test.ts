/**
 * `mbongo payment` and `payout lines`: an order is found by whatever somebody on the phone knows of it, and a payment shown with
 * everything that happened to it.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Output } from '../../src/commands/output.ts';
import { type PaymentListOptions, paymentList, paymentShow } from '../../src/commands/payment.ts';
import { type PayoutLinesOptions, payoutLines } from '../../src/commands/payout.ts';
import { approveProof } from '../../src/usecases/proof-decide.ts';
import { executeRefund } from '../../src/usecases/refund-decide.ts';
import { archive, DAY, growOld } from '../support/archive-scenes.ts';
import type { Document } from '../support/command-line.ts';
import { openCommandWorld } from '../support/command-world.ts';
import {
  collect,
  collectWith,
  neighbourOf,
  numberEnding,
  payByPhone,
  payFromWallet,
  untilStatus,
} from '../support/flows.ts';
import { fund } from '../support/payout-batches.ts';
import { createPayout, lines, settled } from '../support/payout-flows.ts';
import { minted, type Paid, paidByPhone, paidByWallet, refunded, untilRefund } from '../support/refund-flows.ts';
import { rowsOf } from '../support/rows.ts';
import { pngFile, promise, upload } from '../support/transfer-flows.ts';
import type { Answer } from '../support/world.ts';

const { world, cli, merchant, close } = await openCommandWorld();
afterAll(close);

/** By the clock of the world, which stands still; the command line has the machine's. */
const list = (options: Partial<PaymentListOptions>): Promise<Output> =>
  paymentList({ deps: world.gateway.deps }, { limit: '50', ...options });
const show = async (id: string): Promise<Document> => (await paymentShow({ deps: world.gateway.deps }, id)).document;
const idsOf = ({ document }: Output): unknown[] =>
  (document.payments as Document[]).map(({ transaction_id }) => transaction_id);
const found = async (options: Partial<PaymentListOptions>): Promise<unknown[]> => idsOf(await list(options));

/** The attempts at an order, with every name under which an upstream may know them. */
const triesAt = (order: string) =>
  rowsOf<{ id: string; reference: string; provider_reference: string }>(
    world,
    'select id, reference, provider_reference from attempt where payment_id = $1',
    [order],
  );

/** Ids that were made at the same instant have no order. */
const nextInstant = () => world.clock.advance(1);

describe('mbongo payment list', () => {
  let phone: Paid;
  let wallet: Awaited<ReturnType<typeof paidByWallet>>;

  beforeAll(async () => {
    phone = await paidByPhone(world, merchant, '01');
    await nextInstant();
    wallet = await paidByWallet(world, merchant);
    await nextInstant();
  });

  test('finds a payment by the phone, the wallet, the reference and what the carrier calls it, at any merchant', async () => {
    const other = await neighbourOf(world, merchant);
    const elsewhere = await paidByPhone(world, other, '01');
    const [tried] = await triesAt(phone.transaction_id);
    const one = [phone.transaction_id];
    expect(await found({ phone: phone.msisdn })).toEqual(one);
    expect(await found({ phone: `${phone.msisdn.slice(0, 4)} ${phone.msisdn.slice(4)}` })).toEqual(one);
    expect(await found({ phone: elsewhere.msisdn })).toEqual([elsewhere.transaction_id]);
    expect(await found({ phone: elsewhere.msisdn, merchant: merchant.merchant.id })).toEqual([]);
    expect(await found({ wallet: wallet.wallet })).toEqual([wallet.transaction_id]);
    expect(await found({ wallet: wallet.wallet.replaceAll(/(\d{4})/g, '$1 ') })).toEqual([wallet.transaction_id]);
    expect(await found({ reference: phone.reference })).toEqual(one);
    expect(await found({ upstreamReference: tried?.reference ?? '' })).toEqual(one);
    expect(await found({ upstreamReference: tried?.provider_reference ?? '' })).toEqual(one);
    // On some statements the attempt's own id is the reference.
    expect(await found({ upstreamReference: tried?.id ?? '' })).toEqual(one);
    expect(await found({ upstreamReference: 'nobody knows it' })).toEqual([]);
  });

  test('finds a payment by what the carrier, or an operator, calls its refund', async () => {
    const neighbour = await neighbourOf(world, merchant);
    const paid = await paidByPhone(world, neighbour, '01');
    const back = await refunded(world, neighbour, paid, { amount: '2.50' });
    await untilRefund(world, neighbour, back.refund_id, 'completed');
    const [sent] = await triesAt(back.refund_id);
    const names = [sent?.id, sent?.reference, sent?.provider_reference];
    for (const upstreamReference of names.map(String))
      expect(await found({ upstreamReference })).toEqual([paid.transaction_id]);
    const transfer = await promise(world, neighbour);
    const proof = (await upload(world, transfer, pngFile())).json.proof.id;
    await approveProof(world.gateway.deps, proof, null);
    const { refund_id } = await refunded(world, neighbour, transfer);
    await executeRefund(world.gateway.deps, refund_id, { reference: 'THE BANK 7' }, { by: 'amina', why: null });
    expect(await found({ upstreamReference: 'THE BANK 7' })).toEqual([transfer.transaction_id]);
  });

  test('pages through the newest first, by state, method, currency and time', async () => {
    const mine = { merchant: merchant.merchant.id };
    const open = await collect(world, merchant, { minted });
    const newest = [open.transaction_id, wallet.transaction_id, phone.transaction_id];
    expect(await found(mine)).toEqual(newest);
    const page = await list({ ...mine, limit: '2' });
    expect(page.document.next).toBe(wallet.transaction_id);
    expect(page.lines.at(-1)).toBe(`There may be more: list them with --after ${wallet.transaction_id}`);
    expect(await found({ ...mine, after: wallet.transaction_id })).toEqual([phone.transaction_id]);
    expect(await found({ ...mine, status: 'approved', method: 'wallet' })).toEqual([wallet.transaction_id]);
    expect(await found({ ...mine, status: 'pending' })).toEqual([open.transaction_id]);
    expect(await found({ ...mine, currency: 'cdf' })).toEqual([]);
    const [{ created_at: made } = { created_at: new Date(0) }] = await rowsOf<{ created_at: Date }>(
      world,
      'select created_at from payment where id = $1',
      [wallet.transaction_id],
    );
    expect(await found({ ...mine, from: made.toISOString(), to: new Date(made.getTime() + 1).toISOString() })).toEqual([
      wallet.transaction_id,
    ]);
  });

  test('shows no whole phone number, and says how far back it looked', async () => {
    const { lines, document } = await list({ phone: phone.msisdn });
    expect(JSON.stringify([lines, document])).not.toContain(phone.msisdn.slice(1));
    expect((document.payments as Document[])[0]).toMatchObject({ payer: expect.stringMatching(/^\+243 81 .* 01$/) });
    const from = new Date(world.clock.now() - 30 * DAY).toISOString();
    expect(document.searched_from).toBe(from);
    expect(lines.at(-1)).toBe(`Searched from ${from} on: --from searches further back.`);
    const ofOne = await list({ phone: phone.msisdn, merchant: merchant.merchant.id });
    expect(ofOne.document.searched_from).toBeNull();
    expect(ofOne.lines.at(-1)).toContain(phone.transaction_id);
  });

  test('says what is wrong with an option', async () => {
    const said = async (words: string): Promise<[number, string]> => {
      const { status, err } = await cli.run(`payment list ${words}`);
      return [status, err];
    };
    expect(await said('--phone 0810000042')).toEqual([2, expect.stringContaining('international form')]);
    expect(await said('--wallet 1234')).toEqual([2, expect.stringContaining('begins with 5707')]);
    expect(await said('--status paid')).toEqual([2, expect.stringContaining('use one of pending, processing')]);
    expect(await said('--method cash')).toEqual([2, expect.stringContaining('is not a payment method')]);
    expect(await said('--after rfd_1')).toEqual([2, expect.stringContaining('transaction id is not valid')]);
    expect(await said('--from 2999-01-01')).toEqual([2, expect.stringContaining('--from must be before')]);
    expect(await said('--merchant mch_00000000000000000000000000')).toEqual([
      1,
      expect.stringContaining('no merchant'),
    ]);
  });
});

describe('mbongo payout lines', () => {
  test('finds what a phone was paid, in whichever batch and by what the carrier calls it', async () => {
    await fund(world, merchant, 1_000_00n);
    const phone = numberEnding('50');
    const sent = await createPayout(world, merchant, {
      customer_reference: 'salaries-11',
      beneficiaries: [...lines(2), { phone_number: phone, amount: '7.00' }],
    });
    const { json } = await settledBatch(sent);
    const { document, lines: said } = await linesOf({ phone });
    const [line] = document.lines as { [name: string]: unknown }[];
    expect(line).toMatchObject({
      transaction_id: json.beneficiaries[2].transaction_id,
      status: 'completed',
      receiver: expect.stringMatching(/^\+243 81 .* 50$/),
      amount: '7.00',
      customer_reference: 'salaries-11',
      batch_id: json.batch_id,
      occurrence: 1,
    });
    expect(document.lines).toHaveLength(1);
    expect(JSON.stringify([document, said])).not.toContain(phone.slice(1));
    expect(said.at(-1)).toMatch(/^Searched from .* on: --from searches further back\.$/);
    const ids = async (options: Partial<PayoutLinesOptions>) =>
      ((await linesOf(options)).document.lines as { transaction_id: unknown }[]).map((one) => one.transaction_id);
    for (const named of [line?.provider_reference, line?.attempt_id])
      expect(await ids({ upstreamReference: String(named) })).toEqual([line?.transaction_id]);
    expect(await ids({ phone, status: 'failed' })).toEqual([]);
    expect(await ids({ reference: 'salaries-11', merchant: merchant.merchant.id, limit: '2' })).toHaveLength(2);
    const shown = await cli.run(`payment show ${String(line?.attempt_id)}`);
    expect([shown.status, shown.err]).toEqual([1, expect.stringContaining('payout lines --upstream-reference')]);
    expect((await cli.run('payout lines --status paid')).err).toContain('use one of pending, processing');
  });

  const linesOf = (options: Partial<PayoutLinesOptions>): Promise<Output> =>
    payoutLines({ deps: world.gateway.deps }, { limit: '50', ...options });

  async function settledBatch(sent: Answer): Promise<Answer> {
    expect(sent.status, sent.text).toBe(200);
    await settled(world, merchant, sent.json.batch_id);
    return sent;
  }
});

describe('mbongo payment show', () => {
  test('shows what happened to a payment, whatever names it', async () => {
    const paid = await paidByPhone(world, merchant, '01');
    const back = await refunded(world, merchant, paid, { amount: '2.50' });
    await untilRefund(world, merchant, back.refund_id, 'completed');
    const shown = await show(paid.transaction_id);
    expect(shown).toMatchObject({
      transaction_id: paid.transaction_id,
      status: 'approved',
      merchant_name: merchant.merchant.name,
      customer_reference: paid.reference,
      pays: '12.50',
      currency: 'usd',
      refunded: '2.50',
      timeline: [
        { status: 'pending' },
        { status: 'processing' },
        ...((shown.timeline as Document[]).length > 3 ? [{ status: 'pending_mobile_money_verification' }] : []),
        { status: 'approved' },
      ],
      attempts: [{ connector: 'mtn-momo', status: 'approved', amount: '12.50', late_money: null }],
      transfers: [{ cause: 'payment', amount: '12.50' }, { cause: 'refund_reserved' }, { cause: 'refund' }],
      refunds: [{ refund_id: back.refund_id, status: 'completed', amount: '2.50' }],
      other_payments_of_the_session: [],
    });
    expect((shown.events as Document[])[0]).toMatchObject({ type: 'payment.approved', status: 'delivered', tries: 1 });
    expect(await show(paid.payment_id)).toEqual(shown);
    const [attempt] = shown.attempts as { attempt_id: string }[];
    expect(await show(attempt?.attempt_id ?? '')).toEqual(shown);
    const { out, status } = await cli.run(`payment show ${paid.transaction_id}`);
    expect(status).toBe(0);
    expect(out).toContain('\nattempts:\n');
    expect(out).not.toContain(paid.msisdn.slice(1));
  });

  test('shows the session’s other payments, and a payment that nobody has paid', async () => {
    const left = await collect(world, merchant, { minted });
    await nextInstant();
    const paying = { ...left, ...(await collectWith(world, left.token, 'mobile_money')) };
    expect(await show(left.transaction_id)).toMatchObject({
      status: 'pending',
      payer: null,
      attempts: [],
      transfers: [],
      events: [],
      other_payments_of_the_session: [{ transaction_id: paying.transaction_id, status: 'pending' }],
    });
    await payByPhone(world, paying, numberEnding('02'));
    await untilStatus(world, paying, 'failed');
    expect(await show(paying.transaction_id)).toMatchObject({
      why: 'insufficient_funds',
      attempts: [{ status: 'declined', why: 'insufficient_funds' }],
      transfers: [],
      other_payments_of_the_session: [{ transaction_id: left.transaction_id, status: 'cancelled' }],
    });
  });

  test('shows an archived payment as it was', async () => {
    const paid = await paidByWallet(world, merchant);
    const back = await refunded(world, merchant, paid, { amount: '1.00' });
    await untilRefund(world, merchant, back.refund_id, 'completed');
    // Its customer was sent a code, and never gave it.
    const coded = await collect(world, merchant, { minted: { ...minted, amount: '150.00' } });
    const asked = await payFromWallet(world, coded, await world.wallet({ balance: 200_00n }));
    expect(asked.json.status, asked.text).toBe('pending_otp_verification');
    await world.leap(2 * DAY);
    await world.gateway.courier.idle();
    const before = await show(paid.transaction_id);
    const codedBefore = await show(coded.transaction_id);
    expect(codedBefore).toMatchObject({ status: 'expired', one_time_code: { resends: 0 } });
    await growOld(world);
    await archive(world);
    expect(await rowsOf(world, 'select id from payment where id = $1', [paid.transaction_id])).toEqual([]);
    expect(await show(paid.transaction_id)).toEqual(before);
    expect(await show(coded.transaction_id)).toEqual(codedBefore);
    expect(await found({ wallet: paid.wallet, merchant: merchant.merchant.id })).toEqual([paid.transaction_id]);
    expect(await found({ wallet: paid.wallet })).toEqual([]);
    expect(await found({ wallet: paid.wallet, from: '2020-01-01' })).toEqual([paid.transaction_id]);
  });

  test('says what is wrong with an id', async () => {
    const said = async (id: string): Promise<[number, string]> => {
      const { status, err } = await cli.run(`payment show ${id}`);
      return [status, err];
    };
    expect(await said('order-1')).toEqual([2, expect.stringContaining('no id of a payment')]);
    expect(await said('txn_00000000000000000000000000')).toEqual([1, expect.stringContaining('there is no payment')]);
    expect(await said('att_00000000000000000000000000')).toEqual([1, expect.stringContaining('there is no attempt')]);
  });
});
