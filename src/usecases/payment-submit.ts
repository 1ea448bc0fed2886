/**
 * Submits a payment: finds it, and goes the chosen method's way.
 *
 * Invariant: a submit that finds the session held by another one waits for that one's outcome; it never pays beside it.
 */

import { methodNamed } from '../domain/method.ts';
import type { Attempt, Payment } from '../domain/records.ts';
import { Refusal } from '../domain/refusal.ts';
import {
  chooseMethod,
  isMine,
  isSubmitted,
  type PaymentSubmitCommand,
  type Submitted,
  SubmitUnderWay,
} from '../domain/submission.ts';
import { inquireAttempt } from './attempt-inquire.ts';
import type { SessionCaller } from './callers.ts';
import type { Deps } from './deps.ts';
import { offeredFor } from './method-reach.ts';
import { submitByTransfer } from './payment-submit-bank.ts';
import { outcomeOf, submitByCard } from './payment-submit-card.ts';
import { submitToCarrier } from './payment-submit-carrier.ts';
import { submitFromWallet } from './payment-submit-wallet.ts';
import { type Answering, perform, type Reply, refuse } from './perform.ts';

/** How long a submit waits for another one on the same session before it says so (contract §2, 1203). */
const PATIENCE_MS = 10_000;
const LOOK_AGAIN_MS = 100;

export async function submitPayment(
  deps: Deps,
  caller: SessionCaller,
  command: PaymentSubmitCommand,
  answering: Answering<Submitted>,
): Promise<Reply> {
  const patience = deps.clock.now() + PATIENCE_MS;
  const { shard, id } = caller.session;
  let current = caller;
  let asked = false;
  for (;;) {
    try {
      return await submitOnce(deps, current, command, answering);
    } catch (error) {
      if (!(error instanceof SubmitUnderWay)) throw error;
      if (deps.clock.now() >= patience) throw inProgress(error.paymentId);
      // A first run of this key that died before its answer is gone on with: its upstream is asked, once.
      if (answering.receipt?.begun() === true && !asked && !deps.underWay.has(id)) {
        asked = true;
        await askAgain(deps, shard, error.paymentId);
        continue;
      }
      await turnOf(deps, id);
      current = { ...caller, session: (await deps.store.session.caller(shard, id)) ?? caller.session };
    }
  }
}

async function submitOnce(
  deps: Deps,
  caller: SessionCaller,
  command: PaymentSubmitCommand,
  answering: Answering<Submitted>,
): Promise<Reply> {
  const id = deps.secrets.openPaymentId(command.payment_id);
  const [payment, stored] = await Promise.all([
    id === undefined ? undefined : deps.store.payment.get(caller.session.shard, id),
    answering.receipt?.stored(),
  ]);
  if (stored !== undefined) return { ...stored, replayed: true };
  if (!isMine(payment, caller.session)) return refuse(deps.store, answering, new Refusal(1204));
  const mine = payment;
  if (answering.receipt?.begun() === true && mine.status !== 'pending') return goOn(deps, mine, answering);
  const named = methodNamed(caller.merchant.id, command.payment_method_id);
  const wanted = named !== undefined && isSubmitted(named) ? named : undefined;
  const offered = await offeredFor(deps, caller.merchant, mine.currency, wanted);
  const method = chooseMethod(mine, caller.merchant, command.payment_method_id, offered);
  switch (method) {
    case 'mobile_money':
      return submitToCarrier(deps, caller, command, mine, answering);
    case 'wallet':
    case 'flash':
      return submitFromWallet(deps, caller, command, mine, method, answering);
    case 'bank_transfer':
      return submitByTransfer(deps, caller, command, mine, answering);
    case 'card':
      return submitByCard(deps, caller, command, mine, answering);
  }
}

/** Answers for a first run that was never answered: the payment as it is, once its upstream has said anything. */
async function goOn(deps: Deps, payment: Payment, answering: Answering<Submitted>): Promise<Reply> {
  const attempt = await openAttempt(deps, payment);
  if (attempt?.status === 'intended') throw new SubmitUnderWay(payment.id);
  return perform(
    deps.store,
    answering,
    () => deps.store.payment.get(payment.shard, payment.id),
    (found) => outcomeOf(found ?? payment),
  );
}

async function openAttempt(deps: Deps, payment: Payment | undefined): Promise<Attempt | undefined> {
  if (payment === undefined || payment.attempt_id === null) return undefined;
  return deps.store.attempt.get(payment.shard, payment.attempt_id);
}

async function askAgain(deps: Deps, shard: number, paymentId: string): Promise<void> {
  const attempt = await openAttempt(deps, await deps.store.payment.get(shard, paymentId));
  if (attempt?.status === 'intended') await inquireAttempt(deps, attempt);
}

/** Waits for the submit of this process that holds the session, or a moment for one elsewhere. */
async function turnOf(deps: Deps, sessionId: string): Promise<void> {
  const holder = deps.underWay.get(sessionId);
  if (holder !== undefined) await holder.catch(() => undefined);
  else await new Promise<void>((done) => void deps.clock.after(LOOK_AGAIN_MS, done));
}

function inProgress(paymentId: string): Refusal {
  const details = [{ field: 'payment_id', code: 'IN_PROGRESS' }] as const;
  return new Refusal(1203, { transactionId: paymentId, retryable: true, retryAfter: 5, details });
}
