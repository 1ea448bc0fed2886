/**
 * The reads of the rounds: due rows of all shards.
 *
 * Invariant: each shard is read by an equality, so that shards can be spread over nodes, and each call of a read begins with the
 * shard after the one that its last call began with, so that none is always last. Rows are pulled one by one: no more are locked
 * than are returned.
 */

import type { TableName } from '../domain/change.ts';
import { SHARDS } from '../domain/ids.ts';
import type { PayoutBatch, PayoutLine, Refund } from '../domain/outgoing-records.ts';
import type { Attempt, Payment } from '../domain/records.ts';
import type { WebhookEvent } from '../domain/webhook-records.ts';
import { columnList, listOf, NO_COLUMNS } from './columns.ts';
import { DUE, type Due, isDue } from './due.ts';
import type { Statement } from './pipeline.ts';
import type { Readers } from './read.ts';
import { columnsOf } from './tables.ts';
import { instantParameter } from './wire.ts';

/** A batch whose next occurrence has been due since `next_run_at`. */
export type DueBatch = Pick<PayoutBatch, 'shard' | 'id' | 'merchant_id' | 'receipt_mode'> & {
  readonly next_run_at: number;
};

export interface Rounds {
  paymentsToExpire(now: number, limit: number, after?: number): Promise<Payment[]>;
  leaseAttempts(now: number, leaseUntil: number, limit: number, except?: readonly string[]): Promise<Attempt[]>;
  leaseEvents(now: number, leaseUntil: number, limit: number): Promise<WebhookEvent[]>;
  leaseRefunds(now: number, leaseUntil: number, limit: number, except?: readonly string[]): Promise<Refund[]>;
  leasePayoutLines(now: number, leaseUntil: number, limit: number, except?: readonly string[]): Promise<PayoutLine[]>;
  retryPayoutLinesNow(connector: string, now: number, limit: number): Promise<number>;
  payoutBatchesToRun(now: number, limit: number, except?: readonly string[]): Promise<DueBatch[]>;
  payoutBatchesToClose(now: number, limit: number): Promise<PayoutBatch[]>;
  reapIdempotency(before: number, limit: number): Promise<number>;
  reapLimitCounters(before: number, limit: number): Promise<number>;
}

/** Makes the reads of the rounds. Each remembers with which shard its next call begins. */
export function openRounds(readers: Readers): Rounds {
  /** The read's parameters, the first shard in turn. */
  const inTurn = (): ((at: number, limit: number) => string[]) => {
    let first = 0;
    return (at, limit) => {
      first = (first + 1) % SHARDS;
      return [instantParameter(at), String(limit), String(first)];
    };
  };
  const rows = <T extends TableName>(table: T, statement: Statement, values: string[]) =>
    readers.query(statement, columnsOf(table), values);
  const counting = (statement: Statement): ((before: number, limit: number) => Promise<number>) => {
    const parameters = inTurn();
    return async (before, limit) => (await readers.query(statement, NO_COLUMNS, parameters(before, limit))).length;
  };
  const leasing = <T extends TableName>(table: T, statement: Statement) => {
    const parameters = inTurn();
    return (now: number, leaseUntil: number, limit: number, except: readonly string[] = []) =>
      rows(table, statement, [...parameters(now, limit), instantParameter(leaseUntil), JSON.stringify(except)]);
  };
  const longestDue = leasing('attempt', LEASE_ATTEMPTS);
  const lastDue = leasing('attempt', LEASE_NEWEST_ATTEMPTS);
  let isNewestTurn = true;
  const [toExpire, events, retries, toRun, toClose] = [inTurn(), inTurn(), inTurn(), inTurn(), inTurn()];
  return {
    paymentsToExpire: (now, limit, after = 0) =>
      rows('payment', PAYMENTS_TO_EXPIRE, [...toExpire(now, limit), instantParameter(after)]),
    leaseAttempts: (...asked) => {
      isNewestTurn = !isNewestTurn;
      return isNewestTurn ? lastDue(...asked) : longestDue(...asked);
    },
    leaseEvents: (now, leaseUntil, limit) =>
      rows('webhook_event', LEASE_EVENTS, [...events(now, limit), instantParameter(leaseUntil)]),
    leaseRefunds: leasing('refund', LEASE_REFUNDS),
    leasePayoutLines: leasing('payout_line', LEASE_PAYOUT_LINES),
    async retryPayoutLinesNow(connector, now, limit) {
      const values = [...retries(now, limit), connector];
      return (await readers.query(RETRY_PAYOUT_LINES_NOW, NO_COLUMNS, values)).length;
    },
    payoutBatchesToRun: (now, limit, except = []) =>
      readers.query(PAYOUT_BATCHES_TO_RUN, DUE_BATCH_COLUMNS, [...toRun(now, limit), JSON.stringify(except)]),
    payoutBatchesToClose: (now, limit) => rows('payout_batch', PAYOUT_BATCHES_TO_CLOSE, toClose(now, limit)),
    reapIdempotency: counting(REAP_IDEMPOTENCY),
    reapLimitCounters: counting(REAP_LIMIT_COUNTERS),
  };
}

