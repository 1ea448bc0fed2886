/**
 * Closing days: each account's balance at the end of a day, written once, in order, and never too early.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Merchant } from '../../src/domain/records.ts';
import { type ShiftableClock, shiftableClock } from '../../src/platform/clock.ts';
import { openConnection } from '../../src/store/connection.ts';
import { StoreUnavailable } from '../../src/store/errors.ts';
import { openStore } from '../../src/store/store.ts';
import { createMerchant } from '../../src/usecases/merchant-create.ts';
import { closeDays } from '../../src/usecases/snapshot-days.ts';
import { type Movement, write } from '../support/ledger-history.ts';
import { type OperatorWorld, openOperatorWorld } from '../support/operator-world.ts';
import { rowsOf } from '../support/rows.ts';

const HOUR = 60 * 60_000;
const DAY = 24 * HOUR;

let world: OperatorWorld;
let clock: ShiftableClock;
let merchant: Merchant;
/** The first midnight (UTC) of the world. */
let midnight: number;

beforeEach(async () => {
  world = await openOperatorWorld();
  clock = shiftableClock(world.clock);
  midnight = (Math.floor(clock.now() / DAY) + 1) * DAY;
  ({ merchant } = await createMerchant(world.deps, { name: 'Boutique Kivu', noFloat: true }));
});
afterEach(() => world.close());

const close = (store = world.store): Promise<number> => closeDays({ store, clock, log: world.log });
const until = (time: number): Promise<void> => world.clock.advance(time - world.clock.now());
const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

function credit(at: number, minor: bigint): Movement {
  return { from: 'outside', to: 'available', minor, at };
}

/** The closed days of the merchant's available balance, and of the account that pays for it. */
async function closed(): Promise<string[]> {
  const rows = await rowsOf<{ account: string; day: string; balance: string }>(
    world,
    'select account, day, balance from account_day order by day, account',
  );
  return rows.map(({ account, day, balance }) => `${day} ${account.replace(merchant.id, 'merchant')} ${balance}`);
}

test('nothing is closed while nothing has moved, or until the day has been over for an hour', async () => {
  expect(await close()).toBe(0);
  await write(world.deps, merchant, [credit(clock.now(), 5n)]);
  expect(await close()).toBe(0);
  await until(midnight + HOUR - 1);
  expect([await close(), await world.store.lastClosedDay()]).toEqual([0, undefined]);
  await until(midnight + HOUR);
  expect([await close(), await world.store.lastClosedDay()]).toEqual([1, dayOf(midnight - 1)]);
  expect(await close()).toBe(0);
});

test('a day has a row for each account that moved on it, with the whole balance up to then', async () => {
  await write(world.deps, merchant, [
    credit(midnight - 1, 5n),
    credit(midnight, 10n),
    { from: 'available', to: 'reserved', minor: 3n, at: midnight + DAY - 1 },
    // And a day on which nothing moved.
    credit(midnight + 2 * DAY, 1n),
  ]);
  await until(midnight + 3 * DAY + HOUR);
  expect(await close()).toBe(4);
  const [first, second, , last] = [-1, 0, DAY, 2 * DAY].map((after) => dayOf(midnight + after));
  expect(await closed()).toEqual([
    `${first} float:usd -5`,
    `${first} merchant:available:usd 5`,
    `${second} float:usd -15`,
    `${second} merchant:available:usd 12`,
    `${second} merchant:reserved:usd 3`,
    `${last} float:usd -16`,
    `${last} merchant:available:usd 13`,
  ]);
});

test('a day that many processes close at once is closed as if by one', async () => {
  await write(
    world.deps,
    merchant,
    Array.from({ length: 40 }, (_, n) => credit(midnight - 1 + n * HOUR, 1n)),
  );
  await until(midnight + 3 * DAY);
  const others = await Promise.all([1, 2].map(() => openStore({ url: world.databaseUrl })));
  try {
    await Promise.all([close(), ...others.map((store) => close(store)), close()]);
  } finally {
    await Promise.all(others.map((store) => store.close()));
  }
  expect((await closed()).filter((line) => line.includes('merchant'))).toEqual([
    `${dayOf(midnight - 1)} merchant:available:usd 1`,
    `${dayOf(midnight)} merchant:available:usd 25`,
    `${dayOf(midnight + DAY)} merchant:available:usd 40`,
  ]);
});

