/**
 * GET /internal/refunds: a merchant's refunds in pages, each as it is read by its id, wherever it lies.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { monthOf } from '../../src/domain/archive.ts';
import { timeOfId } from '../../src/domain/ids.ts';
import { dropArchived } from '../../src/usecases/archive-run.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { archive, DAY, growOld } from '../support/archive-scenes.ts';
import { expectRefusal } from '../support/envelope.ts';
import { bearerOf, hooksAbout, neighbourOf } from '../support/flows.ts';
import { fund } from '../support/payout-batches.ts';
import { paidByWallet, paidByWord, readBack, refunded, untilRefund } from '../support/refund-flows.ts';
import { rowsOf } from '../support/rows.ts';
import { type Answer, openWorld, type World } from '../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
});
afterAll(() => world.close());

type Asked = Readonly<Record<string, string>>;

const list = (merchant: MerchantCreated, asked: Asked = {}, headers: Asked = {}): Promise<Answer> =>
  world.call('GET', `/internal/refunds?${new URLSearchParams(asked)}`, { bearer: bearerOf(merchant), headers });

const idsIn = ({ json, text }: Answer): string[] => {
  expect(json.success, text).toBe(true);
  return json.refunds.map(({ refund_id: id }: { readonly refund_id: string }) => id);
};

const idsOf = async (merchant: MerchantCreated, asked: Asked = {}): Promise<string[]> =>
  idsIn(await list(merchant, asked));

/** The ids of every page, until there is no next one. */
async function pagesOf(merchant: MerchantCreated, asked: Asked): Promise<string[][]> {
  const pages: string[][] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Answer = await list(merchant, { ...asked, ...(cursor === '' ? {} : { cursor }) });
    pages.push(idsIn(page));
    cursor = page.json.next_cursor;
  }
  return pages;
}

/** Refunds of one payment from a wallet, a millisecond apart, because an id sorts by its millisecond: the newest first. */
async function refundTimes(merchant: MerchantCreated, count: number): Promise<{ payment: string; made: string[] }> {
  const paid = await paidByWallet(world, merchant);
  const made: string[] = [];
  for (let n = 0; n < count; n += 1) {
    await world.clock.advance(1);
    made.unshift((await refunded(world, merchant, paid, { amount: '0.10' })).refund_id);
  }
  return { payment: paid.transaction_id, made };
}

/** A refund that its carrier has refused for good. */
async function failedRefund(merchant: MerchantCreated): Promise<Answer['json']> {
  const paid = await paidByWord(world, merchant, '02');
  const { refund_id } = await refunded(world, merchant, paid, { amount: '5.00', reason: 'one item was missing' });
  return untilRefund(world, merchant, refund_id, 'failed');
}

