/**
 * Closing days: writes each account's balance at the end of a day (UTC), so that a statement or an audit can begin there.
 *
 * Invariant: a day is closed whole, in one statement, after the day before it; an account that did not move on it has no row. Any
 * number of processes may close the same day: they write the same, because the day has been fenced before, and then takes no
 * transfer except one that is recent by the server's clock.
 */

import { columnList } from './columns.ts';
import type { Lender } from './lender.ts';
import type { Statement } from './pipeline.ts';
import { inEither } from './place.ts';
import { askApart, openReaders } from './read.ts';
import { raiseSetting } from './setting-sql.ts';

/** The setting (in shard 0) that names the last closed day; all days before it are closed too. */
export const LAST_CLOSED_DAY = 'last_closed_day';

/** SQL: the instant at which the last closed day ended; null if no day is closed. */
export const CLOSED_UNTIL = `(select (max(s.value)::date + 1)::timestamp at time zone 'UTC' from setting s
    where s.shard = 0 and s.id = '${LAST_CLOSED_DAY}')`;

/** SQL: both sides of the transfers that meet a condition, live or archived, as signed movements of their accounts. */
export function movements(where: string): string {
  return `select debit_shard as shard, debit_account as id, currency, -amount_minor as moved
  from ${inEither('ledger_transfer')} d ${where}
  union all
  select credit_shard, credit_account, currency, amount_minor from ${inEither('ledger_transfer')} c ${where}`;
}

/**
 * SQL: the last closed day on which an account moved, and its balance at the end of that day; no row if there is none. The account
 * is named by two columns, shard and id; `further` is a condition that follows, on the day `d`.
 */
export function lastClosedBalance(shard: string, id: string, further = ''): string {
  return `select d.day, d.balance from account_day d
    where d.shard = ${shard} and d.account = ${id} ${further} order by d.day desc limit 1`;
}

/** The day of the first transfer; undefined if there is none. Reads every transfer. */
export async function firstTransferDay(lender: Lender): Promise<string | undefined> {
  const [row] = await askApart(lender, { statement: FIRST_DAY, values: [] }, FIRST_DAY_COLUMNS);
  return row?.day ?? undefined;
}

/**
 * Closes these consecutive days (ISO 8601 dates), on a connection of its own. Returns how many were closed: none while a transfer
 * dated on them is still being committed.
 */
export async function closeAccountDays(lender: Lender, days: readonly string[]): Promise<number> {
  const last = days.at(-1);
  if (last === undefined) return 0;
  return lender.lend(async (connection) => {
    const [fence] = await openReaders([connection]).query(FENCE, FENCE_COLUMNS, [last]);
    if (fence?.fenced !== true) return 0;
    for (const day of days) await connection.run([{ statement: CLOSE_DAY, values: () => [day, LAST_CLOSED_DAY] }]);
    return days.length;
  });
}

const FENCE_COLUMNS = columnList<{ readonly fenced: boolean }>({ fenced: 'bool' });
const FENCE: Statement = { name: 'fence_account_days', writes: true, text: 'select fence_days($1::text::date)' };

const FIRST_DAY_COLUMNS = columnList<{ readonly day: string | null }>({ day: 'text' });
const FIRST_DAY: Statement = {
  name: 'first_transfer_day',
  text: `select to_char(min(at), 'YYYY-MM-DD') from ${inEither('ledger_transfer')} t`,
};

/** `$1` is the day, `$2` the name of the setting. A day without transfers is closed by the setting alone. */
const CLOSE_DAY: Statement = {
  name: 'close_account_day',
  writes: true,
  text: `with side as (
  ${movements('where at >= $1::text::date::timestamptz and at < ($1::text::date + 1)::timestamptz')}),
moved as (select shard, id, currency, sum(moved) as moved from side group by shard, id, currency),
written as (
  insert into account_day (shard, account, day, currency, balance)
  select m.shard, m.id, $1, m.currency, m.moved + coalesce(before.balance, 0)
  from moved m left join lateral (
    ${lastClosedBalance('m.shard', 'm.id', 'and d.day < $1')}) before on true
  on conflict do nothing)
${raiseSetting('$2', '$1')}`,
};
