/**
 * `mbongo attempt`: lists open attempts, and closes one by hand when its upstream gives no answer; lists those that moved money
 * too late, and books that money.
 *
 * Invariant: nothing is closed or booked without --yes; a phone number is never shown whole.
 */

import type { LateTarget } from '../domain/late-money.ts';
import { formatMinor, moneyText } from '../domain/money.ts';
import { maskPhone } from '../domain/phone.ts';
import type { Attempt } from '../domain/records.ts';
import { bookLateMoney, type LateRows, requireBookable } from '../usecases/attempt-book.ts';
import {
  answerOf,
  decideAttempt,
  requireAttempt,
  requireDecidable,
  requireLiveOrder,
  requireNamesNoOther,
} from '../usecases/attempt-decide.ts';
import { OperatorError, UsageError } from '../usecases/operator-error.ts';
import { requireId } from '../usecases/operator-input.ts';
import { readLimit } from './options.ts';
import { endOfPage, type Output, table, timeOf } from './output.ts';
import { attributionOf, type ConfirmedOptions } from './this-user.ts';
import type { Tools } from './tools.ts';

/**
 * A page of open attempts, the oldest first, as `{attempts, next}`; with --late, of those whose money is in suspense, each with
 * `came_at`. `next` is the id for --after; null: the page was not full.
 *
 * @throws UsageError for a malformed id or limit.
 */
export async function attemptList(
  { deps }: Tools,
  options: { readonly late?: true; readonly after?: string; readonly limit: string },
): Promise<Output> {
  const limit = readLimit(options.limit);
  if (options.after !== undefined) requireId('att', options.after, 'attempt');
  const attempts = await (options.late === true
    ? deps.store.suspense({ limit, after: options.after })
    : deps.store.attempt.listOpen(limit, options.after));
  const end = endOfPage(attempts, limit);
  const { document, lines } = options.late === true ? lateList(attempts) : openList(attempts);
  return { document: { ...document, next: end.next }, lines: [...lines, ...end.lines] };
}

function openList(attempts: readonly Attempt[]): Output {
  const rows = attempts.map((attempt) => [
    attempt.id,
    attempt.status,
    timeOf(attempt.created_at),
    attempt.connector,
    attempt.purpose,
    amountOf(attempt),
    phoneOf(attempt) ?? '',
    attempt.payment_id,
    attempt.merchant_id,
    String(attempt.inquiries),
    attempt.reference,
    attempt.provider_reference ?? '',
  ]);
  return {
    document: { attempts: attempts.map(documentOf) },
    lines: table(
      [
        'attempt',
        'status',
        'made',
        'upstream',
        'for',
        'amount',
        'phone',
        'transaction',
        'merchant',
        'inquiries',
        'reference',
        'its reference',
      ],
      rows,
    ),
  };
}

/** Attempts whose money is in suspense, with the time when it moved. */
function lateList(attempts: readonly Attempt[]): Output {
  const rows = attempts.map((attempt) => [
    attempt.id,
    timeOf(attempt.settled_at) ?? '',
    attempt.connector,
    attempt.purpose,
    amountOf(attempt),
    phoneOf(attempt) ?? '',
    attempt.payment_id,
    attempt.merchant_id,
    attempt.reference,
    attempt.provider_reference ?? '',
  ]);
  return {
    document: {
      attempts: attempts.map((attempt) => ({ ...documentOf(attempt), came_at: timeOf(attempt.settled_at) })),
    },
    lines: table(
      [
        'attempt',
        'moved',
        'upstream',
        'for',
        'amount',
        'phone',
        'transaction',
        'merchant',
        'reference',
        'its reference',
      ],
      rows,
    ),
  };
}

/**
 * The options of `mbongo attempt settle`: exactly one of `paid` and `notPaid` must be given. `providerReference`: the upstream's
 * reference, the evidence that it has paid.
 */
export interface AttemptSettleOptions extends ConfirmedOptions {
  readonly paid?: true;
  readonly notPaid?: true;
  readonly providerReference?: string;
}

/**
 * Closes an open attempt as if its upstream had answered, and returns it with its order's status as `payment_status`, `reason` and
 * `settled_at`.
 *
 * @throws UsageError when the outcome or its evidence is missing; OperatorError when the attempt cannot be decided on now, and,
 *   without --yes, with what would be closed.
 */
