/**
 * The inquiry round while one upstream does not answer: the others' customers still hear of their payments.
 */

import { afterAll, expect, test } from 'vitest';
import { challenged } from '../support/card-payments.ts';
import { statusOf } from '../support/flows.ts';
import { pushed } from '../support/phone-payments.ts';
import { until } from '../support/waiting.ts';
import { openWorld } from '../support/world.ts';

const world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
const merchant = await world.merchant();
afterAll(() => world.close());

/** 40: more than are inquired about at once. */
const CARDS = 40;

test('forty challenges that the card network does not answer about do not hold up a payment by phone', async () => {
  await Promise.all(Array.from({ length: CARDS }, () => challenged(world, merchant)));
  let asked = 0;
  world.sandbox.app.server.on('request', ({ url }) => {
    if (url?.includes('/merchant/') === true) asked += 1;
  });
  world.sandbox.faults.set('cardnet', { delay_ms: 60 * 60_000 });
  // Only the clock moves: waiting for the round's end would mean waiting for the card network.
  await until(async () => {
    await world.clock.advance(250);
    await world.gateway.store.ping();
    return asked >= 32 ? true : undefined;
  }, 2_000);
  const paying = await pushed(world, merchant, '08');
  await until(async () => {
    await world.clock.advance(1_000);
    return (await statusOf(world, paying)) === 'approved' ? true : undefined;
  });
  expect(asked).toBe(32);
  world.sandbox.faults.clear();
  await world.clock.advance(60 * 60_000);
});
