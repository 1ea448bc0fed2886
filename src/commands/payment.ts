/**
 * `mbongo payment`: finds payments, and shows one with everything that happened to it.
 *
 * Invariant: nothing is changed; a phone number is never shown whole.
 */

import { lateMoneyOf } from '../domain/late-money.ts';
import { statesOf } from '../domain/machine.ts';
import { formatMinor, moneyText } from '../domain/money.ts';
import type { Refund } from '../domain/outgoing-records.ts';
import { PAYMENT } from '../domain/payment.ts';
import type { Attempt, LedgerTransfer, Payment } from '../domain/records.ts';
import type { WebhookEvent } from '../domain/webhook-records.ts';
import { searchPayments } from '../usecases/order-search.ts';
import { type PaymentStory, seePayment } from '../usecases/payment-see.ts';
import { readStatus, requireMethod } from './options.ts';
import { endOfSearch, type OrderOptions, partyOf, readSearch } from './orders.ts';
import { fieldLines, type Output, table, timeOf } from './output.ts';
import type { Tools } from './tools.ts';

/** The options of `mbongo payment list`. `status` and `method`: as the API names them. */
export interface PaymentListOptions extends OrderOptions {
  readonly status?: string;
  readonly method?: string;
}

/**
 * A page of payments, the newest first, as `{payments, next, searched_from}`; without a merchant or --from those of the last 30
 * days. `searched_from`: since when was searched; null: since the first payment.
 *
 * @throws OperatorError when an option is wrong, or there is no such merchant.
 */
export async function paymentList({ deps }: Tools, options: PaymentListOptions): Promise<Output> {
  const { status, method } = options;
  const search = await readSearch({ deps }, options);
  const found = await searchPayments(deps, {
    ...search,
    status: status === undefined ? undefined : readStatus(status, statesOf(PAYMENT), 'a payment'),
    method: method === undefined ? undefined : requireMethod(method),
  });
  const end = endOfSearch(found, search);
  const rows = found.orders.map((payment) => [
    payment.id,
    timeOf(payment.created_at),
    payment.status,
    payment.method,
    partyOf(payment) ?? '',
    moneyText(payment.total_minor, payment.currency),
    payment.customer_reference,
    payment.merchant_id,
    payment.reason ?? '',
  ]);
  return {
    document: { payments: found.orders.map(summaryOf), ...end.document },
    lines: [
      ...table(['transaction', 'made', 'status', 'method', 'payer', 'pays', 'reference', 'merchant', 'why'], rows),
      ...end.lines,
    ],
  };
}

/**
 * A payment, found by its transaction_id, its payment_id or an attempt's id, with everything that happened to it: its one-time code
 * (null: none was sent), and its timeline, attempts, transfers, refunds, events, proofs and the session's other payments, the
 * oldest of each first.
 *
 * @throws OperatorError when there is none.
 */
export async function paymentShow({ deps }: Tools, id: string): Promise<Output> {
  const story = await seePayment(deps, id);
  const { payment } = story;
  const document = {
    ...summaryOf(payment),
    merchant_name: story.merchant.name,
    amount: formatMinor(payment.amount_minor, payment.currency),
    fee: formatMinor(payment.fee_minor, payment.currency),
    fee_covered_by: payment.fee_covered_by,
    refunded: formatMinor(payment.refunded_minor, payment.currency),
    delivery_behaviour: payment.delivery_behaviour,
    session_id: payment.session_id,
    checkout_id: payment.checkout_id,
    submitted_at: timeOf(payment.submitted_at),
    completed_at: timeOf(payment.completed_at),
    released_at: timeOf(payment.released_at),
    expires_at: timeOf(payment.expires_at),
  };
  const code = story.code && {
    sent_at: timeOf(story.code.created_at),
    resends: story.code.resends,
    expires_at: timeOf(story.code.expires_at),
  };
  const parts = partsOf(story);
  return {
    document: { ...document, one_time_code: code ?? null, ...parts },
    lines: [
      ...fieldLines({
        ...document,
        ...(code && { one_time_code: `sent at ${code.sent_at}, and ${code.resends} times again` }),
      }),
      ...Object.entries(parts).flatMap(([name, rows]) => sectionOf(name, rows)),
    ],
  };
}

type Cell = string | number | null;
type Row = { readonly [name: string]: Cell };

/** What belongs to a payment, list by list, the oldest of each first. */
function partsOf(story: PaymentStory) {
  const { payment, timeline, attempts, transfers, refunds, events, proofs, beside } = story;
  return {
    timeline: [
      { at: timeOf(payment.created_at), status: 'pending', why: null },
      ...timeline.map(({ at, status, reason }) => ({ at: timeOf(at), status, why: reason })),
    ],
    attempts: attempts.map(attemptOf),
    transfers: transfers.map(transferOf),
    refunds: refunds.map(refundOf),
    events: events.map(eventOf),
    proofs: proofs.map(({ id, created_at, status, note }) => ({
      proof_id: id,
      at: timeOf(created_at),
      status,
      why: note,
    })),
    other_payments_of_the_session: beside.map(({ id, created_at, status, method, reason }) => ({
      transaction_id: id,
      at: timeOf(created_at),
      status,
      method,
      why: reason,
    })),
  };
}

/** A list of the payment's, under its name; nothing if it is empty. */
function sectionOf(name: string, rows: readonly Row[]): string[] {
  const [first] = rows;
  if (first === undefined) return [];
  const cells = rows.map((row) => Object.values(row).map((value) => String(value ?? '')));
  return ['', `${name.replaceAll('_', ' ')}:`, ...table(Object.keys(first), cells)];
}

function summaryOf(payment: Payment) {
  return {
    transaction_id: payment.id,
    status: payment.status,
    why: payment.reason,
    merchant_id: payment.merchant_id,
    customer_reference: payment.customer_reference,
    method: payment.method,
    payer: partyOf(payment),
    carrier: payment.carrier,
    pays: formatMinor(payment.total_minor, payment.currency),
    currency: payment.currency,
    provider_reference: payment.provider_reference,
    created_at: timeOf(payment.created_at),
  };
}

function attemptOf(attempt: Attempt) {
  return {
    attempt_id: attempt.id,
    at: timeOf(attempt.created_at),
    connector: attempt.connector,
    status: attempt.status,
    why: attempt.reason,
    amount: formatMinor(attempt.amount_minor, attempt.currency),
    our_reference: attempt.reference,
    their_reference: attempt.provider_reference,
    settled_at: timeOf(attempt.settled_at),
    late_money: lateMoneyOf(attempt) ?? null,
  };
}

function transferOf(transfer: LedgerTransfer) {
  return {
    at: timeOf(transfer.at),
    cause: transfer.cause,
    amount: formatMinor(transfer.amount_minor, transfer.currency),
    from: transfer.debit_account,
    to: transfer.credit_account,
  };
}

function refundOf(refund: Refund) {
  return {
    refund_id: refund.id,
    at: timeOf(refund.created_at),
    status: refund.status,
    amount: formatMinor(refund.amount_minor, refund.currency),
    why: refund.reason,
  };
}

function eventOf(event: WebhookEvent) {
  return {
    event_id: event.id,
    at: timeOf(event.created_at),
    type: event.type,
    status: event.status,
    tries: event.attempts,
    delivered_at: timeOf(event.delivered_at),
    last_error: event.last_error,
  };
}
