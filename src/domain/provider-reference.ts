/**
 * What an upstream calls a movement of money: its own reference, which statements and disputes name.
 *
 * Invariant: what is kept can be written, compared and read out loud. Money that has moved is booked whatever its
 * upstream calls it. What an operator has read on a bank's statement is no reference of an upstream: it may have blanks
 * (`operator-input.ts`).
 */

/** The form that upstreams use: visible ASCII, no longer than a column of a statement. */
const VISIBLE = /^[\x21-\x7e]+$/;
const MAX_LENGTH = 64;

/** Whether an operator may enter it on an upstream's behalf. */
export function isProviderReference(text: string): boolean {
  return VISIBLE.test(text) && text.length <= MAX_LENGTH;
}

/**
 * What is stored of it: its first 64 characters, or null if it is neither a text nor a whole number, or has characters that nobody
 * can search for.
 */
export function keptReference(said: unknown): string | null {
  const text = typeof said === 'number' && Number.isSafeInteger(said) ? String(said) : said;
  return typeof text === 'string' && VISIBLE.test(text) ? text.slice(0, MAX_LENGTH) : null;
}
