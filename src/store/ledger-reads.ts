/**
 * The movements of a merchant's accounts, line by line, and their balances at an instant.
 *
 * A transfer is two lines: one of the account it debits, one of the account it credits. Lines are read in the order of their
 * times, ids and sides, which never changes, so that a page begins where another ended. Invariant: however many lines there are,
 * a page reads only the lines that it returns, and a balance only those since the last closed day.
 */

import { mayBeArchived } from '../domain/archive.ts';
import { DAY_MS } from '../domain/durations.ts';
import type { LedgerTransfer } from '../domain/records.ts';
import { lastClosedBalance } from './account-days.ts';
import { columnList } from './columns.ts';
import type { Statement } from './pipeline.ts';
import { joinIn, nameIn, type Place, tableIn } from './place.ts';
import type { Readers } from './read.ts';
import { encodeArray, instantParameter } from './wire.ts';

/** A debit is read before the credit of the same transfer. */
export type LedgerSide = 'debit' | 'credit';

/** One side of a transfer, as the account sees it. */
export interface LedgerLine extends Pick<LedgerTransfer, 'id' | 'at' | 'cause' | 'cause_id'> {
  readonly account: string;
  readonly side: LedgerSide;
  /** Minor units: what it added to the balance, negative for a debit. */
  readonly moved: bigint;
  /** The merchant's own reference of the payment, payout or refund that moved it. */
  readonly customer_reference: string | null;
}

export interface LineFilter {
  readonly shard: number;
  /** Merchants' accounts, of one shard. */
  readonly accounts: readonly string[];
  /** Inclusive, milliseconds. */
  readonly from: number;
  /** Exclusive. */
  readonly until: number;
  /** The last line of the page before. */
  readonly after?: Pick<LedgerLine, 'at' | 'id' | 'side'> | undefined;
  readonly limit: number;
  /** The present, milliseconds: it decides whether the archive is read too. */
  readonly now: number;
}

export interface LedgerReads {
  /** In the order of at, id and side. */
  lines(filter: LineFilter): Promise<LedgerLine[]>;
  /**
   * Each account's balance just before that instant, by account id, in minor units. `now` only decides which way is shorter,
   * forward from the last closed day or back from the current balance, and whether lines of that time may be archived.
   */
  balancesBefore(
    shard: number,
    accounts: readonly string[],
    at: number,
    now: number,
  ): Promise<ReadonlyMap<string, bigint>>;
}

/** Opens the reads of the ledger; they include the archive if the lines may be old enough to lie there. */
export function openLedgerReads(readers: Readers): LedgerReads {
  return {
    async lines({ shard, accounts, from, until, after, limit, now }) {
      const { at, id, side } = after ?? { at: from, id: '', side: 'credit' };
      const values = [
        String(shard),
        instantParameter(at),
        id,
        side === 'debit' ? 't' : 'f',
        instantParameter(until),
        String(limit),
        ...accounts,
      ];
      const read = (places: readonly Place[]): Promise<LedgerLine[]> =>
        readers.query(linesOf(accounts.length, places), LINE_COLUMNS, values);
      if (mayBeArchived(at, now)) return read(BOTH);
      const lines = await read(LIVE);
      return lines.some(isOfArchived) ? read(BOTH) : lines;
    },
    async balancesBefore(shard, accounts, at, now) {
      const midnight = Math.floor(at / DAY_MS) * DAY_MS;
      const balancesOn = mayBeArchived(at, now) ? BALANCES_ON_OLD : BALANCES_ON;
      const statement = now - at < at - midnight ? BALANCES_BACK : balancesOn;
      const shards = accounts.map(() => shard);
      const values = [encodeArray(shards), instantParameter(at), encodeArray(accounts)];
      const rows = await readers.query(statement, BALANCE_COLUMNS, values);
      return new Map(rows.map(({ account, balance }) => [account, balance]));
    },
  };
}

const LATE_CAUSES: ReadonlySet<string> = new Set(['late_payment', 'late_payout', 'late_payout_fee', 'late_refund']);

/** Late money is booked to a merchant long after its order ended, so the order may have been archived by now. */
function isOfArchived({ cause, customer_reference }: LedgerLine): boolean {
  return LATE_CAUSES.has(cause) && customer_reference === null;
}

const LIVE: readonly Place[] = ['live'];
const BOTH: readonly Place[] = ['live', 'archive'];

const LINE_COLUMNS = columnList<LedgerLine>({
  at: 'timestamptz',
  id: 'text',
  side: 'text',
  account: 'text',
  moved: 'int8',
  cause: 'text',
  cause_id: 'text',
  customer_reference: 'text',
});

/** The partial indexes hold merchants' lines only, and are used only if a statement repeats this condition. */
const OF_MERCHANT = "like 'mch\\_%'";

/**
 * `$1` is the shard; `$2` to `$4` are the time, id and side (true: debit) to read after, `$5` the time to read before, `$6` the
 * limit; the accounts follow. Each side of each account is read in its index's order. The customer reference is joined for the
 * page's lines only, by columns of the line: by a parameter, the planner would scan young tables by shard alone. Old lines, and
 * the records they refer to, may be live or archived.
 */
