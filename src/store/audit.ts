/**
 * The auditor's question to the ledger: do the balances say what the transfers say?
 *
 * Invariant: one statement, so that everything is seen at one instant; sound books answer with no row.
 */

import { type LineOptions, openLine } from './line.ts';
import { openReaders } from './read.ts';
import { columnList } from './tables.ts';
import type { Row } from './wire.ts';

/** Something that does not add up. Amounts are minor units. */
export type AuditFinding =
  /** The balances of a currency do not sum to zero. */
  | { readonly kind: 'sum'; readonly currency: string; readonly balance: bigint }
  /** An account's balance is not what its transfers moved. */
  | {
      readonly kind: 'balance';
      readonly shard: number;
      readonly account: string;
      readonly currency: string;
      readonly balance: bigint;
      readonly transfers: bigint;
    };

const COLUMNS = columnList({
  shard: 'int2',
  account: 'text',
  currency: 'text',
  balance: 'int8',
  transfers: 'int8',
});

const AUDIT = {
  name: 'audit',
  text: `with side as (
  select debit_shard as shard, debit_account as id, currency, -amount_minor as moved from ledger_transfer
  union all
  select credit_shard, credit_account, currency, amount_minor from ledger_transfer),
lines as (select shard, id, currency, sum(moved) as moved from side group by shard, id, currency)
select null::smallint, null::text, currency, sum(balance)::bigint, null::bigint
from account group by currency having sum(balance) <> 0
union all
select coalesce(a.shard, l.shard), coalesce(a.id, l.id), coalesce(a.currency, l.currency),
  coalesce(a.balance, 0), coalesce(l.moved, 0)::bigint
from account a full join lines l on l.shard = a.shard and l.id = a.id and l.currency = a.currency
where coalesce(a.balance, 0) <> coalesce(l.moved, 0)`,
};

/** Asks on a connection of its own: the answer takes its time, and needs another plan than the rest. */
export async function auditLedger(options: LineOptions): Promise<AuditFinding[]> {
  const line = openLine(options);
  try {
    return (await openReaders([line]).query(AUDIT, COLUMNS, [])).map(findingOf);
  } finally {
    await line.close();
  }
}

function findingOf(row: Row): AuditFinding {
  const { shard, account, currency, balance, transfers } = row as unknown as {
    shard: number | null;
    account: string | null;
    currency: string;
    balance: bigint;
    transfers: bigint | null;
  };
  if (shard === null || account === null || transfers === null) return { kind: 'sum', currency, balance };
  return { kind: 'balance', shard, account, currency, balance, transfers };
}
