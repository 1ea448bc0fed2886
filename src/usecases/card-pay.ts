/**
 * Asks the card network for the money of an attempt, and takes an open challenge up to that point.
 *
 * Invariant: PAY is sent only by the run that committed the change that allowed it, once, and soon after; every other run finds
 * the attempt moved on, and waits for the outcome.
 */

import type { Authentication, CardConnector, CardOrder } from '../connectors/connector.ts';
import type { Answer, AttemptAnswer } from '../domain/answer.ts';
import type { Inquired } from '../domain/attempt-settlement.ts';
import {
  authenticateAttempt,
  challengeStillOpen,
  isChallengeOver,
  type LookedAt,
  type ThreeDsResult,
} from '../domain/authentication.ts';
import { merged } from '../domain/change.ts';
import { requireMintingSecret } from '../domain/credential.ts';
import type { Attempt, Payment, UpstreamMethod } from '../domain/records.ts';
import type { SettlementRows } from '../domain/settlement.ts';
import { writeCallAnswer } from './attempt-answer.ts';
import { callWithinDeadline } from './attempt-ask.ts';
import type { Intention } from './attempt-intend.ts';
import { readSettlement, settleByAnswer } from './attempt-settle.ts';
import { RETURN_LIFE_MS } from './card-challenge.ts';
import {
  askEarlier,
  askEarlierInSession,
  type Earlier,
  type PaidEarlier,
  readWithEarlier,
  settleEarlier,
} from './card-earlier.ts';
import { isClockFast } from './clock-guard.ts';
import type { Deps } from './deps.ts';
import { findPaidAsideInSession } from './paid-aside.ts';
import {
  commitDecision,
  commitOrFind,
  type Receipt,
  type Reply,
  refusalOf,
  rethrowUnlessTransient,
} from './perform.ts';

/** 45 s from the change that allowed it, longer than PAY can take: the inquiry round leaves the attempt alone until then. */
const PAY_LIFE_MS = 45_000;

/** Up to 4096 ms that are added to `PAY_LIFE_MS` at random, to mark a commit as ours. */
const MARK_MS = 4_096;

/** A call to the card network, as an attempt records it. `carrier`: the network's name as customers know it. */
export function cardIntention(
  card: CardConnector,
  method: Exclude<UpstreamMethod, 'mobile_money'>,
  carrier = card.displayName,
): Intention {
  return { connector: card, method, carrier, msisdn: null, callLifeMs: PAY_LIFE_MS };
}

/** A card attempt as it is sent to the network. The amount is the attempt's: in minor units, fee included. */
export function cardOrderOf(attempt: Attempt, payment: Payment): CardOrder {
  const sessionId = payment.hosted_session_id;
  if (sessionId === null) throw new Error(`payment ${payment.id} has no form that a card was entered in`);
  return {
    attemptId: attempt.id,
    orderId: payment.id,
    sessionId,
    amountMinor: attempt.amount_minor,
    currency: attempt.currency,
  };
}

/** The result of a look at an open challenge, for the run that took it. */
export type Look =
  /** This run asked for the money: the network's answer is still to be written. */
  | { readonly kind: 'paid'; readonly attempt: Attempt; readonly answer: Answer; readonly askedAt: number }
  /** The challenge failed or expired: that is still to be written. */
  | {
      readonly kind: 'ended';
      readonly answer: Extract<AttemptAnswer, { kind: 'challenge_failed' }>;
      readonly askedAt: number;
      readonly threeDs: ThreeDsResult | undefined;
    }
  /**
   * `open`: the customer has not completed the challenge yet. `unanswered`: the network gave no usable answer. `unclear`: nobody
   * can say whether an earlier attempt has paid.
   */
  | { readonly kind: 'open' | 'unanswered' | 'unclear' }
  /** An earlier attempt of the payment has paid it: that is still to be written. */
  | { readonly kind: 'paid_before'; readonly paid: PaidEarlier }
  /** Another run has taken the attempt further. */
  | { readonly kind: 'passed_on' };

/** A look under way. */
interface Looking {
  readonly deps: Deps;
  readonly card: CardConnector;
  /** The challenged attempt and its payment, as they were read. */
  readonly attempt: Attempt;
  readonly payment: Payment;
  readonly receipt: Receipt | undefined;
}

/**
 * Asks for the state of an open challenge. If the customer was authenticated, the money is asked for, by one of all concurrent
 * runs. `receipt` is marked begun in the step that allows it, so that other runs know an outcome is on its way.
 */
