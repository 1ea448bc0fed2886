/**
 * Phone numbers, read in international form.
 *
 * Invariant: what passes is a valid number in E.164.
 */

import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { evictOldest } from '../domain/evict.ts';

/** International forms only: a plus sign or 00, then digits with the usual separators. */
const INTERNATIONAL = /^(?:\+|00)[0-9][0-9 ().\-/\u00a0]{5,30}$/;

/** How many parsed numbers are remembered: a payment's number is parsed three times within seconds. */
const REMEMBERED = 1_000;
const remembered = new Map<string, string | undefined>();

/** The number in E.164, or undefined unless it is a valid international one (contract §1). */
export function parsePhone(text: string): string | undefined {
  const given = text.trim();
  if (!INTERNATIONAL.test(given)) return undefined;
  if (remembered.has(given)) return remembered.get(given);
  const phone = parse(given);
  remembered.set(given, phone);
  // Parsing one that was forgotten again costs only 20 µs.
  evictOldest(remembered, REMEMBERED);
  return phone;
}

function parse(given: string): string | undefined {
  const parsed = parsePhoneNumberFromString(given.startsWith('00') ? `+${given.slice(2)}` : given, { extract: false });
  return parsed?.isValid() === true ? parsed.number : undefined;
}