describe('the list', () => {
  test('shows each refund as it is read by its id, newest first', async () => {
    const merchant = await world.merchant();
    expect((await list(merchant)).json).toEqual({ success: true, refunds: [], next_cursor: null });
    const { made } = await refundTimes(merchant, 2);
    const failed = await failedRefund(merchant);
    const { json } = await list(merchant);
    const ids = [failed.refund_id, ...made];
    const single = await Promise.all(ids.map((id) => readBack(world, merchant, id)));
    // What is about the call, and not about the refund, is said once for the page.
    expect(json.refunds).toEqual(single.map(({ success: _, summary_code: __, ...shown }) => shown));
    expect(json.refunds[0]).toMatchObject({ status: 'failed', failure: { code: 'payee_unknown' } });
    expect(json.refunds[1]).toMatchObject({ status: 'completed', refunded_amount: '0.20' });
    expect(json.next_cursor).toBeNull();
  });

  test('finds a failed refund, of which no webhook tells', async () => {
    const merchant = await world.merchant();
    await refundTimes(merchant, 1);
    const failed = await failedRefund(merchant);
    await world.gateway.courier.idle();
    expect(await idsOf(merchant, { status: 'failed' })).toEqual([failed.refund_id]);
    const told = hooksAbout(world, failed.transaction_id).map(({ headers }) => headers['webhook-event']);
    expect(told).toEqual(['payment.approved']);
  });

  test('is filtered by status, currency, transaction and time', async () => {
    const merchant = await world.merchant();
    const start = world.clock.now();
    const { payment, made } = await refundTimes(merchant, 1);
    await world.pass(60_000);
    const later = await refundTimes(merchant, 2);
    const at = (milliseconds: number): string => new Date(start + milliseconds).toISOString();
    const all = [...later.made, ...made];
    expect(await idsOf(merchant, { status: 'completed' })).toEqual(all);
    expect(await idsOf(merchant, { status: 'pending' })).toEqual([]);
    expect(await idsOf(merchant, { transaction_id: payment })).toEqual(made);
    expect(await idsOf(merchant, { transaction_id: later.payment })).toEqual(later.made);
    expect(await idsOf(merchant, { transaction_id: later.payment, status: 'failed' })).toEqual([]);
    expect(await idsOf(merchant, { transaction_id: `${payment.slice(0, -6)}000000` })).toEqual([]);
    for (const of of [{}, { transaction_id: payment }]) {
      expect(await idsOf(merchant, { ...of, to: at(59_999) })).toEqual(made);
      expect(await idsOf(merchant, { ...of, to: at(0) })).toEqual([]);
      expect(await idsOf(merchant, { ...of, from: at(1), to: at(1) })).toEqual(made);
      expect(await idsOf(merchant, { ...of, from: at(2), to: at(59_999) })).toEqual([]);
    }
    for (const of of [{}, { transaction_id: payment }]) {
      expect(await idsOf(merchant, { ...of, currency: 'usd' })).toEqual('transaction_id' in of ? made : all);
      expect(await idsOf(merchant, { ...of, currency: 'cdf' })).toEqual([]);
    }
    expectRefusal(await list(merchant, { currency: 'USD' }), 400, '1102', 'INVALID_CURRENCY');
    expect(await idsOf(merchant, { from: at(60_000), status: 'completed' })).toEqual(later.made);
    expect(await idsOf(merchant, { from: at(0).slice(0, 10), to: at(0).slice(0, 10) })).toEqual(all);
  });

  test('is read in pages, while other refunds are made', async () => {
    const merchant = await world.merchant();
    const { payment, made } = await refundTimes(merchant, 5);
    for (const of of [{}, { transaction_id: payment }]) {
      const first = await list(merchant, { ...of, limit: '2' });
      const late = await refunded(world, merchant, { transaction_id: payment }, { amount: '0.10' });
      const rest = await pagesOf(merchant, { ...of, limit: '2', cursor: first.json.next_cursor });
      expect([idsIn(first), ...rest].flat()).toEqual(made);
      made.unshift(late.refund_id);
      await world.clock.advance(1);
    }
    expect(await pagesOf(merchant, { limit: '4' })).toEqual([made.slice(0, 4), made.slice(4)]);
    expect(await pagesOf(merchant, { transaction_id: payment, limit: '7' })).toEqual([made]);
  });

  test('of a rare kind is found without reading all others at once', async () => {
    const merchant = await world.merchant();
    const rare = await failedRefund(merchant);
    await refundTimes(merchant, 1);
    // Newer than both.
    await rowsOf(
      world,
      `insert into refund select made.* from refund r cross join generate_series(1, 4500) n,
         jsonb_populate_record(r, jsonb_build_object('id', 'rfd_02' || lpad(n::text, 24, '0'))) made
       where r.merchant_id = $1 and r.status = 'completed'`,
      [merchant.merchant.id],
    );
    expect(await pagesOf(merchant, { status: 'failed' })).toEqual([[], [], [rare.refund_id]]);
  });

  test('is never another merchant’s', async () => {
    const merchant = await world.merchant();
    const stranger = await neighbourOf(world, merchant);
    const { payment, made } = await refundTimes(stranger, 2);
    expect(await idsOf(merchant)).toEqual([]);
    expect(await idsOf(merchant, { transaction_id: payment })).toEqual([]);
    expect(await idsOf(merchant, { cursor: made[0] ?? '', status: 'completed' })).toEqual([]);
  });

  test('is told in the caller’s language', async () => {
    const merchant = await world.merchant();
    await refundTimes(merchant, 1);
    const { json } = await list(merchant, {}, { 'accept-language': 'fr' });
    expect(json.refunds[0].message).toBe('L’argent a été rendu.');
  });

  test.each([
    ['status', { status: 'done' }, 'NOT_AN_OPTION'],
    ['transaction_id', { transaction_id: '7' }, 'INVALID_FORMAT'],
    ['transaction_id', { transaction_id: 'txn_\0' }, 'INVALID_FORMAT'],
    ['transaction_id', { transaction_id: '' }, 'TOO_SHORT'],
    ['from', { from: '2027-02-30' }, 'INVALID_INSTANT'],
    ['to', { from: '2026-11-02', to: '2026-11-01' }, 'DATES_REVERSED'],
    ['cursor', { cursor: 'txn_x' }, 'INVALID_CURSOR'],
    ['limit', { limit: '101' }, 'OUT_OF_RANGE'],
  ])('refuses %s: %j', async (field, asked, detail) => {
    const refused = await list(await world.merchant(), asked);
    expectRefusal(refused, 400, '1110', detail);
    expect(refused.json.details[0].field).toBe(field);
  });
});

test('live and archived refunds are one list; one whose payment was dropped is left out, as by its id', async () => {
  const merchant = await world.merchant();
  await fund(world, merchant, 100_00n);
  const early = await paidByWallet(world, merchant);
  await world.leap(40 * DAY);
  const orphan = (await refunded(world, merchant, early, { amount: '0.10' })).refund_id;
  const old = await refundTimes(merchant, 2);
  await growOld(world);
  const recent = await refundTimes(merchant, 2);
  const all = [...recent.made, ...old.made, orphan];
  const before = await list(merchant);
  expect(idsIn(before)).toEqual(all);
  await archive(world);
  expect(await rowsOf(world, 'select id from archive.refund where id = any($1)', [[...old.made, orphan]])).toHaveLength(
    3,
  );
  expect((await list(merchant)).text).toBe(before.text);
  expect(await pagesOf(merchant, { limit: '3' })).toEqual([all.slice(0, 3), all.slice(3)]);
  expect(await idsOf(merchant, { transaction_id: old.payment })).toEqual(old.made);

  await dropArchived(world.gateway.deps, monthOf(timeOfId(early.transaction_id)));
  const read = await world.call('GET', `/internal/refunds/${orphan}`, { bearer: bearerOf(merchant) });
  expectRefusal(read, 404, '1204');
  expect(await idsOf(merchant)).toEqual(all.slice(0, -1));
  expect(await idsOf(merchant, { transaction_id: early.transaction_id })).toEqual([]);
});