/** `$1` is the instant, `$2` the limit, `$3` the shard to begin with. */
interface Select {
  readonly table: TableName;
  readonly list: string;
  /** Which rows, worded as in the table's index. */
  readonly condition: string;
  /** The column by which they are ordered. */
  readonly column: string;
  readonly direction?: 'asc' | 'desc';
  readonly lock: string;
}

function select({ table, list, condition, column, direction = 'asc', lock }: Select): string {
  return `select ${list} from generate_series($3::int4, $3::int4 + ${SHARDS - 1}) as turn
cross join lateral (select * from ${table} t
  where t.shard = (turn % ${SHARDS})::smallint and ${condition}
  order by t.${column} ${direction} limit $2::int8 ${lock}) d
limit $2::int8`;
}

const PAYMENTS_TO_EXPIRE: Statement = {
  name: 'payments_to_expire',
  text: select({
    table: DUE.expiry.table,
    list: listOf(columnsOf('payment'), 'd'),
    condition: `${isDue(DUE.expiry)} and t.expires_at >= $4::timestamptz`,
    column: DUE.expiry.column,
    lock: '',
  }),
};

/** 256 batches at most of one queue (merchant and receipt mode) in a read, so that those that become due meanwhile are soon read. */
const MAX_DUE_OF_QUEUE = 256;
/** 4096 batches at most of one shard are interleaved, those longest due first: more would take seconds to read. */
const MAX_DUE_OF_SHARD = 4_096;

const DUE_BATCH_COLUMNS = columnList<DueBatch>({
  shard: 'int2',
  id: 'text',
  merchant_id: 'text',
  receipt_mode: 'text',
  next_run_at: 'timestamptz',
});

/**
 * Interleaved: every merchant's first batch comes before any merchant's second of the same receipt mode. Excluded queues are
 * looked up by hash: 150 000 batches against 3 000 queues take 0.2 s; `?` would search all queues for each batch (over 3 s).
 */
const PAYOUT_BATCHES_TO_RUN: Statement = {
  name: 'payout_batches_to_run',
  text: `select d.shard, d.id, d.merchant_id, d.receipt_mode, d.next_run_at
from generate_series($3::int4, $3::int4 + ${SHARDS - 1}) as turn
cross join lateral (select s.*, row_number() over (partition by s.merchant_id, s.receipt_mode order by s.next_run_at, s.id) as place from (
  select t.shard, t.id, t.merchant_id, t.receipt_mode, t.next_run_at from payout_batch t
  where t.shard = (turn % ${SHARDS})::smallint and ${isDue(DUE.payout_run)}
    and (t.merchant_id || ' ' || t.receipt_mode) not in (select jsonb_array_elements_text($4::jsonb))
  order by t.next_run_at limit ${MAX_DUE_OF_SHARD}) s) d
where d.place <= ${MAX_DUE_OF_QUEUE}
order by d.place, turn limit $2::int8`,
};

