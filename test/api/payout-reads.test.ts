/** Reads of payouts: a line, a batch with its occurrences, and the list of batches. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { creditBalance } from '../../src/usecases/balance-credit.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { expectRefusal, withoutIds } from '../support/envelope.ts';
import { bearerOf, neighbourOf, numberEnding } from '../support/flows.ts';
import { createPayout, faultsOf, lines, readBatch, settled } from '../support/payout-flows.ts';
import { openPayer } from '../support/payout-lines.ts';
import { rowsOf } from '../support/rows.ts';
import { untilLater } from '../support/waiting.ts';
import { type Answer, mint, openWorld, type World } from '../support/world.ts';

let world: World;
let merchant: MerchantCreated;
let token: string;

beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
  merchant = await openPayer(world);
  ({ token } = await mint(world, merchant, { ttl_seconds: 86_400 }));
});
afterAll(() => world.close());

const read = (path: string, bearer = token) => world.call('GET', path, { bearer });
const list = (query: string, of = merchant) => read(`/internal/payouts${query}`, bearerOf(of));

const paid = (n: number): { phone_number: string; amount: string } => ({
  phone_number: lines(n).at(-1)?.phone_number ?? '',
  amount: '1.00',
});
/** One that is paid, and one whose number has no account. */
const mixed = [paid(40), { phone_number: numberEnding('02'), amount: '2.00' }];

describe('a line', () => {
  test('has a status like a payment, from pending to its end', async () => {
    const { json } = await createPayout(world, merchant, { beneficiaries: mixed, note: 'thanks' });
    const [good, bad] = json.beneficiaries;
    const early = await read(`/payments/status/${good.transaction_id}`);
    expect(early.status, early.text).toBe(200);
    expect(['pending', 'processing']).toContain(early.json.status);
    expect(early.json).not.toHaveProperty('completed_at');
    await settled(world, merchant, json.batch_id);
    const late = await read(`/payments/status/${good.transaction_id}`);
    expect(late.json).toEqual({
      transaction_id: good.transaction_id,
      status: 'completed',
      amount: '1.00',
      currency: 'usd',
      created_at: json.created_at,
      completed_at: expect.stringMatching(/Z$/),
    });
    expect((await read(`/payments/status/${bad.transaction_id}`)).json.status).toBe('failed');
  });

  test('is read in full, its phone masked', async () => {
    const { json } = await createPayout(world, merchant, { beneficiaries: mixed });
    const [good, bad] = json.beneficiaries;
    await settled(world, merchant, json.batch_id);
    const done = (await read(`/payments/transaction/${good.transaction_id}`)).json;
    expect(done).toMatchObject({
      success: true,
      batch_id: json.batch_id,
      status: 'completed',
      receipt_mode: 'mobile_money',
      carrier: 'Vodacom M-Pesa',
      occurrence: 1,
      scheduled_date: null,
      reason: null,
      total_amount: '1.00',
      message: 'The payout has arrived.',
    });
    expect(done.phone_number).toContain('•');
    expect(done.provider_reference).toMatch(/\S/);
    expect(done.timeline).toEqual([
      { status: 'pending', at: done.created_at, reason: null },
      { status: 'processing', at: done.started_at, reason: null },
      { status: 'completed', at: done.completed_at, reason: null },
    ]);
    const failed = (await read(`/payments/transaction/${bad.transaction_id}`)).json;
    expect(failed).toMatchObject({ status: 'failed', reason: 'payee_unknown' });
    expect(failed.message).toMatch(/no mobile money account/);
    expect(failed.timeline.at(-1)).toEqual({ status: 'failed', at: failed.completed_at, reason: 'payee_unknown' });
  });

  test('of another merchant is 1204, in the same bytes as an unknown one', async () => {
    const { json } = await createPayout(world, merchant);
    const [{ transaction_id: id }] = json.beneficiaries;
    const stranger = await neighbourOf(world, merchant);
    const theirs = await mint(world, stranger);
    for (const path of ['/payments/status/', '/payments/transaction/']) {
      const answers = [await read(path + id, theirs.token), await read(`${path}txn_${'0'.repeat(26)}`, theirs.token)];
      for (const answer of answers) expectRefusal(answer, 404, '1204');
      expect(withoutIds(answers[0] as Answer)).toEqual(withoutIds(answers[1] as Answer));
    }
    expectRefusal(await readBatch(world, stranger, json.batch_id), 404, '1204');
    // A payout is not read by the mobile-money or card reads.
    expectRefusal(await read(`/payments/cardnet/status/${id}`), 404, '1204');
  });
});

