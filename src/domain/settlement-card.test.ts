/** What is said of a card: which answers leave the session to its customer, and whom money that comes late belongs to. */
import { expect, test } from 'vitest';
import type { AttemptAnswer } from './answer.ts';
import type { Attempt, Payment, Session } from './records.ts';
import { settleAttempt } from './settlement.ts';
import { attempt, contextAt, hear, newWorld, payment, rowsOf, txn, type World } from './testing/settlement-world.ts';

const MINUTE = 60_000;
const paid: AttemptAnswer = { kind: 'approved', providerReference: 'p9' };
const waiting: AttemptAnswer = { kind: 'waiting', providerReference: null };

function cardWorld(columns: Partial<Attempt> = {}): World {
  const world = newWorld();
  world.attempt = { ...attempt, method: 'card', connector: 'mastercard', ...columns };
  world.payment = { ...payment, method: 'card', msisdn: null, carrier: null };
  return world;
}

test.each<[string, AttemptAnswer, Partial<Session>]>([
  ['declined', { kind: 'declined', reason: 'card_funds', providerReference: null }, { status: 'ACTIVE' }],
  ['paid', paid, { status: 'CONSUMED' }],
  ['unclear', { kind: 'unknown', reason: 'timeout' }, { status: 'CONSUMED' }],
])('at once: %s. The session is left for another collect only if the card has not paid', (_, said, left) => {
  const world = cardWorld();
  hear(world, said, 10, false);
  expect(world.session).toMatchObject({ submitting_payment_id: left.status === 'ACTIVE' ? null : txn, ...left });
});

test('a phone that refuses at once consumes the session all the same', () => {
  const world = newWorld();
  hear(world, { kind: 'declined', reason: 'customer_rejected', providerReference: null }, 10, false);
  expect([world.payment.status, world.payment.reason]).toEqual(['cancelled', 'customer_rejected']);
  expect(world.session.status).toBe('CONSUMED');
});

test.each<[Attempt['method'], string, bigint]>([
  ['card', 'approved', 0n],
  ['google_pay', 'pending', 1025n],
])('only money that has been taken carries a payment by %s that is with its customer again', (method, then, aside) => {
  const world = cardWorld({ method, status: 'not_sent', settled_at: 10 });
  world.payment = { ...world.payment, status: 'pending', attempt_id: null, submitted_at: null };
  world.session = { ...world.session, submitting_payment_id: null };
  hear(world, waiting, 20);
  expect([world.payment.status, world.session.status]).toEqual(['pending', 'ACTIVE']);
  hear(world, paid, 30);
  expect([world.payment.status, world.toSuspense]).toEqual([then, aside]);
});

test('an earlier card’s money waits to be found while another card is in flight, for twenty minutes', () => {
  const earlier = { id: 'att_0', status: 'declined', settled_at: 2, next_inquiry_at: null } as const;
  const inFlight = (columns: Partial<Payment> = {}): World => {
    const world = cardWorld(earlier);
    world.payment = { ...world.payment, ...columns };
    return world;
  };
  const last = 2 + 20 * MINUTE;
  const aside = (world: World, now: number): [bigint, number | null] => {
    hear(world, paid, now, 'hint');
    return [world.toSuspense, world.attempt.next_inquiry_at];
  };
  expect(aside(inFlight(), last - 1)).toEqual([0n, last - 1 + 5_000]);
  expect(aside(inFlight({ method: 'none' }), last - 1)[0]).toBe(0n);
  expect(aside(inFlight(), last)[0]).toBe(1025n);
  // Nobody looks for it there, or any more.
  expect(aside(inFlight({ method: 'mobile_money' }), 10)[0]).toBe(1025n);
  expect(aside(inFlight({ status: 'declined', completed_at: 5 }), 10)[0]).toBe(1025n);
  const world = inFlight();
  const decided = settleAttempt(rowsOf(world), paid, { ...contextAt(10), reason: 'settled_by_operator' });
  expect(decided).toMatchObject({ alarm: 'late_success', attempt: { status: 'approved' } });
  // What was refused, or is known to have paid, is nothing to look for.
  const refused: AttemptAnswer = { kind: 'declined', reason: 'card_funds', providerReference: null };
  expect(settleAttempt(rowsOf(world), refused, contextAt(10, 'hint')).change).toBeUndefined();
  const known = { ...rowsOf(world), attempt: { ...world.attempt, status: 'approved' as const } };
  expect(settleAttempt(known, paid, contextAt(10, 'hint')).change).toBeUndefined();
});