test('after a leap of the clock it waits until nothing can be committed into the past, and then catches up', async () => {
  // Both transfers are on the same day, whenever this runs.
  await until(midnight);
  await write(world.deps, merchant, [credit(clock.now(), 5n)]);
  clock.shiftTo(500 * DAY);
  expect(await close()).toBe(0);
  await world.clock.advance(59_999);
  expect(await close()).toBe(0);
  // Decided before the leap, committed after it.
  await write(world.deps, merchant, [credit(world.clock.now(), 2n)]);
  await world.clock.advance(1);
  expect(await close()).toBe(400);
  expect(await close()).toBeGreaterThan(90);
  expect(await close()).toBe(0);
  expect(await world.store.lastClosedDay()).toBe(dayOf(clock.now() - DAY - HOUR));
  expect((await closed()).at(0)).toMatch(/float:usd -7$/);
});

/** The end of the day before yesterday: long ago, even by the database's clock. */
const longAgo = (): number => midnight - 2 * DAY - 1;

test('a change decided on a day that has since been closed is not written, and harms no other in its batch', async () => {
  await write(world.deps, merchant, [credit(longAgo() - 1, 5n)]);
  await until(midnight - 1);
  expect(await close()).toBe(2);
  const late = write(world.deps, merchant, [credit(longAgo(), 2n)]);
  const inTime = write(world.deps, merchant, [credit(clock.now(), 3n)]);
  await expect(late).rejects.toThrow(new StoreUnavailable('the day of that movement is closed'));
  expect(await inTime).toHaveLength(1);
  await until(midnight + HOUR);
  expect(await close()).toBe(1);
  expect((await closed()).filter((line) => line.includes('merchant'))).toEqual([
    `${dayOf(longAgo())} merchant:available:usd 5`,
    `${dayOf(midnight - 1)} merchant:available:usd 8`,
  ]);
  expect(await world.store.auditAll()).toMatchObject({ findings: [] });
});

test('a day with a transfer in flight is not closed yet', async () => {
  await write(world.deps, merchant, [credit(longAgo() - 1, 5n)]);
  await until(midnight - 1);
  const slow = await world.database.connect();
  try {
    await slow.query('begin');
    await slow.query('select may_transfer($1::timestamptz)', [new Date(longAgo())]);
    expect([await close(), await world.store.lastClosedDay()]).toEqual([0, undefined]);
    expect(world.log.lines.join()).toContain('days_not_closed');
    await slow.query('commit');
  } finally {
    slow.release();
  }
  expect(await close()).toBe(2);
});

test('days that were closed too early, by a clock that has been corrected since, still accept present bookings', async () => {
  const now = Date.now();
  await write(world.deps, merchant, [credit(now, 5n)]);
  const ahead = { ...clock, now: () => now + 3 * DAY };
  expect(await closeDays({ store: world.store, clock: ahead, log: world.log })).toBeGreaterThan(1);
  await write(world.deps, merchant, [credit(now, 2n)]);
  await expect(write(world.deps, merchant, [credit(now - HOUR, 1n)])).rejects.toThrow(StoreUnavailable);
});

test('a stricter default isolation of the database is overridden, because it would hide the fence', async () => {
  const [named] = await rowsOf<{ name: string }>(world, 'select current_database() as name');
  await world.database.query(`alter database ${named?.name} set default_transaction_isolation to 'repeatable read'`);
  for (const patient of [false, true]) {
    const line = openConnection({ url: world.databaseUrl, name: 'manners', onError: () => undefined, patient });
    const seen: (string | null)[] = [];
    const statement = { name: 'isolation', text: 'show transaction_isolation' };
    await line.run([{ statement, values: () => [], onRow: (row) => seen.push(...row) }]);
    expect(seen).toEqual(['read committed']);
    await line.close();
  }
});
