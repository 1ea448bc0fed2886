/**
 * GET /internal/statement: every line between two dates, as pages of JSON and as one table of CSV.
 */
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { ALL_BALANCES, openStatement, streamStatement } from '../../src/usecases/statement-read.ts';
import { expectRefusal } from '../support/envelope.ts';
import { bearerOf, collect, neighbourOf, payFromWallet } from '../support/flows.ts';
import { type Movement, write } from '../support/ledger-history.ts';
import { type Answer, NOON, openWorld, type World } from '../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
});
afterAll(() => world.close());

const DAY = 24 * 60 * 60_000;
const HOUR = 60 * 60_000;

function read(
  merchant: MerchantCreated,
  query: Readonly<Record<string, string>> = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const path = `/internal/statement?${new URLSearchParams({ currency: 'usd', ...query })}`;
  return world.call('GET', path, { bearer: bearerOf(merchant), headers });
}

interface Line {
  readonly id: string;
  readonly at: string;
  readonly balance: string;
  readonly amount: string;
  readonly balance_after: string;
}

/** Every line, read page by page. */
async function readAll(merchant: MerchantCreated, query: Readonly<Record<string, string>>): Promise<Line[]> {
  const lines: Line[] = [];
  let cursor: string | null | undefined;
  for (;;) {
    const page = await read(merchant, { ...query, ...(cursor ? { cursor } : {}) });
    expect(page.status, page.text).toBe(200);
    lines.push(...page.json.lines);
    cursor = page.json.next_cursor;
    if (cursor === null) return lines;
  }
}

/** Thirteen hours apart, so that days begin in between. */
function credits(count: number, from = NOON - 20 * DAY): Movement[] {
  return Array.from({ length: count }, (_, n) => ({
    from: 'outside',
    to: 'available',
    minor: BigInt(n + 1),
    at: from + n * 13 * HOUR,
  }));
}

