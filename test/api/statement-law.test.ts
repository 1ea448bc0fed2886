/**
 * The law of statements: whatever has moved and whichever days are closed, the lines of a span are those of its time, and add
 * up to its closing balances less its opening ones.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { MerchantAccount } from '../../src/domain/ledger.ts';
import type { AuditFinding } from '../../src/store/audit.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { closeDays } from '../../src/usecases/snapshot-days.ts';
import { bearerOf } from '../support/flows.ts';
import { type Movement, write } from '../support/ledger-history.ts';
import { openWorld, type World } from '../support/world.ts';

const DAY = 24 * 60 * 60_000;
const START = Date.UTC(2026, 10, 1);
const DAYS = 6;
const BALANCES = ['available', 'reserved', 'held'] as const;

let world: World;
/** Each of a merchant of its own, because days are closed for all at once. At first, most of it is still in the future. */
const histories: { readonly merchant: MerchantCreated; readonly moved: readonly Movement[] }[] = [];
beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' }, start: START });
  for (const drawn of fc.sample(fc.array(movement, { maxLength: 40, size: 'max' }), {
    numRuns: 12,
    seed: 20_261_101,
  })) {
    const merchant = await world.merchant();
    const moved = possible(drawn);
    await write(world.gateway.deps, merchant.merchant, moved);
    histories.push({ merchant, moved });
  }
});
afterAll(() => world.close());

/** A movement, and when: some of them at midnight, some at the same instant. */
const movement = fc.record({
  from: fc.constantFrom('outside', ...BALANCES),
  to: fc.constantFrom('outside', ...BALANCES),
  minor: fc.bigInt(1n, 500n),
  day: fc.nat(DAYS - 1),
  time: fc.oneof(fc.constantFrom(0, 1, DAY / 2, DAY - 1), fc.nat(DAY - 1)),
});
type Drawn = typeof movement extends fc.Arbitrary<infer Value> ? Value : never;

/** In time order; a movement that would exceed its balance comes from outside instead. */
function possible(drawn: readonly Drawn[]): Movement[] {
  const standing: Record<MerchantAccount, bigint> = { available: 0n, reserved: 0n, held: 0n };
  return drawn
    .map(({ day, time, ...rest }) => ({ ...rest, at: START + day * DAY + time }))
    .toSorted((one, other) => one.at - other.at)
    .map((wanted) => {
      const to: Movement['to'] = wanted.to === 'outside' ? 'available' : wanted.to;
      const enough = wanted.from !== 'outside' && standing[wanted.from] >= wanted.minor && wanted.from !== wanted.to;
      const made: Movement = enough ? wanted : { ...wanted, from: 'outside', to };
      if (made.from !== 'outside') standing[made.from] -= made.minor;
      if (made.to !== 'outside') standing[made.to] += made.minor;
      return made;
    });
}

const question = fc.record({
  first: fc.nat(DAYS - 1),
  length: fc.integer({ min: 1, max: DAYS }),
  balance: fc.constantFrom('all', ...BALANCES),
  limit: fc.constantFrom(1, 2, 3, 10, 1_000),
});

interface Statement {
  readonly opening: bigint;
  readonly closing: bigint;
  readonly lines: readonly {
    readonly at: number;
    readonly balance: string;
    readonly minor: bigint;
    readonly after: bigint;
  }[];
}

const minorOf = (text: string): bigint => BigInt(text.replace('.', ''));

