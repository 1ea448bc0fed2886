/**
 * Finds card data where none may be: no call of the gateway takes any (contract §2, 1106 to 1108).
 *
 * Invariant: what is found is never kept, logged or echoed; the caller learns the field's name only.
 */

import cardValidator from 'card-validator';

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

/** Names that mean a card only beside one: vouchers, documents and offers expire too. */
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

/** Looked at before anything costlier: nearly no field's name begins so. */
const LIKELY_FIELD = /^(?:card|cvv|cvc|csc|security|exp)/i;

/** Whether a field of that name, with that value, holds card data. Empty values hold none. */
export function isCardField(name: string, value: unknown): boolean {
  return LIKELY_FIELD.test(name) && value !== null && value !== '' && FIELDS.has(plainName(name));
}

/** Whether a field says when something expires: a card, when `isCardName` holds for what it stands beside or within. */
export function isExpiryField(name: string, value: unknown): boolean {
  return LIKELY_FIELD.test(name) && value !== null && value !== '' && EXPIRY_FIELDS.has(plainName(name));
}

/** A card, its number or its holder by any name; our own `cardnet_…` fields speak of the network. */
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

const SHORTEST = 13;
const LONGEST = 19;
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;

/**
 * Whether a text carries a card number: 13 to 19 digits, perhaps in groups with blanks, dashes, points, underscores or
 * slashes between them, in any of the characters that Unicode has for these; or a magnetic track.
 */
export function holdsCardNumber(text: string): boolean {
  // One sign may stand for two digits.
  if (text.length * 2 < SHORTEST) return false;
  const plain = inAscii(text);
  if (plain.length < SHORTEST) return false;
  if (TRACK.test(plain)) return true;
  if (!hasCardNumber(plain)) return false;
  // One UUID in some ten thousand has a run of digits that passes as a card number, and is a fine order number.
  return hasCardNumber(plain.replaceAll(UUID, 'x'));
}

/** The beginning of a magnetic stripe's first or second track (ISO/IEC 7813): sentinel, number, separator. */
const TRACK = /%[A-Za-z][0-9]{12,19}\^|;[0-9]{12,19}=/;

/** The same of what one person types into one field, where groups of any size are of one number. */
export function isCardNumber(typed: string): boolean {
  return holdsCardNumber(typed) || holdsCardNumber(inAscii(typed).replaceAll(/[\s._/-]/g, ''));
}

const BEYOND_ASCII = /[^ -~]/;
/** No letter is a form of a digit, a blank or a dash. */
const EACH_BEYOND_ASCII = /[^ -~\p{L}]/gu;

/**
 * Digits, blanks and dashes of every kind as their plain forms; what cannot be seen is left out. Each sign by itself: to
 * normalise a text puts the marks behind a letter in order, and a hundred thousand of them take many seconds.
 */
function inAscii(text: string): string {
  if (!BEYOND_ASCII.test(text)) return text;
  return text
    .replaceAll(EACH_BEYOND_ASCII, plainSign)
    .replaceAll(UNSEEN, '')
    .replaceAll(/[\s\u2800]/gu, ' ')
    .replaceAll(/[\p{Pd}\u2212]/gu, '-')
    .replaceAll(/[\u2044\u2215]/gu, '/');
}

/** What stands in no place of its own: marks, and signs for the writing itself. */
const UNSEEN = /[\p{Cf}\p{Mn}\p{Me}\p{Default_Ignorable_Code_Point}]/gu;
const DECIMAL = /^\p{Nd}$/u;
/** Digits within brackets or before a point, as one sign has them. */
const DRESSED = /^\(?([0-9]{1,2})[).,]?$/;
/** Where digits stand that Unicode gives no plain form: in circles, and of Ethiopia. Each row from its first sign on. */
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

/** Some hundred signs at most. */
const knownDigits = new Map<string, string>();

/** The decimal digits of each script stand in a row, from nought to nine; such rows may follow each other. */
function digitOf(sign: string): string {
  const known = knownDigits.get(sign);
  if (known !== undefined) return known;
  let before = 0;
  for (let at = (sign.codePointAt(0) ?? 0) - 1; DECIMAL.test(String.fromCodePoint(at)); at -= 1) before += 1;
  const digit = String(before % 10);
  knownDigits.set(sign, digit);
  return digit;
}

