/**
 * What the network's terms mean for money: one exhaustive table of gateway codes, the reading of PAY and similar operations, and
 * the names of order statuses.
 *
 * Invariant: only a code which this table lists as such approves or declines, and only together with the result that belongs to
 * it. Anything unfamiliar, unreadable, or about something other than what was ordered is `unknown`.
 */

import type { Answer, InquiryAnswer } from '../../domain/answer.ts';
import { keptReference } from '../../domain/provider-reference.ts';
import type { DeclineReason } from '../../domain/reason.ts';
import type { CardEnd, CardOrderStatus } from '../connector.ts';
import { type CallResult, type JsonResponse, meaningIn, mismatch, type Reading } from '../response.ts';
import { differenceFrom, type Ordered, termAt, textAt, valueAt } from './fields.ts';

/** Every documented gateway code. A decline reason as value means a final decline. */
export const GATEWAY_CODES = {
  APPROVED: 'approved',
  APPROVED_AUTO: 'approved',
  APPROVED_PENDING_SETTLEMENT: 'approved',
  DECLINED: 'card_declined',
  DECLINED_AVS: 'card_declined',
  DECLINED_CSC: 'card_declined',
  DECLINED_AVS_CSC: 'card_declined',
  DECLINED_DO_NOT_CONTACT: 'card_declined',
  DECLINED_INVALID_PIN: 'card_declined',
  DECLINED_PAYMENT_PLAN: 'card_declined',
  DECLINED_PIN_REQUIRED: 'card_declined',
  REFERRED: 'card_declined',
  BLOCKED: 'card_declined',
  ABORTED: 'card_declined',
  INVALID_CSC: 'card_declined',
  EXCEEDED_RETRY_LIMIT: 'card_declined',
  INSUFFICIENT_FUNDS: 'card_funds',
  EXPIRED_CARD: 'card_expired',
  AUTHENTICATION_FAILED: 'authentication_failed',
  NOT_ENROLLED_3D_SECURE: 'authentication_failed',
  CARD_NOT_ENROLLED: 'authentication_failed',
  CANCELLED: 'authentication_cancelled',
  // The acquirer, or a system before it, did not say: money may have been taken.
  TIMED_OUT: 'unknown',
  ACQUIRER_SYSTEM_ERROR: 'unknown',
  SYSTEM_ERROR: 'unknown',
  UNKNOWN: 'unknown',
  UNSPECIFIED_FAILURE: 'unknown',
  SUBMITTED: 'unknown',
  PENDING: 'unknown',
  // Another amount than was ordered; another operation of the order in flight; and codes that belong to no payment.
  PARTIALLY_APPROVED: 'unknown',
  LOCK_FAILURE: 'unknown',
  NOT_SUPPORTED: 'unknown',
  AUTHENTICATION_IN_PROGRESS: 'unknown',
} as const satisfies Record<string, DeclineReason | 'approved' | 'unknown'>;

type Meaning = (typeof GATEWAY_CODES)[keyof typeof GATEWAY_CODES];

/** The causes of a refusal. With all but the last, the request was rejected before anything was done. */
export const CAUSES = {
  INVALID_REQUEST: 'not_sent',
  REQUEST_REJECTED: 'not_sent',
  SERVER_BUSY: 'not_sent',
  SERVER_FAILED: 'unknown',
} as const satisfies Record<string, 'not_sent' | 'unknown'>;

/** The statuses of orders from which money was taken, or will be. */
export const TAKEN: ReadonlySet<string> = new Set([
  'AUTHORIZED',
  'CAPTURED',
  'PARTIALLY_CAPTURED',
  'PARTIALLY_REFUNDED',
  'REFUNDED',
  'EXCESSIVELY_REFUNDED',
  'DISPUTED',
  'CHARGEBACK_PROCESSED',
]);

/** The refusals of PAY itself; earlier, only the authentication can fail. */
const PAY_REFUSED: ReadonlySet<string | null> = new Set([
  'card_declined',
  'card_funds',
  'card_expired',
] satisfies DeclineReason[]);

/** What the answer to PAY or REFUND means. */
export function readOperation(result: CallResult, ordered: Ordered): Reading<Answer> {
  if (result.kind === 'not_sent') return { answer: { kind: 'not_sent', reason: result.reason } };
  if (result.kind === 'lost') return { answer: { kind: 'unknown', reason: result.reason } };
  return isRefusal(result) ? readRefusal(result) : readTransactionBody(result, ordered);
}

/** What the answer to an inquiry about such an operation means. */
export function readInquiry(result: CallResult, ordered: Ordered): Reading<InquiryAnswer> {
  if (result.kind !== 'answered') return { answer: { kind: 'unknown', reason: result.reason } };
  if (isNotFound(result, 'order', 'transaction')) return { answer: { kind: 'not_found' } };
  if (isRefusal(result)) return { answer: { kind: 'unknown', reason: reasonOf(result) } };
  return readTransactionBody(result, ordered);
}

/**
 * What the answer to REFUND means. If the network finds the request itself invalid, though it knew the caller, it will never
 * carry it out: the order is too old, say, or has been refunded in another way. That is a final decline.
 */