describe('a batch', () => {
  test('adds up, whatever became of its lines', async () => {
    const { json } = await createPayout(world, merchant, { beneficiaries: mixed, note: 'thanks' });
    await settled(world, merchant, json.batch_id);
    const { json: batch } = await readBatch(world, merchant, json.batch_id);
    expect(batch).toMatchObject({
      success: true,
      batch_id: json.batch_id,
      total_amount: '3.00',
      successful_count: 1,
      failed_count: 1,
      pending_count: 0,
      status: 'partial_success',
      note: 'thanks',
      dates: null,
      occurrence: 1,
      runs: [expect.objectContaining({ occurrence: 1, status: 'partial_success', failed_count: 1 })],
    });
    expect(batch.beneficiaries).toMatchObject([
      { status: 'completed', reason: null },
      { status: 'failed', reason: 'payee_unknown' },
    ]);
    expect(batch.beneficiaries[1]).toMatchObject({ phone_number: mixed[1]?.phone_number });
    expect(batch.completed_at).toMatch(/Z$/);
  });

  test('of several occurrences shows the state of each, and the lines of one', async () => {
    const { json } = await createPayout(world, merchant, {
      sending_type: 'recurring',
      recurring_frequency: 'daily',
      recurring_start_date: '2026-11-20',
      recurring_occurrences: 2,
      beneficiaries: lines(2),
    });
    // The hour of today's run has passed: it is made at once.
    const first = await untilLater(world, async () => {
      const { json: batch } = await readBatch(world, merchant, `${json.batch_id}?occurrence=1`);
      return batch.successful_count === 2 ? batch : undefined;
    });
    expect(first).toMatchObject({ status: 'processing', successful_count: 2, next_run_at: '2026-11-21T06:00:00.000Z' });
    const [ended] = first.runs;
    expect([ended.status, first.completed_at]).toEqual(['completed', null]);
    expect((await readBatch(world, merchant, `${json.batch_id}?occurrence=2`)).json.beneficiaries).toEqual([]);
    await world.pass(24 * 60 * 60_000);
    const both = await settled(world, merchant, json.batch_id);
    expect(both).toMatchObject({ status: 'completed', successful_count: 4, next_run_at: null });
    expect(both.runs[0]).toEqual(ended);
    expect(both.completed_at).toBe(both.runs[1].completed_at);
    expect(both.completed_at > ended.completed_at).toBe(true);
    expect(both.runs.map((run: { scheduled_date: string }) => run.scheduled_date)).toEqual([
      '2026-11-20',
      '2026-11-21',
    ]);
    const second = (await readBatch(world, merchant, `${json.batch_id}?occurrence=2`)).json;
    const ids = [...both.beneficiaries, ...second.beneficiaries].map((line) => line.transaction_id);
    expect(new Set(ids).size).toBe(4);
    for (const bad of ['3', '0', 'x', '9999']) {
      expectRefusal(await readBatch(world, merchant, `${json.batch_id}?occurrence=${bad}`), 400, '1110');
    }
  });

  test('that does not exist is 1204', async () => {
    for (const id of [`batch_${'0'.repeat(26)}`, 'batch_x', 'txn_0', '%00']) {
      expectRefusal(await readBatch(world, merchant, id), 404, '1204');
    }
  });
});

