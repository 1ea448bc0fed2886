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
import type { Said } from './client.ts';
import { differenceFrom, type Ordered, textAt, valueAt, wordAt } from './fields.ts';

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

/** An answer, and what an operator should know about it. */
export interface Reading<A> {
  readonly answer: A;
  /** `unfamiliar`: a term that the table lacks. `mismatch`: an answer about something else. `refused`: our request was wrong. */
  readonly alarm?: { readonly kind: 'unfamiliar' | 'mismatch' | 'refused'; readonly what: string };
}

/** What the answer to PAY or REFUND means. */
export function readOperation(said: Said, ordered: Ordered): Reading<Answer> {
  if (said.kind === 'not_sent') return { answer: { kind: 'not_sent', reason: said.reason } };
  if (said.kind === 'lost') return { answer: { kind: 'unknown', reason: said.reason } };
  return isRefusal(said) ? readRefusal(said) : readTransactionBody(said, ordered);
}

/** What the answer to an inquiry about such an operation means. */
export function readInquiry(said: Said, ordered: Ordered): Reading<InquiryAnswer> {
  if (said.kind !== 'said') return { answer: { kind: 'unknown', reason: said.reason } };
  if (isNotFound(said, 'order', 'transaction')) return { answer: { kind: 'not_found' } };
  if (isRefusal(said)) return { answer: { kind: 'unknown', reason: reasonOf(said) } };
  return readTransactionBody(said, ordered);
}

/**
 * What the answer to REFUND means. If the network finds the request itself invalid, though it knew the caller, it will never
 * carry it out: the order is too old, say, or has been refunded in another way. That is a final decline.
 */
export function readRefund(said: Said, ordered: Ordered): Reading<Answer> {
  const reading = readOperation(said, ordered);
  const isFinal = said.kind === 'said' && said.status === 400 && reading.alarm?.kind === 'refused';
  if (!isFinal || wordAt(said.body, 'error.cause') !== 'INVALID_REQUEST') return reading;
  return { ...reading, answer: { kind: 'declined', reason: 'carrier_failed', providerReference: null } };
}

/** The status of an order; undefined if the network does not say. */
export function readOrderStatus(said: Said): CardOrderStatus | undefined {
  if (said.kind === 'said' && isNotFound(said, 'order')) return { word: null, isTaken: false };
  const word = said.kind === 'said' && said.status === 200 ? wordAt(said.body, 'status') : undefined;
  return word === undefined ? undefined : { word, isTaken: TAKEN.has(word) };
}

/** The status of an order that ended so. PAY captures at once, so whatever was paid is captured. */
export function wordForEnd(end: CardEnd): string {
  if (end.kind === 'declined') return PAY_REFUSED.has(end.reason) ? 'FAILED' : 'AUTHENTICATION_UNSUCCESSFUL';
  return ({ nothing: 'CAPTURED', part: 'PARTIALLY_REFUNDED', all: 'REFUNDED' } as const)[end.refunded];
}

type Heard = Extract<Said, { kind: 'said' }>;

/** Whether this is their own error body, not a page of some proxy in front of them. */
export function isRefusal({ status, body }: Heard): boolean {
  return status >= 400 && wordAt(body, 'result') === 'ERROR' && wordAt(body, 'error.cause') !== undefined;
}

/** What a refusal proves. A 401 is INVALID_REQUEST in their terms, and concerns our credentials. */
export function readRefusal(said: Heard): Reading<Extract<Answer, { kind: 'not_sent' | 'unknown' }>> {
  const causes: { readonly [word: string]: 'not_sent' | 'unknown' } = CAUSES;
  const cause = wordAt(said.body, 'error.cause') ?? '';
  const kind = Object.hasOwn(causes, cause) ? causes[cause] : undefined;
  const answer = { kind: kind ?? 'unknown', reason: reasonOf(said) } as const;
  if (kind === undefined) return { answer, alarm: { kind: 'unfamiliar', what: cause } };
  const ours = cause === 'INVALID_REQUEST' || cause === 'REQUEST_REJECTED';
  return ours ? { answer, alarm: { kind: 'refused', what: fieldOf(said.body) } } : { answer };
}

/**
 * Only the network's own statement that it knows no such thing; a wrong path is answered with 404 too, a missing right with 400.
 */
export function isNotFound(heard: Heard, ...what: readonly ('order' | 'transaction' | 'session')[]): boolean {
  const { status, body } = heard;
  if (status !== 404 && status !== 400) return false;
  if (!isRefusal(heard) || wordAt(body, 'error.cause') !== 'INVALID_REQUEST') return false;
  const said = textAt(body, 'error.explanation', 500) ?? '';
  return what.some((thing) =>
    new RegExp(`^(unable to find (the )?${thing}\\b|(form )?${thing} (was )?not found\\b)`, 'i').test(said),
  );
}

/** Status and cause, for the log. */
export function reasonOf({ status, body }: Heard): string {
  return `${status} ${wordAt(body, 'error.cause') ?? wordAt(body, 'response.gatewayCode') ?? 'without a code'}`;
}

function fieldOf(body: unknown): string {
  const field = textAt(body, 'error.field', 80);
  return field !== undefined && /^[A-Za-z0-9_.[\]]+$/.test(field) ? field : 'no field';
}

function readTransactionBody(
  said: Heard,
  ordered: Ordered,
): Reading<Exclude<Answer, { kind: 'not_sent' | 'waiting' }>> {
  const { status, body } = said;
  const code = wordAt(body, 'response.gatewayCode');
  if (status < 200 || status > 299 || code === undefined) {
    return { answer: { kind: 'unknown', reason: reasonOf(said) } };
  }
  const difference = differenceFrom(ordered, body);
  if (difference !== undefined) {
    const answer = { kind: 'unknown', reason: `another ${difference} than ordered` } as const;
    return { answer, alarm: { kind: 'mismatch', what: difference } };
  }
  const table: { readonly [word: string]: Meaning } = GATEWAY_CODES;
  const meaning = Object.hasOwn(table, code) ? table[code] : undefined;
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
  const result = wordAt(body, 'result');
  const providerReference = keptReference(valueAt(body, 'transaction.receipt'));
  if (meaning === 'approved' && result === 'SUCCESS') return { answer: { kind: 'approved', providerReference } };
  if (meaning === 'unknown') return { answer: { kind: 'unknown', reason: `gateway code ${code}` } };
  if (meaning !== 'approved' && result === 'FAILURE') {
    return { answer: { kind: 'declined', reason: meaning, providerReference } };
  }
  const what = `${code} beside ${result ?? 'no result'}`;
  return { answer: { kind: 'unknown', reason: what }, alarm: { kind: 'unfamiliar', what } };
}
