/**
 * Identifiers: a prefix that says what is named, then 26 characters of a UUIDv7 in Crockford's base32.
 *
 * They sort by the time they were made, and their last six bits are the *shard* of what they name, so that a request, a callback
 * or a round can be routed by an id alone. Identifiers are not secrets: a caller that names one must still own it.
 */

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
/** The value of each character of the alphabet, by its character code. */
const VALUES = Uint8Array.from({ length: 128 }, (_, code) => Math.max(0, ALPHABET.indexOf(String.fromCharCode(code))));

/** The two characters for every value of 10 bits. */
const PAIRS = Array.from({ length: 1_024 }, (_, at) => `${ALPHABET[at >> 5]}${ALPHABET[at & 31]}`);

/** How many shards there are, for ever: the first column of every key holds one of 0 … 63. */
export const SHARDS = 64;

/** What an identifier begins with, which says what it names. */
export type Prefix =
  | 'mch' // merchant
  | 'key' // merchant credential
  | 'whs' // webhook secret
  | 'ses' // session
  | 'txn' // transaction
  | 'pm' // payment method
  | 'att' // attempt at an upstream
  | 'trf' // ledger transfer
  | 'evt' // webhook event
  | 'whd' // webhook delivery attempt
  | 'bka' // bank account
  | 'prf' // proof of a bank transfer
  | 'chk' // hosted page
  | 'batch' // payout batch
  | 'rfd' // refund
  | 'jrn' // journal entry
  | 'cmd'; // operator's command

/** Makes a fresh identifier of that kind, in that shard: how randomness reaches a decision. */
export type NewId = (prefix: Prefix, shard: number) => string;

/** Fresh ids for the two transfers of an amount with a fee: first the amount's, then the fee's. */
export function transferIds(newId: NewId, shard: number): readonly [string, string] {
  return [newId('trf', shard), newId('trf', shard)];
}

/** The largest value of 12 bits. */
const MAX_COUNTER = 0xfff;

/**
 * Makes an identifier from a time (milliseconds since 1970), sixteen random bytes and a shard. The same arguments give the same
 * identifier. Those of one instant sort by their `counter`, which replaces 12 of the random bits (RFC 9562, 6.2, method 1); a counter
 * above 4 095 counts as 4 095.
 */
export function makeId(prefix: Prefix, now: number, random: Uint8Array, shard: number, counter?: number): string {
  if (random.length < 16) throw new RangeError('an identifier takes 16 random bytes');
  if (!Number.isInteger(shard) || shard < 0 || shard >= SHARDS) throw new RangeError('no such shard');
  const bytes = random.slice(0, 16);
  // A UUIDv7: 48 bits of time, version 7, variant 2, the rest random; here the last six bits are the shard.
  for (let i = 5, rest = now; i >= 0; i -= 1, rest = Math.floor(rest / 256)) bytes[i] = rest % 256;
  if (counter !== undefined) {
    const least = Math.min(counter, MAX_COUNTER);
    bytes[6] = least >> 8;
    bytes[7] = least & 0xff;
  }
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  bytes[15] = ((bytes[15] ?? 0) & 0xc0) | shard;
  return idOfBytes(prefix, bytes);
}

const SHAPE = /^[a-z]{2,5}_[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/** Whether a text has the form of an identifier of that kind. Says nothing of whether it exists. */
export function isId(prefix: Prefix, text: unknown): text is string {
  return typeof text === 'string' && text.startsWith(`${prefix}_`) && SHAPE.test(text);
}

/** The shard that an identifier carries in its last six bits. */
export function shardOf(id: string): number {
  const last = ALPHABET.indexOf(id.at(-1) ?? '');
  const before = ALPHABET.indexOf(id.at(-2) ?? '');
  if (last < 0 || before < 0) throw new RangeError('not an identifier');
  return ((before & 1) << 5) | last;
}

/** Whether a text has the form of an identifier of that kind in this shard. */
export function isIdIn(shard: number, prefix: Prefix, text: string): boolean {
  return isId(prefix, text) && shardOf(text) === shard;
}

/** When an identifier was made, milliseconds since 1970: its first 48 bits. */
export function timeOfId(id: string): number {
  let time = 0;
  // The first ten characters are two bits that are always zero, and the 48 bits of the time.
  for (let at = id.length - 26; at < id.length - 16; at += 1) time = time * 32 + (VALUES[id.charCodeAt(at)] ?? 0);
  return time;
}

/** The last instant that an identifier can carry. */
const LAST_INSTANT = 2 ** 48 - 1;

/**
 * The smallest identifier of that kind that can be made at that instant (milliseconds) or later. An instant out of range counts
 * as the nearest one that an identifier can carry.
 */
export function firstIdAt(prefix: Prefix, at: number): string {
  return makeId(prefix, Math.min(Math.max(0, at), LAST_INSTANT), new Uint8Array(16), 0);
}

/** Milliseconds by which the time in an identifier and the instant in its row may differ, at most. */
export const ID_SLACK_MS = 60_000;

/** The 16 bytes behind an identifier, for sealing it into an opaque one. */
export function bytesOfId(id: string): Uint8Array {
  const bytes = new Uint8Array(16);
  // 26 characters are 130 bits: the first two of them are always zero.
  let bits = -2;
  let held = 0;
  let at = 0;
  for (let i = id.length - 26; i < id.length; i += 1) {
    held = (held << 5) | (VALUES[id.charCodeAt(i)] ?? 0);
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes[at] = held >> bits;
      at += 1;
      held &= (1 << bits) - 1;
    }
  }
  return bytes;
}

/** The identifier whose bytes these are: the inverse of `bytesOfId`. */
export function idOfBytes(prefix: Prefix, bytes: Uint8Array): string {
  let text = `${prefix}_`;
  // Two characters at a time, of 10 bits: the first two bits of the 130 are zero.
  let bits = 2;
  let held = 0;
  for (let i = 0; i < 16; i += 1) {
    held = (held << 8) | (bytes[i] ?? 0);
    bits += 8;
    if (bits < 10) continue;
    bits -= 10;
    text += PAIRS[held >> bits];
    held &= (1 << bits) - 1;
  }
  return text;
}
