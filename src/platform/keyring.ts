/**
 * The keyring: master keys, and the keys derived from them, one for each use.
 *
 * Invariant: no derived key serves two uses, and no key leaves this room except as an opaque `KeyObject` (or the pepper, for the
 * hash function). Key ids are one byte, so two master keys may share one: a look-up by id tries each key that it names.
 */
import { createHash, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';

/** A master key with what is derived from it. */
export interface MasterKey {
  /** The first byte of a hash of the key: it precedes everything sealed with it. */
  readonly id: number;
  /** The key for a use, such as `one_time_code/mac`: HKDF-SHA-256 of the master key. */
  key(use: string): KeyObject;
  /** The bytes of `key`. */
  bytes(use: string): Uint8Array;
}

export interface Keyring {
  /** The key that seals and hashes everything new. */
  readonly active: MasterKey;
  /** The active one first, then the older ones. */
  readonly all: readonly [MasterKey, ...MasterKey[]];
  /** The keys that an id names; none when the key has been removed. */
  named(id: number): readonly MasterKey[];
}

const NONE: readonly MasterKey[] = [];

/**
 * The bytes of a master key from its text: base64 or base64url of exactly 32 bytes. Undefined for anything else, so
 * that the caller can say which setting is wrong without showing it.
 */
export function parseMasterKey(text: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === 32 ? bytes : undefined;
}

/**
 * Opens a keyring: the first text is the active key; a key given twice counts once, however it is written. Throws without showing
 * any key.
 */
export function openKeyring(masterKeys: readonly string[]): Keyring {
  const distinct = new Map<string, Uint8Array>();
  for (const text of masterKeys) {
    const bytes = parseMasterKey(text);
    if (bytes === undefined) throw new Error('a master key is 32 bytes in base64');
    distinct.set(Buffer.from(bytes).toString('base64'), bytes);
  }
  const keys = [...distinct.values()].map(deriving);
  const [active, ...older] = keys;
  if (active === undefined) throw new Error('at least one master key is needed');
  const byId = new Map<number, MasterKey[]>();
  for (const key of keys) byId.set(key.id, [...(byId.get(key.id) ?? []), key]);
  return { active, all: [active, ...older], named: (id) => byId.get(id) ?? NONE };
}

function deriving(master: Uint8Array): MasterKey {
  const derive = (use: string): Uint8Array => new Uint8Array(hkdfSync('sha256', master, 'mbongo.v1', use, 32));
  const derived = new Map<string, KeyObject>();
  return {
    id: createHash('sha256').update('mbongo.v1/key-id').update(master).digest().readUInt8(0),
    key(use) {
      let key = derived.get(use);
      if (key === undefined) {
        key = createSecretKey(derive(use));
        derived.set(use, key);
      }
      return key;
    },
    bytes: derive,
  };
}
