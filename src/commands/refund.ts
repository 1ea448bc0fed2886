/**
 * `mbongo refund`: shows refunds, and records those that an operator carried out by hand or calls off.
 *
 * Invariant: nothing is decided without --yes; a phone number is never shown whole.
 */

import { statesOf } from '../domain/machine.ts';
import { formatMinor, moneyText } from '../domain/money.ts';
import type { Refund } from '../domain/outgoing-records.ts';
import { maskPhone } from '../domain/phone.ts';
import { isByHand, REFUND, type RefundRows } from '../domain/refund.ts';
import { OperatorError } from '../usecases/operator-error.ts';
import { requireId, requireMerchant } from '../usecases/operator-input.ts';
import { callOffRefund, executeRefund, requireCallable, requireExecutable } from '../usecases/refund-decide.ts';
import { seeRefund } from '../usecases/refund-read.ts';
import { readLimit, readStatus } from './options.ts';
import { endOfPage, fieldLines, type Output, table, timeOf } from './output.ts';
import { attributionOf, type ConfirmedOptions } from './this-user.ts';
import type { Tools } from './tools.ts';

/** The options of `mbongo refund list`. `status`: pending, processing, completed or failed; undefined: any. */
export interface RefundListOptions {
  readonly merchant?: string;
  readonly status?: string;
  readonly after?: string;
  readonly limit: string;
}

/**
 * A page of refunds, the oldest first, as `{refunds, next}`. `by_hand`: a person carries it out, no upstream. `reason` is the
 * merchant's; `why` says why it failed.
 *
 * @throws OperatorError when an option is wrong, or there is no such merchant.
 */
export async function refundList({ deps }: Tools, options: RefundListOptions): Promise<Output> {
  const { merchant, status, after } = options;
  if (after !== undefined) requireId('rfd', after, 'refund');
  const limit = readLimit(options.limit);
  const refunds = await deps.store.refund.list({
    merchantId: merchant === undefined ? undefined : (await requireMerchant(deps, merchant)).id,
    status: status === undefined ? undefined : readStatus(status, statesOf(REFUND), 'a refund'),
    after,
    limit,
  });
  const end = endOfPage(refunds, limit);
  const rows = refunds.map((refund) => [
    refund.id,
    refund.status,
    timeOf(refund.created_at),
    refund.method,
    isByHand(refund) ? 'by hand' : (refund.carrier ?? ''),
    amountOf(refund),
    refund.payment_id,
    refund.merchant_id,
    refund.reason ?? '',
  ]);
  return {
    document: { refunds: refunds.map(documentOf), next: end.next },
    lines: [
      ...table(['refund', 'status', 'made', 'method', 'way', 'amount', 'transaction', 'merchant', 'why'], rows),
      ...end.lines,
    ],
  };
}

/**
 * A refund, live or archived, with its attempt's id, and its payment's status, amount and total refunded.
 *
 * @throws OperatorError when there is no such refund.
 */
export async function refundShow({ deps }: Tools, refundId: string): Promise<Output> {
  const { refund, payment } = await seeRefund(deps, refundId);
  const document = {
    ...documentOf(refund),
    attempt_id: refund.attempt_id,
    payment_status: payment.status,
    paid_amount: payment.amount,
    refunded_amount: formatMinor(payment.refunded_minor, payment.currency),
    customer_reference: payment.customer_reference,
    bank_account_id: payment.bank_account_id,
  };
  return { document, lines: fieldLines(document) };
}

/**
 * Records that an operator has given the money back by hand; `reference` is the bank's or the upstream's for it. Returns the refund
 * with its payment's status. `notTaken`: the operator has checked that the upstream did not make the refund that it turned away.
 *
 * @throws OperatorError when an upstream has paid it, or may have, and, without --yes, with what would be recorded.
 */
export async function refundExecute(
  { deps }: Tools,
  refundId: string,
  options: ConfirmedOptions & { readonly reference: string; readonly notTaken?: true },
): Promise<Output> {
  const { reference, notTaken = false } = options;
  if (options.yes !== true) {
    const refund = await requireExecutable(deps, refundId, { reference, notTaken });
    throw new OperatorError(`${describe(refund)}: add --yes if the customer has received the money, for good`);
  }
  return outputOf(await executeRefund(deps, refundId, { reference, notTaken }, attributionOf(options)));
}

/**
 * Calls a refund off, so that its money goes back to the merchant, and returns it with its payment's status. `notTaken`: as for
 * `refundExecute`.
 *
 * @throws OperatorError when an upstream may have paid it, and, without --yes, with what would be called off.
 */
export async function refundFail(
  { deps }: Tools,
  refundId: string,
  options: ConfirmedOptions & { readonly notTaken?: true },
): Promise<Output> {
  const { notTaken = false } = options;
  if (options.yes !== true) {
    const refund = await requireCallable(deps, refundId, { notTaken });
    throw new OperatorError(`${describe(refund)}: add --yes to call it off, for good`);
  }
  return outputOf(await callOffRefund(deps, refundId, attributionOf(options), { notTaken }));
}

function describe(refund: Refund): string {
  return `${amountOf(refund)} back by ${refund.method} for ${refund.payment_id}, since ${timeOf(refund.created_at)}`;
}

function amountOf({ amount_minor, currency }: Refund): string {
  return moneyText(amount_minor, currency);
}

function outputOf({ refund, payment }: RefundRows): Output {
  const document = { ...documentOf(refund), payment_status: payment.status };
  return {
    document,
    lines: [`${refund.id}  ${refund.status}; ${payment.id}  ${payment.status}  ${amountOf(refund)}`],
  };
}

function documentOf(refund: Refund) {
  return {
    refund_id: refund.id,
    status: refund.status,
    merchant_id: refund.merchant_id,
    transaction_id: refund.payment_id,
    method: refund.method,
    by_hand: isByHand(refund),
    carrier: refund.carrier,
    phone_number: refund.msisdn === null ? null : maskPhone(refund.msisdn),
    amount: formatMinor(refund.amount_minor, refund.currency),
    currency: refund.currency,
    reason: refund.note,
    why: refund.reason,
    provider_reference: refund.provider_reference,
    tries: refund.tries,
    created_at: timeOf(refund.created_at),
    next_try_at: timeOf(refund.next_start_at),
    completed_at: timeOf(refund.completed_at),
  };
}
