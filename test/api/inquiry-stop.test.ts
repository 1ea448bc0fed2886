/**
 * A gateway stops while a carrier is being asked: what it answers is settled, and told, before the process ends.
 */

import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { manualClock } from '../../src/platform/testing/manual-clock.ts';
import { hooksAbout, statusOf } from '../support/flows.ts';
import { pushed } from '../support/phone-payments.ts';
import { openSecond } from '../support/second-gateway.ts';
import { until, whileTimePasses } from '../support/waiting.ts';
import { openWorld } from '../support/world.ts';

test('a payment that an inquiry settles during the stop has its webhook sent by the process that stops', async () => {
  const world = await openWorld({ role: 'api', env: { RATE_LIMIT_SCALE: '0' } });
  const merchant = await world.merchant();
  const worker = await openSecond(world, manualClock(0), world.databaseUrl, { role: 'worker' });
  const paying = await pushed(world, merchant, '08');
  // Longer than a round waits.
  world.sandbox.faults.set('mtn', { delay_ms: 3_000 });
  let isAsked = false;
  world.sandbox.app.server.on('request', ({ method, url }: IncomingMessage) => {
    if (method === 'GET' && url?.startsWith('/mtn/') === true) isAsked = true;
  });
  await until(async () => {
    await world.clock.advance(250);
    await world.gateway.store.ping();
    return isAsked || undefined;
  });
  await whileTimePasses(world, worker.close(), 250);
  expect(await statusOf(world, paying)).toBe('approved');
  expect(hooksAbout(world, paying.transaction_id)).toMatchObject([{ body: { status: 'approved' } }]);
  await world.close();
});
