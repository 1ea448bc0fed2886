/**
 * The archive and concurrent work: interrupted at any moment, run twice at once, beside locked rows; and what keeps a row live.
 */
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Insert } from '../../src/domain/change.ts';
import type { Refund } from '../../src/domain/outgoing-records.ts';
import { LATE_KEPT, LATE_WAITS } from '../../src/domain/reason.ts';
import type { Attempt, Payment } from '../../src/domain/records.ts';
import { attemptWith } from '../../src/domain/testing/attempts.ts';
import type { Random } from '../../src/platform/platform.ts';
import { seededRandom } from '../../src/platform/testing/seeded-random.ts';
import { type Archived, runArchive } from '../../src/usecases/archive-run.ts';
import { DAY, everything, id, over, SHARDS_USED, write, writePast } from '../support/archive-past.ts';
import { limitConnections } from '../support/limits-in-force.ts';
import { type OperatorWorld, openOperatorWorld } from '../support/operator-world.ts';
import { aSession, aTransfer, moving } from '../support/store-records.ts';

let world: OperatorWorld;
let client: pg.Client;

beforeEach(async () => {
  world = await openOperatorWorld();
  client = new pg.Client({ connectionString: world.databaseUrl });
  await client.connect();
});
afterEach(async () => {
  await client.end();
  await world.close();
});

const FEWEST_CUTS = 3;
const MAX_CUTS = 12;
const CUT = `select pg_terminate_backend(pid) from pg_stat_activity
  where application_name = 'mbongo archive' and datname = current_database()`;

function archive(): Promise<Archived> {
  return runArchive(world.deps, { months: 13, dry: false, rest: () => Promise.resolve() });
}

test('a run that is interrupted at any moment neither loses nor doubles anything, and continues where it was', async () => {
  const days = 700;
  const random = seededRandom(7);
  let cuts = 0;
  let pasts = 0;
  // While this process or the server stands still, a run may end before its cut comes.
  while (cuts < FEWEST_CUTS) {
    await writePast(world.store, world.clock.now(), days);
    pasts += 1;
    cuts += await archiveInPieces(random);
  }
  expect((await everything(client)).left).toBe(pasts * days * SHARDS_USED);
});

/** Archives all, in runs that are interrupted. Returns how many were. */
async function archiveInPieces(random: Random): Promise<number> {
  const { digests } = await everything(client);
  let cuts = 0;
  for (let done = false; !done; ) {
    // After some of its steps; nothing waits for the cut, which falls between two statements of a later step.
    let left = 1 + random.below(2);
    let cutting: Promise<pg.QueryResult> | undefined;
    const rest = (): Promise<void> => {
      left -= 1;
      if (left === 0 && cuts < MAX_CUTS) cutting = client.query(CUT);
      return Promise.resolve();
    };
    await runArchive(world.deps, { months: 13, dry: false, rest }).then(
      () => (done = true),
      () => undefined,
    );
    cuts += (await cutting)?.rowCount ?? 0;
    expect((await everything(client)).digests).toEqual(digests);
  }
  return cuts;
}

test('a run rests no longer than its steps took, although the clock was set forward by a day', async () => {
  await writePast(world.store, world.clock.now(), 1);
  let wall = 0;
  const clock = { ...world.clock, wall: () => (wall += DAY) };
  const rests: number[] = [];
  const rest = (took: number) => Promise.resolve(void rests.push(took));
  await runArchive({ ...world.deps, clock }, { months: 13, dry: false, rest });
  expect(rests.length).toBeGreaterThan(0);
  expect(Math.max(...rests)).toBeLessThanOrEqual(60_000);
});

test('two runs at once move each row once', async () => {
  const days = 300;
  await writePast(world.store, world.clock.now(), days);
  const { digests } = await everything(client);
  const both = await Promise.all([archive(), archive()]);
  expect(both.reduce((sum, { rows }) => sum + rows.payment, 0)).toBe(days * SHARDS_USED);
  expect(await everything(client)).toEqual({ digests, left: days * SHARDS_USED });
});

