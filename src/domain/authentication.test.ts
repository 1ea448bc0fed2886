import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AttemptAnswer } from './answer.ts';
import { CHALLENGE_LIFE_MS } from './attempt.ts';
import { authenticateAttempt, challengeAttempt, challengeStillOpen, isChallengeOver } from './authentication.ts';
import { makeId } from './ids.ts';
import { isFinal } from './payment.ts';
import type { Payment } from './records.ts';
import { attemptWith } from './testing/attempts.ts';
import { paymentWith, sessionWith } from './testing/payments.ts';
import { apply, contextAt, hear, newWorld, rowsOf, txn, type World } from './testing/settlement-world.ts';

const SHARD = 5;
const BORN = 1_000;
const mch = makeId('mch', 1, new Uint8Array(16), SHARD);

const payment = paymentWith({
  shard: SHARD,
  id: txn,
  version: 2,
  merchant_id: mch,
  session_id: makeId('ses', 1, new Uint8Array(16), SHARD),
  status: 'processing',
  hosted_session_id: 'SESSION1',
  attempt_id: 'att_1',
  submitted_at: BORN,
  expires_at: 10_000_000,
});

const attempt = attemptWith({
  shard: SHARD,
  id: 'att_1',
  merchant_id: mch,
  payment_id: txn,
  connector: 'mastercard',
  method: 'card',
  reference: 'att_1',
  msisdn: null,
  carrier: 'Mastercard Gateway',
  created_at: BORN,
});

const session = sessionWith({
  shard: SHARD,
  id: payment.session_id,
  version: 3,
  merchant_id: mch,
  payments: 2,
  submitting_payment_id: txn,
  expires_at: 10_000_000,
});

const sibling: Payment = { ...payment, id: `${txn}2`, status: 'pending', attempt_id: null, submitted_at: null };
const asked = { three_ds_status: 'AUTHENTICATION_PENDING', eci: null, challenge: 'sealed' };
const passed = { three_ds_status: 'AUTHENTICATION_SUCCESSFUL', eci: '05' };

/** A card payment, its attempt, its session and the session's other payment, before the network has been asked. */
function cardWorld(): World {
  return { ...newWorld(), attempt, payment, session, sibling };
}

const movedIn = ({ toMerchant, toFees, toSuspense }: World): bigint => toMerchant + toFees + toSuspense;

function challenge(world: World, now: number): boolean {
  const step = challengeAttempt(rowsOf(world), asked, contextAt(now));
  if (step !== undefined) apply(world, step.change);
  return step !== undefined;
}

function authenticate(world: World, now: number): boolean {
  const step = authenticateAttempt(rowsOf(world), passed, now + 45_000);
  if (step !== undefined) apply(world, step.change);
  return step !== undefined;
}

const approved: AttemptAnswer = { kind: 'approved', providerReference: 'r1' };
const unsure: AttemptAnswer = { kind: 'unknown', reason: 'timeout' };
const declined: AttemptAnswer = { kind: 'declined', reason: 'card_declined', providerReference: null };
const expired: AttemptAnswer = { kind: 'challenge_failed', reason: 'challenge_expired' };

