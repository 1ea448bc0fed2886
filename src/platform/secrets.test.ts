/** Sealed content opens only whole and for what it was sealed for; keys rotate; keyed hashes are unambiguous. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openKeyring, parseMasterKey } from './keyring.ts';
import type { KeyPurpose, Secrets } from './platform.ts';
import { openSecrets } from './secrets.ts';
import { seededRandom } from './testing/seeded-random.ts';

const keyOf = (byte: number): string => Buffer.alloc(32, byte).toString('base64');
const KEY = keyOf(1);
const OTHER_KEY = keyOf(2);

/** Identifiers for the tests: a prefix and 32 hexadecimal digits. */
const transactionIds = {
  bytesOf: (id: string): Uint8Array => Buffer.from(id.slice(4), 'hex'),
  idOf: (bytes: Uint8Array): string => `txn_${Buffer.from(bytes).toString('hex')}`,
};

function secretsOf(...masterKeys: string[]): Secrets {
  return openSecrets({ masterKeys, random: seededRandom(1), transactionIds });
}

const secrets = secretsOf(KEY);
const anyId = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => transactionIds.idOf(bytes));
const anyText = fc.string({ unit: 'grapheme' });
const PURPOSES: readonly KeyPurpose[] = [
  'payment_id',
  'webhook_secret',
  'idempotency_body',
  'idempotency_key',
  'one_time_code',
  'callback_path',
];

