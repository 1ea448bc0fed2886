/**
 * Tries of a card payment that have not asked for money: they are marked, and the network is never inquired about them.
 */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { submitCard } from '../support/card-payments.ts';
import { expectRefusal } from '../support/envelope.ts';
import { type FickleDesk, openFickleDesk } from '../support/fickle-desk.ts';
import { type FickleNetwork, refusal } from '../support/fickle-network.ts';
import { rowsOf } from '../support/rows.ts';
import type { World } from '../support/world.ts';

let desk: FickleDesk;
let network: FickleNetwork;
let world: World;

beforeAll(async () => {
  desk = await openFickleDesk();
  ({ network, world } = desk);
});
afterEach(() => desk.reset());
afterAll(() => desk.close());

test('tries that have not asked for money because too much time had passed, are marked', async () => {
  const paying = await desk.collected();
  network.issuer = 'SUCCESSFUL';
  const slow = network.hold('authenticate');
  const submitted = submitCard(world, paying);
  await slow.asked;
  const pays = network.count('pay');
  await world.clock.advance(23_000);
  slow.answer();
  expectRefusal(await submitted, 502, '1404', 'CARRIER_DOWN');
  expect(network.count('pay')).toBe(pays);
  const [attempt] = await rowsOf(world, 'select reason, next_inquiry_at from attempt where payment_id = $1', [
    paying.transaction_id,
  ]);
  expect(attempt).toEqual({ reason: 'not_asked', next_inquiry_at: null });
});

test('an authentication that took twenty-one seconds is not too late', async () => {
  const paying = await desk.collected();
  network.issuer = 'SUCCESSFUL';
  const slow = network.hold('authenticate');
  const submitted = submitCard(world, paying);
  await slow.asked;
  await world.clock.advance(21_000);
  slow.answer();
  expect((await submitted).json).toMatchObject({ status: 'approved' });
});

test('tries that have not asked for money because the network was unreachable, are never inquired about, now or later', async () => {
  const paying = await desk.collected();
  network.issuer = 'SUCCESSFUL';
  network.instead('initiate', refusal('SERVER_BUSY'));
  for (let tries = 0; tries < 5; tries += 1) {
    expectRefusal(await submitCard(world, paying), 502, '1404', 'CARRIER_DOWN');
  }
  network.instead('initiate', undefined);
  const before = [network.count('inquire'), network.count('order')];
  expect((await submitCard(world, paying)).json).toMatchObject({ status: 'approved' });
  expect([network.count('inquire'), network.count('order')]).toEqual(before);
  const tries = await rowsOf<{ status: string; reason: string | null; next_inquiry_at: string | null }>(
    world,
    'select status, reason, next_inquiry_at from attempt where payment_id = $1 order by id',
    [paying.transaction_id],
  );
  const unasked = { status: 'not_sent', reason: 'not_asked', next_inquiry_at: null };
  expect(tries.slice(0, 5)).toEqual([unasked, unasked, unasked, unasked, unasked]);
});
