/**
 * A merchant's payments, newest first, a page at a time.
 *
 * Invariant: a page reads no more than a bounded number of rows, however few of them fit; where it stopped is where the next
 * one begins, so that payments made meanwhile neither repeat nor hide any.
 */

import { makeId } from '../domain/ids.ts';
import type { Payment, PaymentMethod, PaymentStatus } from '../domain/records.ts';
import type { Statement } from './pipeline.ts';
import type { Readers } from './read.ts';
import { type Column, columnList, columnsOf, listOf } from './tables.ts';
import { instantParameter, type Row } from './wire.ts';

/** Which payments to list; the instants (ms) are of `created_at`. */
export interface PaymentFilter {
  readonly shard: number;
  readonly merchantId: string;
  readonly status?: PaymentStatus | undefined;
  readonly method?: PaymentMethod | 'none' | undefined;
  readonly currency?: string | undefined;
  /** The merchant's own, whole. */
  readonly reference?: string | undefined;
  /** Inclusive. */
  readonly from?: number | undefined;
  /** Exclusive. */
  readonly until?: number | undefined;
  /** Older than this payment: where the page before stopped. */
  readonly before?: string | undefined;
  readonly limit: number;
}

export interface PaymentPage {
  readonly payments: readonly Payment[];
  /** Where the next page begins; undefined: there is none. */
  readonly next: string | undefined;
}

/** How many rows a page looks at where not every one fits. */
const LOOKED_AT = 2_000;
/** An id is made a little before or after the instant that its row says. */
const SLACK_MS = 60_000;
const LAST_INSTANT = 2 ** 48 - 1;

/** Conditions that were asked for, each with a parameter of its own. */
interface Asked {
  readonly conditions: readonly string[];
  readonly values: readonly string[];
  readonly name: string;
}

export async function listPayments(readers: Readers, filter: PaymentFilter): Promise<PaymentPage> {
  const { limit } = filter;
  const range = rangeOf(filter);
  const fits = fitsOf(filter, range.values.length);
  // Where every row fits, one more than the page says whether there is another page.
  const looked = fits.conditions.length === 0 ? limit + 1 : Math.max(LOOKED_AT, limit + 1);
  const values = [...range.values, ...fits.values, String(looked), String(limit)];
  const rows = await readers.query(pageStatement(range, fits, values.length), PAGE_COLUMNS, values);
  const { seen, oldest } = seenOf(rows);
  const payments = rows.filter(({ id }) => id !== null) as unknown as Payment[];
  const last = payments.length === limit ? (payments.at(-1)?.id ?? oldest) : oldest;
  const more = seen === looked || (last !== undefined && oldest !== undefined && oldest < last);
  return { payments, next: more ? last : undefined };
}

/** What an index finds. */
function rangeOf({ shard, merchantId, reference, from, until, before }: PaymentFilter): Asked {
  const earliest = from === undefined ? undefined : boundOf(from - SLACK_MS);
  const latest = until === undefined ? undefined : boundOf(until + SLACK_MS);
  return asked(0, [
    ['shard = ?::int2', String(shard), ''],
    ['merchant_id = ?', merchantId, ''],
    ['customer_reference = ?', reference, 'r'],
    ['id < ?', before, 'b'],
    ['id >= ?', earliest, 'e'],
    ['id < ?', latest, 'l'],
  ]);
}

/** What is looked at row by row. */
function fitsOf({ status, method, currency, from, until }: PaymentFilter, before: number): Asked {
  return asked(before, [
    ['status = ?', status, 's'],
    ['method = ?', method, 'm'],
    ['currency = ?', currency, 'c'],
    ['created_at >= ?::timestamptz', from === undefined ? undefined : instantParameter(from), 'f'],
    ['created_at < ?::timestamptz', until === undefined ? undefined : instantParameter(until), 'u'],
  ]);
}

/** The conditions that have a value; their parameters follow `before` others. */
function asked(before: number, all: readonly (readonly [string, string | undefined, string])[]): Asked {
  const given = all.filter(([, value]) => value !== undefined);
  return {
    conditions: given.map(([condition], at) => condition.replace('?', `$${before + at + 1}`)),
    values: given.map(([, value]) => value ?? ''),
    name: given.map(([, , letter]) => letter).join(''),
  };
}

/** The smallest id of that millisecond, among those of all shards. */
function boundOf(at: number): string {
  return makeId('txn', Math.min(Math.max(at, 0), LAST_INSTANT), new Uint8Array(16), 0);
}

const PAGE_COLUMNS: readonly Column[] = [...columnList({ seen: 'int4', oldest: 'text' }), ...columnsOf('payment')];

/** The last two parameters are how many rows are looked at, and how many fitting ones a page has. */
function pageStatement(range: Asked, fits: Asked, last: number): Statement {
  return {
    name: `list_payments_${range.name}_${fits.name}`,
    text: `with seen as materialized (
  select shard, id, ${fits.conditions.length === 0 ? 'true' : fits.conditions.join(' and ')} as fits from payment
  where ${range.conditions.join(' and ')} order by id desc limit $${last - 1}::int8),
page as (select shard, id from seen where fits order by id desc limit $${last}::int8)
select s.count, s.oldest, ${listOf(columnsOf('payment'), 'p')}
from (select count(*) as count, min(id) as oldest from seen) s
left join (page join payment p on p.shard = page.shard and p.id = page.id) on true
order by p.id desc`,
  };
}

/** Every row says it, also the one that stands there when none fits. */
function seenOf(rows: readonly Row[]): { readonly seen: number; readonly oldest: string | undefined } {
  const { seen, oldest } = rows[0] as unknown as { readonly seen: number; readonly oldest: string | null };
  return { seen, oldest: oldest ?? undefined };
}
