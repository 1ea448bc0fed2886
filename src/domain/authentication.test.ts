import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AttemptAnswer } from './answer.ts';
import { CHALLENGE_LIFE_MS } from './attempt.ts';
import type { SettlementContext } from './attempt-settlement.ts';
import { authenticateAttempt, challengeAttempt, challengeStillOpen, isChallengeOver } from './authentication.ts';
import type { Change } from './change.ts';
import { makeId } from './ids.ts';
import { isFinal } from './payment.ts';
import type { Payment, WebhookEvent } from './records.ts';
import { settleAttempt } from './settlement.ts';
import { attemptWith } from './testing/attempts.ts';
import { paymentWith, sessionWith } from './testing/payments.ts';

const SHARD = 5;
const BORN = 1_000;
const txn = makeId('txn', 1, new Uint8Array(16), SHARD);
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

/** The rows as a store would keep them. */
class World {
  attempt = attempt;
  payment = payment;
  session = session;
  sibling = sibling;
  events: WebhookEvent[] = [];
  moved = 0n;

  rows() {
    const { attempt: now, payment: paying } = this;
    const intended = now.status === 'intended';
    return {
      attempt: now,
      payment: paying,
      session: intended ? this.session : undefined,
      sessionPayments: intended ? [paying, this.sibling] : [],
    };
  }

  apply(change: Change): void {
    for (const update of change.updates ?? []) {
      const raise = <R extends { version: number }>(row: R): R => {
        expect(update.version).toBe(row.version);
        return { ...row, ...update.row, version: row.version + 1 };
      };
      if (update.table === 'attempt') this.attempt = raise(this.attempt);
      else if (update.table === 'session') this.session = raise(this.session);
      else if (update.id === this.payment.id) this.payment = raise(this.payment);
      else this.sibling = raise(this.sibling);
    }
    for (const insert of change.inserts ?? []) if (insert.table === 'webhook_event') this.events.push(insert.row);
    for (const { amount_minor } of change.transfers ?? []) this.moved += amount_minor;
  }

  challenge(now: number): boolean {
    const step = challengeAttempt(this.rows(), asked, contextAt(now));
    if (step !== undefined) this.apply(step.change);
    return step !== undefined;
  }

  authenticate(now: number): boolean {
    const step = authenticateAttempt(this.rows(), passed, now + 45_000);
    if (step !== undefined) this.apply(step.change);
    return step !== undefined;
  }

  hear(answer: AttemptAnswer, now: number, inquiry: SettlementContext['inquiry'] = false) {
    const settled = settleAttempt(this.rows(), answer, { ...contextAt(now), inquiry });
    if (settled.change !== undefined) this.apply(settled.change);
    return settled;
  }
}

let made = 0;
function contextAt(now: number): SettlementContext {
  const newId: SettlementContext['newId'] = (prefix, shard) => {
    made += 1;
    return makeId(prefix, now, new Uint8Array(16).fill(made), shard);
  };
  return { now, askedAt: now, settleDelayMs: 60_000, inquiry: false, newId };
}

const approved: AttemptAnswer = { kind: 'approved', providerReference: 'r1' };
const unsure: AttemptAnswer = { kind: 'unknown', reason: 'timeout' };
const declined: AttemptAnswer = { kind: 'declined', reason: 'card_declined', providerReference: null };
const expired: AttemptAnswer = { kind: 'challenge_failed', reason: 'challenge_expired' };

describe('the issuer asks its customer', () => {
  test('the session is consumed, its other payments end, and the payment takes over method and fee', () => {
    const world = new World();
    expect(world.challenge(2_000)).toBe(true);
    expect(world.attempt).toMatchObject({ status: 'challenged', challenge: 'sealed', next_inquiry_at: 7_000 });
    expect(world.payment).toMatchObject({ status: 'processing', method: 'card', fee_minor: 25n, total_minor: 1025n });
    expect(world.session.status).toBe('CONSUMED');
    expect(world.sibling.status).toBe('cancelled');
    expect(world.events.map(({ type }) => type)).toEqual(['payment.cancelled']);
    expect(world.challenge(2_001)).toBe(false);
  });

  test('but not for a submit that no longer holds the session, nor for an attempt that is closed', () => {
    const lost = new World();
    lost.session = { ...session, submitting_payment_id: null };
    expect(lost.challenge(2_000)).toBe(false);
    const closed = new World();
    closed.attempt = { ...attempt, status: 'not_sent' };
    expect(closed.challenge(2_000)).toBe(false);
  });

  test('the challenge is inquired about again and again, and at its end at the latest', () => {
    const world = new World();
    world.challenge(2_000);
    let now = 2_000;
    while (!isChallengeOver(world.attempt, now)) {
      now = world.attempt.next_inquiry_at ?? 0;
      expect(now).toBeLessThanOrEqual(BORN + CHALLENGE_LIFE_MS);
      const change = challengeStillOpen(world.attempt, now, 'due');
      if (change !== undefined) world.apply(change);
    }
    expect(now).toBe(BORN + CHALLENGE_LIFE_MS);
    // Other looks in between postpone nothing.
    const later = { ...world.attempt, status: 'challenged' as const, next_inquiry_at: now + 60_000 };
    expect(challengeStillOpen(later, now, 'asked')).toBeUndefined();
    const [sooner] = challengeStillOpen(later, now, 'unheard')?.updates ?? [];
    expect(sooner?.row).toEqual({ next_inquiry_at: now + 5_000 });
    expect(challengeStillOpen({ ...later, next_inquiry_at: now + 5_000 }, now, 'unheard')).toBeUndefined();
    expect(challengeStillOpen({ ...attempt, status: 'unknown' }, now, 'due')).toBeUndefined();
  });
});

