/** Money that turns out to have come by an earlier attempt at a card payment, whatever has become of the present one meanwhile. */
import { expect, test } from 'vitest';
import { settleByEarlier } from './earlier-attempt.ts';
import type { Attempt, Payment } from './records.ts';
import type { Settlement } from './settlement.ts';
import { apply, attempt, contextAt, newWorld, payment, rowsOf, type World } from './testing/settlement-world.ts';

const MINUTE = 60_000;
const paid = { kind: 'approved', providerReference: 'p9' } as const;
const earlier: Attempt = {
  ...attempt,
  id: 'att_0',
  method: 'card',
  connector: 'mastercard',
  status: 'not_sent',
  settled_at: 1,
  next_inquiry_at: 60 * MINUTE,
};

function cardWorld(present: Partial<Attempt>, columns: Partial<Payment> = {}): World {
  const world = newWorld();
  world.attempt = { ...attempt, method: 'card', connector: 'mastercard', ...present };
  world.payment = { ...payment, method: 'card', msisdn: null, carrier: null, ...columns };
  return world;
}

/** Writes what is learnt at `now`; the world's attempt is the earlier one from then on. */
function learn(world: World, now: number, known = earlier): Settlement {
  const settled = settleByEarlier(rowsOf(world), known, paid, contextAt(now));
  const { change = {} } = settled;
  const others = (change.updates ?? []).filter(({ table, id }) => table !== 'attempt' || id === known.id);
  world.attempt = known;
  apply(world, { ...change, updates: others });
  return settled;
}

test.each(['intended', 'challenged'] as const)('the payment takes it while the present one is %s', (status) => {
  const world = cardWorld({ status });
  const { change, alarm } = learn(world, 10);
  expect([world.payment.status, world.payment.attempt_id, world.toSuspense, alarm]).toEqual([
    'approved',
    'att_0',
    0n,
    undefined,
  ]);
  const closed = change?.updates?.find(({ id }) => id === attempt.id);
  expect(closed?.row).toMatchObject({ status: status === 'intended' ? 'not_sent' : 'declined', reason: 'not_asked' });
});

test('it is looked at again soon while the present one has asked for money, too', () => {
  const world = cardWorld({ status: 'authenticated' });
  learn(world, 10);
  expect([world.payment.status, world.attempt.status, world.toSuspense]).toEqual(['processing', 'not_sent', 0n]);
  expect(world.attempt.next_inquiry_at).toBeLessThan(MINUTE);
});

test.each([
  ['the present one has ended', { status: 'declined', settled_at: 5, next_inquiry_at: null }],
  ['the present one was read before it ended', { status: 'challenged' }],
] as const)('it is late where its payment has ended: %s', (_name, present) => {
  const world = cardWorld(present, { status: 'declined', completed_at: 5 });
  const { alarm } = learn(world, 10);
  expect([world.payment.status, world.attempt.status, world.toSuspense]).toEqual(['declined', 'approved', 1025n]);
  expect(alarm).toBe('late_success');
  expect(learn(world, 20, world.attempt).change).toBeUndefined();
  expect(world.toSuspense).toBe(1025n);
});

test('nothing is decided on an attempt that has ended beside a payment that does not show it yet', () => {
  const world = cardWorld({ status: 'not_sent', settled_at: 5 });
  const { change } = learn(world, 10);
  expect(change).toEqual({
    updates: [expect.objectContaining({ table: 'payment', version: payment.version, row: {} })],
  });
});

test('it completes a payment that is back with its customer', () => {
  const world = cardWorld({ status: 'not_sent' }, { status: 'pending', attempt_id: null, submitted_at: null });
  world.session = { ...world.session, submitting_payment_id: null };
  learn(world, 10);
  expect([world.payment.status, world.session.status, world.toSuspense]).toEqual(['approved', 'CONSUMED', 0n]);
});
