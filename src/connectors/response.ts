/**
 * How connectors read what an upstream sends: the result of a call, the JSON in it, and the answer that it gives with what an
 * operator should know of it.
 *
 * Invariant: nothing here throws or knows a term of any upstream. What those mean is for each connector's own tables to say.
 */

import type { LastingRefusal } from '../domain/answer.ts';
import type { Currency } from '../domain/currency.ts';
import { parsePaddedAmount } from '../domain/money.ts';
import type { OutboundAnswer } from '../platform/platform.ts';

/** An upstream's HTTP response. `body` is the parsed JSON, undefined when it was empty or not JSON. */
export interface JsonResponse {
  readonly kind: 'answered';
  readonly status: number;
  readonly body: unknown;
}

/** The result of a call: a response, or none. `lasting`: why a later call would not be sent either. */
export type CallResult =
  | JsonResponse
  | { readonly kind: 'not_sent'; readonly reason: string; readonly lasting?: LastingRefusal }
  | { readonly kind: 'lost'; readonly reason: string };

/** The result of a call whose response is JSON. */
export function resultOf(answer: OutboundAnswer): CallResult {
  if (answer.kind !== 'answered') return answer;
  return { kind: 'answered', status: answer.status, body: parseJson(answer.body) };
}

function parseJson(text: string): unknown {
  // An accepted order may be answered without a body, and an exception for each would be expensive.
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export type JsonObject = { readonly [field: string]: unknown };

/** Whether a value is a JSON object: no array, and not null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An answer, and what an operator should know about it. */
export interface Reading<A> {
  readonly answer: A;
  readonly alarm?: Alarm;
}

/**
 * `unfamiliar`: a term that the tables lack. `mismatch`: an answer about something other than what was ordered. `ours`: our
 * request, or our account at the upstream, is at fault. `what`: the term or the field, safe to log.
 */
export interface Alarm {
  readonly kind: 'unfamiliar' | 'mismatch' | 'ours';
  readonly what: string;
}

/** The reading of an answer that differs from what was ordered in the field of that name. */
export function mismatch(field: string): Reading<{ readonly kind: 'unknown'; readonly reason: string }> {
  const answer = { kind: 'unknown', reason: `another ${field} than ordered` } as const;
  return { answer, alarm: { kind: 'mismatch', what: field } };
}

/** What a table of an upstream's terms says about one; undefined for a term that it lacks. */
export function meaningIn<M>(table: { readonly [term: string]: M }, term: string | undefined): M | undefined {
  return term !== undefined && Object.hasOwn(table, term) ? table[term] : undefined;
}

/**
 * An amount in minor units, written as decimal text or as a JSON number, whose shortest decimal text is exact for every amount that
 * an upstream accepts. Undefined: not an amount.
 */
export function minorOf(amount: unknown, currency: Currency): bigint | undefined {
  return parsePaddedAmount(typeof amount === 'number' ? String(amount) : amount, currency)?.minor;
}