describe('and is answered', () => {
  test('of all who learn of it, one proceeds, and the challenge is forgotten', () => {
    const world = new World();
    world.challenge(2_000);
    expect(world.authenticate(3_000)).toBe(true);
    expect(world.authenticate(3_000)).toBe(false);
    expect(world.attempt).toMatchObject({
      status: 'authenticated',
      ...passed,
      challenge: null,
      next_inquiry_at: 48_000,
    });
    world.hear(approved, 4_000);
    expect(world.payment).toMatchObject({ status: 'approved', provider_reference: 'r1' });
    expect(world.moved).toBe(1025n);
  });

  test('not at all: it expires, and a later answer does not proceed', () => {
    const world = new World();
    world.challenge(2_000);
    world.hear(expired, 700_000);
    expect(world.payment).toMatchObject({ status: 'expired', reason: 'challenge_expired' });
    expect(world.attempt).toMatchObject({ status: 'declined', challenge: null });
    expect(world.authenticate(700_001)).toBe(false);
    expect(world.moved).toBe(0n);
  });

  test('PAY was certainly not taken: the payment has failed, because the customer was told that it was in progress', () => {
    const world = new World();
    world.challenge(2_000);
    world.authenticate(3_000);
    world.hear({ kind: 'not_sent', reason: 'busy' }, 4_000);
    expect(world.payment).toMatchObject({ status: 'failed', reason: 'not_sent' });
    expect(world.attempt.status).toBe('not_sent');
  });

  test('an attempt that its payment has given up is not paid', () => {
    const world = new World();
    world.challenge(2_000);
    world.payment = { ...world.payment, attempt_id: 'att_2' };
    expect(world.authenticate(3_000)).toBe(false);
  });
});

describe('an answer about a challenge', () => {
  const answers: AttemptAnswer[] = [expired, { kind: 'challenge_failed', reason: 'authentication_failed' }];

  test.each(answers)('%o ends nothing once money is being asked for, nor ever after', (answer) => {
    for (const after of [undefined, unsure, approved, declined] as const) {
      const world = new World();
      world.challenge(2_000);
      world.authenticate(3_000);
      if (after !== undefined) world.hear(after, 4_000);
      const { attempt: attemptThen, payment: paymentThen } = world;
      const settled = world.hear(answer, 5_000);
      expect(settled.alarm).toBeUndefined();
      expect([world.attempt, world.payment]).toEqual([attemptThen, paymentThen]);
    }
  });
});

describe('while money is being asked for', () => {
  test('“not found” does not count for a hint; for the round, twice over the settle delay, it ends it', () => {
    const world = new World();
    // One `not_found`, before the issuer was called.
    world.hear({ kind: 'not_found' }, 1_500, 'due');
    world.challenge(2_000);
    world.authenticate(3_000);
    expect(world.attempt).toMatchObject({ not_found_at: null, inquiries: 0, next_inquiry_at: 48_000 });
    for (const now of [4_000, 47_999]) world.hear({ kind: 'not_found' }, now, 'hint');
    world.hear(unsure, 47_999, 'hint');
    expect(world.attempt).toMatchObject({ status: 'authenticated', not_found_at: null, next_inquiry_at: 48_000 });
    world.hear({ kind: 'not_found' }, 48_000, 'due');
    expect(world.attempt).toMatchObject({ status: 'authenticated', not_found_at: 48_000, inquiries: 1 });
    world.hear({ kind: 'not_found' }, 108_000, 'due');
    expect(world.payment).toMatchObject({ status: 'failed', reason: 'not_sent' });
  });
});

describe('declined before the submit has answered', () => {
  test('the payment ends, the session is the customer’s again, and its other payments stay open', () => {
    const world = new World();
    world.hear({ kind: 'declined', reason: 'card_declined', providerReference: null }, 2_000);
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
    const world = new World();
    world.payment = { ...payment, method: 'google_pay', status: 'pending' };
    world.attempt = { ...attempt, method: 'google_pay' };
    world.session = { ...session, status: 'CONSUMED' };
    expect(world.hear(answer, 2_000).alarm).toBeUndefined();
    expect([world.payment.status, world.moved]).toEqual([status, moved]);
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
      const world = new World();
      let now = 2_000;
      let allowed = false;
      let final: string | undefined;
      for (const one of all) {
        now += 70_000;
        const open = world.attempt.status;
        if (one === 'challenge') world.challenge(now);
        else if (one === 'authenticate') allowed = world.authenticate(now) || allowed;
        else if (one === 'expired' && open === 'challenged') world.hear(expired, now);
        // PAY is sent, and inquired about, only if it was allowed: at submit, or after the authentication.
        else if (one !== 'expired' && open !== 'challenged' && (allowed || open === 'intended'))
          hearOf(world, one, now);
        if (final !== undefined) expect(world.payment.status).toBe(final);
        if (isFinal(world.payment.status)) final = world.payment.status;
      }
      expect(world.moved).toBe(world.payment.status === 'approved' ? 1025n : world.moved);
      expect(world.moved === 0n || world.moved === 1025n).toBe(true);
      expect(world.events.filter((event) => event.transaction_id === txn)).toHaveLength(final === undefined ? 0 : 1);
      if (world.attempt.status === 'challenged') expect(world.moved).toBe(0n);
    }),
    { numRuns: 2_000 },
  );
});

function hearOf(world: World, one: string, now: number): void {
  if (one === 'approved') world.hear(approved, now, 'due');
  else if (one === 'declined') {
    world.hear({ kind: 'declined', reason: 'card_declined', providerReference: null }, now, 'due');
  } else if (one === 'not_found') world.hear({ kind: 'not_found' }, now, 'due');
  else world.hear({ kind: 'unknown', reason: 'x' }, now, 'due');
}
