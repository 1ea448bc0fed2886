/**
 * A merchant's payouts: its batches, page by page, and the lines that can be paid again.
 *
 * Invariant: every statement has an equality on the merchant, the batch or the line, which an index serves.
 */

import type { PayoutBatch, PayoutLine } from '../domain/outgoing-records.ts';
import { listOf } from './columns.ts';
import { asked, whereAll } from './conditions.ts';
import type { Statement } from './pipeline.ts';
import { nameIn, type Place, tableIn } from './place.ts';
import type { Question, Readers } from './read.ts';
import type { ReadShape } from './read-keyed.ts';
import { columnsOf } from './tables.ts';

/** Which batches of a merchant to list, newest first. */
export interface BatchFilter {
  readonly shard: number;
  readonly merchantId: string;
  readonly customerReference?: string | undefined;
  /** Only batches whose id is at least this; ids begin with the time of their creation. */
  readonly from?: string | undefined;
  /** Only batches whose id is less than this: the last of the page before, or the end of a span of time. */
  readonly before?: string | undefined;
  readonly limit: number;
}

export interface PayoutLists {
  batches(filter: BatchFilter): Promise<PayoutBatch[]>;
  /** Failed lines (not those called off) that have not been paid again: the first of each beneficiary. */
  retryable(shard: number, batchId: string): Promise<PayoutLine[]>;
  /** The failed lines that a line pays again: the line that it names, the line named by that one, and so on. */
  earlier(line: Pick<PayoutLine, 'shard' | 'retry_of'>): Promise<readonly PayoutLine[]>;
}

/** Reads of a merchant's live batches, and of lines to be paid again. */
export function openPayoutLists(readers: Readers): PayoutLists {
  const earlier = readers.keyed(EARLIER);
  return {
    batches: async (filter) => {
      const { statement, values } = pageOfBatches(filter);
      return readers.query(statement, columnsOf('payout_batch'), values);
    },
    retryable: (shard, batchId) => readers.query(RETRYABLE, columnsOf('payout_line'), [String(shard), batchId]),
    earlier: async ({ shard, retry_of }) => (retry_of === null ? [] : earlier(shard, retry_of)),
  };
}

/**
 * For a retry that names no lines: the first of each position that `canRetry` (usecases/payout-retry.ts) would let through, or one
 * that its carrier has taken up after all if there is no other; the use case checks it again.
 */
export const RETRYABLE: Statement = {
  name: 'list_payout_retryable',
  text: `select distinct on (position) ${listOf(columnsOf('payout_line'))} from payout_line
where shard = $1::int2 and batch_id = $2 and status = 'failed' and retried_by is null and reason is distinct from 'called_off'
order by position, late_attempt_id is not null, occurrence`,
};

/** Keyed by the id of the first earlier line. The lines of a retry are read in one statement. */
const EARLIER: ReadShape<PayoutLine> = {
  columns: columnsOf('payout_line'),
  keyAt: columnsOf('payout_line').length,
  statement: {
    name: 'payout_lines_paid_again',
    text: `with recursive earlier as (
  select l.*, k.key from unnest($1::int2[], $2::text[]) as k(shard, key) join payout_line l on l.shard = k.shard and l.id = k.key
  union all
  select l.*, e.key from earlier e join payout_line l on l.shard = e.shard and l.id = e.retry_of)
select ${listOf(columnsOf('payout_line'))}, key from earlier`,
  },
};

/** The question for a page of a merchant's batches, newest first, in one place: the live tables or the archive. */
export function pageOfBatches(filter: BatchFilter, place: Place = 'live'): Question {
  const { conditions, values, name } = asked([
    ['shard = ?::int2', String(filter.shard)],
    ['merchant_id = ?', filter.merchantId],
    ['customer_reference = ?', filter.customerReference],
    ['id >= ?', filter.from],
    ['id < ?', filter.before],
  ]);
  const text = `select ${listOf(columnsOf('payout_batch'))} from ${tableIn(place, 'payout_batch')} ${whereAll(conditions)}
order by id desc limit $${values.length + 1}::int8`;
  const statement: Statement = { name: nameIn(place, `page_payout_batches_${name}`), text };
  return { statement, values: [...values, String(filter.limit)] };
}