test('two runs at once move each row once, whatever isolation the database gives to transactions that name none', async () => {
  const { rows } = await client.query<{ name: string }>('select current_database() as name');
  await client.query(`alter database ${rows[0]?.name} set default_transaction_isolation = 'repeatable read'`);
  await writePast(world.store, world.clock.now(), 100);
  const both = await Promise.all([archive(), archive()]);
  expect(both.reduce((sum, { rows }) => sum + rows.payment, 0)).toBe(100 * SHARDS_USED);
});

test('a run that waits for another one heeds no limit of the database on whole transactions', async () => {
  const limit = 'transaction_timeout';
  // PostgreSQL has it since version 17.
  const known = await client.query('select from pg_settings where name = $1', [limit]);
  const limits = known.rowCount === 1 ? [limit] : [];
  await writePast(world.store, world.clock.now(), 1);
  const inForce = await limitConnections({ pool: world.database }, limits);
  expect((await archive()).rows.payment).toBe(SHARDS_USED);
  expect(await inForce()).toEqual(limits.map((name) => `${name} 0`));
});

test('a locked row is not waited for, and leaves the next time', async () => {
  await writePast(world.store, world.clock.now(), 1);
  await client.query('begin');
  await client.query('select from payment where shard = 1 for update');
  expect(await archive()).toMatchObject({ busy: 1, rows: { payment: SHARDS_USED - 1 } });
  await client.query('rollback');
  expect(await archive()).toMatchObject({ busy: 0, rows: { payment: 1 } });
});

test('a month’s tables are visible to all processes before anything is moved into them', async () => {
  await writePast(world.store, world.clock.now(), 1);
  const months = async (): Promise<number> => {
    const known = await client.query<{ name: string }>(
      `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
       where i.inhparent = 'archive.payment'::regclass`,
    );
    return known.rows.length;
  };
  expect(await months()).toBe(0);
  await client.query('begin');
  await client.query('select from payment for update');
  expect(await archive()).toMatchObject({ busy: SHARDS_USED, rows: { payment: 0 } });
  await client.query('rollback');
  expect(await months()).toBe(1);
});

test('a database that is newer than the program is left alone', async () => {
  await writePast(world.store, world.clock.now(), 1);
  await client.query('alter table payment add column of_tomorrow text');
  await expect(archive()).rejects.toThrow(/newest version/);
  const { rows } = await client.query('select from payment');
  expect(rows).toHaveLength(SHARDS_USED);
});

const at = (): number => world.clock.now() - 500 * DAY;
const recently = (): number => world.clock.now() - 100 * DAY;

/** Whether the payment was archived. */
async function leaves(payment: Payment, ...more: Insert[]): Promise<boolean> {
  await write(world.store, [{ table: 'payment', row: payment }, ...more]);
  const { rows } = await archive();
  return rows.payment === 1;
}

/** How many rows a live table has. */
async function left(table: string): Promise<number> {
  const { rows } = await client.query<{ left: number }>(`select count(*)::int4 as left from ${table}`);
  return rows[0]?.left ?? -1;
}

function attemptOf({ shard, id: payment_id, merchant_id }: Payment, more: Partial<Attempt>): Attempt {
  const settled = { status: 'approved', amount_minor: 1_275n, next_inquiry_at: null, settled_at: at() } as const;
  return attemptWith({
    shard,
    id: id('att', at(), shard),
    merchant_id,
    payment_id,
    created_at: at(),
    ...settled,
    ...more,
  });
}

function refundOf({ shard, id: payment_id, merchant_id }: Payment, more: Partial<Refund>): Refund {
  return {
    shard,
    id: id('rfd', at(), shard),
    version: 1,
    merchant_id,
    payment_id,
    status: 'completed',
    method: 'wallet',
    amount: '1.00',
    amount_minor: 100n,
    from_held_minor: 0n,
    currency: 'usd',
    note: null,
    msisdn: null,
    wallet_number: '1',
    connector: null,
    carrier: null,
    attempt_id: null,
    late_attempt_id: null,
    provider_reference: null,
    reason: null,
    tries: 1,
    next_start_at: null,
    created_at: at(),
    started_at: at(),
    completed_at: at(),
    ...more,
  };
}

