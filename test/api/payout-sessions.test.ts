/**
 * Which sessions may pay out: one that only a backend has used. Any other learns that, and nothing about the payouts that were made.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { payoutOrder } from '../../src/http/payout-faults.ts';
import type { PayoutBody } from '../../src/http/payout-schemas.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { setMerchantStatus } from '../../src/usecases/merchant-status.ts';
import { sendPayout } from '../../src/usecases/payout-send.ts';
import { callerBy, plainly } from '../support/direct-calls.ts';
import { expectRefusal } from '../support/envelope.ts';
import { bearerOf, collect, type Fields, payFromWallet } from '../support/flows.ts';
import { createPayout, payoutBody } from '../support/payout-flows.ts';
import { availableOf, openPayer } from '../support/payout-lines.ts';
import { collectBody, mint, openWorld, type World } from '../support/world.ts';

let world: World;
let merchant: MerchantCreated;
let token: string;

beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
  merchant = await openPayer(world, 2_000_000_00n);
  ({ token } = await mint(world, merchant, { scope: 'payout', ttl_seconds: 86_400 }));
});
afterAll(() => world.close());

const sendWith = (bearer: string, headers: Readonly<Record<string, string>> = {}, more: Fields = {}) =>
  world.call('POST', '/payments/send', { bearer, body: payoutBody(world, more), headers });
const device = { 'x-device-fingerprint': 'a'.repeat(64) };

test('a session with the scope collect may not pay out, whatever it sends', async () => {
  const made = await mint(world, merchant, { scope: 'collect' });
  expectRefusal(await sendWith(made.token), 403, '1003', 'WRONG_SCOPE');
  expectRefusal(await sendWith(made.token, {}, { currency: 'x' }), 403, '1003', 'WRONG_SCOPE');
});

test('a session with the scope collect does not learn of a payout either, even with its key and its body', async () => {
  const key = { 'idempotency-key': 'scoped' };
  const paid = await sendWith(token, key);
  expect(paid.status, paid.text).toBe(200);
  const made = await mint(world, merchant, { scope: 'collect' });
  expectRefusal(await sendWith(made.token, key), 403, '1003', 'WRONG_SCOPE');
  const other = await mint(world, merchant, { scope: 'payout' });
  expect((await sendWith(other.token, key)).text).toBe(paid.text);
});

test('a session that has collected may not', async () => {
  const made = await mint(world, merchant);
  expect((await sendWith(made.token)).status).toBe(200);
  const collected = await world.call('POST', '/payments/collect', {
    bearer: made.token,
    body: collectBody(world, 'none'),
  });
  expect(collected.status, collected.text).toBe(200);
  expectRefusal(await sendWith(made.token), 403, '1003', 'SESSION_COLLECTED');
});

test('a session that collects while its payout is being made may not, and nothing is made', async () => {
  const made = await mint(world, merchant);
  const { store } = world.gateway;
  const commit = store.commit.bind(store);
  const spy = vi.spyOn(store, 'commit').mockImplementation(async (change) => {
    if (!change.claims?.some(({ table }) => table === 'payout_batch')) return commit(change);
    spy.mockRestore();
    const body = collectBody(world, 'none');
    expect((await world.call('POST', '/payments/collect', { bearer: made.token, body })).status).toBe(200);
    return commit(change);
  });
  const before = await availableOf(world, merchant);
  expectRefusal(await sendWith(made.token), 403, '1003', 'SESSION_COLLECTED');
  expect(await availableOf(world, merchant)).toBe(before);
});

test('a session that has collected, paid or shown a device does not learn of a payout under its key', async () => {
  const key = { 'idempotency-key': 'kept' };
  expect((await sendWith(token, key)).status).toBe(200);
  const bound = (await mint(world, merchant)).token;
  const read = await world.call('GET', '/payments/get-config-bank', { bearer: bound, headers: device });
  expect(read.status, read.text).toBe(200);
  const collecting = await collect(world, merchant);
  const consumed = await collect(world, merchant);
  expect((await payFromWallet(world, consumed, await world.wallet())).status).toBe(200);
  for (const [session, status, code, detail] of [
    [bound, 403, '1003', 'SESSION_ON_DEVICE'],
    [collecting.token, 403, '1003', 'SESSION_COLLECTED'],
    [consumed.token, 401, '1001', 'SESSION_CONSUMED'],
  ] as const)
    for (const body of [{}, { customer_reference: 'another' }, { currency: 'x' }])
      expectRefusal(await sendWith(session, key, body), status, code, detail);
});

test('a session that is bound to a device may not, whether by this call or by an earlier one', async () => {
  const made = await mint(world, merchant);
  expectRefusal(await sendWith(made.token, device), 403, '1003', 'SESSION_ON_DEVICE');
  expectRefusal(await sendWith(made.token, device), 403, '1003', 'SESSION_ON_DEVICE');
  // Nor without it; another device is refused as everywhere.
  expectRefusal(await sendWith(made.token), 403, '1003', 'SESSION_ON_DEVICE');
  const other = { 'x-device-fingerprint': 'b'.repeat(64) };
  expectRefusal(await sendWith(made.token, other), 403, '1305', 'OTHER_DEVICE');
});

test('a session of a suspended merchant may not', async () => {
  const suspended = await openPayer(world, 100_00n);
  const made = await mint(world, suspended);
  await setMerchantStatus(world.gateway.deps, suspended.merchant.id, 'SUSPENDED');
  expectRefusal(await sendWith(made.token), 403, '1004');
  expectRefusal(await createPayout(world, suspended), 403, '1004');
});

test('a session whose time ends while its payout waits may not, and nothing is made', async () => {
  const made = await mint(world, merchant, { ttl_seconds: 1 });
  const { deps } = world.gateway;
  const caller = await callerBy(world, merchant, made.token);
  const order = payoutOrder(deps, caller.merchant, payoutBody(world) as PayoutBody, 'fr');
  await world.clock.advance(1_000);
  const before = await availableOf(world, merchant);
  const sent = sendPayout(deps, caller, order, { dryRun: false }, plainly);
  await expect(sent).rejects.toMatchObject({ code: 1005 });
  expect(await availableOf(world, merchant)).toBe(before);
});

test('a session may pay out though its own amount and currency differ', async () => {
  const made = await mint(world, merchant, { amount: '1.00', currency: 'cdf' });
  expect((await sendWith(made.token)).status).toBe(200);
});

test('a session is not a merchant credential, and vice versa', async () => {
  const body = payoutBody(world);
  expectRefusal(
    await world.call('POST', '/internal/payouts', { bearer: token, body }),
    403,
    '1003',
    'WRONG_CREDENTIAL_KIND',
  );
  expectRefusal(await sendWith(bearerOf(merchant)), 403, '1003', 'WRONG_CREDENTIAL_KIND');
});
