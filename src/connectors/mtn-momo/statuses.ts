/**
 * What MTN MoMo's terms mean: the table of statuses, and the reading of their bodies by the tables of a product.
 *
 * Invariant: only a status which this table lists as such approves or declines. Anything unfamiliar, unreadable, or about
 * something other than what was ordered is `unknown`.
 */

import type { Answer, InquiryAnswer } from '../../domain/answer.ts';
import { parsePaddedAmount } from '../../domain/money.ts';
import { keptReference } from '../../domain/provider-reference.ts';
import type { DeclineReason } from '../../domain/reason.ts';
import type { Inquiry } from '../connector.ts';
import type { Said } from './client.ts';
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

/** What a status means; undefined for a term that the table lacks. */
function meaningOf(status: unknown): Meaning | undefined {
  const table: { readonly [word: string]: Meaning } = STATUSES;
  return typeof status === 'string' && Object.hasOwn(table, status) ? table[status] : undefined;
}

/** An answer, and what an operator should know about it. */
export interface Reading<A> {
  readonly answer: A;
  readonly alarm?: Alarm;
}

/**
 * `unfamiliar`: a term that the tables lack. `mismatch`: an answer about something other than what was ordered. `ours`: only the
 * operator can fix it.
 */
export interface Alarm {
  readonly kind: 'unfamiliar' | 'mismatch' | 'ours';
  readonly what: string;
}

/** What the answer to a request to pay, or to a transfer, means. */
export function readStart(said: Said, product: Product): Reading<Answer> {
  if (said.kind === 'lost') return { answer: { kind: 'unknown', reason: said.reason } };
  if (said.kind === 'not_sent') return { answer: said };
  const code = codeOf(said.body);
  if (said.status === 202) return { answer: { kind: 'waiting', providerReference: null } };
  // The reference was accepted earlier, whether 409 says so or another refusal: its outcome is for an inquiry to find.
  if (said.status >= 400 && said.status < 500 && code === 'RESOURCE_ALREADY_EXIST') {
    return { answer: { kind: 'waiting', providerReference: null } };
  }
  const reason = `${said.status} ${code ?? 'without a code'}`;
  const refusal = refusalOf(product, said.status, code);
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
  if (isRefused && code !== undefined && Object.hasOwn(refusals, code)) return refusals[code];
  return turnedAway[status];
}

function withAlarm<A>(answer: A, { ours }: Product, word: string | undefined): Reading<A> {
  return word !== undefined && ours.has(word) ? { answer, alarm: { kind: 'ours', what: word } } : { answer };
}

/** What the answer to an inquiry means, compared with what was ordered. */
export function readStatus(said: Said, ordered: Inquiry, product: Product): Reading<InquiryAnswer> {
  if (said.kind !== 'said') return { answer: { kind: 'unknown', reason: said.reason } };
  // Their front end answers a wrong path with 404 too. Only their own code proves that the reference is unknown.
  if (said.status === 404 && codeOf(said.body) === 'RESOURCE_NOT_FOUND') return { answer: { kind: 'not_found' } };
  if (said.status !== 200 || !isRecord(said.body)) {
    return { answer: { kind: 'unknown', reason: `${said.status} ${codeOf(said.body) ?? 'without a status'}` } };
  }
  const difference = differenceFrom(ordered, said.body);
  if (difference === undefined) return readBody(said.body, product);
  const answer = { kind: 'unknown', reason: `another ${difference} than ordered` } as const;
  return { answer, alarm: { kind: 'mismatch', what: difference } };
}

function readBody(body: Body, product: Product): Reading<InquiryAnswer> {
  const { status, financialTransactionId } = body;
  const meaning = meaningOf(status);
  const providerReference = keptReference(financialTransactionId);
  if (meaning === 'waiting' || meaning === 'approved') return { answer: { kind: meaning, providerReference } };
  if (meaning === 'declined') {
    const said = reasonOf(body);
    const reason = declineReason(status, said, product);
    const answer = { kind: 'declined', reason: reason ?? 'carrier_failed', providerReference } as const;
    if (reason !== undefined) return withAlarm(answer, product, said);
    return { answer, alarm: { kind: 'unfamiliar', what: said ?? 'no reason' } };
  }
  const what = wordOf(status) ?? 'no status';
  return { answer: { kind: 'unknown', reason: `status ${what}` }, alarm: { kind: 'unfamiliar', what } };
}

type Body = { readonly [field: string]: unknown };

function declineReason(status: unknown, said: string | undefined, product: Product): DeclineReason | undefined {
  const table: { readonly [word: string]: DeclineReason } = product.reasons;
  if (said !== undefined && Object.hasOwn(table, said)) return table[said];
  return status === 'REJECTED' ? product.rejected : undefined;
}

/** `reason` is a text in practice and an object with a code in their schema. */
function reasonOf(body: Body): string | undefined {
  return isRecord(body.reason) ? codeOf(body.reason) : wordOf(body.reason);
}

function codeOf(body: unknown): string | undefined {
  return isRecord(body) ? wordOf(body.code) : undefined;
}

/** One of their terms, safe to compare, to store and to log: anything else could carry a number or a secret. */
function wordOf(value: unknown): string | undefined {
  return typeof value === 'string' && /^[A-Z][A-Z_]{0,79}$/.test(value) ? value : undefined;
}

function isRecord(value: unknown): value is Body {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A text by their schema; a number in an example of theirs, of which the shortest decimal text is exact. */
function amountOf({ amount }: Body): unknown {
  return typeof amount === 'number' ? String(amount) : amount;
}

/** The first field in which an answer differs from the order, as far as the order says. */
function differenceFrom(ordered: Inquiry, body: Body): 'amount' | 'currency' | 'externalId' | undefined {
  const { attemptId, amountMinor, currency } = ordered;
  if (attemptId !== undefined && body.externalId !== attemptId) return 'externalId';
  if (currency === undefined) return undefined;
  if (body.currency !== currency.toUpperCase()) return 'currency';
  // Some markets write `100.00` for what was sent as `100`.
  const minor = parsePaddedAmount(amountOf(body), currency)?.minor;
  if (amountMinor !== undefined && minor !== amountMinor) return 'amount';
  return undefined;
}