export async function lookAtChallenge(
  deps: Deps,
  attempt: Attempt,
  payment: Payment,
  receipt?: Receipt,
): Promise<Look> {
  const { card } = deps.connectors;
  const askedAt = deps.clock.now();
  // Without a network there is nobody to ask; the challenge still expires.
  if (card === undefined) return stillOpen(deps, attempt, { kind: 'not_sent', reason: 'there is no card network' });
  const looking: Looking = { deps, card, attempt, payment, receipt };
  const authentication = await card.authentication(cardOrderOf(attempt, payment));
  switch (authentication.kind) {
    case 'authenticated': {
      const threeDs = { three_ds_status: authentication.status, eci: authentication.eci };
      const isLate = (at: number): boolean => at >= attempt.created_at + RETURN_LIFE_MS;
      if (isLate(askedAt)) {
        // A clock was set back while the network was asked, right or wrong: the next look tells.
        if (!isLate(deps.clock.now())) return { kind: 'unanswered' };
        // The network could not be asked in time, and the customer, sent away without an answer, has left.
        return endUnlessPaid(looking, await overdue(deps, askedAt, threeDs));
      }
      return payUnlessPaid(looking, threeDs);
    }
    case 'rejected':
      return endUnlessPaid(looking, {
        kind: 'ended',
        answer: { kind: 'challenge_failed', reason: authentication.reason },
        askedAt,
        threeDs: { three_ds_status: authentication.status, eci: null },
      });
    case 'challenge':
    case 'unusable':
    case 'not_sent':
    case 'unknown':
      return endUnlessPaid(looking, await stillOpen(deps, attempt, authentication));
  }
}

/** The end of a challenge does not end the payment if an earlier attempt has paid it. */
async function endUnlessPaid(looking: Looking, look: Look): Promise<Look> {
  if (look.kind !== 'ended') return look;
  const { deps, card, attempt } = looking;
  return unlessPaid(looking, await askEarlier(deps, card, attempt), look);
}

/** If it is unclear whether an earlier attempt has paid, this waits as long as for a customer on the way back. */
function unlessPaid({ deps, attempt }: Looking, earlier: Earlier, look: Look): Look {
  if (earlier.kind === 'paid') return { kind: 'paid_before', paid: earlier };
  const mayWait = deps.clock.now() < attempt.created_at + RETURN_LIFE_MS;
  return earlier.kind === 'unclear' && mayWait ? { kind: 'unclear' } : look;
}

/** No money has been asked for, so time alone may end the challenge, whatever the network would say. */
async function stillOpen(deps: Deps, attempt: Attempt, authentication: Authentication): Promise<Look> {
  if (!isChallengeOver(attempt, deps.clock.now()))
    return { kind: authentication.kind === 'challenge' ? 'open' : 'unanswered' };
  return overdue(deps, deps.clock.now(), undefined);
}

/** Its time is over. By a fast clock the customer may still be on the way: that is left to a process whose clock is right. */
async function overdue(deps: Deps, askedAt: number, threeDs: ThreeDsResult | undefined): Promise<Look> {
  if (await isClockFast(deps)) return { kind: 'unanswered' };
  return { kind: 'ended', answer: { kind: 'challenge_failed', reason: 'challenge_expired' }, askedAt, threeDs };
}

/** Asks for the money only if no earlier attempt has paid; if that is unclear, later or not at all. */
async function payUnlessPaid(looking: Looking, threeDs: ThreeDsResult): Promise<Look> {
  const { deps, card, attempt } = looking;
  const own = await askEarlier(deps, card, attempt);
  const earlier = own.kind === 'none' ? await askOthers(looking) : own;
  switch (earlier.kind) {
    case 'none':
      // Whoever may not pay now may be allowed to before the challenge is over; nothing has been charged until then.
      if (await isStillAllowed(deps, attempt)) return payOnce(looking, threeDs);
      deps.log.info('challenge_not_charged', { attempt_id: attempt.id, transaction_id: attempt.payment_id });
      return stillOpen(deps, attempt, { kind: 'unknown', reason: 'the session may not pay' });
    case 'paid':
    case 'paid_aside':
    case 'unclear':
      return unlessPaid(looking, earlier, await stillOpen(deps, attempt, { kind: 'unknown', reason: earlier.kind }));
  }
}

/**
 * What became of the card attempts at the session's other payments. The submit asked, but the challenge has taken minutes, in which
 * the network may have carried out what it had turned away.
 */
async function askOthers({ deps, card, payment }: Looking): Promise<Earlier> {
  const all = await deps.store.payment.ofSession(payment.shard, payment.session_id);
  const others = all.filter(({ id }) => id !== payment.id);
  const found = await askEarlierInSession(deps, card, others);
  if (found === 'none') return { kind: 'none' };
  if (found === 'unclear') return { kind: 'unclear', reason: 'another payment of the session may have been paid' };
  return { kind: 'paid_aside' };
}

/**
 * Whether the session may pay: since the submit its credential may have been revoked, its merchant suspended, or money come for
 * its order too late to count.
 */
async function isStillAllowed(deps: Deps, { shard, payment_id }: Attempt): Promise<boolean> {
  const payment = await deps.store.payment.get(shard, payment_id);
  const session = payment && (await deps.store.session.caller(shard, payment.session_id));
  if (payment === undefined || session === undefined) return false;
  if ((await findPaidAsideInSession(deps, payment, session)) !== undefined) return false;
  return refusalOf(() => requireMintingSecret(session, deps.clock.now())) === undefined;
}

