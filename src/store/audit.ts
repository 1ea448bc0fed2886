/**
 * The auditor's queries: do the balances match the transfers, the reserves the open payouts and refunds, and the suspense accounts
 * the attempts that wait there?
 *
 * Invariant: one statement per query, so that everything is seen at one instant; what was committed together is seen together,
 * and sound books yield no finding.
 */

import { CLOSED_UNTIL, lastClosedBalance, movements } from './account-days.ts';
import { LEDGER_BEGINS } from './archive-months.ts';
import { columnList } from './columns.ts';
import type { Lender } from './lender.ts';
import type { Statement } from './pipeline.ts';
import { askApart } from './read.ts';
import { SUSPENSE_DIFFERS } from './suspense-reads.ts';

/** Something that does not add up. Amounts are minor units. */
export type AuditFinding =
  /** The balances of a currency do not sum to zero. */
  | { readonly kind: 'sum'; readonly currency: string; readonly balance: bigint }
  /** An account's balance is not what its transfers moved. */
  | (OfAccount & { readonly kind: 'balance'; readonly transfers: bigint })
  /** A merchant's reserve is not what its open payouts and refunds have put there. */
  | (OfAccount & { readonly kind: 'reserved'; readonly open: bigint })
  /** A suspense account does not hold what the attempts that wait there have moved. */
  | (OfAccount & { readonly kind: 'suspense'; readonly attempts: bigint });

interface OfAccount {
  readonly shard: number;
  readonly account: string;
  readonly currency: string;
  readonly balance: bigint;
}

/** The findings, and how many accounts and transfers were checked. */
export interface Audited {
  readonly findings: readonly AuditFinding[];
  readonly accounts: number;
  readonly transfers: number;
}

interface Answer {
  readonly kind: AuditFinding['kind'] | 'looked';
  readonly shard: number | null;
  readonly account: string | null;
  readonly currency: string;
  readonly balance: bigint;
  readonly other: bigint | null;
}

const COLUMNS = columnList<Answer>({
  kind: 'text',
  shard: 'int2',
  account: 'text',
  currency: 'text',
  balance: 'numeric',
  other: 'numeric',
});

/** Each account's balance before the first day whose ledger lines are kept: older lines have been dropped. */
const OPENED = `select distinct on (shard, account) shard, account as id, currency, balance as moved from account_day
  where day < (select value from setting where shard = 0 and id = $1) order by shard, account, day desc`;

const SUM = `select 'sum', null::smallint, null::text, currency, sum(balance), null::numeric
from account group by currency having sum(balance) <> 0`;

/** A payout line puts its amount and fee aside, a refund its amount. */
const RESERVED = `select 'reserved', shard, id, currency, coalesce(a.balance, 0), coalesce(o.minor, 0)
from (select shard, id, currency, balance from account where id like 'mch\\_%:reserved:%') a
full join (
  select shard, merchant_id || ':reserved:' || currency as id, currency, sum(minor) as minor from (
    select shard, merchant_id, currency, amount_minor + fee_minor as minor from payout_line
      where status in ('pending', 'processing') and reserved_at is not null
    union all
    select shard, merchant_id, currency, amount_minor from refund where status in ('pending', 'processing')) held
  group by shard, merchant_id, currency) o using (shard, id, currency)
where coalesce(a.balance, 0) <> coalesce(o.minor, 0)`;

/** All findings, in the order in which they are reported. `wrong` selects the accounts whose balance is wrong, `looked` the counts. */
function findings(wrong: string, looked: string): string {
  return [SUM, wrong, RESERVED, SUSPENSE_DIFFERS, looked].join('\nunion all\n');
}

/** Every transfer there is, added to the balances before the first. */
const ALL: Statement = {
  name: 'audit',
  text: `with side as (
  select *, 1 as transfers from (${movements('')}) moves
  union all
  select *, 0 from (${OPENED}) opened),
lines as (
  select shard, id, currency, sum(moved) as moved, sum(transfers) as transfers from side group by shard, id, currency)
${findings(
  `select 'balance', shard, id, currency, coalesce(a.balance, 0), coalesce(l.moved, 0)
from account a full join lines l using (shard, id, currency)
where coalesce(a.balance, 0) <> coalesce(l.moved, 0)`,
  `select 'looked', null, null, null, (select count(*) from account), (select coalesce(sum(transfers), 0) / 2 from lines)::bigint`,
)}`,
};

/** The transfers since the last closed day, added to the balances at its end; and every account of one shard. */
const RECENT: Statement = {
  name: 'audit_recent',
  text: `with since as (select coalesce(${CLOSED_UNTIL}, '-infinity') as at),
side as (${movements('where at >= (select at from since)')}),
moves as (
  select shard, id, currency, sum(moved) as moved, count(*) as transfers from side group by shard, id, currency),
looked as (
  select shard, id, currency from moves
  union
  select shard, id, currency from account where shard = $1::smallint),
weighed as (
  select k.shard, k.id, k.currency, coalesce(closed.balance, 0) + coalesce(m.moved, 0) as moved
  from looked k left join moves m using (shard, id, currency)
  left join lateral (
    ${lastClosedBalance('k.shard', 'k.id', 'and d.currency = k.currency')}) closed on true)
${findings(
  `select 'balance', shard, id, currency, coalesce(a.balance, 0), w.moved
from weighed w left join account a using (shard, id, currency)
where coalesce(a.balance, 0) <> w.moved`,
  `select 'looked', null, null, null, (select count(*) from looked), (select coalesce(sum(transfers), 0) / 2 from moves)::bigint`,
)}`,
};

/** Checks every account and every transfer. */
export function auditAll(lender: Lender): Promise<Audited> {
  return ask(lender, ALL, [LEDGER_BEGINS]);
}

/** Checks accounts that have moved since the last closed day, and one shard's other accounts. */
export function auditRecent(lender: Lender, shard: number): Promise<Audited> {
  return ask(lender, RECENT, [String(shard)]);
}

async function ask(lender: Lender, statement: Statement, values: readonly string[]): Promise<Audited> {
  const rows = await askApart(lender, { statement, values }, COLUMNS);
  const looked = rows.find(({ kind }) => kind === 'looked');
  return {
    findings: rows.flatMap(findingsOf),
    accounts: Number(looked?.balance ?? 0n),
    transfers: Number(looked?.other ?? 0n),
  };
}

function findingsOf({ kind, shard, account, currency, balance, other }: Answer): AuditFinding[] {
  if (kind === 'sum') return [{ kind, currency, balance }];
  if (kind === 'looked' || shard === null || account === null || other === null) return [];
  const found = { shard, account, currency, balance };
  switch (kind) {
    case 'balance':
      return [{ kind, ...found, transfers: other }];
    case 'reserved':
      return [{ kind, ...found, open: other }];
    case 'suspense':
      return [{ kind, ...found, attempts: other }];
  }
}