function linesOf(accounts: number, places: readonly Place[]): Statement {
  const all = Array.from({ length: accounts }, (_, at) => at + 7);
  const sides = places.flatMap((place) =>
    all.flatMap((account) => [lineSide(place, 'debit', account), lineSide(place, 'credit', account)]),
  );
  const causes = places.map(causesIn);
  return {
    name: nameIn(places.at(-1) ?? 'live', `ledger_lines_${accounts}`),
    text: `with page as materialized (${sides.join('\nunion all\n')}
order by at, id, side desc limit $6::int8)
select l.at, l.id, l.side, l.account, l.moved, l.cause, l.cause_id,
  coalesce(${causes.map(({ reference }) => reference).join(', ')})
from page l
${causes.map(({ joins }) => joins).join('\n')}
order by l.at, l.id, l.side desc`,
  };
}

/**
 * The records in this place that may have caused a line: a payment, a payout line, or a refund with its payment. They must be the
 * merchant's own: the cause of a settlement is whatever an operator calls it.
 */
function causesIn(place: Place): { readonly reference: string; readonly joins: string } {
  const owns = (record: string): string =>
    `${record}.shard = l.shard and ${record}.id = l.cause_id and ${record}.merchant_id = split_part(l.account, ':', 1)`;
  const [p, o, f, r] = place === 'live' ? ['p', 'o', 'f', 'r'] : ['pa', 'oa', 'fa', 'ra'];
  return {
    reference: `${p}.customer_reference, ${o}.customer_reference, ${r}.customer_reference`,
    joins: [
      joinIn(place, 'payment', p, owns(p), 'left'),
      joinIn(place, 'payout_line', o, owns(o), 'left'),
      joinIn(place, 'refund', f, owns(f), 'left'),
      joinIn(place, 'payment', r, `${r}.shard = ${f}.shard and ${r}.id = ${f}.payment_id`, 'left'),
    ].join('\n'),
  };
}

/** If the last line read was a transfer's debit, the credit with the same id still has to be read. */
function lineSide(place: Place, side: LedgerSide, account: number): string {
  const [sign, after] =
    side === 'debit'
      ? ['-', '(t.at, t.id) > ($2::timestamptz, $3)']
      : ['', '(t.at, t.id) >= ($2::timestamptz, $3) and ($4::bool or (t.at, t.id) <> ($2::timestamptz, $3))'];
  return `(select t.${side}_shard as shard, t.at, t.id, '${side}' as side, t.${side}_account as account,
  ${sign}t.amount_minor as moved, t.cause, t.cause_id
from ${tableIn(place, 'ledger_transfer')} t
where t.${side}_account = $${account} and t.${side}_account ${OF_MERCHANT} and t.${side}_shard = $1::int2
  and ${after} and (t.at, t.id) < ($5::timestamptz, '')${monthsFrom(place, '$2::timestamptz', '$5::timestamptz')}
order by t.at, t.id limit $6::int8)`;
}

/** A condition on the time alone, which limits the months of the archive that are read. */
function monthsFrom(place: Place, from: string, until: string): string {
  return place === 'live' ? '' : `\n  and t.at >= ${from} and t.at < ${until}`;
}

interface AccountBalance {
  readonly account: string;
  readonly balance: bigint;
}

const BALANCE_COLUMNS = columnList<AccountBalance>({ account: 'text', balance: 'numeric' });

/**
 * SQL: what lines of account `a` moved, where `span` holds. It compares time and id together, which only the account's own index
 * supports: by the time alone, every account's lines would be read.
 */
function movedWhere(span: string, places: readonly Place[] = LIVE): string {
  const side = (place: Place, name: LedgerSide): string => `select ${name === 'debit' ? '-' : ''}t.amount_minor as moved
    from ${tableIn(place, 'ledger_transfer')} t
    where t.${name}_account = a.account and t.${name}_account ${OF_MERCHANT} and t.${name}_shard = a.shard and ${span}${monthsFrom(place, CLOSED_AT, '$2::timestamptz')}`;
  const sides = places.flatMap((place) => [side(place, 'debit'), side(place, 'credit')]);
  return `select coalesce(sum(moved), 0) as moved from (${sides.join(' union all ')}) sides`;
}

const CLOSED_AT = "coalesce((closed.day::date + 1)::timestamptz, '-infinity')";

/** Forward from the last closed day before `$2`. */
const balancesOn = (places: readonly Place[]): Statement => ({
  name: nameIn(places.at(-1) ?? 'live', 'ledger_balances_on'),
  text: `select a.account, coalesce(closed.balance, 0) + since.moved
from unnest($1::int2[], $3::text[]) as a(shard, account)
left join lateral (
  ${lastClosedBalance('a.shard', 'a.account', "and d.day < to_char($2::timestamptz, 'YYYY-MM-DD')")}) closed on true
cross join lateral (
  ${movedWhere(`(t.at, t.id) >= (${CLOSED_AT}, '') and (t.at, t.id) < ($2::timestamptz, '')`, places)}) since`,
});

const BALANCES_ON = balancesOn(LIVE);
const BALANCES_ON_OLD = balancesOn(BOTH);

/** Back from the current balance. */
const BALANCES_BACK: Statement = {
  name: 'ledger_balances_back',
  text: `select a.account, coalesce(b.balance, 0) - since.moved
from unnest($1::int2[], $3::text[]) as a(shard, account)
left join account b on b.shard = a.shard and b.id = a.account
cross join lateral (${movedWhere("(t.at, t.id) >= ($2::timestamptz, '')")}) since`,
};
