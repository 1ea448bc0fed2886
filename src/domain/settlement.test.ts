import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AttemptAnswer } from './answer.ts';
import type { SettlementContext } from './attempt-settlement.ts';
import type { Change } from './change.ts';
import { makeId } from './ids.ts';
import { isFinal } from './payment.ts';
import type { Attempt, Payment, Session, WebhookEvent } from './records.ts';
import { needsSession, type Settlement, type SettlementRows, settleAttempt } from './settlement.ts';
import { attemptWith } from './testing/attempts.ts';
import { paymentWith, sessionWith } from './testing/payments.ts';

const SHARD = 5;
const SETTLE_DELAY_MS = 60_000;
const DAY = 24 * 60 * 60_000;
const txn = makeId('txn', 1, new Uint8Array(16), SHARD);
const mch = makeId('mch', 1, new Uint8Array(16), SHARD);

const payment = paymentWith({
  shard: SHARD,
  id: txn,
  version: 2,
  merchant_id: mch,
  session_id: makeId('ses', 1, new Uint8Array(16), SHARD),
  status: 'processing',
  method: 'mobile_money',
  fee_minor: 25n,
  total_minor: 1025n,
  msisdn: '+243810000042',
  carrier: 'Vodacom M-Pesa',
  attempt_id: 'att_1',
  submitted_at: 2,
});

const attempt = attemptWith({ shard: SHARD, id: 'att_1', merchant_id: mch, payment_id: txn });

const session = sessionWith({
  shard: SHARD,
  id: payment.session_id,
  version: 3,
  merchant_id: mch,
  submitting_payment_id: txn,
});

/** The rows as a store would keep them, with everything that was ever written to them. */
interface World {
  attempt: Attempt;
  payment: Payment;
  session: Session;
  sibling: Payment;
  events: WebhookEvent[];
  toMerchant: bigint;
  toFees: bigint;
  toSuspense: bigint;
}

function newWorld(): World {
  const sibling = { ...payment, id: `${txn}2`, status: 'pending' as const, submitted_at: null };
  return { attempt, payment, session, sibling, events: [], toMerchant: 0n, toFees: 0n, toSuspense: 0n };
}

function rowsOf(world: World): SettlementRows {
  const matters = needsSession(world.attempt, world.payment);
  return {
    attempt: world.attempt,
    payment: world.payment,
    session: matters ? world.session : undefined,
    sessionPayments: matters ? [world.payment, world.sibling] : [],
  };
}

function apply(world: World, change: Change): void {
  for (const update of change.updates ?? []) {
    const raise = <R extends { version: number }>(row: R): R => {
      expect(update.version).toBe(row.version);
      return { ...row, ...update.row, version: row.version + 1 };
    };
    if (update.table === 'attempt') world.attempt = raise(world.attempt);
    else if (update.table === 'session') world.session = raise(world.session);
    else if (update.id === world.payment.id) world.payment = raise(world.payment);
    else world.sibling = raise(world.sibling);
  }
  for (const insert of change.inserts ?? []) if (insert.table === 'webhook_event') world.events.push(insert.row);
  for (const { debit, credit, amount_minor } of change.transfers ?? []) {
    // Whoever gets it, it comes out of what the upstream owes us.
    expect(debit.id).toMatch(/^transit:/);
    if (credit.id.startsWith(mch)) world.toMerchant += amount_minor;
    else if (credit.id.startsWith('fees')) world.toFees += amount_minor;
    else if (credit.id.startsWith('suspense:')) world.toSuspense += amount_minor;
    else throw new Error(`nobody expects money at ${credit.id}`);
  }
}

function hear(
  world: World,
  answer: AttemptAnswer,
  now: number,
  inquiry: SettlementContext['inquiry'] = 'due',
): Settlement {
  let made = 0;
  const settled = settleAttempt(rowsOf(world), answer, {
    now,
    askedAt: now,
    settleDelayMs: SETTLE_DELAY_MS,
    inquiry,
    newId: (prefix, shard) => {
      made += 1;
      return makeId(prefix, now, new Uint8Array(16).fill(made), shard);
    },
  });
  if (settled.change !== undefined) apply(world, settled.change);
  return settled;
}

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
    hear(world, { kind: 'waiting', providerReference: null }, 10, false);
    expect(world.payment.status).toBe('pending_mobile_money_verification');
    expect(world.session.status).toBe('CONSUMED');
    expect(world.sibling).toMatchObject({ status: 'cancelled', reason: 'sibling_paid', completed_at: 10 });
    expect(world.events.map((event) => event.type)).toEqual(['payment.cancelled']);
  });

  test('paid: amount to the merchant, fee to us, one event', () => {
    const world = newWorld();
    hear(world, { kind: 'waiting', providerReference: null }, 10, false);
    hear(world, { kind: 'approved', providerReference: 'p1' }, 20);
    expect(world.payment).toMatchObject({ status: 'approved', completed_at: 20, provider_reference: 'p1' });
    expect([world.toMerchant, world.toFees]).toEqual([1000n, 25n]);
    expect(world.events.at(-1)?.type).toBe('payment.approved');
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
  fc.assert(
    fc.property(fc.array(fc.tuple(answer, fc.integer({ min: 1, max: 90_000 })), { maxLength: 12 }), (said) => {
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