describe('the issuer asks its customer', () => {
  test('the session is consumed, its other payments end, and the payment takes over method and fee', () => {
    const world = cardWorld();
    expect(challenge(world, 2_000)).toBe(true);
    expect(world.attempt).toMatchObject({ status: 'challenged', challenge: 'sealed', next_inquiry_at: 7_000 });
    expect(world.payment).toMatchObject({ status: 'processing', method: 'card', fee_minor: 25n, total_minor: 1025n });
    expect(world.session.status).toBe('CONSUMED');
    expect(world.sibling.status).toBe('cancelled');
    expect(world.events.map(({ type }) => type)).toEqual(['payment.cancelled']);
    expect(challenge(world, 2_001)).toBe(false);
  });

  test('but not for a submit that no longer holds the session, nor for an attempt that is closed', () => {
    const lost = cardWorld();
    lost.session = { ...session, submitting_payment_id: null };
    expect(challenge(lost, 2_000)).toBe(false);
    const closed = cardWorld();
    closed.attempt = { ...attempt, status: 'not_sent' };
    expect(challenge(closed, 2_000)).toBe(false);
  });

  test('the challenge is inquired about again and again, and at its end at the latest', () => {
    const world = cardWorld();
    challenge(world, 2_000);
    let now = 2_000;
    while (!isChallengeOver(world.attempt, now)) {
      now = world.attempt.next_inquiry_at ?? 0;
      expect(now).toBeLessThanOrEqual(BORN + CHALLENGE_LIFE_MS);
      const change = challengeStillOpen(world.attempt, now, 'due');
      if (change !== undefined) apply(world, change);
    }
    expect(now).toBe(BORN + CHALLENGE_LIFE_MS);
    // Other looks in between postpone nothing.
    const later = { ...world.attempt, status: 'challenged' as const, next_inquiry_at: now + 60_000 };
    expect(challengeStillOpen(later, now, 'asked')).toBeUndefined();
    const [sooner] = challengeStillOpen(later, now, 'unanswered')?.updates ?? [];
    expect(sooner?.row).toEqual({ next_inquiry_at: now + 5_000 });
    expect(challengeStillOpen({ ...later, next_inquiry_at: now + 5_000 }, now, 'unanswered')).toBeUndefined();
    expect(challengeStillOpen({ ...attempt, status: 'unknown' }, now, 'due')).toBeUndefined();
  });
});

describe('and is answered', () => {
  test('of all who learn of it, one proceeds, and the challenge is forgotten', () => {
    const world = cardWorld();
    challenge(world, 2_000);
    expect(authenticate(world, 3_000)).toBe(true);
    expect(authenticate(world, 3_000)).toBe(false);
    expect(world.attempt).toMatchObject({
      status: 'authenticated',
      ...passed,
      challenge: null,
      next_inquiry_at: 48_000,
    });
    hear(world, approved, 4_000, false);
    expect(world.payment).toMatchObject({ status: 'approved', provider_reference: 'r1' });
    expect(movedIn(world)).toBe(1025n);
  });

  test('not at all: it expires, and a later answer does not proceed', () => {
    const world = cardWorld();
    challenge(world, 2_000);
    hear(world, expired, 700_000, false);
    expect(world.payment).toMatchObject({ status: 'expired', reason: 'challenge_expired' });
    expect(world.attempt).toMatchObject({ status: 'declined', challenge: null });
    expect(authenticate(world, 700_001)).toBe(false);
    expect(movedIn(world)).toBe(0n);
  });

  test('PAY was certainly not taken: the payment has failed, because the customer was told that it was in progress', () => {
    const world = cardWorld();
    challenge(world, 2_000);
    authenticate(world, 3_000);
    hear(world, { kind: 'not_sent', reason: 'busy' }, 4_000, false);
    expect(world.payment).toMatchObject({ status: 'failed', reason: 'not_sent' });
    expect(world.attempt.status).toBe('not_sent');
  });

  test('an attempt that its payment has given up is not paid', () => {
    const world = cardWorld();
    challenge(world, 2_000);
    world.payment = { ...world.payment, attempt_id: 'att_2' };
    expect(authenticate(world, 3_000)).toBe(false);
  });
});

describe('an answer about a challenge', () => {
  const answers: AttemptAnswer[] = [expired, { kind: 'challenge_failed', reason: 'authentication_failed' }];

  test.each(answers)('%o ends nothing once money is being asked for, nor ever after', (answer) => {
    for (const after of [undefined, unsure, approved, declined] as const) {
      const world = cardWorld();
      challenge(world, 2_000);
      authenticate(world, 3_000);
      if (after !== undefined) hear(world, after, 4_000, false);
      const { attempt: attemptThen, payment: paymentThen } = world;
      const settled = hear(world, answer, 5_000, false);
      expect(settled.alarm).toBeUndefined();
      expect([world.attempt, world.payment]).toEqual([attemptThen, paymentThen]);
    }
  });
});

