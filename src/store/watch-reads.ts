/**
 * The reads of monitoring and `doctor`: how much is open, for how long, and what is overdue.
 *
 * Invariant: however much waits, a bounded number of each shard's rows is read, by the indexes that the rounds use, or by one
 * that holds nothing else.
 */

import type { AttemptPurpose } from '../domain/records.ts';
import { lateSql } from './archive-groups.ts';
import { columnList } from './columns.ts';
import { DUE, DUE_KINDS, type Due, type DueKind, isDue } from './due.ts';
import { IN_EACH_SHARD } from './each-shard.ts';
import type { Statement } from './pipeline.ts';
import type { Readers } from './read.ts';
import { instantParameter } from './wire.ts';

/** How many rows of each shard are read. */
export const MAX_WATCHED = 256;
/** An event that was not tried within this time is late: its first try is due at once. */
const LATE_MS = 60_000;
/** How many due rows of each shard are read if some must be passed over, such as a suspended merchant's. */
const MAX_PASSED = 100;
/** How many due rows of each shard are read if what an operator holds must be passed over. */
const MAX_HELD = 2_000;

/** Since when the most overdue work of a kind has been due. */
export interface Overdue {
  readonly kind: DueKind;
  readonly since: number;
}

/** Open attempts of one purpose, connector, carrier and class of age. */
export interface OpenAttempts {
  readonly purpose: AttemptPurpose;
  readonly connector: string;
  readonly carrier: string;
  /** Which class of age, by the limits that were given: 0 for the youngest. */
  readonly age: number;
  readonly count: number;
}

/**
 * Work that waits, and since when the oldest of it has waited, an event since it was made. For `webhook_late`, events that were not
 * tried within a minute, `count` is of merchants.
 */
export interface Waiting {
  readonly kind:
    | 'webhook_new'
    | 'webhook_tried'
    | 'webhook_late'
    | 'payout'
    | 'refund'
    | 'refund_by_hand'
    | 'late_in'
    | 'late_out';
  readonly count: number;
  readonly oldest: number;
}

export interface Watched {
  readonly overdue: readonly Overdue[];
  readonly attempts: readonly OpenAttempts[];
  readonly waiting: readonly Waiting[];
}

/**
 * `ages`: the limits between classes of attempts by their age, milliseconds, ascending. What waits for the connectors in `held`
 * is not overdue.
 */
export async function readWatched(
  readers: Readers,
  now: number,
  ages: AgeLimits,
  held: readonly string[],
): Promise<Watched> {
  const before = ages.map((age) => instantParameter(now - age));
  const [overdue, attempts, waiting] = await Promise.all([
    readers.query(OVERDUE, OVERDUE_COLUMNS, [instantParameter(now), JSON.stringify(held)]),
    readers.query(ATTEMPTS, ATTEMPT_COLUMNS, before),
    readers.query(WAITING, WAITING_COLUMNS, [instantParameter(now - LATE_MS)]),
  ]);
  return { overdue, attempts, waiting };
}

export type AgeLimits = readonly [number, number, number, number];

/** SQL: the row of each shard that has been due longest, of those that an operator does not hold (`$2`). */
function firstDue(kind: DueKind): string {
  const due: Due = DUE[kind];
  const { table, column, indexed, really, connector } = due;
  const held = kind === 'payout' || kind === 'refund' ? `not $2::jsonb ? ${connector}` : undefined;
  const first = `select * from ${table} t where t.shard = s.shard::int2 and ${isDue({ table, column, indexed })}
  order by t.${column} limit`;
  const others =
    held === undefined ? undefined : `select * from (${first} ${MAX_HELD}) t where ${held} order by t.${column} limit`;
  const one =
    really === undefined
      ? `${others ?? first} 1`
      : `select * from (${others ?? first} ${MAX_PASSED}) t where ${really} order by t.${column} limit 1`;
  return `select '${kind}', d.${column} ${IN_EACH_SHARD} (${one}) d`;
}

const OVERDUE_COLUMNS = columnList<Overdue>({ kind: 'text', since: 'timestamptz' });
export const OVERDUE: Statement = {
  name: 'watch_overdue',
  text: `select kind, min(since) from (
${DUE_KINDS.map(firstDue).join('\nunion all\n')}) due (kind, since) group by kind`,
};

const ATTEMPT_COLUMNS = columnList<OpenAttempts>({
  purpose: 'text',
  connector: 'text',
  carrier: 'text',
  age: 'int4',
  count: 'int4',
});
/** Closed attempts are inquired about again, for up to a week: they are read too, but not counted. */
export const ATTEMPTS: Statement = {
  name: 'watch_attempts',
  text: `select purpose, connector, carrier,
  (created_at <= $1::timestamptz)::int4 + (created_at <= $2::timestamptz)::int4
    + (created_at <= $3::timestamptz)::int4 + (created_at <= $4::timestamptz)::int4 as age, count(*)::int4
${IN_EACH_SHARD} (
  select purpose, connector, carrier, created_at, settled_at from attempt
  where shard = s.shard::int2 and next_inquiry_at is not null order by next_inquiry_at limit ${MAX_WATCHED}) d
where settled_at is null group by purpose, connector, carrier, age`,
};

/**
 * SQL: since when a row has waited. The lines of a batch's first date are made with the batch, perhaps months before that date: until
 * one is first started, which reserves its money, it counts from when it is due. Each lease moves that on, so one that is leased and
 * never started counts from the end of its date at the latest; the hour of the date is not judged, as it is in the merchant's time zone.
 */
const WAITS_SINCE = {
  payout: `coalesce(reserved_at,
    case when occurrence = 1 then least(next_start_at, (scheduled_date::date + 1)::timestamptz) else created_at end)`,
  refund: 'created_at',
} as const;

const WAITING_COLUMNS = columnList<Waiting>({ kind: 'text', count: 'int4', oldest: 'timestamptz' });
export const WAITING: Statement = {
  name: 'watch_waiting',
  text: `with event as materialized (
  select attempts, created_at, merchant_id ${IN_EACH_SHARD} (
    select attempts, created_at, merchant_id from webhook_event
    where shard = s.shard::int2 and status = 'waiting' order by next_at limit ${MAX_WATCHED}) d)
select 'webhook_late', count(distinct merchant_id)::int4, min(created_at) from event
where attempts = 0 and created_at <= $1::timestamptz having count(*) > 0
union all
select kind, count(*)::int4, min(created_at) from (
select case when attempts = 0 then 'webhook_new' else 'webhook_tried' end, created_at from event
union all
${(['payout', 'refund'] as const)
  .map(
    (kind) => `select '${kind}', since ${IN_EACH_SHARD} (
  select ${WAITS_SINCE[kind]} as since from ${DUE[kind].table}
  where shard = s.shard::int2 and next_start_at is not null order by next_start_at limit ${MAX_WATCHED}) d`,
  )
  .join('\nunion all\n')}
union all
select 'refund_by_hand', created_at ${IN_EACH_SHARD} (
  select created_at from refund
  where shard = s.shard::int2 and status = 'pending' and next_start_at is null order by id limit ${MAX_WATCHED}) d
union all
select case when purpose = 'payment' then 'late_in' else 'late_out' end, settled_at ${IN_EACH_SHARD} (
  select purpose, settled_at from attempt a
  where a.shard = s.shard::int2 and ${lateSql('a')} order by a.id limit ${MAX_WATCHED}) d) waits (kind, created_at) group by kind`,
};