describe('a statement', () => {
  test('shows what a payment brought, with the balances before and after', async () => {
    const merchant = await world.merchant();
    const paying = await collect(world, merchant);
    await payFromWallet(world, paying, await world.wallet());
    const { status, json, text } = await read(merchant);
    expect(status, text).toBe(200);
    expect(json).toEqual({
      success: true,
      currency: 'usd',
      from: '2026-11-01T00:00:00.000Z',
      to: new Date(NOON).toISOString(),
      opening_balance: '0.00',
      closing_balance: '12.50',
      balances: [
        { balance: 'available', opening_balance: '0.00', closing_balance: '12.50' },
        { balance: 'reserved', opening_balance: '0.00', closing_balance: '0.00' },
        { balance: 'held', opening_balance: '0.00', closing_balance: '0.00' },
      ],
      page: {
        opening_balance: '0.00',
        closing_balance: '12.50',
        balances: [
          { balance: 'available', opening_balance: '0.00', closing_balance: '12.50' },
          { balance: 'reserved', opening_balance: '0.00', closing_balance: '0.00' },
          { balance: 'held', opening_balance: '0.00', closing_balance: '0.00' },
        ],
      },
      lines: [
        {
          id: expect.stringMatching(/^trf_\w{26}:available$/),
          at: new Date(NOON).toISOString(),
          balance: 'available',
          cause: 'payment',
          amount: '12.50',
          balance_after: '12.50',
          transaction_id: paying.transaction_id,
          refund_id: null,
          reference: null,
          customer_reference: paying.reference,
        },
      ],
      next_cursor: null,
    });
  });

  test('shows both sides of a movement between two balances, and each balance alone', async () => {
    const merchant = await world.merchant();
    await write(world.gateway.deps, merchant.merchant, [
      { from: 'outside', to: 'available', minor: 10_00n, at: NOON - 3 * HOUR },
      { from: 'available', to: 'reserved', minor: 4_00n, at: NOON - 2 * HOUR },
      { from: 'reserved', to: 'outside', minor: 3_00n, at: NOON - HOUR },
    ]);
    const { json } = await read(merchant);
    const shown = (lines: Line[]) => lines.map(({ balance, amount, balance_after: after }) => [balance, amount, after]);
    expect(shown(json.lines)).toEqual([
      ['available', '10.00', '10.00'],
      ['available', '-4.00', '6.00'],
      ['reserved', '4.00', '4.00'],
      ['reserved', '-3.00', '1.00'],
    ]);
    expect([json.opening_balance, json.closing_balance]).toEqual(['0.00', '7.00']);
    expect(new Set(json.lines.map(({ id }: Line) => id)).size).toBe(4);
    const reserved = await read(merchant, { balance: 'reserved' });
    expect(shown(reserved.json.lines)).toEqual([
      ['reserved', '4.00', '4.00'],
      ['reserved', '-3.00', '1.00'],
    ]);
    expect([reserved.json.closing_balance, reserved.json.balances.length]).toEqual(['1.00', 1]);
    expect((await read(merchant, { balance: 'held' })).json.lines).toEqual([]);
    expect((await read(merchant, { currency: 'cdf' })).json.lines).toEqual([]);
  });

  test('never shows another merchant’s lines', async () => {
    const merchant = await world.merchant();
    const stranger = await neighbourOf(world, merchant);
    await write(world.gateway.deps, stranger.merchant, credits(3));
    const { json } = await read(merchant, { from: '2026-01-01' });
    expect([json.lines, json.closing_balance]).toEqual([[], '0.00']);
    const first = await read(stranger, { from: '2026-01-01', limit: '1' });
    const stolen = await read(merchant, { from: '2026-01-01', limit: '1', cursor: first.json.next_cursor });
    expectRefusal(stolen, 400, '1110', 'INVALID_CURSOR');
  });

  test('begins and ends as requested: with days of UTC, and with instants', async () => {
    const merchant = await world.merchant();
    const midnight = Date.UTC(2026, 10, 10);
    const at = [midnight - 1, midnight, midnight + DAY - 1, midnight + DAY];
    await write(
      world.gateway.deps,
      merchant.merchant,
      at.map((time) => ({ from: 'outside', to: 'available', minor: 1n, at: time })),
    );
    const times = async (from: string, to: string) => {
      const { json, text } = await read(merchant, { from, to });
      expect(json.success, text).toBe(true);
      return [json.opening_balance, ...json.lines.map((line: Line) => Date.parse(line.at)), json.closing_balance];
    };
    expect(await times('2026-11-10', '2026-11-10')).toEqual(['0.01', at[1], at[2], '0.03']);
    expect(await times('2026-11-09', '2026-11-10')).toEqual(['0.00', at[0], at[1], at[2], '0.03']);
    expect(await times('2026-11-10T00:00:00.001Z', '2026-11-11T00:00Z')).toEqual(['0.02', at[2], at[3], '0.04']);
    // The same in Goma.
    expect(await times('2026-11-10T02:00:00+02:00', '2026-11-10T02:00:00+02:00')).toEqual(['0.01', at[1], '0.02']);
    expect(await times('2027-01-01', '2027-01-31')).toEqual(['0.04', '0.04']);
    expect(await times('1970-01-01', '2999-12-31')).toEqual(['0.00', ...at, '0.04']);
  });

  test('is read in pages that continue where they ended, while lines are added', async () => {
    const merchant = await world.merchant();
    await write(world.gateway.deps, merchant.merchant, credits(25));
    const first = await read(merchant, { from: '2026-10-01', limit: '10' });
    expect([first.json.lines.length, first.json.opening_balance, first.json.closing_balance]).toEqual([
      10,
      '0.00',
      '3.25',
    ]);
    expect([first.json.page.opening_balance, first.json.page.closing_balance]).toEqual(['0.00', '0.55']);
    // Now, and so after the moment of the first page.
    // No round is due by then: other tests write into days that it would close.
    await world.clock.advance(1_000);
    await write(world.gateway.deps, merchant.merchant, [
      { from: 'outside', to: 'available', minor: 100n, at: world.clock.now() },
    ]);
    const more = { from: '2026-10-01', limit: '10' };
    const second = await read(merchant, { ...more, cursor: first.json.next_cursor });
    expect([second.json.page.opening_balance, second.json.page.closing_balance]).toEqual(['0.55', '2.10']);
    const last = await read(merchant, { ...more, cursor: second.json.next_cursor });
    expect([last.json.lines.length, last.json.page.closing_balance, last.json.closing_balance]).toEqual([
      5,
      '3.25',
      '3.25',
    ]);
    expect(last.json.next_cursor).toBeNull();
    // The same page again is the same.
    expect((await read(merchant, { ...more, cursor: first.json.next_cursor })).json.lines).toEqual(second.json.lines);
    expect((await readAll(merchant, more)).length).toBe(26);
  });

  test('cuts pages even between the two lines of one transfer, and between lines of one instant', async () => {
    const merchant = await world.merchant();
    const at = NOON - HOUR;
    await write(world.gateway.deps, merchant.merchant, [
      { from: 'outside', to: 'available', minor: 100n, at },
      ...Array.from({ length: 6 }, () => ({ from: 'available', to: 'reserved', minor: 1n, at }) as const),
      ...Array.from({ length: 3 }, () => ({ from: 'reserved', to: 'held', minor: 1n, at }) as const),
    ]);
    const whole = await readAll(merchant, {});
    expect(whole.length).toBe(19);
    for (const limit of ['1', '2', '3', '7']) expect(await readAll(merchant, { limit }), limit).toEqual(whole);
  });

  test('accepts a cursor only for the query that it was given for', async () => {
    const merchant = await world.merchant();
    await write(world.gateway.deps, merchant.merchant, credits(3));
    const { json } = await read(merchant, { from: '2026-10-01', limit: '1' });
    const cursor = json.next_cursor;
    for (const query of [
      { from: '2026-10-02', cursor },
      { from: '2026-10-01', cursor, balance: 'held' },
      { from: '2026-10-01', cursor, currency: 'cdf' },
      { from: '2026-10-01', cursor: cursor.slice(0, -2) + (cursor.endsWith('AA') ? 'BB' : 'AA') },
      { from: '2026-10-01', cursor: 'x' },
      { from: '2026-10-01', cursor: '' },
    ]) {
      const refused = await read(merchant, query);
      expectRefusal(refused, 400, '1110', 'INVALID_CURSOR');
      expect(refused.json.details[0].field).toBe('cursor');
    }
  });
});