/** The open lines `l` of a batch `t`, worded as in their index: a batch may have 36 600 lines, of which one is open. */
const OPEN_OF_BATCH = `l.merchant_id = t.merchant_id and l.batch_id = t.id and l.shard = t.shard
      and l.status in ('pending', 'processing')`;

/** Skips cancelled batches that have nothing to call off but lines still under way, so that they never hold up others. */
const PAYOUT_BATCHES_TO_CLOSE: Statement = {
  name: 'payout_batches_to_close',
  text: select({
    table: 'payout_batch',
    list: listOf(columnsOf('payout_batch'), 'd'),
    condition: `t.cancelled_at is not null and t.closed_at is null and t.cancelled_at <= $1::timestamptz
  and (exists (select from payout_line l where ${OPEN_OF_BATCH} and l.status = 'pending'
      and (l.attempt_id is null or l.next_start_at <= $1::timestamptz))
    or not exists (select from payout_line l where ${OPEN_OF_BATCH}))`,
    column: 'cancelled_at',
    lock: '',
  }),
};

/**
 * Attempts are leased by turns: those due longest, and those that became due last. So one merchant's open attempts, however many and
 * however long overdue, never keep another one's customer waiting.
 */
const LEASE_ATTEMPTS = lease(DUE.inquiry);
const LEASE_NEWEST_ATTEMPTS = lease(DUE.inquiry, 'desc');
/**
 * All else is leased by age alone. Lines and refunds that were leased and found no room in time become due again together: they would
 * be the newest, and whoever came after the first of them would wait longer than by age. A payment's later events should not
 * overtake its earlier ones.
 */
const LEASE_EVENTS = lease(DUE.webhook);
const LEASE_REFUNDS = lease(DUE.refund);
const LEASE_PAYOUT_LINES = lease(DUE.payout);

/** Retries only: a line that was never tried is leased by the process that committed it, or due soon anyway. */
const RETRY_PAYOUT_LINES_NOW: Statement = {
  name: 'retry_payout_lines_now',
  writes: true,
  text: `with later as materialized (${select({
    table: 'payout_line',
    list: 'd.shard, d.id',
    condition: 't.next_start_at > $1::timestamptz and t.connector = $4 and t.tries > 0',
    column: 'next_start_at',
    lock: 'for update skip locked',
  })})
update payout_line t set next_start_at = $1::timestamptz, version = t.version + 1 from later
where t.shard = later.shard and t.id = later.id returning t.shard`,
};

/**
 * Leases due rows until `$4`, without those of the connectors in `$5`. A lease raises the version too, so that a change decided on
 * the row before the lease loses.
 */
function lease(due: Due, direction: 'asc' | 'desc' = 'asc'): Statement {
  const { table, column, connector } = due;
  const condition = connector === undefined ? isDue(due) : `${isDue(due)} and not $5::jsonb ? ${connector}`;
  const found = select({ table, list: 'd.shard, d.id', condition, column, direction, lock: 'for update skip locked' });
  return {
    name: direction === 'asc' ? `lease_due_${table}` : `lease_due_${table}_newest`,
    writes: true,
    text: `with due as materialized (${found})
update ${table} t set ${column} = $4::timestamptz, version = t.version + 1 from due
where t.shard = due.shard and t.id = due.id returning ${listOf(columnsOf(table), 't')}`,
  };
}

const REAP_IDEMPOTENCY = reap('idempotency', 'created_at');
const REAP_LIMIT_COUNTERS = reap('pin_guard', 'pin_failed_at');

/** Rows that another transaction has locked are left for the next time. */
function reap(table: TableName, column: string): Statement {
  const condition = `t.${column} < $1::timestamptz`;
  const due = select({ table, list: 'd.shard, d.id', condition, column, lock: 'for update skip locked' });
  return {
    name: `reap_${table}`,
    writes: true,
    text: `with due as materialized (${due})
delete from ${table} t using due where t.shard = due.shard and t.id = due.id returning t.shard`,
  };
}
