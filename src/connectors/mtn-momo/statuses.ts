/**
 * What MTN MoMo's words mean: one exhaustive table for statuses, reasons and refusals, and the reading of their bodies.
 *
 * Invariant: only a status of this table that says so approves or declines. What is unfamiliar, unreadable, or about
 * something else than what was ordered is `unknown`.
 */

import { type Currency, exponentOf } from '../../domain/currency.ts';
import { parseAmount } from '../../domain/money.ts';
import type { DeclineReason } from '../../domain/reason.ts';
import type { Answer, Inquiry, InquiryAnswer } from '../connector.ts';
import type { Said } from './client.ts';

/** Every status that is documented or was seen. */
export const STATUSES = {
  PENDING: 'waiting',
  // Seen between acceptance and success.
  CREATED: 'waiting',
  SUCCESSFUL: 'approved',
  FAILED: 'declined',
  REJECTED: 'declined',
  // Named on the page of test numbers, never seen, and it does not say whose time ran out: money may have moved.
  TIMEOUT: 'unknown',
} as const satisfies Record<string, InquiryAnswer['kind']>;

type Meaning = (typeof STATUSES)[keyof typeof STATUSES];

/** What a status means; undefined for a word that the table lacks. */
export function meaningOf(status: unknown): Meaning | undefined {
  const table: { readonly [word: string]: Meaning } = STATUSES;
  return typeof status === 'string' && Object.hasOwn(table, status) ? table[status] : undefined;
}

/** Every reason that is documented or was seen beside FAILED. */
export const REASONS = {
  PAYER_NOT_FOUND: 'payer_unknown',
  NOT_ENOUGH_FUNDS: 'insufficient_funds',
  PAYER_LIMIT_REACHED: 'limit_reached',
  APPROVAL_REJECTED: 'customer_rejected',
  TRANSACTION_CANCELED: 'customer_rejected',
  // Not approved, and not because the customer said no: wrong PINs (upstreams §12.1).
  PAYMENT_NOT_APPROVED: 'wrong_pin',
  EXPIRED: 'prompt_expired',
  // Their errors page: the customer did not approve within five minutes.
  COULD_NOT_PERFORM_TRANSACTION: 'prompt_expired',
  NOT_ALLOWED: 'not_allowed',
  SENDER_ACCOUNT_NOT_ACTIVE: 'not_allowed',
  // The errors page says "mostly insufficient funds", which is not enough to tell a customer that they have none.
  INTERNAL_PROCESSING_ERROR: 'carrier_failed',
  LOW_BALANCE_OR_PAYEE_LIMIT_REACHED_OR_NOT_ALLOWED: 'carrier_failed',
  // The rest is about our account or configuration, and nothing that the customer can mend.
  PAYEE_NOT_FOUND: 'carrier_failed',
  PAYEE_NOT_ALLOWED_TO_RECEIVE: 'carrier_failed',
  PAYEE_LIMIT_REACHED: 'carrier_failed',
  NOT_ALLOWED_TARGET_ENVIRONMENT: 'carrier_failed',
  INVALID_CALLBACK_URL_HOST: 'carrier_failed',
  INVALID_CURRENCY: 'carrier_failed',
  SERVICE_UNAVAILABLE: 'carrier_failed',
  RESOURCE_NOT_FOUND: 'carrier_failed',
  TRANSACTION_NOT_FOUND: 'carrier_failed',
  RESOURCE_ALREADY_EXIST: 'carrier_failed',
} as const satisfies Record<string, DeclineReason>;

/** Codes that come with a 500 and are documented as refusals before anything is taken. Any other 500 may have taken it. */
export const REFUSALS_WITH_500: ReadonlySet<string> = new Set([
  'NOT_ALLOWED',
  'NOT_ALLOWED_TARGET_ENVIRONMENT',
  'INVALID_CALLBACK_URL_HOST',
  'INVALID_CURRENCY',
  'SERVICE_UNAVAILABLE',
  'PAYER_NOT_FOUND',
  'PAYEE_NOT_FOUND',
  'PAYEE_NOT_ALLOWED_TO_RECEIVE',
]);

/** Statuses with which their front door or their checks turn a request away: malformed, token, address, path, pace, closed. */
const TURNED_AWAY: ReadonlySet<number> = new Set([400, 401, 403, 404, 429, 503]);

/** An answer, and what about it a person should know. */
export interface Reading<A> {
  readonly answer: A;
  /** `unfamiliar`: a word that the table lacks. `mismatch`: an answer about something else than what was ordered. */
  readonly alarm?: { readonly kind: 'unfamiliar' | 'mismatch'; readonly what: string };
}

