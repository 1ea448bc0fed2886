/**
 * Secrets: digests, keyed hashes, authenticated encryption, payment_ids and PINs, over one keyring.
 *
 * Invariant: whatever was sealed opens only whole, unaltered, for the purpose and context it was sealed for; what was
 * sealed with an older key of the ring still opens. Texts are well-formed Unicode.
 */
import { createCipheriv, createDecipheriv, createHmac, hash, type KeyObject, timingSafeEqual } from 'node:crypto';
import { createCache } from './cache.ts';
import { type Keyring, type MasterKey, openKeyring } from './keyring.ts';
import { createPins, type Pepper } from './pins.ts';
import type { KeyPurpose, Random, Secrets } from './platform.ts';

const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 2 + NONCE_BYTES;

const PAYMENT_ID_PREFIX = 'pay_';
/** Version, key id, nonce, 16 bytes and tag, in base64url. */
const PAYMENT_ID_CHARACTERS = 62;
const PAYMENT_ID_CONTEXT = Buffer.from('pay.v1');

export interface SecretsOptions {
  /** 32 bytes each, base64. The first seals; the others still open and verify what they made. */
  readonly masterKeys: readonly string[];
  readonly random: Random;
  /** The 16 bytes behind a transaction id, and back (handed in: this room knows no identifiers). */
  readonly transactionIds: {
    bytesOf(transactionId: string): Uint8Array;
    idOf(bytes: Uint8Array): string;
  };
}

/** Opens the secrets of a keyring. Throws when a master key is not 32 bytes of base64; never shows it. */
export function openSecrets(options: SecretsOptions): Secrets {
  const keyring = openKeyring(options.masterKeys);
  const { random, transactionIds } = options;
  const paymentIds = createPairs();
  return {
    keyIds: keyring.all.map(keyIdOf),
    // In one call: 0.4 µs for a token, against 1.0 with a hash object that is fed (300 000 each, Node.js 20.20).
    digest: (content) => hash('sha256', content, 'base64url'),
    equal,
    mac: (purpose, ...parts) => macOf(keyring.active.key(`${purpose}/mac`), parts),
    macs: (purpose, ...parts) => keyring.all.map((key) => macOf(key.key(`${purpose}/mac`), parts)),
    hmac,
    seal(purpose, content, context, at = 0) {
      const master = keyring.all[at] ?? keyring.active;
      const nonce = random.bytes(NONCE_BYTES);
      const binding = bindingOf(purpose, context);
      return encrypt(master.key(`${purpose}/seal`), master.id, nonce, binding, Buffer.from(content));
    },
    open(purpose, sealed, context) {
      return decrypt(keyring, `${purpose}/seal`, sealed, bindingOf(purpose, context))?.toString();
    },
    openBytes(purpose, sealed, context) {
      return decrypt(keyring, `${purpose}/seal`, sealed, bindingOf(purpose, context));
    },
    sealPaymentId(transactionId) {
      const known = paymentIds.sealed(transactionId);
      if (known !== undefined) return known;
      const plain = transactionIds.bytesOf(transactionId);
      // Deterministic, so that a replayed request shows the same payment_id; the context is part of the hash, because
      // one nonce under two contexts would give the authentication key away (reliability §2.2).
      const nonceKey = keyring.active.key('payment_id/nonce');
      const nonce = createHmac('sha256', nonceKey).update(PAYMENT_ID_CONTEXT).update(plain).digest();
      const key = keyring.active.key('payment_id/id');
      const head = nonce.subarray(0, NONCE_BYTES);
      const sealed = PAYMENT_ID_PREFIX + encrypt(key, keyring.active.id, head, PAYMENT_ID_CONTEXT, plain);
      paymentIds.remember(transactionId, sealed);
      return sealed;
    },
    openPaymentId(paymentId) {
      const known = paymentIds.opened(paymentId);
      if (known !== undefined) return known;
      if (paymentId.length !== PAYMENT_ID_PREFIX.length + PAYMENT_ID_CHARACTERS) return undefined;
      if (!paymentId.startsWith(PAYMENT_ID_PREFIX)) return undefined;
      const plain = decrypt(keyring, 'payment_id/id', paymentId.slice(PAYMENT_ID_PREFIX.length), PAYMENT_ID_CONTEXT);
      return plain && transactionIds.idOf(plain);
    },
    ...createPins(peppersOf(keyring), random),
  };
}

