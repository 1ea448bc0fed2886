/**
 * A statement as a table (RFC 4180), made page by page.
 *
 * Invariant: it is complete only with its closing rows, and adds up. No text from outside is ever a formula.
 */

import { stringify } from 'csv-stringify/sync';
import { formatMinor } from '../domain/money.ts';
import type { Standing, StatementPage, StatementPosition } from '../usecases/statement-read.ts';
import { timestamp } from './present.ts';
import type { Streamed } from './route.ts';
import { namesOf } from './statement-present.ts';

const COLUMNS = [
  'id',
  'at',
  'balance',
  'cause',
  'amount',
  'currency',
  'balance_after',
  'transaction_id',
  'refund_id',
  'customer_reference',
  'reference',
] as const;

/** Amounts stay minor units until they are written: so their minus sign is not escaped as a formula, as a text's is. */
type Cell = string | bigint | null;

/**
 * The whole span as CSV: a row of names, the opening balances, a row for each line, the closing balances. `begun`: the span and
 * its opening balances; `pages`: its lines, read as they are sent.
 */
export function statementCsv(begun: StatementPosition, pages: AsyncIterable<StatementPage>): Streamed {
  const { currency, from, until } = begun.order;
  const dayOf = (at: number): string => timestamp(at).slice(0, 'yyyy-mm-dd'.length);
  return {
    status: 200,
    contentType: 'text/csv; charset=utf-8; header=present',
    fileName: `statement-${currency}-${dayOf(from)}-${dayOf(Math.max(from, until - 1))}.csv`,
    chunks: chunksOf(begun, pages),
  };
}

async function* chunksOf(
  begun: StatementPosition,
  pages: AsyncIterable<StatementPage>,
): AsyncGenerator<string, void, undefined> {
  const { currency, from, until } = begun.order;
  const write = (rows: readonly (readonly Cell[])[]): string =>
    stringify([...rows], {
      record_delimiter: 'windows',
      escape_formulas: true,
      cast: { bigint: (minor: bigint) => formatMinor(minor, currency) },
    });
  let closing = begun.opening;
  yield write([COLUMNS, ...standingRows(begun, 'opening_balance', from, begun.opening)]);
  for await (const page of pages) {
    closing = page.closing;
    if (page.lines.length > 0) yield write(page.lines.map((line) => rowOf(begun, line)));
  }
  yield write(standingRows(begun, 'closing_balance', Math.max(from, until - 1), closing));
}

function standingRows({ order }: StatementPosition, name: string, at: number, standing: Standing): Cell[][] {
  return order.balances.map((balance, index) => [
    null,
    timestamp(at),
    balance,
    name,
    null,
    order.currency,
    standing[index] ?? 0n,
    null,
    null,
    null,
    null,
  ]);
}

function rowOf({ order }: StatementPosition, line: StatementPage['lines'][number]): Cell[] {
  const { transaction_id, refund_id, reference } = namesOf(line);
  return [
    line.id,
    timestamp(line.at),
    line.balance,
    line.cause,
    line.moved,
    order.currency,
    line.after,
    transaction_id,
    refund_id,
    line.customerReference,
    reference,
  ];
}
