/**
 * Asks the card network for the money of an attempt, and carries an open challenge on to that point.
 *
 * Invariant: PAY is asked for by whoever committed the change that allowed it, once, and soon after; everybody else
 * finds the attempt moved on, and waits for what becomes of it.
 */

import type { Answer, Authentication, CardConnector, CardOrder } from '../connectors/connector.ts';
import { authenticateAttempt, challengeStillOpen, type Heard, isChallengeOver } from '../domain/authentication.ts';
import type { Attempt, Payment } from '../domain/records.ts';
import type { Word } from '../domain/settlement.ts';
import { readSettlement, settleByWord } from './attempt-settle.ts';
import { cardOf } from './card-form.ts';
import type { Deps } from './deps.ts';
import { joined, type Receipt, settle } from './perform.ts';

/** Longer than PAY can take, from the change that allowed it: until then the inquiry round leaves the attempt alone. */
export const PAY_LIFE_MS = 45_000;

/** After this long nobody may ask for the money any more: whoever slept in between might find the attempt closed. */
const START_LIMIT_MS = 5_000;

export function cardOrderOf(attempt: Attempt, payment: Payment): CardOrder {
  return {
    attemptId: attempt.id,
    orderId: payment.id,
    sessionId: payment.hosted_session_id ?? '',
    amountMinor: attempt.amount_minor,
    currency: attempt.currency,
    customerReference: payment.customer_reference,
  };
}

/** Asks, unless too much time has passed since `allowedAt`. */
export function payInTime(
  deps: Pick<Deps, 'clock'>,
  ask: () => Promise<Answer>,
  allowedAt: number,
  limit = START_LIMIT_MS,
): Promise<Answer> {
  if (deps.clock.now() > allowedAt + limit) {
    return Promise.resolve({ kind: 'not_sent', reason: 'the attempt was written too long ago' });
  }
  return ask();
}

/** How a look at an open challenge ends for whoever took it. */
export type Look =
  /** The money was asked for, by us: what the network said is still to be written. */
  | { readonly kind: 'paid'; readonly attempt: Attempt; readonly word: Answer; readonly askedAt: number }
  /** The challenge failed, or its time is over: that is still to be written. */
  | {
      readonly kind: 'ended';
      readonly word: Extract<Word, { kind: 'declined' }>;
      readonly askedAt: number;
      readonly heard: Heard | undefined;
    }
  /** The issuer has not heard its customer yet. */
  | { readonly kind: 'open' }
  /** Somebody else goes on with it. */
  | { readonly kind: 'passed_on' };

/**
 * Asks how an open challenge stands. Where the customer was recognised, the money is asked for, by one of all who look.
 * `receipt` is begun with the step that allows it, so that its outcome is known to be under way.
 */
export async function lookAtChallenge(
  deps: Deps,
  attempt: Attempt,
  payment: Payment,
  receipt?: Receipt,
): Promise<Look> {
  const card = cardOf(deps);
  const askedAt = deps.clock.now();
  const said = await card.authentication(cardOrderOf(attempt, payment));
  switch (said.kind) {
    case 'authenticated':
      return payOnce(deps, card, attempt, { three_ds_status: said.status, eci: said.eci }, receipt);
    case 'rejected':
      return {
        kind: 'ended',
        word: { kind: 'declined', reason: said.reason, providerReference: null },
        askedAt,
        heard: { three_ds_status: said.status, eci: null },
      };
    case 'challenge':
    case 'unusable':
    case 'not_sent':
    case 'unknown':
      return stillOpen(deps, attempt, said);
  }
}

/** Nothing has been asked for, so that time alone may end it, whatever the network would say. */
function stillOpen(deps: Deps, attempt: Attempt, said: Authentication): Look {
  if (!isChallengeOver(attempt, deps.clock.now())) return { kind: 'open' };
  const heard = said.kind === 'challenge' ? { three_ds_status: said.status, eci: null } : undefined;
  return {
    kind: 'ended',
    word: { kind: 'declined', reason: 'challenge_expired', providerReference: null },
    askedAt: deps.clock.now(),
    heard,
  };
}

async function payOnce(
  deps: Deps,
  card: CardConnector,
  known: Attempt,
  heard: Heard,
  receipt: Receipt | undefined,
): Promise<Look> {
  const step = await settle(
    deps.store,
    async () => ({ rows: await readSettlement(deps, known), stored: await receipt?.stored() }),
    ({ rows, stored }) => {
      const allowedAt = deps.clock.now();
      const taken = authenticateAttempt(rows, heard, allowedAt + PAY_LIFE_MS);
      if (taken === undefined) return { answer: undefined };
      const memory = receipt === undefined || stored !== undefined ? {} : receipt.begin();
      return { change: joined(taken.change, memory), answer: { ...taken, allowedAt } };
    },
  );
  if (step === undefined) return { kind: 'passed_on' };
  const askedAt = deps.clock.now();
  const order = cardOrderOf(step.attempt, step.payment);
  const word = await payInTime(deps, () => card.pay(order), step.allowedAt);
  return { kind: 'paid', attempt: step.attempt, word, askedAt };
}

/**
 * Lets the looks of this process at one session's challenge go one after the other: who comes second finds what came of
 * the first. Between processes the attempt's version decides.
 */
export async function inTurn<T>(deps: Pick<Deps, 'underWay'>, sessionId: string, work: () => Promise<T>): Promise<T> {
  for (let holder = deps.underWay.get(sessionId); holder !== undefined; holder = deps.underWay.get(sessionId)) {
    await holder.catch(() => undefined);
  }
  // Nothing is awaited between the last look and the entry: of all who were woken, one gets the turn.
  const turn: Promise<T> = work().finally(() => {
    if (deps.underWay.get(sessionId) === turn) deps.underWay.delete(sessionId);
  });
  deps.underWay.set(sessionId, turn);
  return turn;
}

/** A look by the inquiry round, or for whoever wants to know: what it finds is written. Returns the payment then. */
export function carryOn(deps: Deps, attempt: Attempt, payment: Payment): Promise<Payment> {
  return inTurn(deps, payment.session_id, () => lookAndWrite(deps, attempt, payment));
}

async function lookAndWrite(deps: Deps, attempt: Attempt, payment: Payment): Promise<Payment> {
  const look = await lookAtChallenge(deps, attempt, payment);
  switch (look.kind) {
    case 'paid':
      return settleByWord(deps, look.attempt, look.word, { at: look.askedAt });
    case 'ended':
      return settleByWord(deps, attempt, look.word, {
        at: look.askedAt,
        ...(look.heard === undefined ? {} : { authentication: look.heard }),
      });
    case 'open':
    case 'passed_on':
      return lookAgainLater(deps, attempt, payment);
  }
}

function lookAgainLater(deps: Deps, key: Attempt, payment: Payment): Promise<Payment> {
  return settle(
    deps.store,
    async () => ({
      attempt: await deps.store.attempt.get(key.shard, key.id),
      payment: await deps.store.payment.get(payment.shard, payment.id),
    }),
    (rows) => {
      const change = rows.attempt && challengeStillOpen(rows.attempt, deps.clock.now());
      const answer = rows.payment ?? payment;
      return change === undefined ? { answer } : { change, answer };
    },
  );
}
