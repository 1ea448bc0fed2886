/**
 * Identifiers: a prefix that says what is named, then 26 characters of a UUIDv7 in Crockford's base32.
 *
 * They sort by the time they were made, and their last six bits are the *shard* of what they name, so that a
 * request, a callback or a round can be routed by an id alone. Identifiers are not secrets: whoever asks for one
 * must still own it.
 */

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** How many shards there are, for ever: the first column of every key holds one of 0 … 63. */
export const SHARDS = 64;

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
  | 'batch'
  | 'rfd';

/**
 * Makes an identifier from a time (milliseconds since 1970), sixteen random bytes and a shard.
 * The same arguments give the same identifier.
 */
export function makeId(prefix: Prefix, now: number, random: Uint8Array, shard: number): string {
  if (random.length < 16) throw new RangeError('an identifier takes 16 random bytes');
  if (!Number.isInteger(shard) || shard < 0 || shard >= SHARDS) throw new RangeError('no such shard');
  let value = BigInt(now) & 0xffff_ffff_ffffn;
  value = (value << 4n) | 7n;
  value = (value << 12n) | BigInt((((random[6] ?? 0) << 8) | (random[7] ?? 0)) & 0xfff);
  value = (value << 2n) | 2n;
  let low = 0n;
  for (let i = 8; i < 16; i += 1) low = (low << 8n) | BigInt(random[i] ?? 0);
  value = (value << 62n) | (low & 0x3fff_ffff_ffff_ffc0n) | BigInt(shard);
  return `${prefix}_${encode(value)}`;
}

function encode(value: bigint): string {
  let text = '';
  for (let rest = value, i = 0; i < 26; i += 1, rest >>= 5n) text = (ALPHABET[Number(rest & 31n)] ?? '') + text;
  return text;
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

/** The 16 bytes behind an identifier, for sealing it into an opaque one. */
export function bytesOfId(id: string): Uint8Array {
  let value = 0n;
  for (const char of id.slice(id.indexOf('_') + 1)) value = (value << 5n) | BigInt(ALPHABET.indexOf(char));
  const bytes = new Uint8Array(16);
  for (let i = 15; i >= 0; i -= 1, value >>= 8n) bytes[i] = Number(value & 0xffn);
  return bytes;
}

/** The identifier whose bytes these are: the inverse of `bytesOfId`. */
export function idOfBytes(prefix: Prefix, bytes: Uint8Array): string {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  return `${prefix}_${encode(value)}`;
}
