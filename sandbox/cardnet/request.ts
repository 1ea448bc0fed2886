/**
 * What every operation reads from its request: whose order it is, the session behind it, and the amount.
 * Invariant: a value in the request takes precedence over the session's, and an order never changes its currency.
 */
import { type Amount, parseAmount } from './amounts.ts';
import type { Card } from './cards.ts';
import type { Order } from './orders.ts';
import type { Session, Sessions } from './sessions.ts';
import { type Body, invalid, missing, orderCurrency, requiredText, textAt, valueAt } from './wire.ts';

export type OperationRequest = {
  readonly orderId: string;
  readonly transactionId: string;
  readonly body: Body;
  /** Where browsers reach the card network, without a trailing slash. */
  readonly browserUrl: string;
  readonly merchant: string;
};

export type CardSession = { readonly session: Session; readonly card: Card };

/** The request's session, with the card that the customer typed. */
export function cardSession({ orderId, body }: OperationRequest, sessions: Sessions): CardSession {
  const session = sessions.find(requiredText(body, 'session.id'));
  if (session.order.id !== undefined && session.order.id !== orderId)
    throw invalid('session.id', 'The session belongs to another order');
  if (session.paidOrder !== undefined && session.paidOrder !== orderId)
    throw invalid('session.id', 'The session has paid another order');
  if (session.card === undefined) throw missing('sourceOfFunds.provided.card.number');
  return { session, card: session.card };
}

export function currencyOf(body: Body, order: Order | undefined, session?: Session): string {
  const currency = orderCurrency(body) ?? session?.order.currency;
  if (currency === undefined) throw missing('order.currency');
  if (order !== undefined && order.currency !== currency)
    throw invalid('order.currency', 'The order has another currency');
  return currency;
}

/** The order's amount, which must be above zero. */
export function amountOf(body: Body, currency: string, session?: Session): Amount {
  return positive(valueAt(body, 'order.amount') ?? session?.order.amount, 'order.amount', currency);
}

/** A refund's amount. */
export function transactionAmount(body: Body, currency: string): Amount {
  return positive(valueAt(body, 'transaction.amount'), 'transaction.amount', currency);
}

export function referenceOf(body: Body, session?: Session): string | undefined {
  return textAt(body, 'order.reference') ?? session?.order.reference;
}

function positive(given: unknown, path: string, currency: string): Amount {
  if (given === undefined) throw missing(path);
  const amount = parseAmount(given, currency);
  if (amount === undefined)
    throw invalid(path, `Value of ${path} is no amount, or has more digits than ${currency} has`);
  if (amount.thousandths > 0n) return amount;
  throw invalid(path, 'Transaction or order amount must be greater than zero');
}
