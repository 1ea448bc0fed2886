/**
 * Finds card data where there must be none: no call of the gateway accepts any (contract §2, 1106 to 1108).
 *
 * Invariant: what is found is never kept, logged or echoed; the caller learns the field's name only.
 */

import cardValidator from 'card-validator';
import { doubled, luhnSum } from '../domain/luhn.ts';

/** Lower-case names without separators of fields that hold card data. */
const FIELDS = new Set([
  'cardnumber',
  'cardno',
  'cardnum',
  'cardpan',
  'cardcvv',
  'cardcvc',
  'cardsecuritycode',
  'cardexpiry',
  'cardexpirydate',
  'cardexpirymonth',
  'cardexpiryyear',
  'cvv',
  'cvv2',
  'cvc',
  'cvc2',
  'csc',
  'securitycode',
  'cvn',
  'cv2',
  'cardverificationvalue',
]);

/** Names that mean a card's expiry only next to a card: vouchers, documents and offers expire too. */
const EXPIRY_FIELDS = new Set([
  'expiry',
  'expirydate',
  'expirymonth',
  'expiryyear',
  'expirationdate',
  'expirationmonth',
  'expirationyear',
  'expdate',
  'expmonth',
  'expyear',
]);

/** A cheap test that comes first: hardly any field's name begins like one of these. */
const LIKELY_FIELD = new RegExp(`^(?:${[...FIELDS, ...EXPIRY_FIELDS].map((name) => name.slice(0, 3)).join('|')})`, 'i');

/** Whether a field of that name, with that value, holds card data. A text without a digit holds none. */
export function isCardField(name: string, value: unknown): boolean {
  return LIKELY_FIELD.test(name) && mayHoldDigits(value) && FIELDS.has(plainName(name));
}

/** Whether a field holds an expiry date: a card's, if `isCardName` holds for a field beside it or an object around it. */
export function isExpiryField(name: string, value: unknown): boolean {
  return LIKELY_FIELD.test(name) && mayHoldDigits(value) && EXPIRY_FIELDS.has(plainName(name));
}

/** Card data are digits, of whatever script: a name, a word or a flag in such a field is none. */
function mayHoldDigits(value: unknown): boolean {
  if (typeof value === 'string') return /\p{N}/u.test(value);
  return typeof value === 'number' || (typeof value === 'object' && value !== null);
}

/** Whether a name means a card, its number or its holder; our own `cardnet_…` fields mean the network. */
export function isCardName(name: string): boolean {
  if (!CARD_NAME.test(name)) return false;
  const plain = plainName(name);
  return !plain.startsWith('cardnet') && !plain.startsWith('cardinal');
}

const CARD_NAME = /^(?:card|pan$|pan[_-])/i;

function plainName(name: string): string {
  return name
    .slice(0, 64)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '');
}

const MIN_CARD_DIGITS = 13;
const MAX_CARD_DIGITS = 19;
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;

/**
 * Whether a text holds a card number: 13 to 19 digits, perhaps in groups separated by spaces, dashes, dots, underscores or
 * slashes, in any form that Unicode has of these characters; or a magnetic track.
 */
export function holdsCardNumber(text: string): boolean {
  // One character may stand for two digits.
  if (text.length * 2 < MIN_CARD_DIGITS) return false;
  const plain = inAscii(text);
  if (plain.length < MIN_CARD_DIGITS) return false;
  if (TRACK.test(plain)) return true;
  if (!hasCardNumber(plain)) return false;
  // A UUID is a valid order number: its digits are no part of a number that stands before it.
  return hasCardNumber(plain.replaceAll(UUID, 'x'));
}

/** The beginning of a magnetic stripe's first or second track (ISO/IEC 7813): sentinel, number, separator. */
const TRACK = /%[A-Za-z][0-9]{12,19}\^|;[0-9]{12,19}=/;

/** Whether a person has typed a card number into a single field, where digit groups of any size belong to one number. */
export function isCardNumber(typed: string): boolean {
  return holdsCardNumber(typed) || holdsCardNumber(inAscii(typed).replaceAll(/[\s._/-]/g, ''));
}

