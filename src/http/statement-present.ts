/**
 * A statement's page in wire form.
 *
 * Invariant: amounts have the currency's fraction digits; a total is the sum of the balances that are shown beside it.
 */

import type { Currency } from '../domain/currency.ts';
import { isId } from '../domain/ids.ts';
import type { MerchantAccount } from '../domain/ledger.ts';
import { formatMinor } from '../domain/money.ts';
import type { Standing, StatementLine, StatementPage } from '../usecases/statement-read.ts';
import { timestamp } from './present.ts';

/**
 * A page of a statement, with the balances at both ends of the span, and of this page. `to` is the span's last millisecond.
 * `nextCursor`: null on the last page.
 */
export function presentStatement({ begun, lines, closing }: StatementPage, nextCursor: string | null) {
  const { currency, balances, from, until } = begun.order;
  return {
    success: true,
    currency,
    from: timestamp(from),
    to: timestamp(Math.max(from, until - 1)),
    ...presentSpan(currency, balances, begun.opening, begun.closing),
    page: presentSpan(currency, balances, begun.running, closing),
    lines: lines.map((line) => presentLine(currency, line)),
    next_cursor: nextCursor,
  };
}

function presentSpan(currency: Currency, balances: readonly MerchantAccount[], opening: Standing, closing: Standing) {
  return {
    opening_balance: formatMinor(sumOf(opening), currency),
    closing_balance: formatMinor(sumOf(closing), currency),
    balances: balances.map((balance, at) => ({
      balance,
      opening_balance: formatMinor(opening[at] ?? 0n, currency),
      closing_balance: formatMinor(closing[at] ?? 0n, currency),
    })),
  };
}

function sumOf(standing: Standing): bigint {
  return standing.reduce((sum, minor) => sum + minor, 0n);
}

function presentLine(currency: Currency, line: StatementLine) {
  return {
    id: line.id,
    at: timestamp(line.at),
    balance: line.balance,
    cause: line.cause,
    amount: formatMinor(line.moved, currency),
    balance_after: formatMinor(line.after, currency),
    ...namesOf(line),
    customer_reference: line.customerReference,
  };
}

/** What a line belongs to, or the operator's reference of it. A credit without one names the merchant itself. */
export function namesOf({ cause, causeId }: Pick<StatementLine, 'cause' | 'causeId'>) {
  if (cause === 'settlement' || cause === 'balance_credit') {
    return { transaction_id: null, refund_id: null, reference: isId('mch', causeId) ? null : causeId };
  }
  return {
    transaction_id: causeId.startsWith('txn_') ? causeId : null,
    refund_id: causeId.startsWith('rfd_') ? causeId : null,
    reference: null,
  };
}