describe('the list of batches', () => {
  interface Listed {
    readonly batch_id: string;
    readonly status: string;
  }

  /** Every page, one after the other. */
  async function pages(query: string, of: MerchantCreated, between?: () => Promise<unknown>): Promise<Listed[][]> {
    const found: Listed[][] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { json, text, status } = await list(`?${query}${cursor === '' ? '' : `&cursor=${cursor}`}`, of);
      expect(status, text).toBe(200);
      found.push(json.payouts);
      cursor = json.next_cursor;
      await between?.();
    }
    return found;
  }

  test('is newest first, page by page, whatever is made meanwhile', async () => {
    const payer = await openPayer(world);
    const made: string[] = [];
    // Ids begin with the time, to the millisecond.
    const later = async () => {
      await world.pass(1);
      return (await createPayout(world, payer)).json.batch_id;
    };
    for (let n = 0; n < 5; n += 1) made.unshift(await later());
    const found = await pages('limit=2', payer, later);
    expect(found.map((page) => page.length)).toEqual([2, 2, 1]);
    expect(found.flat().map(({ batch_id }) => batch_id)).toEqual(made);
    const all = await list('', payer);
    expect(all.json.payouts).toHaveLength(8);
    expect(all.json.next_cursor).toBeNull();
  });

  test('is filtered by reference, time and status', async () => {
    const payer = await openPayer(world);
    const first = await createPayout(world, payer, { customer_reference: 'a', beneficiaries: mixed });
    await settled(world, payer, first.json.batch_id);
    await world.pass(24 * 60 * 60_000);
    const second = await createPayout(world, payer, { customer_reference: 'b' });
    await settled(world, payer, second.json.batch_id);
    const waiting = await createPayout(world, payer, {
      customer_reference: 'b',
      sending_type: 'scheduled',
      scheduled_dates: ['2029-01-01'],
    });
    const ids = async (query: string) => (await pages(query, payer)).flat().map(({ batch_id }) => batch_id);
    const [one, two, three] = [first, second, waiting].map(({ json }) => json.batch_id);
    expect(await ids('customer_reference=b')).toEqual([three, two]);
    expect(await ids('customer_reference=c')).toEqual([]);
    expect(await ids('reference=b')).toEqual([three, two]);
    expect(await ids('reference=b&method=wallet')).toEqual([]);
    expect(await ids('status=partial_success')).toEqual([one]);
    expect(await ids('status=completed&limit=1')).toEqual([two]);
    expect(await ids('status=pending')).toEqual([three]);
    const [day, next] = [first, second].map(({ json }) => json.created_at.slice(0, 10));
    expect(await ids(`to=${day}`)).toEqual([one]);
    expect(await ids(`to=${next}&limit=1`)).toEqual([three, two, one]);
    expect(await ids(`from=${next}`)).toEqual([three, two]);
    expect(await ids(`from=${day}&to=${next}&customer_reference=a`)).toEqual([one]);
    expect(await ids(`from=${encodeURIComponent(waiting.json.created_at)}&status=completed`)).toEqual([]);
    // In that zone the day began before 1970 did.
    const earliest = encodeURIComponent('1970-01-01T00:00:00+05:00');
    expect(await ids(`from=${earliest}`)).toEqual([three, two, one]);
    expect(await ids(`to=${earliest}`)).toEqual([]);
  });

  test('is filtered by the mode, over pages that may be short', async () => {
    const payer = await openPayer(world);
    const phone = await createPayout(world, payer);
    await world.pass(1);
    const wallet = await createPayout(world, payer, {
      receipt_mode: 'wallet',
      beneficiaries: [{ wallet_number: '5707000000000000', amount: '1.00' }],
    });
    const ids = async (query: string) => (await pages(query, payer)).flat().map(({ batch_id }) => batch_id);
    expect(await ids('receipt_mode=mobile_money&limit=1')).toEqual([phone.json.batch_id]);
    expect(await ids('receipt_mode=wallet')).toEqual([wallet.json.batch_id]);
    expect(await ids('method=wallet')).toEqual([wallet.json.batch_id]);
    for (const wrong of ['receipt_mode=cash', 'method=cash', 'method=wallet&receipt_mode=mobile_money']) {
      expectRefusal(await list(`?${wrong}`, payer), 400, '1103');
    }
  });

  test('is filtered by the currency', async () => {
    const payer = await openPayer(world);
    await creditBalance(world.gateway.deps, payer.merchant.id, 'cdf', 100_000_00n);
    const dollars = await createPayout(world, payer);
    await world.pass(1);
    const francs = await createPayout(world, payer, { currency: 'cdf' });
    expect(francs.status, francs.text).toBeLessThan(300);
    const ids = async (query: string) => (await pages(query, payer)).flat().map(({ batch_id }) => batch_id);
    expect(await ids('currency=usd&limit=1')).toEqual([dollars.json.batch_id]);
    expect(await ids('currency=cdf')).toEqual([francs.json.batch_id]);
    expect(await ids('currency=cdf&receipt_mode=wallet')).toEqual([]);
    expectRefusal(await list('?currency=USD', payer), 400, '1102', 'INVALID_CURRENCY');
  });

  /** As many copies of a batch as wished, newer than it, without lines. */
  const copyBatch = (id: string, count: number, changed: object): Promise<unknown> =>
    rowsOf(
      world,
      `insert into payout_batch select made.* from payout_batch b cross join generate_series(1, $2::int) n,
         jsonb_populate_record(b, $3::jsonb || jsonb_build_object('id', 'batch_02' || lpad(n::text, 22, '0') || right(b.id, 2))) made
       where b.id = $1`,
      [id, count, JSON.stringify(changed)],
    );

  test('of a rare kind is found without scanning all others at once', async () => {
    const payer = await openPayer(world);
    const { json: rare } = await createPayout(world, payer);
    await settled(world, payer, rare.batch_id);
    await copyBatch(rare.batch_id, 550, { currency: 'cdf' });
    const found = await pages('currency=usd', payer);
    // Pages may be short, or empty, as long as there is a next one.
    expect(found.map((page) => page.map(({ batch_id }) => batch_id))).toEqual([[], [rare.batch_id]]);
    const others = (await pages('currency=cdf&limit=70', payer)).flat();
    expect(new Set(others.map(({ batch_id }) => batch_id)).size).toBe(550);
    expect(others).toHaveLength(550);
  });

  test('is read in short pages where batches have very many lines', async () => {
    const payer = await openPayer(world);
    const dated = { sending_type: 'scheduled', scheduled_dates: ['2029-01-01'], beneficiaries: lines(100) };
    const { json: small } = await createPayout(world, payer, dated);
    await copyBatch(small.batch_id, 3, { occurrences: 366, next_occurrence: 367, next_run_at: null });
    for (const query of ['', 'currency=usd']) {
      const found = await pages(query, payer);
      expect(found.map((page) => page.length)).toEqual([1, 1, 2]);
      expect(found.flat().at(-1)?.batch_id).toBe(small.batch_id);
    }
  });

  test('reports every bad part of the query at once', async () => {
    const answer = await list('?from=soon&limit=0&cursor=x');
    expectRefusal(answer, 400, '1110');
    expect(faultsOf(answer)).toEqual(['from INVALID_INSTANT', 'limit OUT_OF_RANGE', 'cursor INVALID_CURSOR']);
    const twice = await list('?from=soon&limit=1&limit=2');
    expectRefusal(twice, 400, '1110');
    expect(faultsOf(twice)).toEqual(['from INVALID_INSTANT', 'limit DUPLICATE_KEY']);
  });

  test('never shows another merchant’s batches', async () => {
    const stranger = await neighbourOf(world, merchant);
    expect((await list('', stranger)).json).toEqual({ success: true, payouts: [], next_cursor: null });
    const { json } = await createPayout(world, merchant);
    expect((await list(`?cursor=${json.batch_id}`, stranger)).json.payouts).toEqual([]);
  });

  test.each([
    'limit=0',
    'limit=101',
    'limit=x',
    'status=done',
    'cursor=x',
    'cursor=txn_0',
    'from=soon',
    'to=2027-02-30',
    'customer_reference=%00',
  ])('refuses %s', async (query) => {
    expectRefusal(await list(`?${query}`), 400, '1110');
  });
});