describe('a query that cannot be answered', () => {
  test.each([
    ['from', { from: '2027-02-30' }, 'INVALID_INSTANT'],
    ['from', { from: 'yesterday' }, 'INVALID_INSTANT'],
    ['from', { from: '' }, 'INVALID_INSTANT'],
    ['from', { from: '2026-11-20T12:00:00' }, 'INVALID_INSTANT'],
    ['from', { from: '2026-11-20T25:00:00Z' }, 'INVALID_INSTANT'],
    ['from', { from: '0000-01-01' }, 'YEAR_OUT_OF_RANGE'],
    ['from', { from: '1969-12-31T23:59:59Z' }, 'YEAR_OUT_OF_RANGE'],
    ['to', { to: '3000-02-30' }, 'INVALID_INSTANT'],
    ['to', { to: '2026-13-01' }, 'INVALID_INSTANT'],
    ['to', { to: '9999-12-31' }, 'YEAR_OUT_OF_RANGE'],
    ['to', { to: '2026-11-1' }, 'INVALID_INSTANT'],
    ['to', { from: '2026-11-20', to: '2026-11-19' }, 'DATES_REVERSED'],
    ['limit', { limit: '0' }, 'OUT_OF_RANGE'],
    ['limit', { limit: '1001' }, 'OUT_OF_RANGE'],
    ['limit', { limit: 'ten' }, 'OUT_OF_RANGE'],
    ['balance', { balance: 'everything' }, 'NOT_AN_OPTION'],
    ['format', { format: 'pdf' }, 'NOT_AN_OPTION'],
  ])('names %s: %j', async (field, query, code) => {
    const refused = await read(await world.merchant(), query);
    expectRefusal(refused, 400, '1110', code);
    expect(refused.json.details[0].field).toBe(field);
  });

  test('reports everything that is wrong, in one answer', async () => {
    const merchant = await world.merchant();
    const query = { currency: 'doubloons', from: '2027-02-29', to: 'never', limit: '-1' };
    const refused = await read(merchant, query);
    expectRefusal(refused, 400, '1102', 'INVALID_CURRENCY');
    expect(refused.json.details.map(({ field }: { field: string }) => field)).toEqual([
      'currency',
      'from',
      'to',
      'limit',
    ]);
    const bare = await world.call('GET', '/internal/statement?from=x', { bearer: bearerOf(merchant) });
    expectRefusal(bare, 400, '1110', 'INVALID_INSTANT');
    expect(bare.json.details.map(({ field }: { field: string }) => field)).toEqual(['from']);
    const twice = await world.call('GET', '/internal/statement?currency=usd&from=2026-11-01&from=2026-11-02', {
      bearer: bearerOf(merchant),
    });
    expectRefusal(twice, 400, '1110', 'DUPLICATE_KEY');
  });
});