describe('a payment stays', () => {
  test('not, once all of it is over', async () => {
    const { payment, event } = over(at());
    const attempt = attemptOf(payment, {});
    const whole = { ...payment, attempt_id: attempt.id };
    const earlier = attemptOf(payment, { status: 'not_sent' });
    const inserts: Insert[] = [
      { table: 'webhook_event', row: event },
      { table: 'attempt', row: attempt },
      { table: 'attempt', row: earlier },
      { table: 'refund', row: refundOf(payment, {}) },
    ];
    expect(await leaves(whole, ...inserts)).toBe(true);
    const { rows } = await client.query('select from archive.attempt');
    expect(rows).toHaveLength(2);
    expect((await client.query('select from attempt')).rows).toHaveLength(0);
  });

  test('while it has been final for too short a time', async () => {
    const { payment } = over(at());
    expect(await leaves({ ...payment, completed_at: recently() })).toBe(false);
  });

  test('while one of its events waits to be delivered', async () => {
    const { payment, event } = over(at());
    const row = { ...event, status: 'waiting', delivered_at: null } as const;
    expect(await leaves(payment, { table: 'webhook_event', row })).toBe(false);
  });

  test('while its money is held', async () => {
    const { payment } = over(at());
    expect(await leaves({ ...payment, delivery_behaviour: 'delayed_delivery' })).toBe(false);
  });

  test.each<[string, Partial<Attempt>]>([
    ['is open', { status: 'waiting', settled_at: null, next_inquiry_at: 1 }],
    ['is asked about once more', { status: 'declined', next_inquiry_at: 1 }],
    ['was settled late', { status: 'approved', settled_at: Date.now() - 100 * DAY }],
  ])('while one of its attempts %s', async (_what, more) => {
    const { payment } = over(at());
    const row = attemptOf(payment, more);
    expect(await leaves({ ...payment, attempt_id: row.id }, { table: 'attempt', row })).toBe(false);
    expect((await client.query('select from attempt')).rows).toHaveLength(1);
  });

  test('while an earlier attempt of it is still inquired about', async () => {
    const { payment } = over(at());
    const row = attemptOf(payment, { status: 'declined', next_inquiry_at: 1 });
    expect(await leaves(payment, { table: 'attempt', row })).toBe(false);
  });

  test.each<[string, Partial<Refund>]>([
    ['is open', { status: 'pending', completed_at: null }],
    ['was given not long ago', { completed_at: Date.now() - 100 * DAY }],
  ])('while one of its refunds %s', async (_what, more) => {
    const { payment } = over(at());
    expect(await leaves(payment, { table: 'refund', row: refundOf(payment, more) })).toBe(false);
  });

  test('while money of it is on its way back', async () => {
    const { payment } = over(at());
    expect(await leaves({ ...payment, refunding_minor: 100n })).toBe(false);
  });

  test('while an attempt at one of its refunds is inquired about, sent money late that has yet to be booked, or ended lately', async () => {
    const refunded = (more: Partial<Attempt>, isLate: boolean): Insert[] => {
      const { payment } = over(at());
      const refund = refundOf(payment, {});
      const row = attemptOf({ ...payment, id: refund.id }, { purpose: 'refund', ...more });
      const given = { ...refund, late_attempt_id: isLate ? row.id : null };
      return [
        { table: 'payment', row: payment },
        { table: 'refund', row: given },
        { table: 'attempt', row },
      ];
    };
    await write(world.store, [
      ...refunded({ status: 'declined', next_inquiry_at: 1 }, false),
      ...refunded({ reason: LATE_WAITS }, false),
      ...refunded({ settled_at: recently() }, true),
    ]);
    await archive();
    expect([await left('payment'), await left('refund'), await left('attempt')]).toEqual([3, 3, 3]);
  });

  test('while a proof of it waits for an operator', async () => {
    const { payment } = over(at());
    const { shard, id: payment_id, merchant_id } = payment;
    const file = { content_type: 'image/png', size: 1, digest: 'd', note: null } as const;
    const about = { shard, id: id('prf', at(), shard), version: 1, merchant_id, payment_id } as const;
    const row = { ...about, ...file, status: 'waiting', created_at: at(), decided_at: null } as const;
    expect(await leaves(payment, { table: 'proof', row })).toBe(false);
  });
});

