/**
 * Shows a payment to an operator who has a customer, a merchant or a carrier on the phone.
 *
 * Invariant: nothing is written. A payment is shown with everything that happened to it, live or archived, so that nobody has to
 * look into tables.
 */

import { isId, shardOf } from '../domain/ids.ts';
import type { Refund } from '../domain/outgoing-records.ts';
import type { Attempt, LedgerTransfer, Merchant, OneTimeCode, Payment, PaymentHistory } from '../domain/records.ts';
import type { Proof } from '../domain/transfer-records.ts';
import type { WebhookEvent } from '../domain/webhook-records.ts';
import {
  type FindDeps,
  findAttempt,
  findCode,
  findPayment,
  findRefundsOf,
  findRows,
  findTimeline,
  pageOfBoth,
} from './archive-find.ts';
import { MAX_WRONG_MS } from './clock-guard.ts';
import type { Deps } from './deps.ts';
import { OperatorError, UsageError } from './operator-error.ts';
import { requireMerchant } from './operator-input.ts';

type SeeDeps = FindDeps & Pick<Deps, 'secrets'>;

/** A payment with everything that happened to it; each list begins with the oldest. */
export interface PaymentStory {
  readonly payment: Payment;
  readonly merchant: Merchant;
  readonly timeline: readonly PaymentHistory[];
  readonly attempts: readonly Attempt[];
  /** The money that moved for it and for its refunds. */
  readonly transfers: readonly LedgerTransfer[];
  readonly refunds: readonly Refund[];
  readonly events: readonly WebhookEvent[];
  readonly proofs: readonly Proof[];
  readonly code: OneTimeCode | undefined;
  /** The other payments of its session. */
  readonly beside: readonly Payment[];
}

/** 200 at most: the events of a payment that is paid and refunded in many parts are some dozens. */
const MAX_EVENTS = 200;

/**
 * The payment with that transaction_id or payment_id, or the one that an attempt was made for.
 * @throws OperatorError when there is none.
 */
export async function seePayment(deps: SeeDeps, id: string): Promise<PaymentStory> {
  const payment = await requirePayment(deps, await transactionOf(deps, id), id);
  const { store } = deps;
  const { shard, id: transactionId, created_at } = payment;
  const [merchant, timeline, attempts, beside, refunds, events, proofs, code] = await Promise.all([
    requireMerchant(deps, payment.merchant_id),
    findTimeline(deps, payment),
    store.attemptsAt(payment),
    store.paymentsBeside(payment),
    findRefundsOf(deps, payment),
    eventsOf(deps, payment),
    proofsOf(deps, payment),
    findCode(deps, payment),
  ]);
  const causes = [transactionId, ...refunds.map((refund) => refund.id)];
  // Whoever moved the money may have a clock that lags as far as one may.
  const transfers = await store.transfersFor(shard, causes, created_at - 2 * MAX_WRONG_MS);
  return { payment, merchant, timeline, attempts, transfers, refunds, events, proofs, code, beside };
}

function proofsOf(deps: FindDeps, { shard, id }: Payment): Promise<Proof[]> {
  const { proof, archive } = deps.store;
  const sources = { live: () => proof.ofPayment(shard, id), archive: () => archive.proof.ofPayment(shard, id) };
  return findRows(deps, sources, id);
}

async function eventsOf(deps: FindDeps, { shard, merchant_id: merchantId, id }: Payment): Promise<WebhookEvent[]> {
  const { store } = deps;
  const filter = { shard, merchantId, transactionId: id, order: 'newest', limit: MAX_EVENTS } as const;
  const { rows } = await pageOfBoth(
    deps,
    MAX_EVENTS,
    () => store.pageOfEvents(filter),
    () => store.archive.event.page(filter),
  );
  return rows.toReversed();
}

/** The transaction_id behind whatever names a payment. */
async function transactionOf(deps: SeeDeps, id: string): Promise<string> {
  if (isId('txn', id)) return id;
  if (isId('att', id)) return orderOf(deps, id);
  const opened = deps.secrets.openPaymentId(id);
  if (opened !== undefined) return opened;
  throw new UsageError(
    'that is no id of a payment: give a transaction_id (txn_…), a payment_id (pay_…) or an attempt (att_…); `mbongo payment list` finds payments',
  );
}

async function orderOf(deps: FindDeps, attemptId: string): Promise<string> {
  const attempt = await findAttempt(deps, shardOf(attemptId), attemptId);
  if (attempt === undefined) throw new OperatorError(`there is no attempt ${attemptId}`);
  if (attempt.purpose === 'payment') return attempt.payment_id;
  const { purpose, payment_id: order, reference } = attempt;
  const see = purpose === 'refund' ? `refund show ${order}` : `payout lines --upstream-reference ${reference}`;
  throw new OperatorError(`${attemptId} is an attempt at a ${purpose}: see \`mbongo ${see}\``);
}

async function requirePayment(deps: FindDeps, transactionId: string, asked: string): Promise<Payment> {
  const payment = await findPayment(deps, shardOf(transactionId), transactionId);
  if (payment !== undefined) return payment;
  throw new OperatorError(
    `there is no payment ${asked}: \`mbongo payment list\` finds payments, \`mbongo payout lines\` payouts`,
  );
}
