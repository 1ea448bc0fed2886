/**
 * Reads card payments for clients that wait for them: inquired about at the network, or with what it said of the authentication.
 *
 * Invariant: a final payment is answered from our rows without asking the network (specification, States). What the
 * network says of an open one is settled like any other inquiry's answer.
 */

import type { CardEnd } from '../connectors/connector.ts';
import { isBeingAsked } from '../domain/attempt.ts';
import { isId } from '../domain/ids.ts';
import { isByCard } from '../domain/method.ts';
import { isFinal } from '../domain/payment.ts';
import type { Attempt, Payment } from '../domain/records.ts';
import { Refusal, refuseUnknownPayment } from '../domain/refusal.ts';
import { findAttempt, findNewestPayment, findPayment } from './archive-find.ts';
import { inquireAttempt } from './attempt-inquire.ts';
import type { SessionCaller } from './callers.ts';
import { challengeUrl } from './card-challenge.ts';
import { attemptsThatAsked } from './card-earlier.ts';
import type { Deps } from './deps.ts';
import { readByTransactionId } from './payment-read.ts';

/** A payment, with what the card network says of its order. */
export interface UpstreamChecked {
  readonly payment: Payment;
  /** The order's state in the network's own words; null when it knows none, or cannot be asked now. */
  readonly upstreamStatus: string | null;
}

/**
 * Checks a payment by transaction_id, which is also the network's order id, or by customer_reference: then the newest payment
 * (contract §4). For a payment by another method than a card no network is asked.
 *
 * @throws Refusal 1204 for an order that is unknown or another merchant's.
 */
export async function checkStatus(deps: Deps, caller: SessionCaller, orderId: string): Promise<UpstreamChecked> {
  const known = await paymentOf(deps, caller, orderId);
  if (!mayBeCard(known)) return { payment: known, upstreamStatus: null };
  const attempt = await attemptOf(deps, known);
  const { card } = deps.connectors;
  if (isFinal(known.status)) {
    const end = endOf(known, attempt);
    return { payment: known, upstreamStatus: end === undefined ? null : (card?.statusForEnd(end) ?? null) };
  }
  if (attempt !== undefined) {
    if (!isUnderWay(deps, attempt)) await inquireAttempt(deps, attempt);
  } else if (known.hosted_session_id === null || !(await inquireEarlier(deps, known))) {
    return { payment: known, upstreamStatus: null };
  }
  const [payment, order] = await Promise.all([
    deps.store.payment.get(known.shard, known.id),
    card?.orderStatus(known.id),
  ]);
  return { payment: payment ?? known, upstreamStatus: order?.status ?? null };
}

/** 4 attempts of a payment at most are inquired about, the newest ones. */
const MAX_ASKED = 4;

/** Between two submits a payment has no current attempt: inquires about those that may have paid. False if there are none. */
async function inquireEarlier(deps: Deps, { shard, id }: Payment): Promise<boolean> {
  const asked = (await attemptsThatAsked(deps, shard, id)).sort((a, b) => (a.id < b.id ? 1 : -1));
  const known = asked.slice(0, MAX_ASKED).filter(({ connector }) => deps.connectors.upstream(connector) !== undefined);
  await Promise.all(known.map((one) => inquireAttempt(deps, one)));
  return asked.length > 0;
}

/** Left to the submit that made it: an attempt whose call may be in flight, or that is intended and may free its session yet. */
function isUnderWay(deps: Deps, attempt: Attempt): boolean {
  return attempt.status === 'intended' || isBeingAsked(attempt, deps.clock.now());
}

async function paymentOf(deps: Deps, { merchant }: SessionCaller, orderId: string): Promise<Payment> {
  const { shard, id } = merchant;
  const named = isId('txn', orderId) ? await findPayment(deps, shard, orderId) : undefined;
  if (named?.merchant_id === id) return named;
  const newest = await findNewestPayment(deps, shard, id, orderId);
  if (newest === undefined) throw refuseUnknownPayment('transaction_id', orderId, 'order_id');
  return newest;
}

/** Whether the payment is by card, or may still be: its method has not been chosen yet. */
function mayBeCard({ method }: Payment): boolean {
  return isByCard(method) || method === 'none';
}

function requireCard(payment: Payment): Payment {
  const { method, status: state } = payment;
  if (mayBeCard(payment)) return payment;
  const details = [{ field: 'transaction_id', code: 'NOT_A_CARD', words: { method } }] as const;
  throw new Refusal(1205, { transactionId: payment.id, words: { state }, details });
}

/** How a final payment ended at the network, as far as we know. */
function endOf({ status, refunded_minor }: Payment, attempt: Attempt | undefined): CardEnd | undefined {
  if (status === 'refunded') return { kind: 'paid', refunded: 'all' };
  if (status === 'approved') return { kind: 'paid', refunded: refunded_minor > 0n ? 'part' : 'nothing' };
  return attempt?.status === 'declined' ? { kind: 'declined', reason: attempt.reason } : undefined;
}

async function attemptOf(deps: Deps, payment: Payment): Promise<Attempt | undefined> {
  return payment.attempt_id === null ? undefined : findAttempt(deps, payment.shard, payment.attempt_id);
}

/** A payment, with what is known of its customer's authentication (3-D Secure). */
export interface CardRead {
  readonly payment: Payment;
  readonly threeDs: {
    readonly status: string | null;
    readonly eci: string | null;
    readonly challengeUrl: string | null;
  };
}

/** Reads what is known of a card payment's authentication; clients poll this after the challenge. */
export async function readCardStatus(deps: Deps, caller: SessionCaller, transactionId: string): Promise<CardRead> {
  const payment = requireCard(await readByTransactionId(deps, caller, transactionId));
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
