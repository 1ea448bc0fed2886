import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AttemptAnswer } from './answer.ts';
import { isFinal } from './payment.ts';
import type { Session } from './records.ts';
import { settleAttempt } from './settlement.ts';
import {
  attempt,
  contextAt,
  hear,
  newWorld,
  payment,
  rowsOf,
  SETTLE_DELAY_MS,
  txn,
} from './testing/settlement-world.ts';

const DAY = 24 * 60 * 60_000;

const answer = fc.oneof(
  fc.constant<AttemptAnswer>({ kind: 'approved', providerReference: 'p1' }),
  fc.constant<AttemptAnswer>({ kind: 'waiting', providerReference: null }),
  fc.constantFrom<AttemptAnswer>(
    { kind: 'declined', reason: 'insufficient_funds', providerReference: null },
    { kind: 'declined', reason: 'customer_rejected', providerReference: null },
    { kind: 'declined', reason: 'prompt_expired', providerReference: null },
  ),
  fc.constant<AttemptAnswer>({ kind: 'unknown', reason: 'timeout' }),
  fc.constant<AttemptAnswer>({ kind: 'not_found' }),
);

describe('an upstream says', () => {
  test('accepted: the session is consumed, its other payment cancelled with an event', () => {
    const world = newWorld();
    const { change } = hear(world, { kind: 'waiting', providerReference: null }, 10, false);
    expect(world.payment.status).toBe('pending_mobile_money_verification');
    expect(world.session.status).toBe('CONSUMED');
    expect(world.sibling).toMatchObject({ status: 'cancelled', reason: 'sibling_paid', completed_at: 10 });
    expect(world.events.map((event) => event.type)).toEqual(['payment.cancelled']);
    const timeline = change?.inserts?.filter((insert) => insert.table === 'payment_history');
    expect(timeline?.map(({ row }) => [row.payment_id, row.status, row.reason])).toEqual([
      [txn, 'pending_mobile_money_verification', null],
      [world.sibling.id, 'cancelled', 'sibling_paid'],
    ]);
  });

  test('accepted: what has become of the session’s other payment before stays as it is', () => {
    const world = newWorld();
    world.sibling = { ...world.sibling, status: 'declined', reason: 'insufficient_funds', completed_at: 5 };
    const before = world.sibling;
    expect(hear(world, { kind: 'waiting', providerReference: null }, 10, false).alarm).toBeUndefined();
    expect([world.session.status, world.sibling, world.events]).toEqual(['CONSUMED', before, []]);
  });

  test('paid: amount to the merchant, fee to us, one event', () => {
    const world = newWorld();
    hear(world, { kind: 'waiting', providerReference: null }, 10, false);
    hear(world, { kind: 'approved', providerReference: 'p1' }, 20);
    expect(world.payment).toMatchObject({ status: 'approved', completed_at: 20, provider_reference: 'p1' });
    expect([world.toMerchant, world.toFees]).toEqual([1000n, 25n]);
    expect(world.events.at(-1)?.type).toBe('payment.approved');
  });

  test('paid at once, to a submit whose method was still open: the fee is that of the method that paid', () => {
    const world = newWorld();
    world.payment = { ...payment, method: 'none', fee_minor: 0n, total_minor: 1000n, msisdn: null, carrier: null };
    hear(world, { kind: 'approved', providerReference: 'p1' }, 10, false);
    expect(world.payment).toMatchObject({
      status: 'approved',
      method: 'mobile_money',
      fee_minor: 25n,
      total_minor: 1025n,
    });
    expect([world.toMerchant, world.toFees]).toEqual([1000n, 25n]);
  });

  test('accepted, while another payment holds the session: that one keeps it', () => {
    const world = newWorld();
    world.session = { ...world.session, submitting_payment_id: `${txn}2` };
    const before = world.session;
    hear(world, { kind: 'waiting', providerReference: null }, 10, false);
    expect([world.session, world.sibling.status, world.events]).toEqual([before, 'pending', []]);
  });

  test('never taken, of a token that came with the collect: the payment fails, its session is consumed all the same', () => {
    const world = newWorld();
    world.attempt = { ...attempt, method: 'google_pay' };
    world.payment = { ...payment, status: 'pending', method: 'google_pay' };
    world.session = { ...world.session, status: 'CONSUMED' };
    const { alarm } = hear(world, { kind: 'not_sent', reason: 'refused' }, 10, false);
    expect([alarm, world.payment.status, world.session.status]).toEqual([undefined, 'failed', 'CONSUMED']);
  });

  test('a no that the payment’s state does not allow: a person is called, and nothing is written', () => {
    const world = newWorld();
    world.attempt = { ...attempt, method: 'google_pay' };
    world.payment = { ...payment, status: 'pending', method: 'google_pay' };
    const before = { ...world };
    const said = { kind: 'declined', reason: 'prompt_expired', providerReference: null } as const;
    expect(hear(world, said, 10)).toEqual({ payment: before.payment, attempt: before.attempt, alarm: 'contradiction' });
    expect(world).toEqual(before);
  });

  test('nothing, to a submit whose method was still open: the payment takes over method and fee all the same', () => {
    const world = newWorld();
    world.payment = { ...payment, method: 'none', fee_minor: 0n, total_minor: 1000n, msisdn: null, carrier: null };
    hear(world, { kind: 'unknown', reason: 'timeout' }, 10, false);
    expect(world.payment).toEqual({ ...payment, version: payment.version + 1 });
    expect(world.session.status).toBe('CONSUMED');
  });

  test('nothing, to hints: the next inquiry comes sooner, never later, and hints are not counted', () => {
    const world = newWorld();
    hear(world, { kind: 'unknown', reason: 'timeout' }, 10, false);
    for (let times = 0; times < 6; times += 1) hear(world, { kind: 'unknown', reason: 'timeout' }, 20);
    expect(world.attempt).toMatchObject({ inquiries: 6, next_inquiry_at: 120_020 });
    hear(world, { kind: 'unknown', reason: 'timeout' }, 30, 'hint');
    expect(world.attempt).toMatchObject({ inquiries: 6, next_inquiry_at: 5_030 });
    hear(world, { kind: 'unknown', reason: 'timeout' }, 40, 'hint');
    hear(world, { kind: 'waiting', providerReference: null }, 50, 'hint');
    expect(world.attempt).toMatchObject({ status: 'waiting', inquiries: 6, next_inquiry_at: 5_030 });
    hear(world, { kind: 'waiting', providerReference: null }, 60, 'hint');
    expect(world.attempt).toMatchObject({ inquiries: 6, next_inquiry_at: 5_030 });
  });

  test('nothing, for a day: a person is called, once a day', () => {
    const world = newWorld();
    hear(world, { kind: 'unknown', reason: 'timeout' }, 10, false);
    const days = 3;
    const alarms: number[] = [];
    for (let now = 10; now < days * DAY; now = world.attempt.next_inquiry_at ?? Number.NaN) {
      if (hear(world, { kind: 'unknown', reason: 'LOCK_FAILURE' }, now).alarm === 'overdue') alarms.push(now);
    }
    expect(alarms.length).toBe(days);
    expect(alarms[0]).toBeGreaterThan(DAY / 2);
  });

  test('taken late, and paid, after the payment has failed: the money goes to suspense', () => {
    const world = newWorld();
    hear(world, { kind: 'unknown', reason: 'timeout' }, 10, false);
    hear(world, { kind: 'not_found' }, 20);
    hear(world, { kind: 'not_found' }, 20 + SETTLE_DELAY_MS);
    expect(world.payment.status).toBe('failed');
    expect(hear(world, { kind: 'waiting', providerReference: null }, 100_000).alarm).toBe('late_acceptance');
    expect(hear(world, { kind: 'approved', providerReference: 'p1' }, 110_000).alarm).toBe('late_success');
    expect([world.toMerchant, world.toSuspense]).toEqual([0n, 1025n]);
    expect(world.payment.status).toBe('failed');
  });

  test('no, at once: the payment ends, and by phone that consumes the session too', () => {
    const world = newWorld();
    hear(world, { kind: 'declined', reason: 'customer_rejected', providerReference: null }, 10, false);
    expect(world.payment).toMatchObject({ status: 'cancelled', completed_at: 10 });
    expect(world.session).toMatchObject({ status: 'CONSUMED', submitting_payment_id: payment.id });
    expect(world.sibling.status).toBe('cancelled');
  });

  test('never taken: the payment and the session go back to the customer', () => {
    const world = newWorld();
    hear(world, { kind: 'not_sent', reason: 'refused' }, 10, false);
    expect(world.payment).toMatchObject({ status: 'pending', attempt_id: null, submitted_at: null });
    expect(world.session).toMatchObject({ status: 'ACTIVE', submitting_payment_id: null });
    expect(world.attempt).toMatchObject({ status: 'not_sent', settled_at: 10 });
  });

  test('nothing: the payment stays processing, and “not found” twice over the settle delay ends it', () => {
    const world = newWorld();
    hear(world, { kind: 'unknown', reason: 'timeout' }, 10, false);
    expect(world.payment.status).toBe('processing');
    expect(world.session.status).toBe('CONSUMED');
    hear(world, { kind: 'not_found' }, 20);
    hear(world, { kind: 'not_found' }, 20 + SETTLE_DELAY_MS - 1);
    expect(world.attempt.status).toBe('unknown');
    hear(world, { kind: 'not_found' }, 20 + SETTLE_DELAY_MS);
    expect(world.payment).toMatchObject({ status: 'failed', reason: 'not_sent' });
  });

  test('not found, after a crash before the answer: the submit can be repeated', () => {
    const world = newWorld();
    hear(world, { kind: 'not_found' }, 20);
    hear(world, { kind: 'not_found' }, 20 + SETTLE_DELAY_MS);
    expect(world.payment.status).toBe('pending');
    expect(world.session).toMatchObject({ status: 'ACTIVE', submitting_payment_id: null });
  });

  test('paid, after it said no: the merchant keeps its answer, and the money is booked to suspense, once', () => {
    const world = newWorld();
    hear(world, { kind: 'declined', reason: 'prompt_expired', providerReference: null }, 10);
    const late = hear(world, { kind: 'approved', providerReference: 'p1' }, 20);
    hear(world, { kind: 'approved', providerReference: 'p1' }, 30);
    expect(late.alarm).toBe('late_success');
    expect(world.payment.status).toBe('expired');
    expect([world.toMerchant, world.toSuspense]).toEqual([0n, 1025n]);
  });
});