/** What the answer to a request to pay means. */
export function readStart(said: Said): Reading<Answer> {
  if (said.kind === 'lost') return { answer: { kind: 'unknown', reason: said.reason } };
  if (said.kind === 'not_sent') return { answer: { kind: 'not_sent', reason: said.reason } };
  const code = codeOf(said.body);
  const reason = `${said.status} ${code ?? 'without a code'}`;
  if (said.status === 202) return { answer: { kind: 'waiting', providerReference: null } };
  // The reference was taken earlier: what became of it is for an inquiry to say.
  if (said.status === 409 && code === 'RESOURCE_ALREADY_EXIST') {
    return { answer: { kind: 'waiting', providerReference: null } };
  }
  if (TURNED_AWAY.has(said.status)) return { answer: { kind: 'not_sent', reason } };
  if (said.status === 500 && code !== undefined && REFUSALS_WITH_500.has(code)) {
    return { answer: { kind: 'not_sent', reason } };
  }
  return { answer: { kind: 'unknown', reason } };
}

/** What the answer to an inquiry means, compared with what was ordered. */
export function readStatus(said: Said, ordered: Inquiry): Reading<InquiryAnswer> {
  if (said.kind !== 'said') return { answer: { kind: 'unknown', reason: said.reason } };
  // A wrong path is answered 404 too, by their front door. Only their own word proves that the reference is unknown.
  if (said.status === 404 && codeOf(said.body) === 'RESOURCE_NOT_FOUND') return { answer: { kind: 'not_found' } };
  if (said.status !== 200 || !isRecord(said.body)) {
    return { answer: { kind: 'unknown', reason: `${said.status} ${codeOf(said.body) ?? 'without a status'}` } };
  }
  const difference = differenceFrom(ordered, said.body);
  if (difference === undefined) return readBody(said.body);
  const answer = { kind: 'unknown', reason: `another ${difference} than ordered` } as const;
  return { answer, alarm: { kind: 'mismatch', what: difference } };
}

function readBody(body: Body): Reading<InquiryAnswer> {
  const { status, financialTransactionId } = body;
  const meaning = meaningOf(status);
  const providerReference = typeof financialTransactionId === 'string' ? financialTransactionId.slice(0, 64) : null;
  if (meaning === 'waiting' || meaning === 'approved') return { answer: { kind: meaning, providerReference } };
  if (meaning === 'declined') {
    const said = reasonOf(body);
    const reason = declineReason(status, said);
    const answer = { kind: 'declined', reason: reason ?? 'carrier_failed', providerReference } as const;
    return reason === undefined ? { answer, alarm: { kind: 'unfamiliar', what: said ?? 'no reason' } } : { answer };
  }
  const what = wordOf(status) ?? 'no status';
  return { answer: { kind: 'unknown', reason: `status ${what}` }, alarm: { kind: 'unfamiliar', what } };
}

type Body = { readonly [field: string]: unknown };

function declineReason(status: unknown, said: string | undefined): DeclineReason | undefined {
  const table: { readonly [word: string]: DeclineReason } = REASONS;
  if (said !== undefined && Object.hasOwn(table, said)) return table[said];
  return status === 'REJECTED' ? 'customer_rejected' : undefined;
}

/** `reason` is a text in practice and an object with a code in their schema. */
function reasonOf(body: Body): string | undefined {
  return isRecord(body.reason) ? codeOf(body.reason) : wordOf(body.reason);
}

function codeOf(body: unknown): string | undefined {
  return isRecord(body) ? wordOf(body.code) : undefined;
}

/** A word of theirs that is safe to compare, to keep and to log: anything else could carry a number or a secret. */
function wordOf(value: unknown): string | undefined {
  return typeof value === 'string' && /^[A-Z][A-Z_]{0,79}$/.test(value) ? value : undefined;
}

function isRecord(value: unknown): value is Body {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The first thing in which an answer differs from the order, as far as the order says. */
function differenceFrom(ordered: Inquiry, body: Body): 'amount' | 'currency' | 'externalId' | undefined {
  const { attemptId, amountMinor, currency } = ordered;
  if (attemptId !== undefined && body.externalId !== attemptId) return 'externalId';
  if (currency === undefined) return undefined;
  if (body.currency !== currency.toUpperCase()) return 'currency';
  if (amountMinor !== undefined && minorOf(body.amount, currency) !== amountMinor) return 'amount';
  return undefined;
}

/** Some markets write `100.00` for what was sent as `100`: zeros that the currency does not have are no difference. */
function minorOf(amount: unknown, currency: Currency): bigint | undefined {
  if (typeof amount !== 'string' || amount.length > 32) return undefined;
  const point = amount.indexOf('.');
  if (point < 0) return parseAmount(amount, currency)?.minor;
  const kept = amount.slice(0, point + 1 + exponentOf(currency));
  if (/[^0]/.test(amount.slice(kept.length))) return undefined;
  return parseAmount(kept.endsWith('.') ? kept.slice(0, -1) : kept, currency)?.minor;
}
