import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Change } from '../domain/change.ts';
import { bytesOfId } from '../domain/ids.ts';
import type { IdempotencyRecord } from '../domain/records.ts';
import { Refusal } from '../domain/refusal.ts';
import type { Secrets } from '../platform/platform.ts';
import { systemRandom } from '../platform/random.ts';
import { openSecrets } from '../platform/secrets.ts';
import { type Memory, refuse } from '../usecases/perform.ts';
import { BEGUN, decidingRecord } from '../usecases/reply-memory.ts';
import { createReceipt, readIdempotencyKey } from './idempotency.ts';
import { smallWorld } from './testing/small-world.ts';

const SCOPE = { shard: 3, owner: 'mch_1', route: 'POST /orders' };

describe('an Idempotency-Key', () => {
  it('is 1 to 255 visible ASCII characters, one pair of quotes stripped', () => {
    expect(readIdempotencyKey('abc')).toBe('abc');
    expect(readIdempotencyKey('"abc"')).toBe('abc');
    expect(readIdempotencyKey('""abc""')).toBe('"abc"');
    expect(readIdempotencyKey('"')).toBe('"');
    expect(readIdempotencyKey('a'.repeat(255))).toHaveLength(255);
    for (const wrong of ['', '""', 'a b', 'a\tb', 'é', 'a'.repeat(256)]) {
      expect(() => readIdempotencyKey(wrong)).toThrow(expect.objectContaining({ code: 1110 }));
    }
  });
});

