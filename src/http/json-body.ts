/**
 * Reads a request's body: one JSON object, and nothing that can be read in two ways.
 *
 * Invariant: nothing here throws. A fault becomes a refusal that the pipeline throws after authentication, so that a caller
 * without credentials learns nothing from a bad body. Keys such as `__proto__` stay plain properties that nobody reads.
 */

import { isUtf8 } from 'node:buffer';
import { type DetailCode, type Refusal, refuseField, type Words } from '../domain/refusal.ts';
import { holdsCardNumber, isCardField, isCardName, isExpiryField } from './card-data.ts';
import { isJson } from './json-node.ts';

/** A JSON object of which nothing has been checked yet. */
export type JsonObject = { [name: string]: unknown };

/** A body, or why it is refused. */
export type JsonBody =
  | { readonly kind: 'object'; readonly value: JsonObject /** Whether a null may be in it. */; readonly nulls: boolean }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

/** How deep objects and arrays may nest, the body itself included. */
const DEEPEST = 16;

/**
 * Reads UTF-8 text as one JSON object (RFC 8259). Refused with 1110: any other value or text, more than 16 levels, a repeated
 * key, and card data. The refusal names the field that is at fault, or else `body`. A field that is not among the
 * `known` ones may hold text that is not valid: nobody reads it, and clients cut names in the middle of a character.
 */
export function readJsonBody(bytes: Buffer, known?: object): JsonBody {
  const text = bytes.toString('utf8');
  // Invalid UTF-8 decodes to the replacement character, which may also have been sent as such.
  if (text.includes('\ufffd') && !isUtf8(bytes)) return refused('body', 'INVALID_TEXT');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refused('body', 'INVALID_JSON');
  }
  if (!isJson(value)) return refused('body', 'INVALID_JSON');
  const walk: Walk = { keys: 0, escapes: text.includes('\\u'), known };
  const fault = inspect(value, 1, walk);
  if (fault !== undefined) return refused(fault.path, fault.code);
  if (walk.rounded === true && writesCardNumber(text)) return refused('body', 'CARD_DATA');
  if (walk.keys !== countKeys(text)) return refused(duplicateKey(text), 'DUPLICATE_KEY');
  const read = walk.beyond === true ? JSON.parse(text, withinDoubles) : value;
  return { kind: 'object', value: read as JsonObject, nulls: text.includes('null') };
}

/** A number that no double reaches counts as the largest one: JSON and its canonical form have no infinity. */
function withinDoubles(_key: string, value: unknown): unknown {
  if (value === Number.POSITIVE_INFINITY) return Number.MAX_VALUE;
  return value === Number.NEGATIVE_INFINITY ? -Number.MAX_VALUE : value;
}

/** Reads a form in a browser's usual encoding as the object that JSON would have given; a repeated field is refused. */
export function readFormBody(text: string): JsonBody {
  const fields: JsonObject = {};
  for (const [name, value] of new URLSearchParams(text)) {
    if (Object.hasOwn(fields, name)) return { kind: 'refused', refusal: refuseByName(name, 'DUPLICATE_KEY') };
    Object.defineProperty(fields, name, { value, enumerable: true, configurable: true, writable: true });
  }
  const refusal = faultIn(fields);
  return refusal === undefined ? { kind: 'object', value: fields, nulls: false } : { kind: 'refused', refusal };
}

/** The refusal for fields of a form that hold card data, or text that is not valid. */
export function faultIn(fields: JsonObject): Refusal | undefined {
  const fault = inspect(fields, 1, { keys: 0, escapes: true });
  return fault === undefined ? undefined : refuseAt(fault.path, fault.code);
}

/** A refusal of the field that its sender called by this name. */
export function refuseByName(name: string, code: DetailCode, words?: Words): Refusal {
  return refuseAt(within(name, ''), code, words);
}

function refused(path: string, code: DetailCode): JsonBody {
  return { kind: 'refused', refusal: refuseAt(path, code) };
}

function refuseAt(path: string, code: DetailCode, words?: Words): Refusal {
  return refuseField(1110, path === '' ? 'body' : path, code, words);
}

interface Walk {
  keys: number;
  /** Only an escape can bring a NUL or half a surrogate pair into well-formed JSON. */
  readonly escapes: boolean;
  /** The fields that the call reads, by name; undefined: all of them. */
  readonly known?: object | undefined;
  /** Whether the walk is in a field that the call does not read. */
  unread?: boolean;
  /** Whether a whole number was met that a double does not hold exactly. */
  rounded?: boolean;
  /** Whether a number was met that no double reaches. */
  beyond?: boolean;
}

interface Fault {
  readonly code: DetailCode;
  readonly path: string;
}

/** One walk over the whole value. Paths are built on the way back from a fault, so that a sound value pays nothing for them. */
function inspect(value: unknown, depth: number, walk: Walk, ofCard = false): Fault | undefined {
  if (typeof value === 'string') return inspectText(value, walk);
  if (typeof value === 'number') return inspectNumber(value, walk);
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth > DEEPEST) return { code: 'TOO_DEEP', path: '' };
  return Array.isArray(value)
    ? inspectArray(value, depth, walk)
    : inspectObject(value as JsonObject, depth, walk, ofCard);
}

