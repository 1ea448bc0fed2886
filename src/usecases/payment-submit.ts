/**
 * Submits a payment: finds it, and hands it to the chosen method's submit.
 *
 * Invariant: a submit that finds the session held by another submit waits for its outcome; the two never pay side by side.
 */

import { isOpen } from '../domain/attempt.ts';
import { requireMintingSecret } from '../domain/credential.ts';
import { isWithin } from '../domain/elapsed.ts';
import { isFinal } from '../domain/payment.ts';
import type { Attempt, Payment } from '../domain/records.ts';
import { type Refusal, refuseUnknownPayment } from '../domain/refusal.ts';
import {
  chooseMeans,
  isMine,
  isSubmitted,
  type Means,
  PaymentMoved,
  type PaymentSubmitCommand,
  refuseIncomplete,
  refuseNotMine,
  refuseUnderWay,
  requireSubmittable,
  SubmitAgain,
  type Submitted,
  type SubmittedMethod,
} from '../domain/submission.ts';
import { sessionAsTold } from './acceptances.ts';
import { inquireAttempt } from './attempt-inquire.ts';
import type { SessionCaller } from './callers.ts';
import { challengeUrl } from './card-challenge.ts';
import type { Deps } from './deps.ts';
import { latestAttempt } from './latest-attempt.ts';
import { offeredFor } from './method-reach.ts';
import { findPaidAsideInSession, paidBefore } from './paid-aside.ts';
import { submitByTransfer } from './payment-submit-bank.ts';
import { submitByCard } from './payment-submit-card.ts';
import { submitToCarrier } from './payment-submit-carrier.ts';
import type { FoundSubmit } from './payment-submit-found.ts';
import { outcomeOf } from './payment-submit-outcome.ts';
import { submitFromWallet } from './payment-submit-wallet.ts';
import { type Answering, aboutTransaction, perform, type Reply, refusalOf, refuse } from './perform.ts';
import { TURN_PATIENCE_MS } from './session-turns.ts';

/**
 * Pays a collected payment by the method that the customer chose, and consumes the session when that succeeds
 * (specification, Endpoints, rule 4; contract §3). An Idempotency-Key that has been answered gets the same answer. While
 * another submit holds the session, this one waits for it up to ten seconds.
 *
 * @throws Refusal 1204 for a payment that is not of this session; 1103 for a method that is unknown, not offered, or not
 * the one that was collected; 1109 for a missing field that the method needs; 1001, 1005 or 1205 when session or payment accept
 * no submit any more; 1203 when the other submit takes longer; 1001, 1004 or 1005 when the session's credential was revoked or
 * its merchant suspended while this one waited; and what the method's own submit throws.
 */
export async function submitPayment(
  deps: Deps,
  caller: SessionCaller,
  command: PaymentSubmitCommand,
  answering: Answering<Submitted>,
): Promise<Reply> {
  const begunAt = deps.clock.now();
  const { shard, id } = caller.session;
  let current = caller;
  let asked = false;
  let hasMoved = false;
  const paymentId = deps.secrets.openPaymentId(command.payment_id);
  let known = untouched(deps, caller, paymentId);
  const { means } = command;
  for (;;) {
    try {
      return await submitOnce(deps, current, { named: command.payment_id, id: paymentId, known, means }, answering);
    } catch (error) {
      if (!(error instanceof SubmitAgain)) throw error;
      // The cached payment is stale: from now on it is read from the database.
      known = undefined;
      if (error instanceof PaymentMoved && !hasMoved) {
        hasMoved = true;
        current = await authenticatedAnew(deps, caller);
        continue;
      }
      if (!isWithin(TURN_PATIENCE_MS, begunAt, deps.clock.now())) throw refuseUnderWay(error.paymentId);
      // An earlier run of this key died before it answered: continue it, by inquiring at its upstream once.
      if (answering.receipt?.begun() === true && !asked && !deps.sessionTurns.isTaken(id)) {
        asked = true;
        await askAgain(deps, shard, error.paymentId);
        continue;
      }
      await deps.sessionTurns.waitFor(id, begunAt);
      current = await authenticatedAnew(deps, caller);
    }
  }
}

/** The caller, read anew after a wait: one revoked or suspended meanwhile pays nothing (specification, Authentication rule 3). */
async function authenticatedAnew(deps: Deps, caller: SessionCaller): Promise<SessionCaller> {
  const session = await sessionAsTold(deps, caller.session.shard, caller.session.id);
  if (session === undefined) return caller;
  requireMintingSecret(session, deps.clock.now());
  return { ...caller, session };
}

/** Which payment is to be paid, and by what. */
interface Wanted {
  /** The payment_id, as it was sent. */
  readonly named: string;
  /** Undefined when the payment_id is none of ours. */
  readonly id: string | undefined;
  /** The payment, if it need not be read. */
  readonly known: Payment | undefined;
  readonly means: Means;
}