describe('afterwards', () => {
  const notSent: AttemptAnswer = { kind: 'not_sent', reason: 'refused' };
  const paid: AttemptAnswer = { kind: 'approved', providerReference: 'p9' };

  test('money for an order that was believed not to be taken belongs to the payment, while nothing else is in progress', () => {
    const world = newWorld();
    hear(world, notSent, 10, false);
    expect(hear(world, paid, 20).alarm).toBe('late_acceptance');
    hear(world, paid, 30);
    expect(world.payment).toMatchObject({ status: 'approved', attempt_id: attempt.id, submitted_at: 2 });
    expect(world.session).toMatchObject({ status: 'CONSUMED', submitting_payment_id: txn });
    expect(world.sibling.status).toBe('cancelled');
    expect([world.toMerchant, world.toFees, world.toSuspense]).toEqual([1000n, 25n, 0n]);
  });

  test('an order that was taken after all belongs to the payment: its customer is not asked a second time', () => {
    const world = newWorld();
    hear(world, notSent, 10, false);
    expect(hear(world, { kind: 'waiting', providerReference: null }, 20).alarm).toBe('late_acceptance');
    expect(world.attempt).toMatchObject({ status: 'waiting', settled_at: null });
    expect(world.payment).toMatchObject({ status: 'pending_mobile_money_verification', attempt_id: attempt.id });
    expect(world.session.status).toBe('CONSUMED');
    hear(world, paid, 30);
    expect([world.payment.status, world.toMerchant, world.toSuspense]).toEqual(['approved', 1000n, 0n]);
  });

  test('an order that was refused, and is then said to be taken, does not carry the payment: its customer may try again', () => {
    const world = newWorld();
    hear(world, notSent, 10, false);
    world.attempt = { ...world.attempt, status: 'declined' };
    hear(world, { kind: 'waiting', providerReference: null }, 20);
    expect([world.payment.status, world.session.status]).toEqual(['pending', 'ACTIVE']);
    expect(hear(world, paid, 30).alarm).toBe('late_acceptance');
    expect([world.payment.status, world.toMerchant, world.toSuspense]).toEqual(['approved', 1000n, 0n]);
  });

  test('late money is put into suspense for a payment that is read as open only if it is still as it was read', () => {
    const world = newWorld();
    hear(world, notSent, 10, false);
    world.payment = { ...world.payment, status: 'processing', attempt_id: 'att_02' };
    const late = hear(world, paid, 20);
    expect(late.alarm).toBe('late_success');
    expect(late.change?.updates?.map(({ table }) => table)).toEqual(['attempt', 'payment']);
  });

  test('a no of an attempt is noted for a payment that is read as open only if it is still as it was read', () => {
    const world = newWorld();
    world.attempt = { ...world.attempt, status: 'waiting' };
    world.payment = { ...world.payment, status: 'processing', attempt_id: 'att_02' };
    const refused = { kind: 'declined', reason: 'customer_rejected', providerReference: null } as const;
    const { change } = hear(world, refused, 20);
    expect(change?.updates?.map(({ table }) => table)).toEqual(['attempt', 'payment']);
    expect([world.attempt.status, world.payment.status]).toEqual(['declined', 'processing']);
  });

  test('a repeated answer on a closed attempt is answered with the payment only if that is still as it was read', () => {
    const world = newWorld();
    world.attempt = { ...world.attempt, status: 'declined', settled_at: 15 };
    const { change } = hear(world, { kind: 'waiting', providerReference: null }, 20, false);
    expect(change?.updates?.map(({ table }) => table)).toEqual(['payment']);
  });

  test.each<[string, Partial<Session>]>([
    ['has been paid by another payment', { status: 'CONSUMED', submitting_payment_id: `${txn}2` }],
    ['is being paid by another payment', { submitting_payment_id: `${txn}2` }],
  ])('money that came late when the session %s goes to suspense, once', (_, columns) => {
    const world = newWorld();
    hear(world, notSent, 10, false);
    world.session = { ...world.session, ...columns };
    expect(hear(world, paid, 20).alarm).toBe('late_success');
    hear(world, paid, 30);
    expect(world.attempt).toMatchObject({ status: 'approved', provider_reference: 'p9', next_inquiry_at: null });
    expect([world.payment.status, world.toMerchant, world.toSuspense]).toEqual(['pending', 0n, 1025n]);
    // Nor does it pay a second time when the session is free again.
    world.session = { ...world.session, status: 'ACTIVE', submitting_payment_id: null };
    hear(world, paid, 40, 'hint');
    expect([world.payment.status, world.toMerchant, world.toSuspense]).toEqual(['pending', 0n, 1025n]);
  });

  test('an order that was taken while the session was held carries the payment once the session is free', () => {
    const world = newWorld();
    hear(world, notSent, 10, false);
    world.session = { ...world.session, submitting_payment_id: `${txn}2` };
    hear(world, { kind: 'waiting', providerReference: null }, 20);
    expect([world.attempt.status, world.payment.status]).toEqual(['waiting', 'pending']);
    world.session = { ...world.session, submitting_payment_id: null };
    expect(hear(world, { kind: 'waiting', providerReference: null }, 30).alarm).toBe('late_acceptance');
    expect(world.payment).toMatchObject({ status: 'pending_mobile_money_verification', attempt_id: attempt.id });
  });

  test('money for a payment that has expired since goes to suspense, although its session is open', () => {
    const world = newWorld();
    hear(world, notSent, 10, false);
    world.payment = { ...world.payment, status: 'expired', completed_at: 15 };
    const rows = { ...rowsOf(world), session: world.session };
    expect(settleAttempt(rows, paid, contextAt(20)).alarm).toBe('late_success');
  });

  test('an unanswered inquiry says nothing about a call that may never have been made', () => {
    const world = newWorld();
    hear(world, { kind: 'unknown', reason: 'http_500' }, 10);
    expect(world.attempt.status).toBe('intended');
    expect(world.session.status).toBe('ACTIVE');
    hear(world, notSent, 20, false);
    expect(world.payment).toMatchObject({ status: 'pending', method: payment.method });
  });
});

test('whatever is said in whatever order: one final state, one event, and money moved once and to the right place', () => {
  const history = fc.array(fc.tuple(answer, fc.integer({ min: 1, max: 90_000 })), { maxLength: 12, size: 'max' });
  fc.assert(
    fc.property(history, (said) => {
      const world = newWorld();
      let now = 10;
      let final: string | undefined;
      for (const [next, later] of said) {
        now += later;
        hear(world, next, now);
        if (final !== undefined) expect(world.payment.status).toBe(final);
        if (isFinal(world.payment.status)) final = world.payment.status;
      }
      const mine = world.events.filter((event) => event.transaction_id === txn);
      expect(mine.length).toBe(final === undefined ? 0 : 1);
      expect(world.toMerchant).toBe(final === 'approved' ? 1000n : 0n);
      expect(world.toFees).toBe(final === 'approved' ? 25n : 0n);
      expect(world.toSuspense === 0n || world.toMerchant === 0n).toBe(true);
      expect(world.toSuspense <= 1025n).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});