function inspectArray(array: readonly unknown[], depth: number, walk: Walk): Fault | undefined {
  for (let i = 0; i < array.length; i += 1) {
    const fault = inspect(array[i], depth + 1, walk);
    if (fault !== undefined) return { code: fault.code, path: joinPath(`[${i}]`, fault.path) };
  }
  return undefined;
}

function inspectObject(object: JsonObject, depth: number, walk: Walk, ofCard: boolean): Fault | undefined {
  let besideCard = ofCard;
  let expiry: string | undefined;
  for (const key in object) {
    walk.keys += 1;
    const value = object[key];
    if (depth === 1 && walk.known !== undefined) walk.unread = !Object.hasOwn(walk.known, key);
    const inKey = inspectText(key, walk);
    if (inKey !== undefined) return inKey;
    const isCard = isCardName(key);
    besideCard ||= isCard;
    if (isExpiryField(key, value)) expiry = key;
    const fault = isCardField(key, value) ? CARD : inspect(value, depth + 1, walk, isCard);
    if (fault !== undefined) return { code: fault.code, path: within(key, fault.path) };
  }
  return besideCard && expiry !== undefined ? { code: 'CARD_DATA', path: expiry } : undefined;
}

const CARD: Fault = { code: 'CARD_DATA', path: '' };
const HALF_PAIR = /\p{Surrogate}/u;

function isValidText(text: string): boolean {
  return !text.includes('\0') && !HALF_PAIR.test(text);
}

function inspectText(text: string, walk: Walk): Fault | undefined {
  if (walk.escapes && walk.unread !== true && !isValidText(text)) return { code: 'INVALID_TEXT', path: '' };
  return holdsCardNumber(text) ? CARD : undefined;
}

/** What a number means is for its field to say: here it may only not be a card's. */
function inspectNumber(value: number, walk: Walk): Fault | undefined {
  const size = Math.abs(value);
  if (!Number.isFinite(value)) walk.beyond = true;
  else if (size < 1e12 || !Number.isInteger(value)) return undefined;
  walk.rounded ||= size > Number.MAX_SAFE_INTEGER;
  return holdsCardNumber(String(size)) ? CARD : undefined;
}

/** Whether the text holds a card number outside of strings. Searched as text, because longer numbers lose digits when parsed. */
function writesCardNumber(text: string): boolean {
  let outside = '';
  for (let at = 0; at < text.length; ) {
    const quote = text.indexOf('"', at);
    outside += `${text.slice(at, quote < 0 ? text.length : quote)},`;
    at = quote < 0 ? text.length : endOfString(text, quote) + 1;
  }
  return outside.split(/[^\d]+/).some(holdsCardNumber);
}

/** `beneficiaries` and `[3].amount` make `beneficiaries[3].amount`. */
export function joinPath(head: string, tail: string): string {
  return tail === '' || tail.startsWith('[') ? head + tail : `${head}.${tail}`;
}

/**
 * The path of what lies within a key. A path is sent back, and callers store our answers: it ends before a key that holds a card
 * number, or text that is not valid.
 */
function within(key: string, tail: string): string {
  const name = key.slice(0, 64);
  return isValidText(name) && !holdsCardNumber(key) ? joinPath(name, tail) : '';
}

const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;

/** How many keys well-formed JSON writes down: the colons outside of strings. */
function countKeys(text: string): number {
  let keys = 0;
  for (let i = 0; i < text.length; i += 1) {
    const char = text.charCodeAt(i);
    if (char === QUOTE) i = endOfString(text, i);
    else if (char === COLON) keys += 1;
  }
  return keys;
}

/** The position of the quote that closes the string that opens at `start`. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}

interface Level {
  /** The keys seen so far; undefined in an array. */
  readonly keys: Set<string> | undefined;
  /** Where this level stands in its parent. */
  readonly at: string;
  index: number;
}

/** The path of the first key that well-formed JSON has twice. Called only for bodies that have one. */
function duplicateKey(text: string): string {
  const levels: Level[] = [];
  let key = '';
  for (let i = 0; i < text.length; i += 1) {
    const char = text[i];
    const level = levels.at(-1);
    if (char === '"') {
      const end = endOfString(text, i);
      const isKey = level?.keys !== undefined && /^\s*:/.test(text.slice(end + 1, end + 1_000));
      if (isKey) {
        key = JSON.parse(text.slice(i, end + 1)) as string;
        if (level.keys.has(key)) return pathOf(levels, key);
        level.keys.add(key);
      }
      i = end;
    } else if (char === '{' || char === '[') {
      levels.push({ keys: char === '{' ? new Set() : undefined, at: placeIn(level, key), index: 0 });
    } else if (char === '}' || char === ']') levels.pop();
    else if (char === ',' && level !== undefined) level.index += 1;
  }
  return 'body';
}

/** Where a value stands in its parent: at an index of an array, or under the last `key`. */
function placeIn(parent: Level | undefined, key: string): string {
  if (parent === undefined) return '';
  return parent.keys === undefined ? `[${parent.index}]` : key;
}

/** Ends at the deepest level that a body may have: what the last of two keys replaces may nest in a hundred thousand. */
function pathOf(levels: readonly Level[], key: string): string {
  const parts = levels.slice(1).map(({ at }) => at);
  return [...parts, key].slice(0, DEEPEST).reduceRight((tail, head) => within(head, tail), '');
}
