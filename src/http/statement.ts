/**
 * The route that gives a merchant its statement, as pages of JSON or whole as CSV (contract §9).
 */

import type { Currency } from '../domain/currency.ts';
import { isCurrency } from '../domain/currency.ts';
import type { Merchant } from '../domain/records.ts';
import { prefersCsv } from '../messages/accept.ts';
import type { Deps } from '../usecases/deps.ts';
import { openPosition, sealPosition } from '../usecases/statement-cursor.ts';
import {
  ALL_BALANCES,
  openStatement,
  readStatement,
  type StatementOrder,
  type StatementPosition,
  streamStatement,
} from '../usecases/statement-read.ts';
import { MAX_STATEMENT_LINES, STATEMENT_LINES, StatementAnswer, StatementQuery } from './books-schemas.ts';
import { currencyFaults, limitFaults, readSpan, spanFaults } from './list-query.ts';
import { defineRoute, type Route } from './route.ts';
import { refuseShape } from './shape.ts';
import { statementCsv } from './statement-csv.ts';
import { presentStatement } from './statement-present.ts';

/** `GET /internal/statement`, for a merchant's backend. */
export function statementRoutes(deps: Deps): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/internal/statement',
      operationId: 'readStatement',
      summary: 'Read your statement',
      description:
        'Every line of your accounts in one currency between two dates, oldest first, with the balances before and after. ' +
        'Without `to` the span ends now; without `from` it begins with the month in which it ends. `Accept: text/csv` or ' +
        '`format=csv` returns the whole span as one table, however long it is. If a line of the last moments is committed ' +
        'behind the position that you have reached, you find it when you read again.',
      credential: 'merchant',
      limit: 'none',
      loadClass: 'read',
      querystring: StatementQuery,
      answers: { 200: StatementAnswer },
      csv:
        'RFC 4180 with a header row, in UTF-8. The first rows are one `opening_balance` for each balance shown, the last ' +
        'rows one `closing_balance` for each. An answer without closing rows was cut off: request it again. Texts that a ' +
        'spreadsheet would take for a formula begin with an apostrophe.',
      refusals: [1102, 1109, 1110, 1301],
      checkQuery: listFaults,
      run: async (call) => {
        const { merchant } = call.caller;
        const { query } = call;
        const currencies = await currenciesOf(deps, merchant, query);
        if (query.format === 'csv' || (query.format === undefined && prefersCsv(call.header('accept')))) {
          const order = orderOf({ ...query, currency: onlyOf(currencies) }, deps.clock.now());
          const begun = await openStatement(deps, merchant, order);
          return statementCsv(begun, streamStatement(deps, merchant, begun));
        }
        const begun = await positionOf(deps, merchant, query, currencies);
        const page = await readStatement(deps, merchant, begun, Number(query.limit ?? STATEMENT_LINES));
        const question = questionOf({ ...query, currency: begun.order.currency });
        const next = page.next && sealPosition(deps, merchant.id, question, page.next);
        return call.reply(200, presentStatement(page, next ?? null));
      },
    }),
  ];
}

function listFaults({ currency, from, to, limit }: Partial<StatementQuery>) {
  return [...currencyFaults({ currency }), ...spanFaults({ from, to }), ...limitFaults(limit, MAX_STATEMENT_LINES)];
}

interface Asked extends StatementQuery {
  readonly currency: Currency;
}

/**
 * The beginning of the span, or where the page before ended. A statement that was begun without a currency goes on in its own,
 * although the merchant may have got an account in another one since.
 */
async function positionOf(
  deps: Deps,
  merchant: Merchant,
  query: StatementQuery,
  currencies: readonly Currency[],
): Promise<StatementPosition> {
  const { cursor } = query;
  if (cursor === undefined) {
    return openStatement(deps, merchant, orderOf({ ...query, currency: onlyOf(currencies) }, deps.clock.now()));
  }
  for (const currency of currencies) {
    const position = openPosition(deps, merchant.id, questionOf({ ...query, currency }), cursor);
    if (position !== undefined) return position;
  }
  throw refuseShape([{ field: 'cursor', code: 'INVALID_CURSOR' }]);
}

/** The query that a cursor belongs to, as the caller wrote it. */
function questionOf({ currency, from = '', to = '', balance = 'all' }: Asked): string {
  return JSON.stringify([currency, from, to, balance]);
}

function orderOf(query: Asked, now: number): StatementOrder {
  const { from, until = now + 1 } = readSpan(query);
  // A span that reaches into the future ends now, and so in this month.
  const end = new Date(Math.min(until - 1, now));
  return {
    currency: query.currency,
    balances: query.balance === undefined || query.balance === 'all' ? ALL_BALANCES : [query.balance],
    from: from ?? Date.UTC(end.getUTCFullYear(), end.getUTCMonth(), 1),
    until,
  };
}

/** The currency that is named, or those of the merchant's accounts. */
async function currenciesOf(deps: Deps, { shard, id }: Merchant, query: StatementQuery): Promise<readonly Currency[]> {
  // Its form has been checked.
  if (query.currency !== undefined && isCurrency(query.currency)) return [query.currency];
  const accounts = await deps.store.accounts.ofMerchant(shard, id);
  return [...new Set(accounts.map(({ currency }) => currency))];
}

/** The only currency. @throws Refusal 1109 where there is none, or more than one. */
function onlyOf([only, ...others]: readonly Currency[]): Currency {
  if (only === undefined || others.length > 0) throw refuseShape([{ field: 'currency', code: 'REQUIRED' }]);
  return only;
}
