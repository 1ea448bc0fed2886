/**
 * Google Pay and Apple Pay: a token pays at collect, through the card network.
 *
 * Invariant: the token is held in memory until it has been sent, and is written nowhere: no row, no remembered reply, no
 * log. A process that dies before sending it leaves an attempt that the network has never heard of, and nothing is charged.
 */

import type { CardConnector } from '../connectors/connector.ts';
import type { Change } from '../domain/change.ts';
import type { Attempt, Payment, PaymentMethod, Session } from '../domain/records.ts';
import { Refusal } from '../domain/refusal.ts';
import { consumeSession } from '../domain/settlement.ts';
import { CommitUnknown } from '../store/errors.ts';
import { callWithinDeadline } from './attempt-ask.ts';
import { type Intention, newAttempt, orderOf } from './attempt-intend.ts';
import { settleByAnswer } from './attempt-settle.ts';
import type { SessionCaller } from './callers.ts';
import { askEarlierInSession } from './card-earlier.ts';
import { cardOf } from './card-form.ts';
import { PAY_LIFE_MS } from './card-pay.ts';
import { type Deps, idsOf, newId } from './deps.ts';
import { findPaidAside } from './paid-aside.ts';
import { type Answering, type Reply, retryWhileUnavailable } from './perform.ts';

export type NativeMethod = Extract<PaymentMethod, 'google_pay' | 'apple_pay'>;

/** Whether a method pays by a token at collect, so that the collect consumes the session (contract §3). */
export function isNative(method: PaymentMethod | 'none'): method is NativeMethod {
  return method === 'google_pay' || method === 'apple_pay';
}

/** A payment whose token is about to be sent, with the change to commit first. */
export interface NativeIntended {
  readonly change: Change;
  readonly payment: Payment;
  readonly attempt: Attempt;
}

/**
 * What the network has turned away in this session, and may have carried out all the same, is inquired about before a token asks
 * it for money again; and money that came too late to count is not asked for a second time. Undefined: the collect may go on, and
 * finds on the rows that it reads whether the session has been consumed.
 */
export async function refusalByEarlier(deps: Deps, { session }: SessionCaller): Promise<Refusal | undefined> {
  if (session.payments === 0 || session.submitting_payment_id !== null) return undefined;
  const field = 'payment_method';
  const payments = await deps.store.payment.ofSession(session.shard, session.id);
  const aside = await findPaidAside(deps, payments);
  const earlier = aside === undefined ? await askEarlierInSession(deps, cardOf(deps), payments) : 'booked_aside';
  switch (earlier) {
    case 'none':
    case 'taken':
      return undefined;
    case 'booked_aside':
      return new Refusal(1110, { details: [{ field, code: 'PAID_BEFORE' }] });
    case 'unclear':
      return new Refusal(1404, { retryAfter: 10, details: [{ field, code: 'EARLIER_TRY_OPEN' }] });
  }
}

/**
 * Decides on a collect that is also the submit: the payment stays `pending`, its attempt is opened, and the session consumed.
 *
 * @throws Refusal 1203 while another submit holds the session.
 */
export function intendByToken(
  deps: Deps,
  session: Session,
  siblings: readonly Payment[],
  collected: Payment,
  method: NativeMethod,
): NativeIntended {
  const holder = session.submitting_payment_id;
  if (holder !== null) {
    const details = [{ field: 'Authorization', code: 'IN_PROGRESS' }] as const;
    throw new Refusal(1203, { transactionId: holder, retryable: true, retryAfter: 5, details });
  }
  const now = deps.clock.now();
  const attemptId = newId(deps, 'att', collected.shard);
  const attempt = newAttempt(
    attemptId,
    orderOf(collected),
    { amount_minor: collected.total_minor, fee_minor: collected.fee_minor },
    intentionOf(cardOf(deps), method),
    now,
  );
  const payment: Payment = { ...collected, attempt_id: attemptId, submitted_at: now };
  const rows = { payment, sessionPayments: siblings };
  const context = { now, newId: idsOf(deps) };
  const consumed = consumeSession(rows, session, context, { payments: session.payments + 1 });
  return {
    change: {
      updates: consumed.updates,
      inserts: [{ table: 'payment', row: payment }, { table: 'attempt', row: attempt }, ...consumed.inserts],
    },
    payment,
    attempt,
  };
}

function intentionOf(card: CardConnector, method: NativeMethod): Intention {
  return { connector: card, method, carrier: card.displayName, msisdn: null, callLifeMs: PAY_LIFE_MS };
}

/**
 * Runs a collect. If the outcome of a token's commit is unknown, its attempt is looked up and the collect continues: nothing
 * was sent yet, and a repeated call would find the session consumed and never send its token. If the lookup took too long, the
 * attempt's age shows it.
 */
export async function alsoInDoubt<A>(
  deps: Deps,
  answering: Answering<A>,
  collect: (answering: Answering<A>) => Promise<Reply>,
  intended: () => NativeIntended | undefined,
): Promise<Reply> {
  let reply: Reply | undefined;
  const render = (answer: A): Reply => {
    reply = answering.render(answer);
    return reply;
  };
  try {
    return await collect({ ...answering, render });
  } catch (error) {
    const attempt = intended()?.attempt;
    if (!(error instanceof CommitUnknown) || attempt === undefined || reply === undefined) throw error;
    // If the attempt cannot be looked up either, the outcome stays unknown.
    const own = await retryWhileUnavailable(deps, () => deps.store.attempt.get(attempt.shard, attempt.id)).catch(
      () => undefined,
    );
    if (own?.status !== 'intended') throw error;
    return reply;
  }
}

/** Sends the token, once, and writes what the network says. */
export async function payByToken(
  deps: Deps,
  { attempt, payment }: NativeIntended,
  wallet: NativeMethod,
  token: string,
): Promise<void> {
  const card = cardOf(deps);
  const order = {
    attemptId: attempt.id,
    orderId: payment.id,
    amountMinor: attempt.amount_minor,
    currency: attempt.currency,
    customerReference: payment.customer_reference,
    wallet,
    token,
  };
  const answer = await callWithinDeadline(deps, attempt, () => card.payByToken(order));
  await settleByAnswer(deps, attempt, answer, { at: attempt.created_at });
}
