/**
 * Which rows leave the live tables together, and when they may: the rules of the archive, in SQL.
 *
 * Invariant: no row leaves that the gateway may still change by itself: rows that are open, due, held, waited for or inquired
 * about stay, and so do all rows that belong to them. The groups of a shard are moved in this order, so that rows that stay never
 * lack others that they need.
 */

import type { Prefix } from '../domain/ids.ts';
import { LATE_BORNE, LATE_KEPT, LATE_WAITS } from '../domain/reason.ts';
import { CLOSED_UNTIL } from './account-days.ts';
import type { ArchivedTable } from './archive-tables.ts';

/** Rows that leave with their root: those of a table whose `key` is one of `keys`. */
export interface Member {
  readonly table: ArchivedTable;
  readonly key: string;
  /** SQL for an array of text, made from `$1`, the shard, and `$2`, the roots' ids. */
  readonly keys: string;
}

export interface Group {
  readonly root: ArchivedTable;
  readonly prefix: Prefix;
  /** Whether root `t` of shard `$1` and all its members may leave; `$3` is the instant before which they must have been final. */
  readonly finalSql: string;
  /** The ids of the roots, of this group or of one before it, that must have left before root `t`. */
  readonly firstSql?: string;
  /** The ids of roots `$2`, and of those that may only leave together with them; undefined: each may leave by itself. */
  readonly togetherSql?: string;
  /** Whether a root that leaves may free another one that was examined before it, so that the group must be walked again. */
  readonly repeats?: true;
  /** In the order of deletion: rows through which others are found are deleted after those, and the root last. */
  readonly members: readonly Member[];
}

const ROOTS = '$2::text[]';
const CUTOFF = '$3::timestamptz';

/**
 * SQL: the ids of the orders (payments, payout lines, refunds) with an attempt that will be inquired about again: an open one, or
 * one that was closed lately without money (see `nextAfterthoughtAt`). An order that was final before the cutoff has no attempts that
 * began after it, a day allowed for clocks; without that bound, each order would be looked for among all that is asked about today.
 */
const ASKED_ABOUT = `array(select a.payment_id from attempt a
    where a.shard = $1 and a.next_inquiry_at is not null and a.created_at < ${CUTOFF} + interval '1 day')`;

/**
 * SQL: whether an attempt moved money late that a person has yet to book. Worded as in the index that holds these attempts; null
 * for an attempt without a reason.
 */
export function lateSql(attempt: string): string {
  return `(${attempt}.reason = '${LATE_WAITS}')`;
}

/** SQL: the ids of the orders with such an attempt, be it their last or an earlier one. */
const PAID_LATE = `array(select a.payment_id from attempt a where a.shard = $1 and ${lateSql('a')})`;

/** SQL: whether an attempt named by these columns was not settled before the cutoff. */
function unsettled(order: string, ...columns: readonly string[]): string {
  const named = columns.map((column) => `${order}.${column}`).join(', ');
  return `exists (select from attempt a where a.shard = ${order}.shard and a.id in (${named})
    and (a.settled_at is null or a.settled_at >= ${CUTOFF}))`;
}

/** Whether an order's events still have to be delivered. */
function undelivered(order: string): string {
  return `exists (select from webhook_event e where e.merchant_id = ${order}.merchant_id
    and e.transaction_id = ${order}.id and e.shard = ${order}.shard and e.status = 'waiting')`;
}

/** The events of orders. */
function eventsOf(table: 'payment' | 'payout_line'): readonly Member[] {
  const keys = `array(select e.id from ${table} o join webhook_event e
    on e.merchant_id = o.merchant_id and e.transaction_id = o.id and e.shard = o.shard
    where o.shard = $1 and o.id = any(${ROOTS}))`;
  return [
    { table: 'webhook_attempt', key: 'event_id', keys },
    { table: 'webhook_event', key: 'id', keys },
  ];
}

/** A hosted page leaves before its payment: a page without its payment would be a bug. */
const CHECKOUTS: Group = {
  root: 'checkout',
  prefix: 'chk',
  finalSql: `t.expires_at < ${CUTOFF} and not exists (select from payment p
    where p.shard = t.shard and p.id = t.payment_id and (p.completed_at is null or p.completed_at >= ${CUTOFF}))`,
  members: [{ table: 'checkout', key: 'id', keys: ROOTS }],
};

/**
 * SQL: whether the merchant or the gateway has borne what attempt `t` paid late, for a payout line or a refund. Whoever books
 * the late money of another attempt at it has to see that, and what has been archived can be dropped.
 */
const BORNE = `t.reason in ('${LATE_KEPT}', '${LATE_BORNE}')`;

/** Earlier attempts of orders that are final. No index finds attempts by their order, so these are a group of their own. */
const EARLIER_ATTEMPTS: Group = {
  root: 'attempt',
  prefix: 'att',
  finalSql: `t.settled_at < ${CUTOFF} and ${lateSql('t')} is not true
    and not (t.payment_id = any(${ASKED_ABOUT}))
    and not exists (select from payment o where o.shard = t.shard and o.id = t.payment_id
      and (o.completed_at is null or o.completed_at >= ${CUTOFF} or o.attempt_id = t.id or t.method = 'card'
        or t.reason = '${LATE_KEPT}'))
    and not exists (select from payout_line o where o.shard = t.shard and o.id = t.payment_id
      and (o.completed_at is null or o.completed_at >= ${CUTOFF} or t.id in (o.attempt_id, o.late_attempt_id) or ${BORNE}))
    and not exists (select from refund o where o.shard = t.shard and o.id = t.payment_id
      and (o.completed_at is null or o.completed_at >= ${CUTOFF} or t.id in (o.attempt_id, o.late_attempt_id) or ${BORNE}))`,
  members: [{ table: 'attempt', key: 'id', keys: ROOTS }],
};

