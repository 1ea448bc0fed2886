/**
 * GET /internal/balances, GET /internal/transactions and one of them: what a merchant has, and what it was paid.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setFee } from '../../src/usecases/fee-set.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { expectRefusal } from '../support/envelope.ts';
import { bearerOf, collect, neighbourOf, type Paying, payFromWallet } from '../support/flows.ts';
import { write } from '../support/ledger-history.ts';
import { fund } from '../support/payout-batches.ts';
import { createPayout, settled } from '../support/payout-flows.ts';
import { rowsOf } from '../support/rows.ts';
import { type Answer, NOON, openWorld, type World } from '../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
});
afterAll(() => world.close());

const idOf = ({ transaction_id: id }: Paying): string => id;

describe('balances', () => {
  const read = async (merchant: MerchantCreated) =>
    (await world.call('GET', '/internal/balances', { bearer: bearerOf(merchant) })).json;

  test('are listed by currency, with its digits, if there has ever been an account', async () => {
    const merchant = await world.merchant();
    const stranger = await neighbourOf(world, merchant);
    expect(await read(merchant)).toEqual({ success: true, balances: [] });
    const at = NOON;
    await write(world.gateway.deps, merchant.merchant, [
      { from: 'outside', to: 'available', minor: 1_000n, at },
      { from: 'available', to: 'reserved', minor: 250n, at },
      { from: 'outside', to: 'held', minor: 7n, at, currency: 'xof' },
      { from: 'outside', to: 'available', minor: 5n, at, currency: 'cdf' },
      { from: 'available', to: 'outside', minor: 5n, at, currency: 'cdf' },
    ]);
    expect(await read(merchant)).toEqual({
      success: true,
      balances: [
        { currency: 'usd', available: '7.50', reserved: '2.50', held: '0.00' },
        { currency: 'cdf', available: '0.00', reserved: '0.00', held: '0.00' },
        { currency: 'xof', available: '0', reserved: '0', held: '7' },
      ],
    });
    expect((await read(stranger)).balances).toEqual([]);
  });
});

describe('transactions', () => {
  interface Listed {
    readonly transaction_id: string;
    readonly status: string;
  }

  const list = (merchant: MerchantCreated, asked: Readonly<Record<string, string>> = {}): Promise<Answer> =>
    world.call('GET', `/internal/transactions?${new URLSearchParams(asked)}`, { bearer: bearerOf(merchant) });

  const idsOf = async (merchant: MerchantCreated, asked: Readonly<Record<string, string>> = {}): Promise<string[]> => {
    const { json, text } = await list(merchant, asked);
    expect(json.success, text).toBe(true);
    return json.transactions.map(({ transaction_id: id }: Listed) => id);
  };

  test('are listed newest first, with the fields of their status reads and more', async () => {
    const merchant = await world.merchant();
    await setFee(world.gateway.deps, {
      merchantId: merchant.merchant.id,
      method: undefined,
      currency: 'usd',
      rate: '2',
      fixed: 10n,
      min: undefined,
      max: undefined,
    });
    const paying = await collect(world, merchant, {
      method: 'wallet',
      body: { wallet_number: '1', wallet_pin: '1234' },
    });
    await payFromWallet(world, paying, await world.wallet());
    await world.pass(1_000);
    const open = await collect(world, merchant);
    const { json } = await list(merchant);
    expect(json.transactions.map(({ transaction_id: id }: Listed) => id)).toEqual([idOf(open), idOf(paying)]);
    expect(json.next_cursor).toBeNull();
    const { json: status } = await world.call('GET', `/payments/status/${idOf(paying)}`, { bearer: paying.token });
    expect(json.transactions[1]).toEqual({
      ...status,
      customer_reference: paying.reference,
      payment_method: 'wallet',
      fee_amount: '0.35',
      total_amount: '12.85',
      refunded_amount: '0.00',
    });
    expect(json.transactions[0]).toMatchObject({ status: 'pending', payment_method: 'none' });
  });

  test('are filtered by status, method, currency, reference and time', async () => {
    const merchant = await world.merchant();
    const start = world.clock.now();
    const first = await collect(world, merchant, { minted: { currency: 'cdf' } });
    await world.pass(60_000);
    const paid = await collect(world, merchant, { minted: { customer_reference: 'order-1' } });
    await payFromWallet(world, paid, await world.wallet());
    await world.pass(60_000);
    const again = await collect(world, merchant, { minted: { customer_reference: 'order-1' } });
    const at = (milliseconds: number): string => new Date(start + milliseconds).toISOString();
    expect(await idsOf(merchant, { status: 'approved' })).toEqual([idOf(paid)]);
    expect(await idsOf(merchant, { payment_method: 'none' })).toEqual([idOf(again), idOf(first)]);
    expect(await idsOf(merchant, { payment_method: 'card' })).toEqual([]);
    expect(await idsOf(merchant, { method: 'none' })).toEqual([idOf(again), idOf(first)]);
    expect(await idsOf(merchant, { method: 'wallet', payment_method: 'wallet', reference: 'order-1' })).toEqual([
      idOf(paid),
    ]);
    expect(await idsOf(merchant, { reference: 'order' })).toEqual([]);
    expect(await idsOf(merchant, { currency: 'cdf' })).toEqual([idOf(first)]);
    expect(await idsOf(merchant, { customer_reference: 'order-1' })).toEqual([idOf(again), idOf(paid)]);
    expect(await idsOf(merchant, { customer_reference: 'order-1', status: 'pending' })).toEqual([idOf(again)]);
    expect(await idsOf(merchant, { customer_reference: 'order' })).toEqual([]);
    expect(await idsOf(merchant, { from: at(60_000) })).toEqual([idOf(again), idOf(paid)]);
    expect(await idsOf(merchant, { from: at(60_001), to: at(120_000) })).toEqual([idOf(again)]);
    expect(await idsOf(merchant, { to: at(59_999) })).toEqual([idOf(first)]);
    expect(await idsOf(merchant, { from: at(0).slice(0, 10), to: at(0).slice(0, 10) })).toHaveLength(3);
    expect(await idsOf(merchant, { to: '2026-11-19' })).toEqual([]);
  });

  test('are read in pages, while others are made', async () => {
    const merchant = await world.merchant();
    const made: string[] = [];
    // An id sorts by the millisecond in which it was made.
    const collectLater = async (): Promise<string> => {
      await world.clock.advance(1);
      return idOf(await collect(world, merchant));
    };
    for (let n = 0; n < 7; n += 1) made.unshift(await collectLater());
    const read: string[] = [];
    let cursor: string | null = null;
    do {
      const asked: Record<string, string> = { limit: '3', ...(cursor === null ? {} : { cursor }) };
      const { json } = await list(merchant, asked);
      read.push(...json.transactions.map(({ transaction_id: id }: Listed) => id));
      cursor = json.next_cursor;
      await collectLater();
    } while (cursor !== null);
    expect(read).toEqual(made);
    expect((await list(merchant, { limit: '100' })).json.next_cursor).toBeNull();
  });

  test('of a rare kind are found without reading all others at once: a page may be empty without being the last', async () => {
    const merchant = await world.merchant();
    const rare = idOf(await collect(world, merchant, { minted: { currency: 'cdf' } }));
    await collect(world, merchant);
    // Newer than both.
    await rowsOf(
      world,
      `insert into payment select made.* from payment p cross join generate_series(1, 4500) n,
         jsonb_populate_record(p, jsonb_build_object('id', 'txn_02' || lpad(n::text, 24, '0'))) made
       where p.merchant_id = $1 and p.currency = 'usd'`,
      [merchant.merchant.id],
    );
    const pages: string[][] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { json } = await list(merchant, { currency: 'cdf', ...(cursor === '' ? {} : { cursor }) });
      pages.push(json.transactions.map(({ transaction_id: id }: Listed) => id));
      cursor = json.next_cursor;
    }
    expect(pages).toEqual([[], [], [rare]]);
  });

  test('are never another merchant’s', async () => {
    const merchant = await world.merchant();
    const stranger = await neighbourOf(world, merchant);
    const { reference } = await collect(world, stranger);
    expect(await idsOf(merchant)).toEqual([]);
    expect(await idsOf(merchant, { customer_reference: reference })).toEqual([]);
    expect(await idsOf(merchant, { status: 'pending' })).toEqual([]);
  });

  test.each([
    ['status', { status: 'done' }, '1110', 'NOT_AN_OPTION'],
    ['payment_method', { payment_method: 'cash' }, '1103', 'NOT_AN_OPTION'],
    ['method', { method: 'cash' }, '1103', 'NOT_AN_OPTION'],
    ['method', { method: 'card', payment_method: 'wallet' }, '1103', 'NOT_AN_OPTION'],
    ['reference', { reference: 'a', customer_reference: 'b' }, '1110', 'NOT_AN_OPTION'],
    ['reference', { reference: 'a\0b' }, '1110', 'INVALID_TEXT'],
    ['currency', { currency: 'USD' }, '1102', 'INVALID_CURRENCY'],
    ['customer_reference', { customer_reference: 'a\0b' }, '1110', 'INVALID_TEXT'],
    ['customer_reference', { customer_reference: '' }, '1110', 'TOO_SHORT'],
    ['from', { from: '2027-02-30' }, '1110', 'INVALID_INSTANT'],
    ['to', { from: '2026-11-02', to: '2026-11-01' }, '1110', 'DATES_REVERSED'],
    ['cursor', { cursor: 'txn_x' }, '1110', 'INVALID_CURSOR'],
    ['limit', { limit: '101' }, '1110', 'OUT_OF_RANGE'],
  ])('refuse %s: %j', async (field, asked, code, detail) => {
    const refused = await list(await world.merchant(), asked);
    expectRefusal(refused, 400, code, detail);
    expect(refused.json.details[0].field).toBe(field);
  });
});

describe('one transaction', () => {
  const read = (merchant: MerchantCreated, id: string): Promise<Answer> =>
    world.call('GET', `/internal/transactions/${id}`, { bearer: bearerOf(merchant) });

  /** Demands the bytes that a session reads of the transaction. */
  const expectSame = async (merchant: MerchantCreated, token: string, id: string): Promise<Answer['json']> => {
    const bySession = await world.call('GET', `/payments/transaction/${id}`, { bearer: token });
    const answer = await read(merchant, id);
    expect([answer.status, answer.text]).toEqual([200, bySession.text]);
    return answer.json;
  };

  test('is read in the bytes that a session gets, from the collect to the end, also once its session has expired', async () => {
    const merchant = await world.merchant();
    const paying = await collect(world, merchant, { minted: { ttl_seconds: 60 } });
    const open = await expectSame(merchant, paying.token, idOf(paying));
    expect(open).toMatchObject({ status: 'pending', payment_id: paying.payment_id });
    await payFromWallet(world, paying, await world.wallet());
    const paid = await expectSame(merchant, paying.token, idOf(paying));
    expect(paid).toMatchObject({
      transaction_id: idOf(paying),
      status: 'approved',
      customer_reference: paying.reference,
    });
    expect(paid.timeline.at(-1)).toEqual({ status: 'approved', at: paid.completed_at, reason: null });
    await world.pass(60_000);
    const late = await world.call('GET', `/payments/transaction/${idOf(paying)}`, { bearer: paying.token });
    expectRefusal(late, 401, '1005');
    expect((await read(merchant, idOf(paying))).json).toMatchObject({ status: 'approved', timeline: paid.timeline });
  });

  test('may be named by its payment_id, and may be a payout line', async () => {
    const merchant = await world.merchant();
    const paying = await collect(world, merchant);
    expect(await expectSame(merchant, paying.token, paying.payment_id)).toMatchObject({
      transaction_id: idOf(paying),
    });
    await fund(world, merchant, 10_00n);
    const { json } = await createPayout(world, merchant);
    const [{ transaction_id: line }] = json.beneficiaries;
    await settled(world, merchant, json.batch_id);
    expect(await expectSame(merchant, paying.token, line)).toMatchObject({ batch_id: json.batch_id });
  });

  test('of another merchant is 1204, as an unknown one is', async () => {
    const merchant = await world.merchant();
    const stranger = await neighbourOf(world, merchant);
    const paying = await collect(world, merchant);
    const unknown = idOf(paying).replace(/.{6}$/, '000000');
    for (const id of [idOf(paying), paying.payment_id, unknown, 'txn_x', 'x']) {
      expectRefusal(await read(stranger, id), 404, '1204');
    }
  });

  test('is told in the caller’s language', async () => {
    const merchant = await world.merchant();
    const { transaction_id: id } = await collect(world, merchant);
    const headers = { 'accept-language': 'fr' };
    const answer = await world.call('GET', `/internal/transactions/${id}`, { bearer: bearerOf(merchant), headers });
    expect(answer.json.message).toMatch(/paiement/);
  });
});
