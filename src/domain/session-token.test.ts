import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeId } from './ids.ts';
import { makeSessionToken, sessionIdIn } from './session-token.ts';

const bytes = (count: number) => fc.uint8Array({ minLength: count, maxLength: count });

describe('session tokens', () => {
  it('name the session that they were made for', () => {
    fc.assert(
      fc.property(bytes(16), bytes(32), fc.nat(63), fc.nat(2 ** 40), (chance, secretBytes, shard, now) => {
        const id = makeId('ses', now, chance, shard);
        const token = makeSessionToken(id, Buffer.from(secretBytes).toString('base64url'));
        expect(token).toMatch(/^sess_[0-9a-z]{26}[A-Za-z0-9_-]{43}$/);
        expect(sessionIdIn(token)).toBe(id);
      }),
    );
  });

  it('are recognised by their exact form', () => {
    const id = makeId('ses', 1, new Uint8Array(16), 5);
    const token = makeSessionToken(id, 'A'.repeat(43));
    const wrong = [
      id,
      token.slice(0, -1),
      `${token}A`,
      token.replace('sess_', 'ses_'),
      token.replace('sess_', 'sess_i'),
    ];
    for (const text of [...wrong, '', 'sess_', token.toUpperCase(), `${token.slice(0, -1)}+`]) {
      expect(sessionIdIn(text)).toBeUndefined();
    }
  });

  it('are not made from too few random bytes', () => {
    const id = makeId('ses', 1, new Uint8Array(16), 5);
    expect(() => makeSessionToken(id, 'short')).toThrow(RangeError);
    expect(() => makeSessionToken('txn_0', 'A'.repeat(43))).toThrow(RangeError);
  });
});
