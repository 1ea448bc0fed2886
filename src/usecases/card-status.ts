/**
 * Reads card payments for whoever waits for them: anew from the network, or with what it said of the authentication.
 *
 * Invariant: a final payment is answered from what is kept, and nobody is asked (specification, States). What the
 * network says of an open one goes the one way of every inquiry.
 */

import type { CardEnd } from '../connectors/connector.ts';
import { isBeingAsked } from '../domain/attempt.ts';
import { isId } from '../domain/ids.ts';
import { isFinal } from '../domain/payment.ts';
import type { Attempt, Payment } from '../domain/records.ts';
import { Refusal } from '../domain/refusal.ts';
import { findAttempt, findNewestPayment, findPayment } from './archive-find.ts';
import { inquireAttempt } from './attempt-inquire.ts';
import type { SessionCaller } from './callers.ts';
import { challengeUrl } from './card-challenge.ts';
import { triesThatAsked } from './card-earlier.ts';
import type { Deps } from './deps.ts';
import { readByTransactionId } from './payment-read.ts';

export interface UpstreamChecked {
  readonly payment: Payment;
  /** The order's state in the network's own words; null when it knows none, or cannot be asked now. */
  readonly upstreamStatus: string | null;
}

/**
 * By transaction_id, which the network's order id is too, or by customer_reference: then its newest payment, by whatever
 * method (contract §4). Where that is none of a card, there is no network to ask.
 *
 * @throws Refusal 1204 for an order of nobody's or another's, 1205 for a transaction_id of another method.
 */
export async function checkStatus(deps: Deps, caller: SessionCaller, orderId: string): Promise<UpstreamChecked> {
  const known = await paymentOf(deps, caller, orderId);
  if (!mayBeCard(known)) return { payment: known, upstreamStatus: null };
  const attempt = await attemptOf(deps, known);
  const { card } = deps.connectors;
  if (isFinal(known.status)) {
    const end = endOf(known, attempt);
    return { payment: known, upstreamStatus: end === undefined ? null : (card?.wordForEnd(end) ?? null) };
  }
  if (attempt !== undefined) {
    if (!isUnderWay(deps, attempt)) await inquireAttempt(deps, attempt);
  } else if (known.hosted_session_id === null || !(await inquireTries(deps, known))) {
    return { payment: known, upstreamStatus: null };
  }
  const [payment, order] = await Promise.all([
    deps.store.payment.get(known.shard, known.id),
    card?.orderStatus(known.id),
  ]);
  return { payment: payment ?? known, upstreamStatus: order?.word ?? null };
}

/** So many of a payment's tries are asked about, the newest of them. */
const TRIES_MOST = 4;

/** Between two tries no attempt is the payment's own. Those that may have paid are asked about; false where none may. */
async function inquireTries(deps: Deps, { shard, id }: Payment): Promise<boolean> {
  const asked = (await triesThatAsked(deps, shard, id)).sort((a, b) => (a.id < b.id ? 1 : -1));
  const known = asked.slice(0, TRIES_MOST).filter(({ connector }) => deps.connectors.upstream(connector) !== undefined);
  await Promise.all(known.map((one) => inquireAttempt(deps, one)));
  return asked.length > 0;
}

/** An attempt whose own call may still be under way is that call's; one that is intended may have a session to give back. */
function isUnderWay(deps: Deps, attempt: Attempt): boolean {
  return attempt.status === 'intended' || isBeingAsked(attempt, deps.clock.now());
}

async function paymentOf(deps: Deps, { merchant }: SessionCaller, orderId: string): Promise<Payment> {
  const { shard, id } = merchant;
  const named = isId('txn', orderId) ? await findPayment(deps, shard, orderId) : undefined;
  if (named?.merchant_id === id) return requireCard(named, 'order_id');
  const newest = await findNewestPayment(deps, shard, id, orderId);
  if (newest === undefined) throw new Refusal(1204);
  return newest;
}

/** Another method has no card network behind it; a payment whose method is still open may get one. */
function mayBeCard({ method }: Payment): boolean {
  return method === 'card' || method === 'google_pay' || method === 'apple_pay' || method === 'none';
}

function requireCard(payment: Payment, field: string): Payment {
  const { method, status: state } = payment;
  if (mayBeCard(payment)) return payment;
  const details = [{ field, code: 'NOT_A_CARD', words: { method } }] as const;
  throw new Refusal(1205, { transactionId: payment.id, words: { state }, details });
}

/** How a final payment ended at the network, as far as we heard of it. */
function endOf({ status, refunded_minor }: Payment, attempt: Attempt | undefined): CardEnd | undefined {
  if (status === 'refunded') return { kind: 'paid', refunded: 'all' };
  if (status === 'approved') return { kind: 'paid', refunded: refunded_minor > 0n ? 'part' : 'nothing' };
  return attempt?.status === 'declined' ? { kind: 'declined', reason: attempt.reason } : undefined;
}

async function attemptOf(deps: Deps, payment: Payment): Promise<Attempt | undefined> {
  return payment.attempt_id === null ? undefined : findAttempt(deps, payment.shard, payment.attempt_id);
}

export interface CardRead {
  readonly payment: Payment;
  readonly threeDs: {
    readonly status: string | null;
    readonly eci: string | null;
    readonly challengeUrl: string | null;
  };
}

/** What is known of a card payment's authentication: polled after the challenge. */
export async function readCardStatus(deps: Deps, caller: SessionCaller, transactionId: string): Promise<CardRead> {
  const payment = requireCard(await readByTransactionId(deps, caller, transactionId), 'transaction_id');
  const attempt = await attemptOf(deps, payment);
  const isAsked = attempt?.status === 'challenged';
  return {
    payment,
    threeDs: {
      status: attempt?.three_ds_status ?? null,
      eci: attempt?.eci ?? null,
      challengeUrl: isAsked ? challengeUrl(deps, attempt) : null,
    },
  };
}
