/**
 * Payout batches: lists by merchant and state, and how their lines stand.
 *
 * Invariant: counts are made from the lines themselves, so that they always add up to them.
 */

import type { PayoutBatch, PayoutLine } from '../domain/outgoing-records.ts';
import type { PayoutCounts } from '../domain/payout.ts';
import type { BatchState } from '../domain/payout-batch.ts';
import type { Merchant } from '../domain/records.ts';
import { columnList, listOf, NO_COLUMNS } from './columns.ts';
import { listForOperator } from './operator-lists.ts';
import type { Statement } from './pipeline.ts';
import { joinIn, nameIn, type Place, tableIn } from './place.ts';
import type { Readers } from './read.ts';
import type { ReadShape } from './read-keyed.ts';
import { columnsOf } from './tables.ts';
import { instantParameter } from './wire.ts';

/** How the lines of one occurrence stand. */
export interface OccurrenceCounts extends PayoutCounts {
  readonly occurrence: number;
  readonly scheduled_date: string | null;
  /** When the last final line became final. */
  readonly completed_at: number | null;
}

/** Which batches to list, in the order of their ids, which is that of their creation. */
export interface PayoutBatchFilter {
  /** Its id carries its shard. */
  readonly merchantId?: string | undefined;
  readonly state?: BatchState | undefined;
  /** The credential that made them, itself or by a session. */
  readonly credentialId?: string | undefined;
  /** The last batch of the page before. */
  readonly after?: string | undefined;
  readonly limit: number;
}

export interface PayoutBatchReads {
  list(filter: PayoutBatchFilter): Promise<PayoutBatch[]>;
  /**
   * A merchant's batches of which something may still be paid: at once, on a date, or when they are approved or resumed. Those
   * that the credential made first, then those of which that is not known.
   */
  going(merchant: Pick<Merchant, 'shard' | 'id'>, credentialId: string, limit: number): Promise<PayoutBatch[]>;
  /** By occurrence, for occurrences that have lines. */
  counts(shard: number, batchId: string): Promise<readonly OccurrenceCounts[]>;
  /** The lines of one occurrence, in the order of the call. */
  lines(shard: number, batchId: string, occurrence: number): Promise<PayoutLine[]>;
  /** Pending lines, of any occurrence. */
  waitingLines(shard: number, batchId: string, limit: number): Promise<PayoutLine[]>;
  /** Pending lines that were never handed to a carrier. */
  untriedLines(shard: number, batchId: string, limit: number): Promise<PayoutLine[]>;
  /** Makes pending lines that a carrier turned away due again, and ends their leases; returns how many. */
  recallTried(shard: number, batchId: string, now: number): Promise<number>;
  /** Pending lines that a carrier turned away, and that are due again. */
  triedLines(shard: number, batchId: string, now: number, limit: number): Promise<PayoutLine[]>;
}

/** Reads of live batches and their lines. */
export function openPayoutBatches(readers: Readers): PayoutBatchReads {
  const lines = (statement: Statement, values: string[]) => readers.query(statement, columnsOf('payout_line'), values);
  return {
    list: ({ merchantId, state, credentialId, after, limit }) => {
      const inState = state && { name: state, condition: STATES[state], isFew: false };
      const conditions = [
        ['id > ?', after],
        ['credential_id = ?', credentialId],
      ] as const;
      return listForOperator(readers, { table: 'payout_batch', merchantId, state: inState, conditions, limit });
    },
    going: ({ shard, id }, credentialId, limit) =>
      readers.query(GOING, columnsOf('payout_batch'), [String(shard), id, credentialId, String(limit)]),
    ...openOccurrences(readers, 'live'),
    waitingLines: (shard, batchId, limit) => lines(WAITING_LINES, [String(shard), batchId, String(limit)]),
    untriedLines: (shard, batchId, limit) => lines(UNTRIED_LINES, [String(shard), batchId, String(limit)]),
    recallTried: async (shard, batchId, now) =>
      (await readers.query(RECALL_TRIED, NO_COLUMNS, [String(shard), batchId, instantParameter(now)])).length,
    triedLines: (shard, batchId, now, limit) =>
      lines(TRIED_LINES, [String(shard), batchId, String(limit), instantParameter(now)]),
  };
}