/** The same text with one bit of its base64url bytes flipped. */
function flip(sealed: string, bit: number): string {
  const bytes = Buffer.from(sealed, 'base64url');
  bytes.writeUInt8(bytes.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
  return bytes.toString('base64url');
}

describe('sealing', () => {
  test('a sealed value opens again, and never shows its content', () => {
    fc.assert(
      fc.property(anyText, anyText, fc.constantFrom(...PURPOSES), (text, context, purpose) => {
        const sealed = secrets.seal(purpose, text, context);
        expect(sealed).toMatch(/^[A-Za-z0-9_-]+$/);
        expect(secrets.open(purpose, sealed, context)).toBe(text);
        expect(secrets.seal(purpose, text, context)).not.toBe(sealed);
      }),
    );
  });

  test('a value with any bit flipped does not open', () => {
    const sealed = secrets.seal('webhook_secret', 'a secret', 'mch_1');
    for (let bit = 0; bit < Buffer.from(sealed, 'base64url').length * 8; bit += 1) {
      expect(secrets.open('webhook_secret', flip(sealed, bit), 'mch_1')).toBeUndefined();
    }
  });

  test('a value does not open for any other purpose or context', () => {
    fc.assert(
      fc.property(anyText, anyText, fc.constantFrom(...PURPOSES), fc.constantFrom(...PURPOSES), (a, b, one, two) => {
        const sealed = secrets.seal(one, 'text', a);
        expect(secrets.open(two, sealed, b)).toBe(one === two && a === b ? 'text' : undefined);
      }),
    );
  });

  test('a value that is cut, lengthened, or not in base64url does not open', () => {
    const sealed = secrets.seal('idempotency_body', 'text', '');
    for (let length = 0; length < sealed.length; length += 1) {
      expect(secrets.open('idempotency_body', sealed.slice(0, length), '')).toBeUndefined();
    }
    for (const wrong of [`${sealed}A`, `${sealed}=`, ` ${sealed}`, `${sealed}\n`, '', '☂', 'A'.repeat(60)]) {
      expect(secrets.open('idempotency_body', wrong, '')).toBeUndefined();
    }
    fc.assert(fc.property(fc.string(), (text) => secrets.open('idempotency_body', text, '') === undefined));
  });
});

describe('payment_id', () => {
  test('has 66 URL-safe characters, is the same each time, and leads back', () => {
    fc.assert(
      fc.property(anyId, (id) => {
        const paymentId = secrets.sealPaymentId(id);
        expect(paymentId).toMatch(/^pay_[A-Za-z0-9_-]{62}$/);
        expect(secretsOf(KEY).sealPaymentId(id)).toBe(paymentId);
        expect(secrets.openPaymentId(paymentId)).toBe(id);
      }),
    );
  });

  test('does not open with any flipped or stray bit, or in any other spelling of the same bytes', () => {
    const paymentId = secrets.sealPaymentId(`txn_${'5a'.repeat(16)}`);
    const body = paymentId.slice(4);
    for (let bit = 0; bit < 46 * 8; bit += 1) {
      expect(secrets.openPaymentId(`pay_${flip(body, bit)}`)).toBeUndefined();
    }
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    for (let at = 0; at < body.length; at += 1) {
      for (const char of `${alphabet}+/= `) {
        if (char === body[at]) continue;
        expect(secrets.openPaymentId(`pay_${body.slice(0, at)}${char}${body.slice(at + 1)}`)).toBeUndefined();
      }
    }
    for (const wrong of [
      body,
      `PAY_${body}`,
      `txn_${body}`,
      `${paymentId}=`,
      `${paymentId}AA`,
      'pay_',
      '',
      'pay_1234567',
    ]) {
      expect(secrets.openPaymentId(wrong)).toBeUndefined();
    }
  });

  test('a text sealed for the purpose payment_id is no payment_id', () => {
    const sealed = secrets.seal('payment_id', 'x'.repeat(16), 'pay.v1');
    expect(sealed).toHaveLength(62);
    expect(secrets.openPaymentId(`pay_${sealed}`)).toBeUndefined();
  });
});

describe('rotation', () => {
  const rotated = secretsOf(OTHER_KEY, KEY);
  const gone = secretsOf(OTHER_KEY);
  const id = `txn_${'07'.repeat(16)}`;

  test('what an older key sealed still opens, and new values are sealed with the new key', () => {
    expect(rotated.open('webhook_secret', secrets.seal('webhook_secret', 'text', 'c'), 'c')).toBe('text');
    expect(rotated.openPaymentId(secrets.sealPaymentId(id))).toBe(id);
    expect(gone.open('webhook_secret', rotated.seal('webhook_secret', 'text', 'c'), 'c')).toBe('text');
    expect(gone.openPaymentId(rotated.sealPaymentId(id))).toBe(id);
  });

  test('a value sealed in an older key’s place opens with that key alone', () => {
    const sealed = rotated.seal('idempotency_body', 'text', 'c', 1);
    expect([secrets, rotated, gone].map((ring) => ring.open('idempotency_body', sealed, 'c'))).toEqual([
      'text',
      'text',
      undefined,
    ]);
  });

  test('what a key sealed does not open once the key is gone', () => {
    expect(gone.open('webhook_secret', secrets.seal('webhook_secret', 'text', 'c'), 'c')).toBeUndefined();
    expect(gone.openPaymentId(secrets.sealPaymentId(id))).toBeUndefined();
  });

  test('a PIN hashed under an older key is still verified, but not once the key is gone', async () => {
    const hash = await secrets.hashPin('4711', 'account');
    expect(await rotated.verifyPin('4711', hash, 'account', 'one')).toBe(true);
    expect(await rotated.verifyPin('4712', hash, 'account', 'one')).toBe(false);
    expect(await gone.verifyPin('4711', hash, 'account', 'one')).toBe(false);
  });

  test('a master key that is named twice counts once', () => {
    expect(openKeyring([KEY, KEY]).all).toHaveLength(1);
    expect(openKeyring([KEY, KEY.replace(/=$/, '')]).all).toHaveLength(1);
    expect(secretsOf(KEY, KEY).macs('one_time_code', '4711')).toEqual([secrets.mac('one_time_code', '4711')]);
  });

  test('two master keys that share an id each open their own values', () => {
    const id0 = openKeyring([KEY]).active.id;
    const twin = Array.from({ length: 5000 }, (_, i) => Buffer.alloc(32, `twin ${i}`).toString('base64')).find(
      (key) => openKeyring([key]).active.id === id0,
    );
    if (twin === undefined) throw new Error('5000 keys share no id of 256');
    const both = secretsOf(twin, KEY);
    expect(both.openPaymentId(secrets.sealPaymentId(id))).toBe(id);
    expect(both.openPaymentId(secretsOf(twin).sealPaymentId(id))).toBe(id);
    expect(secretsOf(twin).openPaymentId(secrets.sealPaymentId(id))).toBeUndefined();
  });
});

test('what has been written under a key is read by every later version', async () => {
  expect(secrets.keyIds).toEqual(['0d']);
  expect(secrets.mac('one_time_code', 'payment', '123456')).toBe('FPaic3aF7-K00zppIaQshQT0-1fHcf96-VE6pVBCzbQ');
  const sealed = 'AQ0sL0R03SIaFZFpaSdXwHbSFSivAzSl192PZJ1qxSdLJWTWbA';
  expect(secrets.open('webhook_secret', sealed, 'context')).toBe('content');
  const [id, paymentId] = [
    'txn_000102030405060708090a0b0c0d0e0f',
    'pay_AQ0HKbvyxzu71kW6RhGYFbhybSm1OsppOLZadERhnxkKiXA-gzIaqkNZMal22g',
  ];
  expect(secretsOf(KEY).openPaymentId(paymentId)).toBe(id);
  expect(secretsOf(KEY).sealPaymentId(id)).toBe(paymentId);
  const hashed = '0d$argon2id$v=19$m=19456,t=2,p=1$l0dZqRsMEAeim0Ni5EwnaQ$4myDHdN7vPUGCCCLg2iVcjWJGAv8kLNFd6gQE/ye3sU';
  expect(await secrets.verifyPin('4711', hashed, 'account', 'one')).toBe(true);
  const bound =
    '0d$argon2id$v=19$m=19456,t=2,p=1$LC9EdN0iGhWRaWkn09oIp+6UFSB+vp3uRuOSpi/D5PU$HzuXmSTfOGxX5D3NIZeqgJa3A/QVhkQliaYIKJzIRQc';
  expect(await secrets.verifyPin('4711', bound, 'account', 'one')).toBe(true);
});

describe('hashes', () => {
  test('a keyed hash is stable, and differs by key, purpose and every part', () => {
    fc.assert(
      fc.property(fc.array(anyText), fc.array(anyText), (a, b) => {
        const same = JSON.stringify(a) === JSON.stringify(b);
        expect(secrets.mac('idempotency_key', ...a) === secretsOf(KEY).mac('idempotency_key', ...b)).toBe(same);
      }),
    );
    expect(secrets.mac('idempotency_key', 'ab', 'c')).not.toBe(secrets.mac('idempotency_key', 'a', 'bc'));
    expect(secrets.mac('idempotency_key', '')).not.toBe(secrets.mac('idempotency_key'));
    expect(secrets.mac('one_time_code', 'a')).not.toBe(secrets.mac('idempotency_key', 'a'));
    expect(secrets.mac('one_time_code', 'a')).not.toBe(secretsOf(OTHER_KEY).mac('one_time_code', 'a'));
  });

  test('a digest is plain SHA-256', () => {
    expect(secrets.digest('abc')).toBe('ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0');
  });

  test('equal texts are equal, others are not', () => {
    fc.assert(fc.property(anyText, anyText, (a, b) => secrets.equal(a, a) && secrets.equal(a, b) === (a === b)));
    expect(secrets.equal('abc', 'abd')).toBe(false);
  });
});

test('a master key that is not 32 bytes of base64 is refused without being shown', () => {
  expect(parseMasterKey(KEY)).toHaveLength(32);
  expect(parseMasterKey(Buffer.alloc(32, 0xff).toString('base64url'))).toHaveLength(32);
  for (const wrong of ['', 'short', `${KEY}A`, 'x'.repeat(42), `${KEY} `, '☂'.repeat(43)]) {
    expect(parseMasterKey(wrong)).toBeUndefined();
    expect(() => secretsOf(KEY, wrong)).toThrow('a master key is 32 bytes in base64');
  }
  expect(() => secretsOf()).toThrow('at least one master key');
});
