/**
 * What lies in suspense: the attempts whose money came or left late, their sums beside the ledger's, and what is not decided yet.
 *
 * Invariant: the sums and the ledger's balances are read in one statement, so that they are those of one instant. An attempt
 * waits if and only if its money is in suspense: the change that books it moves both.
 */

import type { Currency } from '../domain/currency.ts';
import { SHARDS } from '../domain/ids.ts';
import type { Attempt } from '../domain/records.ts';
import { lateSql } from './archive-groups.ts';
import { columnList, listOf } from './columns.ts';
import { asked, type Condition, whereAll } from './conditions.ts';
import { IN_EACH_SHARD } from './each-shard.ts';
import type { Lender } from './lender.ts';
import { askApart, type Question } from './read.ts';
import { columnsOf } from './tables.ts';
import { instantParameter } from './wire.ts';

/** Whose money, in which currency, and since when. */
export interface SuspenseFilter {
  readonly merchantId?: string | undefined;
  readonly currency?: Currency | undefined;
  /** Only what has waited since before this instant (ms). */
  readonly before?: number | undefined;
}

export interface SuspensePage extends SuspenseFilter {
  /** The id of the last attempt of the page before. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** A sum of what lies in suspense in one currency, minor units: `in`, it came for payments; `out`, it left for payouts and refunds. */
export interface SuspenseSum {
  readonly currency: Currency;
  readonly way: 'in' | 'out';
  readonly count: number;
  readonly minor: bigint;
}

/** The suspense accounts of one currency, minor units. */
export interface SuspenseBalance {
  readonly currency: Currency;
  readonly balance: bigint;
}

/** A suspense account whose balance is not the sum of the attempts that wait there; minor units. */
export interface SuspenseDifference extends SuspenseBalance {
  readonly shard: number;
  /** What came with the shard's attempts, less what left with them. */
  readonly attempts: bigint;
}

export interface SuspenseSums {
  /** The sums of what the filter names. */
  readonly sums: readonly SuspenseSum[];
  /** The balances of all suspense accounts, whatever the filter. */
  readonly balances: readonly SuspenseBalance[];
  readonly differences: readonly SuspenseDifference[];
}

/** Where it is not known whether money came or left: proofs and attempts to decide on, and refunds that a person carries out. */
export type UndecidedKind = 'proof' | 'attempt_in' | 'attempt_out' | 'refund';

export interface Undecided {
  readonly kind: UndecidedKind;
  readonly currency: Currency;
  readonly count: number;
  readonly minor: bigint;
  readonly oldest: number;
  /** There may be more: a shard has at least as many as are counted of it. */
  readonly at_least: boolean;
}

const ATTEMPT = columnsOf('attempt');

/** The conditions of a filter; `since` is the column (or expression) that says since when something waits. */
function conditionsOf({ merchantId, currency, before }: SuspenseFilter, since: string): readonly Condition[] {
  return [
    ['merchant_id = ?', merchantId],
    ['currency = ?', currency],
    [`${since} < ?::timestamptz`, before === undefined ? undefined : instantParameter(before)],
  ];
}

/** In the order of their ids, which is that of their creation. */
export function suspensePage({ after, limit, ...filter }: SuspensePage): Question {
  const { conditions, values, name } = asked([...conditionsOf(filter, 'settled_at'), ['id > ?', after]], 1);
  const text = `select ${listOf(ATTEMPT)} from attempt a ${whereAll([lateSql('a'), ...conditions])} order by id limit $1::int8`;
  return { statement: { name: `suspense_${name}`, text }, values: [String(limit), ...values] };
}

/** Reads a page of the attempts whose money waits for an operator, in the order of their ids. */
export function readSuspense(lender: Lender, page: SuspensePage): Promise<Attempt[]> {
  return askApart(lender, suspensePage(page), ATTEMPT);
}

interface SumRow {
  readonly kind: 'in' | 'out' | 'balance' | 'differs';
  readonly shard: number | null;
  readonly currency: Currency;
  readonly count: number | null;
  readonly minor: bigint;
  readonly attempts: bigint | null;
}

const SUM_COLUMNS = columnList<SumRow>({
  kind: 'text',
  shard: 'int2',
  currency: 'text',
  count: 'int4',
  minor: 'numeric',
  attempts: 'numeric',
});

/** SQL: the suspense accounts. They are found by their primary key: their ids begin like `suspenseAccount` names them. */
const SUSPENSE_ACCOUNTS = `select a.shard, a.id, a.currency, a.balance from generate_series(0, ${SHARDS - 1}) s(shard)
  join account a on a.shard = s.shard::int2 and a.id >= 'suspense:' and a.id < 'suspense;'`;

/** SQL: what these attempts have brought into suspense, less what they have taken out of it, by shard and currency. */
function movedBy(attempts: string): string {
  return `select shard, currency, sum(case when purpose = 'payment' then amount_minor else -amount_minor end) as minor
  from ${attempts} group by shard, currency`;
}

/** SQL: the accounts (`booked`) whose balance is not what the attempts that wait there have moved (`named`), with both. */
function differing(columns: string, booked: string, named: string): string {
  return `select ${columns}, coalesce(balance, 0), coalesce(minor, 0)
from ${booked} full join ${named} using (shard, currency) where coalesce(balance, 0) <> coalesce(minor, 0)`;
}

/** SQL: the suspense accounts that differ, in the auditor's columns. */
export const SUSPENSE_DIFFERS = differing(
  "'suspense', shard, coalesce(id, 'suspense:' || currency), currency",
  `(${SUSPENSE_ACCOUNTS}) booked`,
  `(${movedBy(`attempt a where ${lateSql('a')}`)}) named`,
);

/** Sums of what waits, by direction and currency; the balances of suspense; and where the two differ. */
export function suspenseSums(filter: SuspenseFilter): Question {
  const { conditions, values, name } = asked(conditionsOf(filter, 'settled_at'));
  const text = `with waiting as materialized (
  select shard, merchant_id, currency, settled_at, amount_minor, purpose,
    case when purpose = 'payment' then 'in' else 'out' end as way
  from attempt a where ${lateSql('a')}),
named as (${movedBy('waiting')}),
booked as (${SUSPENSE_ACCOUNTS})
select way, null::int2, currency, count(*)::int4, sum(amount_minor), null::numeric
from waiting ${whereAll(conditions)} group by way, currency
union all
select 'balance', null, currency, null, sum(balance), null from booked group by currency
union all
${differing("'differs', shard, currency, null", 'booked', 'named')}`;
  return { statement: { name: `suspense_sums_${name}`, text }, values };
}

/** Reads the sums of suspense. The filter applies to the attempts that wait, and not to the balances. */
export async function readSuspenseSums(lender: Lender, filter: SuspenseFilter): Promise<SuspenseSums> {
  const rows = await askApart(lender, suspenseSums(filter), SUM_COLUMNS);
  return {
    sums: rows.flatMap(({ kind, currency, count, minor }) =>
      (kind === 'in' || kind === 'out') && count !== null ? [{ way: kind, currency, count, minor }] : [],
    ),
    balances: rows.flatMap(({ kind, currency, minor }) => (kind === 'balance' ? [{ currency, balance: minor }] : [])),
    differences: rows.flatMap(({ shard, currency, minor, attempts }) =>
      shard === null || attempts === null ? [] : [{ shard, currency, balance: minor, attempts }],
    ),
  };
}

const UNDECIDED_COLUMNS = columnList<Undecided>({
  kind: 'text',
  currency: 'text',
  count: 'int4',
  minor: 'numeric',
  oldest: 'timestamptz',
  at_least: 'bool',
});

/** 256 rows of each kind and shard are counted at most. */
const MAX_COUNTED = 256;

const SUMMED = 'count(*)::int4, sum(amount_minor), min(created_at), bool_or(is_full)';

/** `openBefore`: an attempt that was made later is taken to be on its way still. */
export function undecided(filter: SuspenseFilter, openBefore: number): Question {
  const { conditions, values, name } = asked(conditionsOf(filter, 'created_at'), 1);
  const few = (columns: string, from: string, where: string): string =>
    `${IN_EACH_SHARD} (
  select few.*, count(*) over () >= ${MAX_COUNTED} as is_full from (
    select ${columns} from (${from}) all_of ${whereAll([where, ...conditions])} limit ${MAX_COUNTED}) few) d`;
  const proofs = few(
    'currency, amount_minor, created_at',
    `select r.shard, r.status, r.merchant_id, p.currency, p.total_minor as amount_minor, r.created_at
  from proof r join payment p on p.shard = r.shard and p.id = r.payment_id`,
    "shard = s.shard::int2 and status = 'waiting'",
  );
  const attempts = few(
    'purpose, currency, amount_minor, created_at',
    'select * from attempt',
    'shard = s.shard::int2 and next_inquiry_at is not null and settled_at is null and created_at < $1::timestamptz',
  );
  // Worded as `isByHand` (domain/refund.ts) says.
  const refunds = few(
    'currency, amount_minor, created_at',
    'select * from refund',
    "shard = s.shard::int2 and status in ('pending', 'processing') and connector is null and method not in ('wallet', 'flash')",
  );
  const text = `select 'proof', currency, ${SUMMED} ${proofs} group by currency
union all
select case when purpose = 'payment' then 'attempt_in' else 'attempt_out' end, currency, ${SUMMED}
${attempts} group by 1, currency
union all
select 'refund', currency, ${SUMMED} ${refunds} group by currency`;
  return { statement: { name: `undecided_${name}`, text }, values: [instantParameter(openBefore), ...values] };
}

/** Reads how much waits for an operator: proofs, refunds by hand, and open attempts that were made before `openBefore` (ms). */
export function readUndecided(lender: Lender, filter: SuspenseFilter, openBefore: number): Promise<Undecided[]> {
  return askApart(lender, undecided(filter, openBefore), UNDECIDED_COLUMNS);
}
