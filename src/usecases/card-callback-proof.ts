/**
 * Proves who sent a card callback: the card network, which signs it, or a browser that returns to an address that we made.
 *
 * Invariant: a proof needs no row, so nothing is read for a sender without one. Such a sender learns nothing of the expected
 * form, except the names of the fields if it sent none of them.
 */

import { MINUTE_MS } from '../domain/durations.ts';
import { Refusal, type RefusalDetail } from '../domain/refusal.ts';
import { type ReturnProof, returnOf } from './card-challenge.ts';
import type { Deps } from './deps.ts';

/** What was posted. Absent fields were not sent. */
export interface CardCallback {
  readonly order_id: string | undefined;
  readonly transaction_id: string | undefined;
  readonly result: string | undefined;
  /** Unix seconds, as text. */
  readonly timestamp: string | undefined;
  readonly nonce: string | undefined;
  readonly signature: string | undefined;
  /** The network's own name for the order, in addition to the fields of the contract. */
  readonly networkOrder: string | undefined;
  /** The query of the return address that we gave to the network. */
  readonly proof: ReturnProof;
}

/** A callback whose sender has proved to be authorised. */
export interface Proven {
  readonly orderId: string | undefined;
  /** A transaction_id, or the network's name for an attempt. */
  readonly transactionId: string;
  /** The values that tell this callback from any other. */
  readonly identity: readonly string[];
  /**
   * Whether it may come again with news: all browser returns of an attempt count as one callback, and a later one may find the
   * challenge finished; a signed callback is unique.
   */
  readonly comesAgain: boolean;
}

const RESULTS = ['AUTHENTICATED', 'REJECTED', 'UNAVAILABLE'];
const FRESH_MS = 5 * MINUTE_MS;

/**
 * Verifies the signature, if there is one; otherwise the proof that we put into the return address ourselves.
 *
 * @throws Refusal 1304 without a valid proof, or with a stale one; 1109 or 1110 for the form of a signed callback.
 */
export function prove(deps: Deps, callback: CardCallback): Proven {
  if (isReturn(callback)) {
    const own = requireReturn(deps, callback);
    const identity = ['return', own.attemptId, own.nonce];
    return { orderId: undefined, transactionId: own.attemptId, identity, comesAgain: true };
  }
  requireProof(deps, callback);
  const { timestamp, order_id: orderId, transaction_id: transactionId } = requireForm(callback);
  // The wall clock, not the test clock: the signer took the time from its own clock.
  const isFresh = Math.abs(deps.clock.wall() - Number(timestamp) * 1000) <= FRESH_MS;
  if (!isFresh) throw new Refusal(1304);
  return { orderId, transactionId, identity: ['signed', signedText(callback)], comesAgain: false };
}

/** Whether it is a browser's return, proved by the address that it came to. */
function isReturn({ signature, proof }: CardCallback): boolean {
  return signature === undefined && proof.s !== undefined;
}

/**
 * Requires a valid proof before the form is checked, so that an unauthorised sender learns nothing about the expected form. A
 * request without any callback field is told which ones are missing.
 *
 * @throws Refusal 1304, or 1109.
 */
export function requireProof(deps: Deps, callback: CardCallback): void {
  if (isReturn(callback)) {
    requireReturn(deps, callback);
    return;
  }
  const names = [...FIELDS, 'networkOrder'] as const;
  if (callback.signature === undefined && names.every((name) => !callback[name])) requireFields(callback);
  if (!isSigned(deps, signedText(callback), callback.signature)) throw new Refusal(1304);
}

/** @throws Refusal 1304 when the return address is not one of ours, or has expired. */
function requireReturn(deps: Deps, { proof }: CardCallback): NonNullable<ReturnType<typeof returnOf>> {
  const own = returnOf(deps, proof);
  if (own === undefined) throw new Refusal(1304);
  return own;
}

function signedText({
  timestamp = '',
  nonce = '',
  order_id = '',
  transaction_id = '',
  result = '',
}: CardCallback): string {
  return [timestamp, nonce, order_id, transaction_id, result].join('.');
}

type Field = 'order_id' | 'transaction_id' | 'result' | 'timestamp' | 'nonce';
const FIELDS: readonly Field[] = ['order_id', 'transaction_id', 'result', 'timestamp', 'nonce'];

/** Refuses a callback that lacks a signed field. */
function requireFields(callback: CardCallback): void {
  const missing = FIELDS.filter((field) => !callback[field]);
  if (missing.length === 0) return;
  throw new Refusal(1109, { details: missing.map((field) => ({ field, code: 'REQUIRED' })) });
}

/**
 * Requires all signed fields. They are signed joined by dots, so only the order id may contain one: otherwise two callbacks could
 * share a signature.
 */
function requireForm(callback: CardCallback): { readonly [field in Field]: string } {
  requireFields(callback);
  const details: RefusalDetail[] = [];
  const { order_id = '', transaction_id = '', result = '', timestamp = '', nonce = '' } = callback;
  if (!RESULTS.includes(result)) {
    details.push({ field: 'result', code: 'NOT_AN_OPTION', words: { options: RESULTS.join(', ') } });
  }
  if (nonce.includes('.')) details.push({ field: 'nonce', code: 'INVALID_FORMAT' });
  if (transaction_id.includes('.')) details.push({ field: 'transaction_id', code: 'INVALID_FORMAT' });
  if (details.length > 0) throw new Refusal(1110, { details });
  return { order_id, transaction_id, result, timestamp, nonce };
}

function isSigned(deps: Deps, text: string, signature: string | undefined): boolean {
  const secret = deps.cardCallbackSecret;
  if (secret === undefined || signature === undefined) return false;
  const right = Buffer.from(deps.secrets.hmac(Buffer.from(secret), text), 'base64').toString('hex');
  return deps.secrets.equal(signature.toLowerCase(), right);
}