/** How many payment_ids are remembered, the last ones sealed: each is sealed by a collect and a submit, and opened in between. */
const MAX_PAIRS = 5_000;

/** Remembers sealed payment_ids, both ways. Only pairs that we made ourselves are stored. */
function createPairs() {
  const bySource = createCache<string>(MAX_PAIRS);
  const bySealed = createCache<string>(MAX_PAIRS);
  return {
    sealed: bySource.get,
    opened: bySealed.get,
    remember(source: string, sealed: string): void {
      bySource.set(source, sealed);
      bySealed.set(sealed, source);
    },
  };
}

function keyIdOf({ id }: MasterKey): string {
  return id.toString(16).padStart(2, '0');
}

function peppersOf(keyring: Keyring): [Pepper, ...Pepper[]] {
  const [active, ...older] = keyring.all.map((key) => ({
    keyId: keyIdOf(key),
    secret: key.bytes('pin/pepper'),
  }));
  if (active === undefined) throw new Error('a keyring is never empty');
  return [active, ...older];
}

/** HMAC-SHA-256 as `Secrets.hmac`, for programs without a keyring: no key of ours is involved. */
export function hmac(key: Uint8Array, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64');
}

/** Whether two secrets are equal, in a time that tells nothing of them but their length. */
export function equal(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Each part is preceded by its length in bytes: no two lists of parts give the same message. */
function macOf(key: KeyObject, parts: readonly string[]): string {
  const mac = createHmac('sha256', key);
  for (const part of parts) {
    mac.update(lengthOf(part));
    mac.update(part);
  }
  return mac.digest('base64url');
}

function lengthOf(text: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(Buffer.byteLength(text));
  return length;
}

/** What a sealed text is bound to besides its key. */
function bindingOf(purpose: KeyPurpose, context: string): Buffer {
  return Buffer.concat([Buffer.from('seal.v1'), lengthOf(purpose), Buffer.from(purpose), Buffer.from(context)]);
}

function encrypt(key: KeyObject, keyId: number, nonce: Uint8Array, binding: Uint8Array, plain: Uint8Array): string {
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(binding);
  const text = cipher.update(plain);
  cipher.final();
  return Buffer.concat([Buffer.of(VERSION, keyId), nonce, text, cipher.getAuthTag()]).toString('base64url');
}

function decrypt(keyring: Keyring, use: string, sealed: string, binding: Uint8Array): Buffer | undefined {
  const bytes = Buffer.from(sealed, 'base64url');
  // The decoder tolerates foreign characters and stray bits at the end; two texts must never mean one id.
  if (bytes.length < HEAD_BYTES + TAG_BYTES || bytes.toString('base64url') !== sealed) return undefined;
  if (bytes[0] !== VERSION) return undefined;
  for (const master of keyring.named(bytes[1] ?? -1)) {
    const plain = decryptWith(master.key(use), bytes, binding);
    if (plain !== undefined) return plain;
  }
  return undefined;
}

function decryptWith(key: KeyObject, bytes: Buffer, binding: Uint8Array): Buffer | undefined {
  const nonce = bytes.subarray(2, HEAD_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(binding);
  decipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES));
  const plain = decipher.update(bytes.subarray(HEAD_BYTES, bytes.length - TAG_BYTES));
  try {
    decipher.final();
    return plain;
  } catch {
    return undefined;
  }
}