describe('a statement as a table', () => {
  const rowsOf = ({ text }: Answer): Record<string, string>[] =>
    parse(text, { columns: true, record_delimiter: '\r\n' });

  test('is RFC 4180: a header, opening and closing rows, lines that add up', async () => {
    const merchant = await world.merchant();
    await write(world.gateway.deps, merchant.merchant, [
      ...credits(2_500, NOON - 1_500 * HOUR * 24),
      { from: 'available', to: 'reserved', minor: 5n, at: NOON - 1 },
    ]);
    const answer = await read(merchant, { from: '2020-01-01', format: 'csv' });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
    expect(answer.headers.get('content-disposition')).toBe(
      'attachment; filename="statement-usd-2020-01-01-2026-11-20.csv"',
    );
    expect(answer.text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
    expect(answer.text.endsWith('\r\n')).toBe(true);
    const rows = rowsOf(answer);
    expect(rows.slice(0, 3).map((row) => [row.cause, row.balance, row.balance_after])).toEqual([
      ['opening_balance', 'available', '0.00'],
      ['opening_balance', 'reserved', '0.00'],
      ['opening_balance', 'held', '0.00'],
    ]);
    const lines = rows.slice(3, -3);
    expect(lines.length).toBe(2_502);
    const minor = (text = ''): bigint => BigInt(text.replace('.', ''));
    const sum = lines
      .filter(({ balance }) => balance === 'available')
      .reduce((all, row) => all + minor(row.amount), 0n);
    expect(rows.slice(-3).map((row) => [row.cause, row.balance, minor(row.balance_after)])).toEqual([
      ['closing_balance', 'available', sum],
      ['closing_balance', 'reserved', 5n],
      ['closing_balance', 'held', 0n],
    ]);
    // The same lines as the pages of JSON have.
    const pages = await readAll(merchant, { from: '2020-01-01', limit: '1000' });
    expect(lines.map(({ id, amount, balance_after: after }) => [id, amount, after])).toEqual(
      pages.map(({ id, amount, balance_after: after }) => [id, amount, after]),
    );
    expect(lines.at(-2)?.amount).toBe('-0.05');
  });

  test('is what the Accept header prefers, unless the query says otherwise', async () => {
    const merchant = await world.merchant();
    const typeFor = async (accept: string, query = {}) =>
      (await read(merchant, query, { accept })).headers.get('content-type')?.split(';')[0];
    expect(await typeFor('text/csv')).toBe('text/csv');
    expect(await typeFor('text/csv;q=0.9, application/json;q=0.5')).toBe('text/csv');
    expect(await typeFor('application/json, text/csv')).toBe('application/json');
    expect(await typeFor('*/*')).toBe('application/json');
    expect(await typeFor('text/csv', { format: 'json' })).toBe('application/json');
    expect(await typeFor('application/json', { format: 'csv' })).toBe('text/csv');
  });

  test('makes no untrusted text a formula, and quotes what would break a line', async () => {
    const merchant = await world.merchant();
    const nasty = '=cmd|\' /C calc\'!A0,"x"';
    for (const customer_reference of [nasty, '+1', '@SUM(A1)', '-2+3']) {
      const paying = await collect(world, merchant, { minted: { customer_reference } });
      await payFromWallet(world, paying, await world.wallet());
    }
    const references = rowsOf(await read(merchant, { format: 'csv' })).map((row) => row.customer_reference);
    const written = references.filter((text) => text !== '');
    // They are of one instant, so their order is undefined.
    expect(written.toSorted()).toEqual([`'${nasty}`, "'+1", "'@SUM(A1)", "'-2+3"].toSorted());
  });

  test('is read a thousand lines at a time, and only as the client takes them', async () => {
    const merchant = await world.merchant();
    await write(world.gateway.deps, merchant.merchant, credits(2_300, NOON - 1_500 * HOUR * 24));
    const { deps } = world.gateway;
    const { ledger } = deps.store;
    const read: number[] = [];
    const lines: typeof ledger.lines = async (filter) => {
      const found = await ledger.lines(filter);
      read.push(found.length);
      return found;
    };
    const watched = { ...deps, store: { ...deps.store, ledger: { ...ledger, lines } } };
    const order = { currency: 'usd', balances: ALL_BALANCES, from: 0, until: NOON } as const;
    const pages = streamStatement(watched, merchant.merchant, await openStatement(watched, merchant.merchant, order));
    expect(read).toEqual([]);
    await pages.next();
    expect(read).toEqual([1_001]);
    await pages.next();
    expect(read).toEqual([1_001, 1_001]);
    expect((await pages.next()).value?.lines).toHaveLength(300);
    expect([(await pages.next()).done, read]).toEqual([true, [1_001, 1_001, 300]]);
  });

  test('is refused as the pages are, and answers HEAD', async () => {
    const merchant = await world.merchant();
    expectRefusal(await read(merchant, { format: 'csv', from: '2027-02-30' }), 400, '1110', 'INVALID_INSTANT');
    const head = await world.call('HEAD', '/internal/statement?currency=usd&format=csv', {
      bearer: bearerOf(merchant),
    });
    expect([head.status, head.text, head.headers.get('content-type')?.split(';')[0]]).toEqual([200, '', 'text/csv']);
  });
});