/** As `isStillAllowed`; false also if it cannot be read, as the database is away. */
async function isKnownToBeAllowed(deps: Deps, attempt: Attempt): Promise<boolean> {
  try {
    return await isStillAllowed(deps, attempt);
  } catch (error) {
    rethrowUnlessTransient(error);
    return false;
  }
}

async function payOnce(looking: Looking, threeDs: ThreeDsResult): Promise<Look> {
  const { deps, card, attempt } = looking;
  const allowedAt = deps.clock.now();
  const taken = await takeStep(looking, threeDs, allowedAt);
  if (taken === undefined) return { kind: 'passed_on' };
  // Seconds may have passed while it was in doubt whether the step had been written. Asked before its age is looked at: this takes
  // time, too.
  const mayPay = !taken.wasInDoubt || (await isKnownToBeAllowed(deps, attempt));
  const askedAt = deps.clock.now();
  const order = cardOrderOf(taken.attempt, taken.payment);
  const pay = async (): Promise<Answer> => (mayPay ? card.pay(order) : NOT_ALLOWED);
  const answer = await callWithinDeadline(deps, taken.attempt, pay, { allowedAt });
  return { kind: 'paid', attempt: taken.attempt, answer, askedAt };
}

/** The answer when the session may not pay any more: PAY was not called. */
const NOT_ALLOWED = { kind: 'not_sent', reason: 'the session may not pay' } as const;

interface Allowed extends Pick<SettlementRows, 'attempt' | 'payment'> {
  readonly wasInDoubt: boolean;
}

/**
 * Commits that the money may be asked for; undefined if another run did. If our commit's outcome was lost, the row tells
 * whether it is ours: its next inquiry time contains a random part that no other process draws.
 */
async function takeStep(
  { deps, attempt: known, receipt }: Looking,
  threeDs: ThreeDsResult,
  allowedAt: number,
): Promise<Allowed | undefined> {
  const ours = allowedAt + PAY_LIFE_MS + (Buffer.from(deps.random.bytes(2)).readUInt16BE() % MARK_MS);
  return commitOrFind<{ rows: SettlementRows; stored: Reply | undefined }, Allowed | undefined>(
    deps,
    async () => ({ rows: await readSettlement(deps, known), stored: await receipt?.stored() }),
    ({ rows, stored }, { isInDoubt }) => {
      const { status, next_inquiry_at } = rows.attempt;
      if (isInDoubt && status === 'authenticated' && next_inquiry_at === ours) {
        return { answer: { ...rows, wasInDoubt: true } };
      }
      const step = authenticateAttempt(rows, threeDs, ours);
      if (step === undefined) return { answer: undefined };
      const memory = receipt === undefined || stored !== undefined ? {} : receipt.begin();
      return { change: merged(step.change, memory), answer: { ...step, wasInDoubt: isInDoubt } };
    },
  );
}

/** Looks at a challenge for the inquiry round, or for a client that asks, and writes what it finds. Returns the payment. */
export function resumeChallenge(deps: Deps, attempt: Attempt, payment: Payment, inquiry: Inquired): Promise<Payment> {
  return deps.sessionTurns.inTurn(payment.session_id, () => lookAndWrite(deps, attempt, payment, inquiry));
}

async function lookAndWrite(deps: Deps, attempt: Attempt, payment: Payment, inquiry: Inquired): Promise<Payment> {
  const look = await lookAtChallenge(deps, attempt, payment);
  switch (look.kind) {
    case 'paid':
      return settleByAnswer(deps, look.attempt, look.answer, { at: look.askedAt });
    case 'ended':
      return settleByAnswer(deps, attempt, look.answer, { at: look.askedAt, threeDs: look.threeDs });
    case 'paid_before':
      return writeCallAnswer(deps, (settling) =>
        commitDecision(
          deps.store,
          () => readWithEarlier(deps, attempt, look.paid),
          (rows) => {
            const { change, payment: after } = settling(settleEarlier(deps, rows, look.paid));
            return { change, answer: after };
          },
        ),
      );
    case 'open':
    case 'unanswered':
    case 'unclear':
    case 'passed_on': {
      const looked = look.kind === 'unanswered' || look.kind === 'unclear' ? 'unanswered' : 'asked';
      return (await lookAgainLater(deps, attempt, inquiry === 'due' ? 'due' : looked)).payment;
    }
  }
}

/** The challenge stays open: writes when it is looked at again, and returns the rows as they are. */
export function lookAgainLater(deps: Deps, key: Attempt, looked: LookedAt): Promise<SettlementRows> {
  return commitDecision(
    deps.store,
    () => readSettlement(deps, key),
    (rows) => {
      const change = challengeStillOpen(rows.attempt, deps.clock.now(), looked);
      return { change, answer: rows };
    },
  );
}