export function readRefund(result: CallResult, ordered: Ordered): Reading<Answer> {
  const reading = readOperation(result, ordered);
  const isFinal = result.kind === 'answered' && result.status === 400 && reading.alarm?.kind === 'ours';
  if (!isFinal || termAt(result.body, 'error.cause') !== 'INVALID_REQUEST') return reading;
  return { ...reading, answer: { kind: 'declined', reason: 'carrier_failed', providerReference: null } };
}

/** The status of an order; undefined if the network does not say. */
export function readOrderStatus(result: CallResult): CardOrderStatus | undefined {
  if (result.kind === 'answered' && isNotFound(result, 'order')) return { status: null, isTaken: false };
  const status = result.kind === 'answered' && result.status === 200 ? termAt(result.body, 'status') : undefined;
  return status === undefined ? undefined : { status, isTaken: TAKEN.has(status) };
}

/** The status of an order that ended so. PAY captures at once, so whatever was paid is captured. */
export function statusForEnd(end: CardEnd): string {
  if (end.kind === 'declined') return PAY_REFUSED.has(end.reason) ? 'FAILED' : 'AUTHENTICATION_UNSUCCESSFUL';
  return ({ nothing: 'CAPTURED', part: 'PARTIALLY_REFUNDED', all: 'REFUNDED' } as const)[end.refunded];
}

/** Whether this is their own error body, not a page of some proxy in front of them. */
export function isRefusal({ status, body }: JsonResponse): boolean {
  return status >= 400 && termAt(body, 'result') === 'ERROR' && termAt(body, 'error.cause') !== undefined;
}

/** What a refusal proves. A 401 is INVALID_REQUEST in their terms, and concerns our credentials. */
export function readRefusal(response: JsonResponse): Reading<Extract<Answer, { kind: 'not_sent' | 'unknown' }>> {
  const cause = termAt(response.body, 'error.cause') ?? '';
  const kind = meaningIn<'not_sent' | 'unknown'>(CAUSES, cause);
  const answer = { kind: kind ?? 'unknown', reason: reasonOf(response) } as const;
  if (kind === undefined) return { answer, alarm: { kind: 'unfamiliar', what: cause } };
  const ours = cause === 'INVALID_REQUEST' || cause === 'REQUEST_REJECTED';
  return ours ? { answer, alarm: { kind: 'ours', what: fieldOf(response.body) } } : { answer };
}

/**
 * Only the network's own statement that it knows no such thing; a wrong path is answered with 404 too, a missing right with 400.
 */
export function isNotFound(response: JsonResponse, ...what: readonly ('order' | 'transaction' | 'session')[]): boolean {
  const { status, body } = response;
  if (status !== 404 && status !== 400) return false;
  if (!isRefusal(response) || termAt(body, 'error.cause') !== 'INVALID_REQUEST') return false;
  const explanation = textAt(body, 'error.explanation', 500) ?? '';
  return what.some((thing) =>
    new RegExp(`^(unable to find (the )?${thing}\\b|(form )?${thing} (was )?not found\\b)`, 'i').test(explanation),
  );
}

/** Status and cause, for the log. */
export function reasonOf({ status, body }: JsonResponse): string {
  return `${status} ${termAt(body, 'error.cause') ?? termAt(body, 'response.gatewayCode') ?? 'without a code'}`;
}

function fieldOf(body: unknown): string {
  const field = textAt(body, 'error.field', 80);
  return field !== undefined && /^[A-Za-z0-9_.[\]]+$/.test(field) ? field : 'no field';
}

function readTransactionBody(
  response: JsonResponse,
  ordered: Ordered,
): Reading<Exclude<Answer, { kind: 'not_sent' | 'waiting' }>> {
  const { status, body } = response;
  const code = termAt(body, 'response.gatewayCode');
  if (status < 200 || status > 299 || code === undefined) {
    return { answer: { kind: 'unknown', reason: reasonOf(response) } };
  }
  const difference = differenceFrom(ordered, body);
  if (difference !== undefined) return mismatch(difference);
  const meaning = meaningIn<Meaning>(GATEWAY_CODES, code);
  if (meaning === undefined) {
    return { answer: { kind: 'unknown', reason: `gateway code ${code}` }, alarm: { kind: 'unfamiliar', what: code } };
  }
  return readMeaning(meaning, code, body);
}

/** An approval comes with SUCCESS and a decline with FAILURE; any other combination is no answer. */
function readMeaning(
  meaning: Meaning,
  code: string,
  body: unknown,
): Reading<Exclude<Answer, { kind: 'not_sent' | 'waiting' }>> {
  const result = termAt(body, 'result');
  const providerReference = keptReference(valueAt(body, 'transaction.receipt'));
  if (meaning === 'approved' && result === 'SUCCESS') return { answer: { kind: 'approved', providerReference } };
  if (meaning === 'unknown') return { answer: { kind: 'unknown', reason: `gateway code ${code}` } };
  if (meaning !== 'approved' && result === 'FAILURE') {
    return { answer: { kind: 'declined', reason: meaning, providerReference } };
  }
  const what = `${code} beside ${result ?? 'no result'}`;
  return { answer: { kind: 'unknown', reason: what }, alarm: { kind: 'unfamiliar', what } };
}