const BEYOND_ASCII = /[^ -~]/;
/** Letters are left out: none is a form of a digit, a space or a dash. */
const EACH_BEYOND_ASCII = /[^ -~\p{L}]/gu;

/**
 * Replaces digits, spaces and dashes of every kind by their plain forms, and drops invisible characters. Each character is
 * normalised by itself: normalising a whole text sorts the marks after a letter, and a hundred thousand of them take many
 * seconds.
 */
function inAscii(text: string): string {
  if (!BEYOND_ASCII.test(text)) return text;
  return text
    .replaceAll(EACH_BEYOND_ASCII, plainSign)
    .replaceAll(UNSEEN, '')
    .replaceAll(/[\s\u2800\p{Cc}\p{Surrogate}]/gu, ' ')
    .replaceAll(/[\p{Pd}\u2212]/gu, '-')
    .replaceAll(/[\u2044\u2215]/gu, '/');
}

/** Characters without a place of their own: marks and format characters. */
const UNSEEN = /[\p{Cf}\p{Mn}\p{Me}\p{Default_Ignorable_Code_Point}]/gu;
const DECIMAL = /^\p{Nd}$/u;
/** Digits in brackets or before a full stop or a comma: how one such character is normalised. */
const DRESSED = /^\(?([0-9]{1,2})[).,]?$/;
/** Rows of digits that Unicode gives no plain form: circled and Ethiopic ones. Each row counts from its first character. */
const ROWS: readonly { readonly first: number; readonly from: number; readonly to: number }[] = [
  { first: 0x1369, from: 1, to: 9 },
  { first: 0x24f5, from: 1, to: 9 },
  { first: 0x24ff, from: 0, to: 0 },
  { first: 0x2776, from: 1, to: 9 },
  { first: 0x2780, from: 1, to: 9 },
  { first: 0x278a, from: 1, to: 9 },
  { first: 0x1f10b, from: 0, to: 0 },
  { first: 0x1f10c, from: 0, to: 0 },
];

function plainSign(sign: string): string {
  const plain = sign.normalize('NFKC');
  if (DECIMAL.test(plain) && plain > '9') return digitOf(plain);
  const [, dressed] = DRESSED.exec(plain) ?? [];
  if (dressed !== undefined) return dressed;
  const code = plain.codePointAt(0) ?? 0;
  const row = ROWS.find(({ first, from, to }) => code >= first && code <= first + to - from);
  return row === undefined ? plain : String(row.from + code - row.first);
}

/** A few hundred entries at most. */
const knownDigits = new Map<string, string>();

/** The decimal digits of each script are consecutive, from nought to nine; such rows may follow each other. */
function digitOf(sign: string): string {
  const known = knownDigits.get(sign);
  if (known !== undefined) return known;
  let before = 0;
  for (let at = (sign.codePointAt(0) ?? 0) - 1; DECIMAL.test(String.fromCodePoint(at)); at -= 1) before += 1;
  const digit = String(before % 10);
  knownDigits.set(sign, digit);
  return digit;
}

/** More candidates than any honest text has; beyond them it counts as holding a card number. The library takes 5 µs for each. */
const MAX_CANDIDATES = 100;

function hasCardNumber(text: string): boolean {
  let before = 0;
  let candidates = 0;
  for (let i = 0; i < text.length; i += 1) {
    const char = text.charCodeAt(i);
    if (char === PLUS) i = endOfPhone(text, i);
    else if (isDigit(char) && !joinsWord(before)) {
      for (const digits of candidatesAt(text, i)) {
        candidates += 1;
        if (candidates > MAX_CANDIDATES || cardValidator.number(digits).isValid) return true;
      }
    }
    before = char;
  }
  return false;
}

/** Digits: E.164 allows no more. A longer run is no phone number, even after a plus. */
const MAX_PHONE_DIGITS = 15;

/**
 * American Express numbers, in their usual groups or in one: as long as the longest phone number, but no country whose numbers
 * begin like this has any of that length.
 */
const AMEX = /^3[47][0-9]{2}[ ._/-]{0,3}[0-9]{6}[ ._/-]{0,3}[0-9]{5}(?![0-9])/;