/** Reads a span to its end, and demands that each page continues the one before. */
async function readSpan(merchant: MerchantCreated, query: Readonly<Record<string, string>>): Promise<Statement> {
  const lines = [];
  let [opening, running, cursor]: [bigint | undefined, bigint | undefined, string | null] = [undefined, undefined, ''];
  let closing = 0n;
  while (cursor !== null) {
    const asked = new URLSearchParams({ currency: 'usd', ...query, ...(cursor === '' ? {} : { cursor }) });
    const { json, text } = await world.call('GET', `/internal/statement?${asked}`, { bearer: bearerOf(merchant) });
    expect(json.success, text).toBe(true);
    expect(minorOf(json.page.opening_balance)).toBe(running ?? minorOf(json.opening_balance));
    opening ??= minorOf(json.opening_balance);
    running = minorOf(json.page.closing_balance);
    closing = minorOf(json.closing_balance);
    for (const { at, balance, amount, balance_after: after } of json.lines) {
      lines.push({ at: Date.parse(at), balance, minor: minorOf(amount), after: minorOf(after) });
    }
    cursor = json.next_cursor;
  }
  return { opening: opening ?? 0n, closing, lines };
}

/** What a statement must say, from the movements themselves. */
function expected(moved: readonly Movement[], from: number, until: number, shown: readonly string[]): Statement {
  const sides = moved.flatMap(({ from: source, to, minor, at }) => [
    ...(shown.includes(source) ? [{ at, balance: source, minor: -minor }] : []),
    ...(shown.includes(to) ? [{ at, balance: to, minor }] : []),
  ]);
  const sumTo = (time: number): bigint =>
    sides.filter(({ at }) => at < time).reduce((sum, { minor }) => sum + minor, 0n);
  const lines = sides.filter(({ at }) => at >= from && at < until).map((line) => ({ ...line, after: 0n }));
  return { opening: sumTo(from), closing: sumTo(until), lines };
}

test.each([
  ['while no day is closed', 0.4, undefined],
  ['while some days are closed', 3.6, '2026-11-03'],
  ['an hour after midnight', 5 + 1 / 24, '2026-11-05'],
  ['once all days are closed', 10.5, '2026-11-10'],
])('lines add up to the closing balance less the opening one, %s', async (_when, elapsed, lastClosed) => {
  await world.clock.advance(START + elapsed * DAY - world.clock.now());
  await closeDays(world.gateway.deps);
  expect(await world.gateway.store.lastClosedDay()).toBe(lastClosed);
  const now = world.clock.now();
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...histories), question, async ({ merchant, moved }, asked) => {
      const [from, until] = [START + asked.first * DAY, START + (asked.first + asked.length) * DAY];
      const query = { from: dateOf(from), to: dateOf(until - 1), balance: asked.balance, limit: String(asked.limit) };
      const read = await readSpan(merchant, query);
      const shown = asked.balance === 'all' ? BALANCES : [asked.balance];
      // What is still in the future is not read.
      const wanted = expected(moved, from, Math.max(from, Math.min(until, now + 1)), shown);
      expect([read.opening, read.closing]).toEqual([wanted.opening, wanted.closing]);
      expect(read.lines.reduce((sum, { minor }) => sum + minor, 0n)).toBe(read.closing - read.opening);
      expect(written(read.lines)).toEqual(written(wanted.lines));
      for (const balance of BALANCES) expectToGoOn(read.lines.filter((line) => line.balance === balance));
    }),
    { numRuns: 40, endOnFailure: true },
  );
});

test('the auditor agrees with the closed days', async () => {
  // Here money is reserved without a payout.
  const wrong = ({ kind }: AuditFinding): boolean => kind !== 'reserved';
  expect((await world.gateway.store.auditAll()).findings.filter(wrong)).toEqual([]);
  for (const { merchant } of histories) {
    const { findings, transfers } = await world.gateway.store.auditRecent(merchant.merchant.shard);
    expect([findings.filter(wrong), transfers < 100]).toEqual([[], true]);
  }
});

const dateOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** Lines of one instant are in the order of their ids, which is random. */
function written(lines: Statement['lines']): string[] {
  return lines.map(({ at, balance, minor }) => `${at} ${balance} ${minor}`).toSorted();
}

/** Expects each line's balance to be that of the line before it, plus what it moved. */
function expectToGoOn(lines: Statement['lines']): void {
  for (const [n, line] of lines.entries()) {
    if (n > 0) expect(line.after).toBe((lines[n - 1]?.after ?? 0n) + line.minor);
  }
}