/** More runs of digits that could be card numbers than any honest text has: asking the library costs 5 µs each. */
const CANDIDATES_AT_MOST = 100;

function hasCardNumber(text: string): boolean {
  let before = 0;
  let candidates = 0;
  for (let i = 0; i < text.length; i += 1) {
    const char = text.charCodeAt(i);
    if (char === PLUS) i = endOfPhone(text, i);
    else if (isDigit(char) && !joinsWord(before)) {
      for (const digits of candidatesAt(text, i)) {
        candidates += 1;
        if (candidates > CANDIDATES_AT_MOST || cardValidator.number(digits).isValid) return true;
      }
    }
    before = char;
  }
  return false;
}

/** E.164 has at most 15 digits; what is longer is no phone number, whatever stands before it. */
const PHONE_LONGEST = 15;

/**
 * American Express, in its own groups or in one: as long as the longest phone number, but no country whose numbers begin
 * so has any of that length.
 */
const AMEX = /^3[47][0-9]{2}[ ._/-]{0,3}[0-9]{6}[ ._/-]{0,3}[0-9]{5}(?![0-9])/;

/** The last place of the phone number whose plus stands there; the place of the plus itself when there is none. */
function endOfPhone(text: string, plus: number): number {
  let digits = 0;
  let end = plus;
  for (let i = plus + 1; i < text.length && digits <= PHONE_LONGEST; i += 1) {
    const char = text.charCodeAt(i);
    if (isDigit(char)) {
      digits += 1;
      end = i;
    } else if (!isSeparator(char) || end === plus) break;
  }
  return digits <= PHONE_LONGEST && !isAmex(text.slice(plus + 1, end + 1)) ? end : plus;
}

function isAmex(text: string): boolean {
  return AMEX.test(text) && checkDigitFits(text.replaceAll(/[^0-9]/g, ''));
}

/**
 * The runs of digits that begin there, may be a card number by length and check digit, and end before a character
 * that is no part of a word. Groups have at least three digits: 4 4 4 4, 4 6 5 and their like; those that a point, an
 * underscore or a slash follows have four to six, for amounts and times are written in other groups.
 */
function candidatesAt(text: string, start: number): string[] {
  const found: string[] = [];
  let digits = '';
  let group = 0;
  let least = 1;
  for (let i = start; i < text.length && digits.length < LONGEST; i += 1) {
    const char = text.charCodeAt(i);
    if (isDigit(char)) {
      digits += text[i];
      group += 1;
      const ends = digits.length >= SHORTEST && group >= least && !goesOn(text, i + 1);
      if (ends && checkDigitFits(digits)) found.push(digits);
    } else if (!isSeparator(char) || (group > 0 && !endsGroup(char, group))) break;
    else {
      if (group > 0) least = 1;
      if (!isPlainSeparator(char)) least = SHORTEST_GROUP;
      group = 0;
    }
  }
  return found;
}

const SHORTEST_GROUP = 3;

/** Whether a group of that many digits may have that separator after it. */
function endsGroup(separator: number, digits: number): boolean {
  if (isPlainSeparator(separator)) return digits >= SHORTEST_GROUP;
  return digits >= 4 && digits <= 6;
}

/** Cheaper than the library, and looked at before it. */
function checkDigitFits(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i += 1) {
    const digit = digits.charCodeAt(digits.length - 1 - i) - ZERO;
    const doubled = digit * 2;
    sum += i % 2 === 0 ? digit : doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
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

/** Whether a number goes on there: as a word, or with a decimal point (a full stop ends it). */
function goesOn(text: string, at: number): boolean {
  const next = text.charCodeAt(at);
  return next === POINT ? isDigit(text.charCodeAt(at + 1)) : joinsWord(next);
}

/** Letters, digits and the point: a number in the middle of a word or a decimal is no card number. */
function joinsWord(char: number): boolean {
  return isDigit(char) || (char >= 0x41 && char <= 0x5a) || (char >= 0x61 && char <= 0x7a) || char === POINT;
}