describe('a receipt', () => {
  const { secrets, clock } = smallWorld();
  const kept = new Map<string, IdempotencyRecord>();
  const parts = { secrets, clock, lookups: { idempotencyGet: async (_: number, id: string) => kept.get(id) } };
  const receipt = (key: string, body: unknown, scope = SCOPE) => createReceipt(parts, scope, key, body);
  const keep = ({ claims, updates }: Memory): IdempotencyRecord => {
    expect(updates).toBeUndefined();
    const [claim] = claims ?? [];
    if (claim?.table !== 'idempotency') throw new Error('a first memory is one claim');
    kept.set(claim.row.id, claim.row);
    return claim.row;
  };
  const remember = (key: string, body: unknown): IdempotencyRecord => {
    return keep(receipt(key, body).remember({ status: 201, body: '{"ok":"PIN 1234"}' }));
  };

  it('remembers status and bytes, for the same key and an equal body', async () => {
    remember('k1', { a: 1, b: [1, { c: 2, d: 3 }] });
    const replay = { status: 201, body: '{"ok":"PIN 1234"}', replayed: true };
    expect(await receipt('k1', { b: [1, { d: 3, c: 2 }], a: 1.0 }).stored()).toEqual(replay);
    await expect(receipt('k1', { a: 2 }).stored()).rejects.toMatchObject({ code: 1203 });
  });

  it('knows nothing of other keys, owners and routes', async () => {
    remember('k2', {});
    expect(await receipt('k3', {}).stored()).toBeUndefined();
    expect(await receipt('k2', {}, { ...SCOPE, owner: 'ses_1' }).stored()).toBeUndefined();
    expect(await receipt('k2', {}, { ...SCOPE, route: 'POST /other' }).stored()).toBeUndefined();
  });

  it('that has a reply counts before one that was only begun, whichever key of the ring it is under', () => {
    const replied = remember('k5', {});
    const begun = { ...replied, status: BEGUN };
    for (const found of [
      [begun, replied],
      [replied, begun],
      [undefined, replied],
    ])
      expect(decidingRecord(found)).toBe(replied);
    expect(decidingRecord([undefined, begun])).toBe(begun);
  });

  it('keeps neither key, body nor answer in plain text', () => {
    const row = JSON.stringify(remember('my-order', { pin: '1234' }));
    expect(row).not.toMatch(/my-order|1234|PIN/);
  });

  it('is valid for 24 hours, and is then replaced under its version, so that one of two runs loses', async () => {
    const row = remember('k4', { a: 1 });
    await clock.advance(24 * 60 * 60_000 - 1);
    expect(await receipt('k4', { a: 1 }).stored()).toMatchObject({ replayed: true });
    await clock.advance(1);
    const again = receipt('k4', { a: 'another body' });
    expect(await again.stored()).toBeUndefined();
    expect(again.remember({ status: 200, body: '{}' })).toMatchObject({
      updates: [{ table: 'idempotency', id: row.id, version: 1, row: { status: 200, created_at: clock.now() } }],
    });
  });

  it('recognises a run that has begun and was never answered, and lets one run continue it', async () => {
    const row = keep(receipt('k5', { a: 1 }).begin());
    const again = receipt('k5', { a: 1 });
    expect(await again.stored()).toBeUndefined();
    expect(again.begun()).toBe(true);
    expect(again.remember({ status: 200, body: '{}' }).updates).toMatchObject([{ id: row.id, version: 1 }]);
    await expect(receipt('k5', { a: 2 }).stored()).rejects.toMatchObject({ code: 1203 });
  });

  it('has been used by a call whose answer lost only until that call looks again: another answer may be there by then', async () => {
    const racing = receipt('k9', {});
    expect([await racing.stored(), racing.used()]).toEqual([undefined, false]);
    racing.remember({ status: 200, body: '{"n":1}' });
    expect(racing.used()).toBe(true);
    expect([await racing.stored(), racing.used()]).toEqual([undefined, false]);
  });

  it('forgets a run that has begun: the key is free again, for any body', async () => {
    const row = keep(receipt('k8', { a: 1 }).begin());
    const undone = receipt('k8', { a: 1 });
    await undone.stored();
    const [forgotten] = undone.forget().updates ?? [];
    expect(forgotten).toMatchObject({ table: 'idempotency', id: row.id, version: 1 });
    kept.set(row.id, { ...row, ...(forgotten?.row as Partial<IdempotencyRecord>), version: 2 });
    // The call that found the run as begun no longer does: it is decided as the first of its key.
    expect(await undone.stored()).toBeUndefined();
    expect(undone.begun()).toBe(false);
    const other = receipt('k8', { a: 2 });
    expect(await other.stored()).toBeUndefined();
    expect(other.begun()).toBe(false);
  });

  it('of a call that is refused and writes nothing leaves a run alone that another call has begun meanwhile', async () => {
    keep(receipt('k9', { a: 1 }).begin());
    const written: Change[] = [];
    const store = {
      commit: async (change: Change) => {
        written.push(change);
        return 'won' as const;
      },
    };
    const reply = { status: 502, body: '{}' };
    const answering = { receipt: receipt('k9', { a: 1 }), render: () => reply, renderRefusal: () => reply };
    await expect(refuse(store, answering, new Refusal(1404))).rejects.toMatchObject({ code: 1404 });
    expect(written).toEqual([]);
  });

  it('is found again after the master key has changed, and keeps its old id', async () => {
    const [before, after] = [1, 2].map((byte) => Buffer.alloc(32, byte).toString('base64'));
    const ring = (...masterKeys: string[]) =>
      openSecrets({ masterKeys, random: systemRandom(), transactionIds: { bytesOf: bytesOfId, idOf: String } });
    const at = (keys: Secrets, body: unknown) => createReceipt({ ...parts, secrets: keys }, SCOPE, 'k6', body);
    keep(at(ring(before ?? ''), { a: 1 }).remember({ status: 201, body: '{"n":1}' }));
    const rotated = ring(after ?? '', before ?? '');
    expect(await at(rotated, { a: 1 }).stored()).toMatchObject({ status: 201, body: '{"n":1}' });
    await expect(at(rotated, { a: 2 }).stored()).rejects.toMatchObject({ code: 1203 });
  });

  it('is kept under the newest two master keys, however many there are', async () => {
    const masterKeys = [1, 2, 3].map((byte) => Buffer.alloc(32, byte).toString('base64'));
    const transactionIds = { bytesOf: bytesOfId, idOf: String };
    const ring = openSecrets({ masterKeys, random: systemRandom(), transactionIds });
    const fresh = createReceipt({ ...parts, secrets: ring }, SCOPE, 'k7', { a: 1 });
    expect(await fresh.stored()).toBeUndefined();
    expect(fresh.remember({ status: 201, body: '{"n":1}' }).claims).toHaveLength(2);
  });

  it('distinguishes two bodies, but not two spellings of one body', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.jsonValue(),
        fc.uuid(),
        async (body, other, key) => {
          const first: unknown = JSON.parse(JSON.stringify(body));
          remember(key, first);
          const backwards = Object.fromEntries(Object.entries(JSON.parse(JSON.stringify(body)) as object).reverse());
          expect(await receipt(key, backwards).stored()).toMatchObject({ status: 201 });
          await expect(receipt(key, { body, other }).stored()).rejects.toMatchObject({ code: 1203 });
        },
      ),
      { numRuns: 50 },
    );
  });
});
