/** The first device that a session shows is bound to it, on whatever call, also when two show themselves at once. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
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

test('a collect that is refused binds; the same device goes on', async () => {
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

test('of devices that race one is bound', async () => {
  const { token } = await mint(world, merchant);
  const call = (device: string) =>
    world.call('GET', '/payments/status/txn_unknown', { bearer: token, headers: from(device) });
  const answers = await Promise.all([...DEVICES, ...DEVICES].map(call));
  const statuses = answers.map(({ status }) => status).sort();
  expect(statuses).toEqual([403, 403, 403, 403, 403, 403, 404, 404]);
});

test('another currency than the session’s is drift, a missing number and PIN are named together', async () => {
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
