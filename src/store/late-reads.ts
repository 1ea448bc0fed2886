/**
 * What else has paid the order of an attempt whose money came or left late. The attempts themselves: suspense-reads.ts.
 *
 * Invariant: reads that no index serves use a connection of their own. The archive takes no attempt whose late money waits; one
 * whose money was booked to a merchant may lie there.
 */

import { DAY_MS } from '../domain/durations.ts';
import { firstIdAt } from '../domain/ids.ts';
import type { PayoutLine } from '../domain/outgoing-records.ts';
import { LATE_KEPT } from '../domain/reason.ts';
import type { Attempt, Payment } from '../domain/records.ts';
import { MAX_TTL_S } from '../domain/session.ts';
import { columnList, listOf } from './columns.ts';
import type { Lender } from './lender.ts';
import type { Statement } from './pipeline.ts';
import { inEither } from './place.ts';
import { askApart, type Readers } from './read.ts';
import { columnsOf } from './tables.ts';
import { encodeArray } from './wire.ts';

const COLUMNS = columnsOf('attempt');

/**
 * A session's payments carry its merchant and its reference, on which both places have an index. No index finds their attempts:
 * `$5` and `$6` are ids that enclose all of these.
 */
const PAID_BY: Statement = {
  name: 'order_paid_by',
  text: `with siblings as (select p.id, p.status from ${inEither('payment')} p where p.shard = $1::int2
    and p.merchant_id = $2 and p.customer_reference = $3 and p.session_id = $4)
select id from siblings where status in ('approved', 'refunded')
union all select a.id from ${inEither('attempt')} a where a.shard = $1::int2 and a.id >= $5 and a.id < $6
  and a.reason = '${LATE_KEPT}' and a.payment_id in (select id from siblings)`,
};

const PAID_BY_COLUMNS = columnList<{ readonly id: string }>({ id: 'text' });

/**
 * Everything that a session begins is at most this far from its payment (ms): its longest life, and a day for clocks that differ.
 */
export const SESSION_SPAN_MS = MAX_TTL_S * 1_000 + DAY_MS;

/** What has paid a merchant for a session: ids of payments that were paid, and of attempts whose late money the merchant got. */
export async function readPaidBy(lender: Lender, payment: Payment): Promise<string[]> {
  const { shard, merchant_id, customer_reference, session_id, created_at } = payment;
  const ids = [-SESSION_SPAN_MS, SESSION_SPAN_MS].map((span) => firstIdAt('att', created_at + span));
  const values = [String(shard), merchant_id, customer_reference, session_id, ...ids];
  return (await askApart(lender, { statement: PAID_BY, values }, PAID_BY_COLUMNS)).map(({ id }) => id);
}

/** Worded as in the index of attempts by the order for which they send money. */
const ATTEMPTS_OF: Statement = {
  name: 'attempts_of_orders',
  text: `select ${listOf(COLUMNS)} from ${inEither('attempt')} a
where a.payment_id = any($2::text[]) and a.shard = $1::int2 and a.purpose <> 'payment' order by a.id`,
};

/** All attempts at these payout lines or refunds, in the order of their ids. */
export function readAttemptsOf(readers: Readers, shard: number, orders: readonly string[]): Promise<Attempt[]> {
  const values = [String(shard), encodeArray(orders)];
  return readers.query(ATTEMPTS_OF, COLUMNS, values);
}

/** A payout line, those that it pays again, and those that pay it again, live or archived. */
const FAMILY: Statement = {
  name: 'payout_line_family',
  text: `with recursive earlier as (
  select * from ${inEither('payout_line')} o where shard = $1::int2 and id = $2
  union all
  select l.* from earlier e join ${inEither('payout_line')} l on l.shard = e.shard and l.id = e.retry_of),
later as (
  select * from ${inEither('payout_line')} o where shard = $1::int2 and retry_of = $2
  union all
  select l.* from later e join ${inEither('payout_line')} l on l.shard = e.shard and l.retry_of = e.id)
select ${listOf(columnsOf('payout_line'))} from (select * from earlier union all select * from later) family`,
};

/** The line, the failed lines that it pays again, and the lines that were to pay it again. */
export function readFamily(lender: Lender, { shard, id }: Pick<PayoutLine, 'shard' | 'id'>): Promise<PayoutLine[]> {
  return askApart(lender, { statement: FAMILY, values: [String(shard), id] }, columnsOf('payout_line'));
}