describe('while money is being asked for', () => {
  test('“not found” does not count for a hint; for the round, twice over the settle delay, it ends it', () => {
    const world = cardWorld();
    // One `not_found`, before the issuer was called.
    hear(world, { kind: 'not_found' }, 1_500, 'due');
    challenge(world, 2_000);
    authenticate(world, 3_000);
    expect(world.attempt).toMatchObject({ not_found_at: null, inquiries: 0, next_inquiry_at: 48_000 });
    for (const now of [4_000, 47_999]) hear(world, { kind: 'not_found' }, now, 'hint');
    hear(world, unsure, 47_999, 'hint');
    expect(world.attempt).toMatchObject({ status: 'authenticated', not_found_at: null, next_inquiry_at: 48_000 });
    hear(world, { kind: 'not_found' }, 48_000, 'due');
    expect(world.attempt).toMatchObject({ status: 'authenticated', not_found_at: 48_000, inquiries: 1 });
    hear(world, { kind: 'not_found' }, 108_000, 'due');
    expect(world.payment).toMatchObject({ status: 'failed', reason: 'not_sent' });
  });
});

describe('declined before the submit has answered', () => {
  test('the payment ends, the session is the customer’s again, and its other payments stay open', () => {
    const world = cardWorld();
    hear(world, { kind: 'declined', reason: 'card_declined', providerReference: null }, 2_000, false);
    expect(world.payment).toMatchObject({ status: 'declined', reason: 'card_declined', method: 'card' });
    expect(world.session).toMatchObject({ status: 'ACTIVE', submitting_payment_id: null });
    expect(world.sibling.status).toBe('pending');
  });
});

describe('native pay', () => {
  test.each<[AttemptAnswer, Payment['status'], bigint]>([
    [approved, 'approved', 1025n],
    [{ kind: 'declined', reason: 'card_declined', providerReference: null }, 'declined', 0n],
    [{ kind: 'declined', reason: 'authentication_cancelled', providerReference: null }, 'cancelled', 0n],
    [{ kind: 'not_sent', reason: 'busy' }, 'failed', 0n],
    [{ kind: 'unknown', reason: 'timeout' }, 'pending', 0n],
  ])('from pending, %o makes it %s', (answer, status, moved) => {
    const world = cardWorld();
    world.payment = { ...payment, method: 'google_pay', status: 'pending' };
    world.attempt = { ...attempt, method: 'google_pay' };
    world.session = { ...session, status: 'CONSUMED' };
    expect(hear(world, answer, 2_000, false).alarm).toBeUndefined();
    expect([world.payment.status, movedIn(world)]).toEqual([status, moved]);
    expect(world.session.status).toBe('CONSUMED');
  });
});

test('whatever happens in whatever order, no money moves without an authentication or a PAY at submit, and it moves once', () => {
  const happening = fc.constantFrom(
    'challenge',
    'authenticate',
    'expired',
    'approved',
    'declined',
    'not_found',
    'unknown',
  );
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 10 }), (all) => {
      const world = cardWorld();
      let now = 2_000;
      let allowed = false;
      let final: string | undefined;
      for (const one of all) {
        now += 70_000;
        const open = world.attempt.status;
        if (one === 'challenge') challenge(world, now);
        else if (one === 'authenticate') allowed = authenticate(world, now) || allowed;
        else if (one === 'expired' && open === 'challenged') hear(world, expired, now, false);
        // PAY is sent, and inquired about, only if it was allowed: at submit, or after the authentication.
        else if (one !== 'expired' && open !== 'challenged' && (allowed || open === 'intended'))
          hearOf(world, one, now);
        if (final !== undefined) expect(world.payment.status).toBe(final);
        if (isFinal(world.payment.status)) final = world.payment.status;
      }
      if (world.payment.status === 'approved') expect(movedIn(world)).toBe(1025n);
      expect(movedIn(world) === 0n || movedIn(world) === 1025n).toBe(true);
      expect(world.events.filter((event) => event.transaction_id === txn)).toHaveLength(final === undefined ? 0 : 1);
      if (world.attempt.status === 'challenged') expect(movedIn(world)).toBe(0n);
    }),
    { numRuns: 2_000 },
  );
});

function hearOf(world: World, one: string, now: number): void {
  if (one === 'approved') hear(world, approved, now, 'due');
  else if (one === 'declined') {
    hear(world, { kind: 'declined', reason: 'card_declined', providerReference: null }, now, 'due');
  } else if (one === 'not_found') hear(world, { kind: 'not_found' }, now, 'due');
  else hear(world, { kind: 'unknown', reason: 'x' }, now, 'due');
}