/** Where the phone number ends that begins with the plus at this place; the place of the plus itself if there is none. */
function endOfPhone(text: string, plus: number): number {
  let digits = 0;
  let end = plus;
  for (let i = plus + 1; i < text.length && digits <= MAX_PHONE_DIGITS; i += 1) {
    const char = text.charCodeAt(i);
    if (isDigit(char)) {
      digits += 1;
      end = i;
    } else if (!isSeparator(char) || end === plus) break;
  }
  return digits <= MAX_PHONE_DIGITS && !isAmex(text.slice(plus + 1, end + 1)) ? end : plus;
}

function isAmex(text: string): boolean {
  return AMEX.test(text) && luhnSum(digitsIn(text)) % 10 === 0;
}

/**
 * The runs of digits that begin at `start`, may be a card number by length and check digit, and do not go on as a word. Groups
 * have at least three digits (4 4 4 4, 4 6 5 and the like); groups before a dot, an underscore or a slash have at least four,
 * because amounts and times are grouped differently. Groups joined by anything but blanks have at most six: merchants join a
 * customer's number and a time, or a day, to a reference.
 */
function candidatesAt(text: string, start: number): string[] {
  const found: string[] = [];
  /** The Luhn sum of the run so far, and what it would be one digit further to the left. */
  let sum = 0;
  let moved = 0;
  let count = 0;
  let group = 0;
  let least = 1;
  let most = MAX_CARD_DIGITS;
  for (let i = start; i < text.length && count < MAX_CARD_DIGITS; i += 1) {
    const char = text.charCodeAt(i);
    if (isDigit(char)) {
      // The sum grows with the run: each further digit moves those before it, and what was doubled no longer is.
      const digit = char - ZERO;
      [sum, moved] = [moved + digit, sum + doubled(digit)];
      count += 1;
      group += 1;
      // The check digit comes first: it is the cheapest, and a text may be full of such runs.
      const fits = count >= MIN_CARD_DIGITS && group >= least && group <= most && sum % 10 === 0;
      if (fits && !goesOn(text, i + 1)) found.push(digitsIn(text.slice(start, i + 1)));
    } else if (!isSeparator(char) || (group > 0 && !endsGroup(char, group))) break;
    else {
      if (group > 0) [least, most] = [1, MAX_CARD_DIGITS];
      if (!isPlainSeparator(char)) least = MIN_GROUP_DIGITS;
      if (char !== BLANK) most = MAX_GROUP_DIGITS;
      group = 0;
    }
  }
  return found;
}

function digitsIn(text: string): string {
  return text.replaceAll(/[^0-9]/g, '');
}

const MIN_GROUP_DIGITS = 3;
const MAX_GROUP_DIGITS = 6;

/** Whether a group of that many digits may have that separator after it. */
function endsGroup(separator: number, digits: number): boolean {
  if (separator === BLANK) return digits >= MIN_GROUP_DIGITS;
  return digits >= (separator === DASH ? MIN_GROUP_DIGITS : 4) && digits <= MAX_GROUP_DIGITS;
}

const PLUS = 0x2b;
const BLANK = 0x20;
const DASH = 0x2d;
const POINT = 0x2e;
const SLASH = 0x2f;
const UNDERSCORE = 0x5f;
const ZERO = 0x30;

function isDigit(char: number): boolean {
  return char >= ZERO && char <= 0x39;
}

function isPlainSeparator(char: number): boolean {
  return char === BLANK || char === DASH;
}

function isSeparator(char: number): boolean {
  return isPlainSeparator(char) || char === POINT || char === SLASH || char === UNDERSCORE;
}

/** Whether a number goes on at this place: into a word, or past a decimal point (a full stop ends it). */
function goesOn(text: string, at: number): boolean {
  const next = text.charCodeAt(at);
  return next === POINT ? isDigit(text.charCodeAt(at + 1)) : joinsWord(next);
}

/** Letters, digits and the point: a number in the middle of a word or a decimal is no card number. */
function joinsWord(char: number): boolean {
  return isDigit(char) || (char >= 0x41 && char <= 0x5a) || (char >= 0x61 && char <= 0x7a) || char === POINT;
}
