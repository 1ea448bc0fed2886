/**
 * A process of the API whose clock is far from the database's changes nothing: by a clock that is a day fast, a reply that is kept
 * for an Idempotency-Key would count as forgotten, and its call would be made anew.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { manualClock } from '../../src/platform/testing/manual-clock.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { expectRefusal } from '../support/envelope.ts';
import { bearerOf, freshKey } from '../support/flows.ts';
import { openSecond, type Second } from '../support/second-gateway.ts';
import { callAt, openWorld, WORLD_MASTER_KEY, type World } from '../support/world.ts';

const DAY = 24 * 60 * 60_000;
const MINUTE = 60_000;
const PRODUCTION = {
  GATEWAY_MODE: 'production',
  PUBLIC_URL: 'https://pay.example.com',
  MASTER_KEY: WORLD_MASTER_KEY,
};

let world: World;
let merchant: MerchantCreated;
const seconds: Second[] = [];

// The database's clock is the machine's, so the world begins now.
beforeAll(async () => {
  world = await openWorld({ start: Date.now(), env: PRODUCTION });
  merchant = await world.merchant();
});
afterAll(async () => {
  await Promise.all(seconds.map((second) => second.close()));
  await world.close();
});

/** Another process's gateway, with a clock that differs by that many milliseconds. */
async function processApart(milliseconds: number) {
  const clock = manualClock(Date.now() + milliseconds);
  const second = await openSecond(world, clock, world.databaseUrl, { env: PRODUCTION, clock });
  seconds.push(second);
  const call = (method: string, path: string, headers = {}) =>
    callAt(second.url, method, path, {
      bearer: bearerOf(merchant),
      headers,
      ...(method === 'POST' ? { body: MINT } : {}),
    });
  return { clock, call };
}

const MINT = { amount: '5.00', currency: 'usd', customer_reference: 'order-1' };
const told = (event: string) => world.log.lines.filter((line) => line.includes(event)).length;

test.each([
  ['ahead', DAY + MINUTE],
  ['behind', -DAY - MINUTE],
])('a process whose clock is a day %s refuses changes, answers reads and is not ready', async (_which, apart) => {
  const key = freshKey();
  const mint = { bearer: bearerOf(merchant), body: MINT, headers: key };
  const first = await world.call('POST', '/internal/sessions/create', mint);
  expect(first.status, first.text).toBe(201);
  const [offBefore, rightBefore] = [told('clock_off'), told('clock_right_again')];

  const { clock, call } = await processApart(apart);
  const refused = [await call('POST', '/internal/sessions/create', key), await call('POST', '/internal/payouts')];
  for (const answer of refused) {
    expectRefusal(answer, 503, '1402');
    expect(answer.json).toMatchObject({ retryable: true, retry_after: 5 });
  }
  expect((await call('GET', '/internal/balances')).status).toBe(200);
  const unready = await call('GET', '/health/ready');
  expect([unready.status, unready.json.checks]).toEqual([503, { database: true, accepting: true, clock: false }]);
  expect((await call('GET', '/health')).status).toBe(200);
  expect(told('clock_off') - offBefore).toBe(1);

  // It is set right: noticed at once.
  if (apart > 0) clock.setBack(apart);
  else await clock.advance(-apart);
  const again = await call('POST', '/internal/sessions/create', key);
  expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([first.text, 'true']);
  expect((await call('GET', '/health/ready')).status).toBe(200);
  expect(told('clock_right_again') - rightBefore).toBe(1);
});

test('a few minutes are borne', async () => {
  for (const apart of [4 * MINUTE, -4 * MINUTE]) {
    const { call } = await processApart(apart);
    expect((await call('POST', '/internal/sessions/create')).status).toBe(201);
    expect((await call('GET', '/health/ready')).status).toBe(200);
  }
});
