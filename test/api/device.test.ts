/** The first device that a session shows is bound to it, on whatever call, even if two are shown at once. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CommitUnknown } from '../../src/store/errors.ts';
import { bindDevice } from '../../src/usecases/device-bind.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { callerBy } from '../support/direct-calls.ts';
import { expectRefusal } from '../support/envelope.ts';
import { rawPost, sendRaw } from '../support/raw.ts';
import { collectBody, mint, openWorld, type World } from '../support/world.ts';

let world: World;
let merchant: MerchantCreated;

beforeAll(async () => {
  world = await openWorld();
  merchant = await world.merchant();
});
afterAll(() => world.close());

const DEVICES = ['a', 'b', 'c', 'd'].map((digit) => digit.repeat(64));
const from = (device = DEVICES[0] ?? '') => ({ 'x-device-fingerprint': device });

test('a read that finds nothing binds', async () => {
  const { token } = await mint(world, merchant);
  const first = await world.call('GET', '/payments/status/txn_unknown', { bearer: token, headers: from() });
  expect(first.status).toBe(404);
  const other = await world.call('GET', '/payments/status/txn_unknown', { bearer: token, headers: from(DEVICES[1]) });
  expect(other.json).toMatchObject({ error_code: '1305' });
});

test('a collect that is refused binds; the same device can continue', async () => {
  const { token } = await mint(world, merchant);
  const collect = (method: string, device: string | undefined) =>
    world.call('POST', '/payments/collect', {
      bearer: token,
      body: collectBody(world, method),
      headers: from(device),
    });
  expect((await collect('nothing', DEVICES[0])).status).toBe(400);
  expect((await collect('none', DEVICES[1])).json).toMatchObject({ error_code: '1305' });
  expect((await collect('none', DEVICES[0])).status).toBe(200);
});

test('two fingerprints in one call bind neither; it is refused, and counts as a call all the same', async () => {
  const { token } = await mint(world, merchant);
  const lines = [`Authorization: Bearer ${token}`, 'Content-Type: application/json'];
  for (const digit of ['a', 'b']) lines.push(`X-Device-Fingerprint: ${digit.repeat(64)}`);
  for (const left of [119, 118]) {
    const twice = await sendRaw(world, rawPost('/payments/collect', lines, JSON.stringify(collectBody(world, 'none'))));
    expectRefusal(twice, 400, '1110', 'DUPLICATE_HEADER');
    expect(twice.headers.get('ratelimit')?.trim()).toMatch(new RegExp(`^"payments";r=${left};`));
  }
});

test('of racing devices, one is bound', async () => {
  const { token } = await mint(world, merchant);
  const call = (device: string) =>
    world.call('GET', '/payments/status/txn_unknown', { bearer: token, headers: from(device) });
  const answers = await Promise.all([...DEVICES, ...DEVICES].map(call));
  const statuses = answers.map(({ status }) => status).sort();
  expect(statuses).toEqual([403, 403, 403, 403, 403, 403, 404, 404]);
});

test('a currency other than the session’s is a mismatch, and a missing number and PIN are named together', async () => {
  const { token } = await mint(world, merchant);
  const body = { ...collectBody(world, 'none'), transactional_currency: 'cdf' };
  const drift = await world.call('POST', '/payments/collect', { bearer: token, body });
  expect(drift.json).toMatchObject({
    error_code: '1102',
    details: [{ field: 'transactional_currency', code: 'BINDING_DRIFT' }],
  });
  const made = await world.call('POST', '/payments/collect', { bearer: token, body: collectBody(world, 'none') });
  const submit = (payment_method_id: string) =>
    world.call('POST', '/payments/submit', {
      bearer: token,
      body: { payment_id: made.json.payment_id, payment_method_id },
    });
  for (const [method, prefix] of [
    ['wallet', 'ewallet'],
    ['flash', 'flash'],
  ] as const) {
    expect((await submit(method)).json).toMatchObject({
      error_code: '1109',
      details: [
        { field: `${prefix}_number`, code: 'REQUIRED' },
        { field: `${prefix}_pin`, code: 'REQUIRED' },
      ],
    });
  }
});

test('a device that was authenticated before another one was bound is refused, and does not go on as that one', async () => {
  const { token } = await mint(world, merchant);
  const { deps } = world.gateway;
  const { session } = await callerBy(world, merchant, token);
  const [first = '', second = ''] = DEVICES;
  expect((await bindDevice(deps, session, first)).device_fingerprint).toBe(first);
  await expect(bindDevice(deps, session, second)).rejects.toMatchObject({ code: 1305 });
  expect((await bindDevice(deps, session, first)).device_fingerprint).toBe(first);
});

test('whether an unacknowledged commit has bound it is looked up: no caller is told that the call is in doubt', async () => {
  const { token } = await mint(world, merchant);
  const { store } = world.gateway.deps;
  const { session } = await callerBy(world, merchant, token);
  let commits = 0;
  const commit: typeof store.commit = async (change) => {
    const outcome = await store.commit(change);
    commits += 1;
    if (commits === 1) throw new CommitUnknown();
    return outcome;
  };
  const bound = await bindDevice({ store: { ...store, commit } }, session, DEVICES[0] ?? '');
  expect([bound.device_fingerprint, commits]).toEqual([DEVICES[0], 1]);
});
