/**
 * A past written directly, for tests that interrupt the archiving: final payments over some months, in several shards.
 *
 * Invariant: live and archived rows together have one digest, whichever of the two places a row is in.
 */
import type pg from 'pg';
import { expect } from 'vitest';
import type { Insert } from '../../src/domain/change.ts';
import { makeId, type Prefix } from '../../src/domain/ids.ts';
import type { Payment } from '../../src/domain/records.ts';
import type { WebhookEvent } from '../../src/domain/webhook-records.ts';
import type { Store } from '../../src/store/store.ts';
import { aMerchant, anEvent, aPayment } from './store-records.ts';

export const DAY = 24 * 60 * 60_000;
export const SHARDS_USED = 3;

let made = 0;
/** An id that no other row has. */
export function id(prefix: Prefix, at: number, shard: number): string {
  made += 1;
  const chance = new Uint8Array(16);
  new DataView(chance.buffer).setUint32(9, made);
  return makeId(prefix, at, chance, shard);
}

/** An approved payment of that instant and its delivered event. */
export function over(at: number, shard = 0): { readonly payment: Payment; readonly event: WebhookEvent } {
  const final = { status: 'approved', completed_at: at, created_at: at, expires_at: at } as const;
  const payment: Payment = { ...aPayment(1, shard), ...final, id: id('txn', at, shard), events: 1 };
  const told = { status: 'delivered', attempts: 1, created_at: at, delivered_at: at } as const;
  const event = { ...anEvent(1, shard), ...told, id: id('evt', at, shard), transaction_id: payment.id };
  return { payment, event };
}

export async function write(store: Store, inserts: readonly Insert[]): Promise<void> {
  made += 1;
  const claims = [{ table: 'merchant', row: aMerchant(made) }] as const;
  expect(await store.commit({ claims, inserts })).toBe('won');
}

/** One payment per shard at each of `days` instants, spread over 90 days that ended long ago. */
export async function writePast(store: Store, now: number, days: number): Promise<void> {
  const inserts: Insert[] = [];
  for (let day = 0; day < days; day += 1) {
    for (let shard = 0; shard < SHARDS_USED; shard += 1) {
      const { payment, event } = over(now - 600 * DAY + (day / days) * 90 * DAY, shard);
      inserts.push({ table: 'payment', row: payment }, { table: 'webhook_event', row: event });
      const { id: payment_id, version, status } = payment;
      const row = { shard, payment_id, version, status, reason: null, at: payment.created_at };
      inserts.push({ table: 'payment_history', row });
    }
  }
  await write(store, inserts);
}

/** Every row of both places, as one digest per table; and how many payments have been archived. */
export async function everything(
  client: pg.Client,
): Promise<{ readonly digests: readonly string[]; readonly left: number }> {
  const digests: string[] = [];
  for (const [table, order] of [
    ['payment', 'id'],
    ['webhook_event', 'id'],
    ['payment_history', 'payment_id, version'],
  ]) {
    const { rows } = await client.query<{ digest: string }>(
      `select count(*) || ' ' || md5(string_agg(t::text, ',' order by ${order})) as digest
       from (select * from ${table} union all select * from archive.${table}) t`,
    );
    digests.push(`${table} ${rows[0]?.digest}`);
  }
  const { rows } = await client.query<{ left: string }>('select count(*) as left from archive.payment');
  return { digests, left: Number(rows[0]?.left) };
}