describe('what belongs to a payment that stays', () => {
  /** A payment that stays because its webhook waits. */
  function staying(more: Partial<Payment> = {}): { readonly payment: Payment; readonly rows: readonly Insert[] } {
    const { payment: row, event } = over(at());
    const payment = { ...row, ...more };
    const waiting = { ...event, status: 'waiting', delivered_at: null } as const;
    return {
      payment,
      rows: [
        { table: 'payment', row: payment },
        { table: 'webhook_event', row: waiting },
      ],
    };
  }

  const OPEN = { status: 'pending', completed_at: null } as const;

  test('an attempt before its last leaves by itself, unless its order or its late money may still need it', async () => {
    const attempts = new Map<string, string>();
    const tried = (name: string, more: Partial<Attempt> = {}, of: Partial<Payment> = {}): Insert[] => {
      const { payment, rows } = staying(of);
      const row = attemptOf(payment, more);
      attempts.set(row.id, name);
      return [...rows, { table: 'attempt', row }];
    };
    const last = staying();
    const own = attemptOf(last.payment, {});
    attempts.set(own.id, 'the last one');
    const asked = staying();
    const inquired = attemptOf(asked.payment, { status: 'declined', next_inquiry_at: 1 });
    const beside = attemptOf(asked.payment, {});
    attempts.set(inquired.id, 'inquired about').set(beside.id, 'beside one that is inquired about');
    await write(world.store, [
      ...tried('no longer needed'),
      ...tried('of an open payment', {}, OPEN),
      ...tried('of a payment that ended lately', {}, { completed_at: recently() }),
      ...tried('by card', { method: 'card' }),
      ...tried('with late money for the merchant', { reason: LATE_KEPT }),
      ...tried('with late money that waits', { reason: LATE_WAITS }),
      { table: 'payment', row: { ...last.payment, attempt_id: own.id } },
      ...last.rows.slice(1),
      { table: 'attempt', row: own },
      ...asked.rows,
      { table: 'attempt', row: inquired },
      { table: 'attempt', row: beside },
    ]);
    await archive();
    const { rows } = await client.query<{ id: string }>('select id from archive.attempt');
    expect(rows.map((row) => attempts.get(row.id))).toEqual(['no longer needed']);
  });

  test('its session stays, too', async () => {
    const session = { ...aSession(1), id: id('ses', at(), 0), expires_at: at() };
    const { rows } = staying({ session_id: session.id });
    await write(world.store, [...rows, { table: 'session', row: session }]);
    await archive();
    expect(await left('session')).toBe(1);
  });

  test('its page leaves first, once the payment has long been over', async () => {
    const shown = (more: Partial<Payment> = {}): Insert[] => {
      const chk = id('chk', at(), 0);
      const { payment, rows } = staying({ checkout_id: chk, ...more });
      const { shard, merchant_id, session_id, id: payment_id } = payment;
      const given = { given_msisdn: null, given_wallet_number: null, given_flash_number: null };
      const times = { opened_at: null, created_at: at(), expires_at: at() };
      const about = { shard, id: chk, version: 1, merchant_id, session_id, payment_id };
      return [...rows, { table: 'checkout', row: { ...about, ...given, ticket_hash: 't', page_hash: null, ...times } }];
    };
    await write(world.store, [...shown(), ...shown(OPEN), ...shown({ completed_at: recently() })]);
    await archive();
    expect(await left('checkout')).toBe(2);
  });
});

test('a ledger line stays until its day is closed', async () => {
  const row = { ...aTransfer(id('trf', at(), 0), 'float:a', 'float:b', 1n), at: at() };
  expect(await world.store.commit(moving('line', row))).toBe('won');
  expect((await archive()).rows.ledger_transfer).toBe(0);
  const close = "insert into setting (shard, id, version, value) values (0, 'last_closed_day', 1, $1)";
  await client.query(close, [new Date(at()).toISOString().slice(0, 10)]);
  expect((await archive()).rows.ledger_transfer).toBe(1);
});

test('the requested age must be some months at least', async () => {
  const ask = (months: number) => runArchive(world.deps, { months, dry: true, rest: () => Promise.resolve() });
  for (const months of [0, 1, -13, 1.5, 601]) await expect(ask(months)).rejects.toThrow(/2 to 600 months/);
});