async function submitOnce(
  deps: Deps,
  caller: SessionCaller,
  { named, id, known, means }: Wanted,
  answering: Answering<Submitted>,
): Promise<Reply> {
  const [payment, stored] = await Promise.all([
    known ?? (id === undefined ? undefined : deps.store.payment.get(caller.session.shard, id)),
    answering.receipt?.stored(),
  ]);
  if (stored !== undefined) return stored;
  if (payment === undefined || !isMine(payment, caller.session)) {
    if ('missing' in means) throw refuseIncomplete(means);
    const refusal = payment && refuseNotMine(payment, caller.session);
    return refuse(deps.store, answering, refusal ?? refuseUnknownPayment('payment_id', named));
  }
  return aboutTransaction(payment.id, answering, (about) =>
    submitFound(deps, { caller, payment, answering: about }, means),
  );
}

async function submitFound(deps: Deps, submit: FoundSubmit, named: Means): Promise<Reply> {
  const { caller, payment, answering } = submit;
  if (answering.receipt?.begun() === true && payment.status !== 'pending') {
    return answerForFirstRun(deps, payment, answering);
  }
  const method = isSubmitted(named.method) ? named.method : undefined;
  const offered = await offeredFor(deps, caller.merchant, payment.currency, method);
  const means = chooseMeans(payment, caller.merchant, named, offered);
  if ('missing' in means) throw refuseIncomplete(means);
  const aside = await refusalIfPaidAside(deps, submit, means.method);
  if (aside !== undefined) return refuse(deps.store, answering, aside);
  switch (means.method) {
    case 'mobile_money':
      return submitToCarrier(deps, submit, means);
    case 'wallet':
    case 'flash':
      return submitFromWallet(deps, submit, means);
    case 'bank_transfer':
      return submitByTransfer(deps, submit, means);
    case 'card':
      return submitByCard(deps, submit, means);
  }
}

/** The field of each method that a refusal names if the payment cannot be paid by it, although nothing is wrong with it. */
const NAMED: { readonly [method in SubmittedMethod]: string } = {
  mobile_money: 'mobile_money_phone_number',
  card: 'session_id',
  wallet: 'payment_id',
  flash: 'payment_id',
  bank_transfer: 'payment_id',
};

/** Money has come for this session's order, too late to count: it is not taken a second time, by any method. */
async function refusalIfPaidAside(
  deps: Deps,
  { caller: { session }, payment }: FoundSubmit,
  method: SubmittedMethod,
): Promise<Refusal | undefined> {
  // What is closed is refused as such, by the method's own submit.
  if (refusalOf(() => requireSubmittable(session, payment, deps.clock.now())) !== undefined) return undefined;
  if ((await findPaidAsideInSession(deps, payment, session)) === undefined) return undefined;
  return paidBefore(payment, NAMED[method]);
}

/**
 * The payment as this process last wrote it, which saves a read; undefined if it has to be read. It may be older than the
 * database's row, so it is used only for mobile money that is still to be submitted: the change that opens the attempt guards
 * the versions of session and payment, and both are read anew when either has moved.
 */
function untouched(deps: Deps, { session }: SessionCaller, id: string | undefined): Payment | undefined {
  const payment = id === undefined ? undefined : deps.store.payment.recent(session.shard, id);
  const isFree = session.status === 'ACTIVE' && session.submitting_payment_id === null;
  return isFree && payment?.status === 'pending' && payment.method === 'mobile_money' ? payment : undefined;
}

/** Answers in place of a first run that never answered: with the payment as it is, once the upstream has given an answer. */
async function answerForFirstRun(deps: Deps, payment: Payment, answering: Answering<Submitted>): Promise<Reply> {
  const read = async (): Promise<{ found: Payment; attempt: Attempt | undefined }> => {
    const found = (await deps.store.payment.get(payment.shard, payment.id)) ?? payment;
    return { found, attempt: await latestAttempt(deps, found) };
  };
  return perform(deps.store, answering, read, ({ found, attempt }) => {
    // The attempt ended between the two reads: the payment has moved with it, so read again.
    const hasMoved = attempt !== undefined && !isOpen(attempt.status) && !isFinal(found.status);
    // The money has not been asked for yet, or the payment was given back while we read: the whole call begins anew.
    if (found.status === 'pending' || attempt?.status === 'intended' || hasMoved) throw new SubmitAgain(found.id);
    // The customer is at the issuer, or has yet to go there.
    if (attempt?.status === 'challenged')
      return { answer: { payment: found, redirectUrl: challengeUrl(deps, attempt) } };
    return outcomeOf(found);
  });
}

async function askAgain(deps: Deps, shard: number, paymentId: string): Promise<void> {
  const payment = await deps.store.payment.get(shard, paymentId);
  const attempt = payment && (await latestAttempt(deps, payment));
  if (attempt?.status === 'intended') await inquireAttempt(deps, attempt);
}
