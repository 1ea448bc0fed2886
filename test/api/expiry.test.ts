/** The expiry of payments: of many at once, and of some that change meanwhile. */

import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeId, shardOf } from '../../src/domain/ids.ts';
import { CODE_LIFE_MS } from '../../src/domain/one-time-code.ts';
import { manualClock } from '../../src/platform/testing/manual-clock.ts';
import { StoreRefused } from '../../src/store/errors.ts';
import { expireDue, openExpiry } from '../../src/usecases/payment-expire.ts';
import { collect, payFromWallet, statusOf } from '../support/flows.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

/** More than one read finds. */
const COUNT = 1_100;

test('all that are due are ended in one run, read by read, but none after the round has been told to stop', async () => {
  const { deps } = world.gateway;
  const { payment } = deps.store;
  const stopping = new AbortController();
  let reads = 0;
  const stopped: typeof payment.get = (...key) => {
    stopping.abort();
    return payment.get(...key);
  };
  const counted: typeof payment.toExpire = (...question) => {
    reads += 1;
    return payment.toExpire(...question);
  };
  const withPayment = (watched: Partial<typeof payment>) => ({
    ...deps,
    store: { ...deps.store, payment: { ...payment, ...watched } },
  });
  const { transaction_id: source } = await collect(world, await world.merchant());
  const shard = shardOf(source);
  const ids = Array.from({ length: COUNT }, () => makeId('txn', deps.clock.now(), deps.random.bytes(16), shard));
  const client = new pg.Client({ connectionString: world.databaseUrl });
  await client.connect();
  await client.query(
    `insert into payment select (jsonb_populate_record(p, jsonb_build_object('id', fresh, 'expires_at', $3::text))).*
     from payment p, unnest($2::text[]) fresh where p.id = $1`,
    [source, ids, new Date(deps.clock.now()).toISOString()],
  );
  const expired = async (): Promise<number> => {
    const { rows } = await client.query("select count(*)::int4 from payment where status = 'expired'");
    return rows[0].count;
  };
  try {
    expect(await expireDue(deps, AbortSignal.abort())).toBe(0);
    expect(await expired()).toBe(0);
    const some = await expireDue(withPayment({ get: stopped }), stopping.signal);
    expect(some).toBeLessThan(COUNT);
    expect(await expired()).toBe(some);
    const read = withPayment({ toExpire: counted });
    const refuse = () => Promise.reject(new StoreRefused('23514', 'payment_check'));
    const failing = { ...read, store: { ...read.store, commit: refuse }, log: { ...deps.log, error: () => undefined } };
    await expect(expireDue(failing, new AbortController().signal)).rejects.toThrow('could not be ended');
    // What could not be ended would be the whole of the next read, too.
    expect([reads, await expired()]).toEqual([1, some]);
    expect(await expireDue(read, new AbortController().signal)).toBe(COUNT - some);
    expect([reads, await expired()]).toEqual([3, COUNT]);
  } finally {
    await client.end();
  }
});

test('a payment that cannot be ended is logged, and keeps no other from ending', async () => {
  const { deps } = world.gateway;
  const merchant = await world.merchant();
  const [bad, good] = [await collect(world, merchant), await collect(world, merchant)];
  const { store } = deps;
  const commit: typeof store.commit = async (change) => {
    if (change.updates?.some(({ id }) => id === bad.transaction_id)) throw new StoreRefused('23514', 'payment_check');
    return store.commit(change);
  };
  const later = manualClock(deps.clock.now() + 24 * 60 * 60_000);
  const failing = { ...deps, clock: later, store: { ...store, commit } };
  await expect(expireDue(failing, new AbortController().signal)).rejects.toThrow('could not be ended');
  expect([await statusOf(world, bad), await statusOf(world, good)]).toEqual(['pending', 'expired']);
  const logged = world.log.lines.filter((line) => line.includes('expiry_failed'));
  expect(logged.map((line) => JSON.parse(line))).toMatchObject([{ transaction_id: bad.transaction_id }]);
});

test('a payment that is paid, and one that gets another code, after the round has read that they are due do not expire', async () => {
  const { deps } = world.gateway;
  const merchant = await world.merchant();
  const [wallet, phone] = [await world.wallet({ balance: 500_00n }), '+243810000499'];
  const minted = { ttl_seconds: 60 };
  const paid = await collect(world, merchant, { minted });
  const [longer, due] = await Promise.all(
    [1, 2].map(async () => {
      const paying = await collect(world, merchant, { minted: { ...minted, amount: '150.00' } });
      const from = await world.wallet({ balance: 500_00n, phone });
      expect((await payFromWallet(world, paying, from)).json.status).toBe('pending_otp_verification');
      return paying;
    }),
  );
  if (longer === undefined || due === undefined) throw new Error('two were collected');
  await world.clock.advance(1_000);
  const { payment } = deps.store;
  const toExpire: typeof payment.toExpire = async (...question) => {
    const found = await payment.toExpire(...question);
    expect((await payFromWallet(world, paid, wallet)).json.status).toBe('approved');
    const body = { payment_id: longer.payment_id };
    const resent = await world.call('POST', '/payments/resend-otp', { bearer: longer.token, body });
    expect(resent.status, resent.text).toBe(200);
    expect(found.map(({ id }) => id)).toEqual(
      expect.arrayContaining([paid, longer, due].map((one) => one.transaction_id)),
    );
    return found;
  };
  // By then the first codes have ended, but not the one that is sent in between.
  const later = manualClock(deps.clock.now() + CODE_LIFE_MS - 1);
  const expiring = { ...deps, clock: later, store: { ...deps.store, payment: { ...payment, toExpire } } };
  await expireDue(expiring, new AbortController().signal);
  const statuses = await Promise.all([paid, longer, due].map((one) => statusOf(world, one)));
  expect(statuses).toEqual(['approved', 'pending_otp_verification', 'expired']);
});

test('what waits for its upstream is read once a minute, and only then', async () => {
  const { deps } = world.gateway;
  const { payment } = deps.store;
  const asked: (readonly [number, number | undefined])[] = [];
  const toExpire: typeof payment.toExpire = (now, limit, after) => {
    asked.push([now, after]);
    return payment.toExpire(now, limit, after);
  };
  const clock = manualClock(deps.clock.now());
  const expire = openExpiry({ ...deps, clock, store: { ...deps.store, payment: { ...payment, toExpire } } });
  const start = clock.now();
  const after = async (milliseconds: number) => {
    await clock.advance(milliseconds);
    await expire(new AbortController().signal);
    const [now = 0, since] = asked.at(-1) ?? [];
    return [now - start, since === undefined ? 'all' : since - start];
  };
  const MINUTE = 60_000;
  // A run that was told to stop may have left some.
  await expire(AbortSignal.abort());
  expect(asked).toEqual([]);
  expect(await after(0)).toEqual([0, 'all']);
  expect(await after(MINUTE - 1)).toEqual([MINUTE - 1, -MINUTE]);
  expect(await after(1)).toEqual([MINUTE, 'all']);
  expect(await after(1_000)).toEqual([MINUTE + 1_000, 0]);
  clock.setBack(2 * MINUTE);
  expect(await after(0)).toEqual([1_000 - MINUTE, 'all']);
});