export async function attemptSettle(
  { deps }: Tools,
  attemptId: string,
  options: AttemptSettleOptions,
): Promise<Output> {
  const { paid, notPaid, providerReference = null, yes } = options;
  if (paid === notPaid) throw new UsageError('the outcome is missing: add --paid or --not-paid');
  if (yes !== true) {
    answerOf({ paid: paid === true, providerReference });
    const attempt = await requireAttempt(deps, attemptId);
    requireDecidable(attempt, paid === true, deps.clock.now());
    await requireLiveOrder(deps, attempt);
    const way = attempt.purpose === 'payment' ? 'from' : 'to';
    const whom = phoneOf(attempt) ?? attempt.method;
    const what = `${amountOf(attempt)} ${way} ${whom} by ${attempt.carrier}, ${attempt.status}`;
    const how = paid === true ? 'paid' : 'not paid';
    await requireNamesNoOther(deps, attempt, { paid: paid === true, providerReference });
    throw new OperatorError(`${what} since ${timeOf(attempt.created_at)}: add --yes to close it as ${how}, for good`);
  }
  const verdict = { paid: paid === true, providerReference, ...attributionOf(options) };
  const { attempt, orderStatus } = await decideAttempt(deps, attemptId, verdict);
  const document = {
    ...documentOf(attempt),
    payment_status: orderStatus,
    reason: attempt.reason,
    settled_at: timeOf(attempt.settled_at),
  };
  return {
    document,
    lines: [`${attempt.id}  ${attempt.status}; ${attempt.payment_id}  ${orderStatus}  ${amountOf(attempt)}`],
  };
}

/**
 * The options of `mbongo attempt book`. `to`: whose the late money is. `reference`: that of the movement by which it was returned.
 * `why`: the reason, for the journal.
 */
export interface AttemptBookOptions extends ConfirmedOptions {
  readonly to: LateTarget;
  readonly reference?: string;
  readonly why: string;
}

/**
 * Books an attempt's money out of suspense, and returns the attempt with `booked_to`, `reason` and its order's `payment_status`,
 * which stays as it was.
 *
 * @throws OperatorError when none of its money is in suspense, it cannot go to `to`, or the reference names another movement, and,
 *   without --yes, with what would be booked; UsageError when the reference is missing, or there can be none.
 */
export async function attemptBook({ deps }: Tools, attemptId: string, options: AttemptBookOptions): Promise<Output> {
  const { to, reference, why, yes } = options;
  if (yes !== true) {
    const late = await requireBookable(deps, attemptId, { to, reference });
    const { attempt, order } = late;
    const [way, moved] = attempt.purpose === 'payment' ? ['from', 'came'] : ['to', 'left'];
    const what = `${amountOf(attempt)} ${way} ${phoneOf(attempt) ?? attempt.method} by ${attempt.carrier}`;
    const when = `${moved} at ${timeOf(attempt.settled_at)} for ${order.id}, ${order.status}`;
    throw new OperatorError(`${what} ${when}: add --yes to book it to the ${to}${feeIn(late, to)}, for good`);
  }
  const late = await bookLateMoney(deps, attemptId, { to, reference, by: attributionOf(options).by, why });
  const { attempt, order } = late;
  return {
    document: { ...documentOf(attempt), payment_status: order.status, booked_to: to, reason: attempt.reason },
    lines: [
      `${attempt.id}  ${amountOf(attempt)} booked to the ${to}${feeIn(late, to)}; ${order.id}  stays ${order.status}`,
    ],
  };
}

/** What a merchant gets is less the fee, whoever covers it; for what was sent on its behalf, the merchant pays the fee on top. */
function feeIn({ attempt: { purpose, currency }, feeMinor }: LateRows, to: LateTarget): string {
  if (to !== 'merchant' || feeMinor === 0n) return '';
  const how = purpose === 'payment' ? 'less' : 'and';
  return `, ${how} the fee of ${moneyText(feeMinor, currency)}`;
}

function amountOf({ amount_minor, currency }: Attempt): string {
  return moneyText(amount_minor, currency);
}

function phoneOf({ msisdn }: Attempt): string | null {
  return msisdn === null ? null : maskPhone(msisdn);
}

function documentOf(attempt: Attempt) {
  const { id, merchant_id, payment_id, method, connector, carrier, status, currency } = attempt;
  return {
    attempt_id: id,
    status,
    merchant_id,
    purpose: attempt.purpose,
    transaction_id: payment_id,
    method,
    connector,
    carrier,
    phone_number: phoneOf(attempt),
    amount: formatMinor(attempt.amount_minor, currency),
    currency,
    reference: attempt.reference,
    provider_reference: attempt.provider_reference,
    inquiries: attempt.inquiries,
    created_at: timeOf(attempt.created_at),
    next_inquiry_at: timeOf(attempt.next_inquiry_at),
  };
}