const REFUND_OPEN = `exists (select from refund r where r.payment_id = t.id and r.shard = t.shard
    and (r.completed_at is null or r.completed_at >= ${CUTOFF} or r.id = any(${ASKED_ABOUT}) or r.id = any(${PAID_LATE})
      or ${unsettled('r', 'attempt_id', 'late_attempt_id')}))`;

const PAYMENTS: Group = {
  root: 'payment',
  prefix: 'txn',
  finalSql: `t.completed_at < ${CUTOFF} and t.refunding_minor = 0 and not (t.id = any(${ASKED_ABOUT}))
    and not (t.id = any(${PAID_LATE}))
    and (t.delivery_behaviour = 'direct_delivery' or t.status <> 'approved' or t.released_at < ${CUTOFF})
    and not ${unsettled('t', 'attempt_id')}
    and not ${REFUND_OPEN}
    and not ${undelivered('t')}
    and not exists (select from proof f where f.payment_id = t.id and f.shard = t.shard and f.status = 'waiting')`,
  firstSql: 'select c.id from checkout c where c.shard = t.shard and c.id = t.checkout_id and c.payment_id = t.id',
  members: [
    ...eventsOf('payment'),
    ...(['proof_file', 'proof'] as const).map((table) => ({
      table,
      key: 'id',
      keys: `array(select f.id from proof f where f.shard = $1 and f.payment_id = any(${ROOTS}))`,
    })),
    {
      table: 'attempt',
      key: 'id',
      keys: `array(select p.attempt_id from payment p where p.shard = $1 and p.id = any(${ROOTS})
    union select a.id from attempt a where a.shard = $1 and a.payment_id = any(${ROOTS}) and a.method = 'card'
    union select unnest(array[r.attempt_id, r.late_attempt_id]) from refund r
      where r.shard = $1 and r.payment_id = any(${ROOTS}))`,
    },
    { table: 'refund', key: 'payment_id', keys: ROOTS },
    { table: 'payment_history', key: 'payment_id', keys: ROOTS },
    { table: 'one_time_code', key: 'id', keys: ROOTS },
    { table: 'payment', key: 'id', keys: ROOTS },
  ],
};

/**
 * An occurrence is archived whole, so that its lines are counted in one place. A failed line stays as long as a line that
 * retries it, because retrying the latter again checks both.
 */
const PAYOUT_LINES: Group = {
  root: 'payout_line',
  prefix: 'txn',
  finalSql: `not exists (select from payout_line o
    where o.batch_id = t.batch_id and o.occurrence = t.occurrence and o.shard = t.shard
    and (o.completed_at is null or o.completed_at >= ${CUTOFF} or o.id = any(${ASKED_ABOUT}) or o.id = any(${PAID_LATE})
      or ${unsettled('o', 'attempt_id', 'late_attempt_id')} or ${undelivered('o')}))`,
  firstSql: `select again.id from payout_line o join payout_line again on again.shard = o.shard and again.retry_of = o.id
    where o.batch_id = t.batch_id and o.occurrence = t.occurrence and o.shard = t.shard`,
  togetherSql: `select distinct o.id from payout_line t join payout_line o
    on o.batch_id = t.batch_id and o.occurrence = t.occurrence and o.shard = t.shard
    where t.shard = $1 and t.id = any(${ROOTS})`,
  repeats: true,
  members: [
    ...eventsOf('payout_line'),
    {
      table: 'attempt',
      key: 'id',
      keys: `array(select unnest(array[o.attempt_id, o.late_attempt_id]) from payout_line o
    where o.shard = $1 and o.id = any(${ROOTS}))`,
    },
    { table: 'payout_line', key: 'id', keys: ROOTS },
  ],
};

/** A batch leaves after its last line, once no occurrence of it is to come. */
const PAYOUT_BATCHES: Group = {
  root: 'payout_batch',
  prefix: 'batch',
  finalSql: `t.created_at < ${CUTOFF}
    and (t.approval <> 'waiting' or t.cancelled_at is not null)
    and (t.next_occurrence > t.occurrences or t.approval = 'rejected' or t.cancelled_at is not null)
    and (t.cancelled_at is null or t.closed_at < ${CUTOFF})
    and not exists (select from payout_line o where o.batch_id = t.id and o.shard = t.shard
      and (o.completed_at is null or o.completed_at >= ${CUTOFF}))`,
  firstSql: 'select o.id from payout_line o where o.batch_id = t.id and o.shard = t.shard',
  members: [{ table: 'payout_batch', key: 'id', keys: ROOTS }],
};

const SESSIONS: Group = {
  root: 'session',
  prefix: 'ses',
  finalSql: `t.expires_at < ${CUTOFF} and not exists (select from payment p where p.session_id = t.id and p.shard = t.shard
    and (p.completed_at is null or p.completed_at >= ${CUTOFF}))`,
  firstSql: 'select p.id from payment p where p.session_id = t.id and p.shard = t.shard',
  members: [{ table: 'session', key: 'id', keys: ROOTS }],
};

/** A ledger line leaves once its day is closed: a reader of later days then starts from that day's closing balances. */
const LEDGER: Group = {
  root: 'ledger_transfer',
  prefix: 'trf',
  finalSql: `t.at < ${CUTOFF} and t.at < ${CLOSED_UNTIL}`,
  members: [{ table: 'ledger_transfer', key: 'id', keys: ROOTS }],
};

export const GROUPS: readonly Group[] = [
  CHECKOUTS,
  EARLIER_ATTEMPTS,
  PAYMENTS,
  PAYOUT_LINES,
  PAYOUT_BATCHES,
  SESSIONS,
  LEDGER,
];