/** The counts of a batch's lines, and the lines of one occurrence; in the archive, those of archived occurrences. */
export function openOccurrences(readers: Readers, place: Place): Pick<PayoutBatchReads, 'counts' | 'lines'> {
  const lines = linesIn(place);
  return {
    counts: readers.keyed(countsIn(place)),
    lines: (shard, batchId, occurrence) =>
      readers.query(lines, columnsOf('payout_line'), [String(shard), batchId, String(occurrence)]),
  };
}

type CountsOfBatch = Pick<PayoutLine, 'shard' | 'batch_id'> & OccurrenceCounts;

const countsIn = (place: Place): ReadShape<CountsOfBatch> => ({
  columns: columnList<CountsOfBatch>({
    shard: 'int2',
    batch_id: 'text',
    occurrence: 'int4',
    scheduled_date: 'text',
    pending: 'int4',
    processing: 'int4',
    completed: 'int4',
    failed: 'int4',
    completed_at: 'timestamptz',
  }),
  keyAt: 1,
  statement: {
    name: nameIn(place, 'count_payout_lines_by_batch'),
    text: `select l.shard, l.batch_id, l.occurrence, min(l.scheduled_date),
  ${['pending', 'processing', 'completed', 'failed'].map((status) => `count(*) filter (where l.status = '${status}')::int4`).join(', ')},
  max(l.completed_at)
from unnest($1::int2[], $2::text[]) as k(shard, key)
${joinIn(place, 'payout_line', 'l', 'l.shard = k.shard and l.batch_id = k.key')}
group by l.shard, l.batch_id, l.occurrence order by l.occurrence`,
  },
});

const linesIn = (place: Place): Statement => ({
  name: nameIn(place, 'payout_lines_of_occurrence'),
  text: `select ${listOf(columnsOf('payout_line'))} from ${tableIn(place, 'payout_line')}
where shard = $1::int2 and batch_id = $2 and occurrence = $3::int4 order by position`,
});

const WAITING_LINES = waitingLines('waiting');
const UNTRIED_LINES = waitingLines('untried', ' and attempt_id is null');
const TRIED_LINES = waitingLines('tried', ' and attempt_id is not null and next_start_at <= $4::timestamptz');

/** A line that another transaction is writing is left to that transaction. */
const RECALL_TRIED: Statement = {
  name: 'recall_payout_lines_tried_of_batch',
  writes: true,
  text: `with tried as materialized (select l.shard, l.id from payout_line l
  where l.shard = $1::int2 and l.batch_id = $2 and l.status = 'pending' and l.attempt_id is not null for update skip locked)
update payout_line t set next_start_at = $3::timestamptz, version = t.version + 1 from tried
where t.shard = tried.shard and t.id = tried.id returning t.shard`,
};

function waitingLines(name: string, which = ''): Statement {
  return {
    name: `payout_lines_${name}_of_batch`,
    text: `select ${listOf(columnsOf('payout_line'))} from payout_line
where shard = $1::int2 and batch_id = $2 and status = 'pending'${which} order by occurrence, position limit $3::int8`,
  };
}

/**
 * Found by the indexes of open lines and of open batches: a merchant may have millions that are over. A line whose outcome is open
 * may be sent again.
 */
const GOING: Statement = {
  name: 'payout_batches_going',
  text: `select ${listOf(columnsOf('payout_batch'), 'b')} from payout_batch b
where b.shard = $1::int2 and b.cancelled_at is null and b.approval <> 'rejected'
  and (b.credential_id = $3 or b.credential_id is null) and b.id = any(array(
  select l.batch_id from payout_line l where l.shard = $1::int2 and l.merchant_id = $2 and l.status in ('pending', 'processing')
  union select o.id from payout_batch o where o.shard = $1::int2 and o.merchant_id = $2
    and o.cancelled_at is null and (o.approval = 'waiting' or o.paused_at is not null or o.next_occurrence <= o.occurrences)))
order by b.credential_id is null, b.id limit $4::int8`,
};

/** The conditions of `batchStateOf`, in SQL. The index `payout_batch_open` holds those that wait, are paused or have dates to come. */
const STATES: { readonly [state in BatchState]: string } = {
  cancelled: 'cancelled_at is not null',
  rejected: "cancelled_at is null and approval = 'rejected'",
  waiting_for_approval: "cancelled_at is null and approval = 'waiting'",
  paused: "cancelled_at is null and approval in ('none', 'approved') and paused_at is not null",
  scheduled:
    "cancelled_at is null and approval in ('none', 'approved') and paused_at is null and next_occurrence <= occurrences",
  started:
    "cancelled_at is null and approval in ('none', 'approved') and paused_at is null and next_occurrence > occurrences",
};
