/**
 * What MTN MoMo's terms mean: the table of statuses, and the reading of their bodies by the tables of a product.
 *
 * Invariant: only a status which this table lists as such approves or declines. Anything unfamiliar, unreadable, or about
 * something other than what was ordered is `unknown`.
 */

import type { Answer, InquiryAnswer } from '../../domain/answer.ts';
import { keptReference } from '../../domain/provider-reference.ts';
import type { DeclineReason } from '../../domain/reason.ts';
import type { Inquiry } from '../connector.ts';
import {
  type CallResult,
  isJsonObject,
  type JsonObject,
  meaningIn,
  minorOf,
  mismatch,
  type Reading,
} from '../response.ts';
import type { Product } from './products.ts';

/** Every status that is documented or was seen. */
const STATUSES = {
  PENDING: 'waiting',
  // Seen between acceptance and success.
  CREATED: 'waiting',
  SUCCESSFUL: 'approved',
  FAILED: 'declined',
  REJECTED: 'declined',
  // Named on the page of test numbers, never seen, and it does not say what timed out: money may have moved.
  TIMEOUT: 'unknown',
} as const satisfies Record<string, InquiryAnswer['kind']>;

type Meaning = (typeof STATUSES)[keyof typeof STATUSES];

/** What the answer to a request to pay, or to a transfer, means. */
export function readStart(result: CallResult, product: Product): Reading<Answer> {
  if (result.kind === 'lost') return { answer: { kind: 'unknown', reason: result.reason } };
  if (result.kind === 'not_sent') return { answer: result };
  const { status, body } = result;
  const code = codeOf(body);
  if (status === 202) return { answer: { kind: 'waiting', providerReference: null } };
  // The reference was accepted earlier, whether 409 says so or another refusal: its outcome is for an inquiry to find.
  if (status >= 400 && status < 500 && code === 'RESOURCE_ALREADY_EXIST') {
    return { answer: { kind: 'waiting', providerReference: null } };
  }
  const reason = `${status} ${code ?? 'without a code'}`;
  const refusal = refusalOf(product, status, code);
  switch (refusal) {
    case undefined:
      return { answer: { kind: 'unknown', reason } };
    case 'not_sent':
      return { answer: { kind: 'not_sent', reason } };
    case 'payer_unknown':
      return { answer: { kind: 'not_sent', reason, lasting: refusal } };
    case 'operator_needed':
      return { answer: { kind: 'not_sent', reason, lasting: refusal }, alarm: { kind: 'ours', what: reason } };
    default: {
      const answer = { kind: 'declined', reason: refusal, providerReference: null } as const;
      return refusal === 'carrier_failed' ? { answer, alarm: { kind: 'ours', what: reason } } : { answer };
    }
  }
}

/**
 * What a refusal means: by its code where that is documented, otherwise by its status; undefined if it may be none. A 409 is about
 * the reference, which may have been accepted earlier, whatever its code says.
 */
function refusalOf({ refusals, turnedAway }: Product, status: number, code: string | undefined) {
  const isRefused = status === 500 || (status >= 400 && status < 500 && status !== 409);
  return (isRefused ? meaningIn(refusals, code) : undefined) ?? turnedAway[status];
}

function withAlarm<A>(answer: A, { ours }: Product, term: string | undefined): Reading<A> {
  return term !== undefined && ours.has(term) ? { answer, alarm: { kind: 'ours', what: term } } : { answer };
}

/** What the carrier's answer is compared with. */
type Ordered = Pick<Inquiry, 'attemptId' | 'amountMinor' | 'currency'>;

/** What the answer to an inquiry means, compared with what was ordered. */
export function readStatus(result: CallResult, ordered: Ordered, product: Product): Reading<InquiryAnswer> {
  if (result.kind !== 'answered') return { answer: { kind: 'unknown', reason: result.reason } };
  const { status, body } = result;
  // Their front end answers a wrong path with 404 too. Only their own code proves that the reference is unknown.
  if (status === 404 && codeOf(body) === 'RESOURCE_NOT_FOUND') return { answer: { kind: 'not_found' } };
  if (status !== 200 || !isJsonObject(body)) {
    return { answer: { kind: 'unknown', reason: `${status} ${codeOf(body) ?? 'without a status'}` } };
  }
  const difference = differenceFrom(ordered, body);
  return difference === undefined ? readBody(body, product) : mismatch(difference);
}

function readBody(body: JsonObject, product: Product): Reading<InquiryAnswer> {
  const { financialTransactionId } = body;
  const status = termOf(body.status);
  const meaning = meaningIn<Meaning>(STATUSES, status);
  const providerReference = keptReference(financialTransactionId);
  if (meaning === 'waiting' || meaning === 'approved') return { answer: { kind: meaning, providerReference } };
  if (meaning === 'declined') {
    const given = reasonOf(body);
    const reason = declineReason(status, given, product);
    const answer = { kind: 'declined', reason: reason ?? 'carrier_failed', providerReference } as const;
    if (reason !== undefined) return withAlarm(answer, product, given);
    return { answer, alarm: { kind: 'unfamiliar', what: given ?? 'no reason' } };
  }
  const what = status ?? 'no status';
  return { answer: { kind: 'unknown', reason: `status ${what}` }, alarm: { kind: 'unfamiliar', what } };
}

function declineReason(
  status: string | undefined,
  given: string | undefined,
  { reasons, rejected }: Product,
): DeclineReason | undefined {
  return meaningIn<DeclineReason>(reasons, given) ?? (status === 'REJECTED' ? rejected : undefined);
}

/** `reason` is a text in practice and an object with a code in their schema. */
function reasonOf(body: JsonObject): string | undefined {
  return isJsonObject(body.reason) ? codeOf(body.reason) : termOf(body.reason);
}

function codeOf(body: unknown): string | undefined {
  return isJsonObject(body) ? termOf(body.code) : undefined;
}

/** One of their terms, safe to compare, to store and to log: anything else could carry a number or a secret. */
function termOf(value: unknown): string | undefined {
  return typeof value === 'string' && /^[A-Z][A-Z_]{0,79}$/.test(value) ? value : undefined;
}

/** The first field in which an answer differs from the order. */
function differenceFrom(ordered: Ordered, body: JsonObject): 'amount' | 'currency' | 'externalId' | undefined {
  const { attemptId, amountMinor, currency } = ordered;
  if (body.externalId !== attemptId) return 'externalId';
  if (body.currency !== currency.toUpperCase()) return 'currency';
  // Some markets write `100.00` for what was sent as `100`.
  return minorOf(body.amount, currency) === amountMinor ? undefined : 'amount';
}
