/**
 * Operations that move money: PAY, REFUND and VOID.
 * Invariant: every movement is written into the carriers' book at the moment it is made, under the order's id.
 */
import { randomInt } from 'node:crypto';
import type { Book } from '../carriers/book.ts';
import type { World } from '../world.ts';
import { type Amount, amountText } from './amounts.ts';
import { demandAuthentication } from './authentication.ts';
import { behaviourOf, type Card, type GatewayCode, paymentOf, securityCodeResult, show } from './cards.ts';
import { capturedTotal, findTransaction, type Order, type Result, refundedTotal, type Transaction } from './orders.ts';
import { amountOf, cardSession, currencyOf, type OperationRequest, referenceOf, transactionAmount } from './request.ts';
import type { Sessions } from './sessions.ts';
import { type Body, busy, invalid, requiredText, textAt } from './wire.ts';

export type PaymentParts = { readonly world: World; readonly sessions: Sessions; readonly book: Book };

/** `lost` is carried out, but its connection ends without an answer; `timed_out` answers TIMED_OUT, whatever was done. */
export type Made = { readonly transaction: Transaction; readonly answer: 'given' | 'lost' | 'timed_out' };

const results: Readonly<Record<GatewayCode, Result>> = {
  APPROVED: 'SUCCESS',
  DECLINED: 'FAILURE',
  INSUFFICIENT_FUNDS: 'FAILURE',
  EXPIRED_CARD: 'FAILURE',
  ACQUIRER_SYSTEM_ERROR: 'FAILURE',
  UNSPECIFIED_FAILURE: 'FAILURE',
  TIMED_OUT: 'UNKNOWN',
  UNKNOWN: 'UNKNOWN',
};

function digits(count: number): string {
  return String(randomInt(10 ** count)).padStart(count, '0');
}

function newTransaction(world: World, id: string, type: Transaction['type'], gatewayCode: GatewayCode) {
  const approved = gatewayCode === 'APPROVED';
  const receipt = { authorizationCode: digits(6), receipt: digits(12), stan: digits(6) };
  return {
    id,
    type,
    at: world.now(),
    updatedAt: world.now(),
    result: results[gatewayCode],
    gatewayCode,
    ...(approved && { receipt }),
  };
}

function record({ book, world }: PaymentParts, kind: 'debit' | 'credit', order: string, moved: Moved): void {
  const { id, amount, currency } = moved;
  const entry = { carrier: 'cardnet', reference: order, kind, msisdn: '', currency: currency.toLowerCase() };
  // Several refunds of one order are several credits, but a second debit of an order would charge the customer twice.
  const part = kind === 'credit' ? id : '';
  book.record({ ...entry, amount, external_id: id, at: world.now() }, part);
}

type Moved = { readonly id: string; readonly amount: string; readonly currency: string };

export function pay(parts: PaymentParts, request: OperationRequest, order: Order | undefined): Made {
  const { body } = request;
  if (requiredText(body, 'sourceOfFunds.type') !== 'CARD')
    throw invalid('sourceOfFunds.type', 'sourceOfFunds.type must be CARD');
  const token = textAt(body, 'sourceOfFunds.provided.card.devicePayment.paymentToken', 16_384);
  const made = token === undefined ? payByCard(parts, request, order) : payByDevice(parts, request, order, token);
  const { id, currency, result } = made.transaction;
  if (result === 'SUCCESS') record(parts, 'debit', request.orderId, { id, currency, amount: made.amount.text });
  return made;
}

function payByCard(parts: PaymentParts, request: OperationRequest, order: Order | undefined) {
  const { body, transactionId, orderId } = request;
  const { session, card } = cardSession(request, parts.sessions);
  const currency = currencyOf(body, order, session);
  const amount = amountOf(body, currency, session);
  const named = textAt(body, 'authentication.transactionId');
  const asked = { card, currency, amount: amount.thousandths };
  const authentication = demandAuthentication(order, named, asked);
  const reference = referenceOf(body, session);
  const transaction: Transaction = {
    ...newTransaction(parts.world, transactionId, 'PAYMENT', paymentOf(card)),
    amount: amount.thousandths,
    currency,
    card: show(card),
    securityCode: securityCodeResult(card),
    ...(reference !== undefined && { reference }),
    ...(authentication !== undefined && { authentication }),
  };
  if (transaction.result === 'SUCCESS') parts.sessions.markPaid(session.id, orderId);
  return { transaction, amount, answer: behaviourOf(card).answer };
}

const walletProviders = ['GOOGLE_PAY', 'APPLE_PAY'];

/** The card behind a device's payment token; nobody types it. */
const deviceCard: Card = { number: '5123450000000008', month: 1, year: 39 };

function payByDevice({ world }: PaymentParts, request: OperationRequest, order: Order | undefined, token: string) {
  const { body, transactionId } = request;
  const provider = requiredText(body, 'order.walletProvider');
  if (!walletProviders.includes(provider))
    throw invalid('order.walletProvider', `order.walletProvider must be one of ${walletProviders.join(', ')}`);
  const currency = currencyOf(body, order);
  const amount = amountOf(body, currency);
  if (token === 'tok_unavailable') throw busy();
  const known = ['tok_approved', 'tok_declined', 'tok_timeout'].includes(token);
  if (!known)
    throw invalid('sourceOfFunds.provided.card.devicePayment.paymentToken', 'The payment token cannot be read');
  const reference = referenceOf(body);
  const gatewayCode = token === 'tok_declined' ? 'DECLINED' : 'APPROVED';
  const transaction: Transaction = {
    ...newTransaction(world, transactionId, 'PAYMENT', gatewayCode),
    amount: amount.thousandths,
    currency,
    card: show(deviceCard),
    ...(reference !== undefined && { reference }),
  };
  return { transaction, amount, answer: token === 'tok_timeout' ? ('timed_out' as const) : ('given' as const) };
}

/** The currency of a refund, which must repeat the order's. */
function refundCurrency(body: Body, order: Order): string {
  const currency = requiredText(body, 'transaction.currency');
  if (currency !== order.currency) throw invalid('transaction.currency', 'The order has another currency');
  return currency;
}

export function refund(parts: PaymentParts, request: OperationRequest, order: Order): Made {
  const { body, transactionId } = request;
  const currency = refundCurrency(body, order);
  const amount: Amount = transactionAmount(body, currency);
  const left = capturedTotal(order) - refundedTotal(order);
  if (amount.thousandths > left)
    throw invalid(
      'transaction.amount',
      `Requested refund amount exceeds what is left of the order: ${amountText(left, currency)} ${currency}`,
    );
  const reference = textAt(body, 'transaction.reference');
  const card = order.transactions.find(({ type, result }) => type === 'PAYMENT' && result === 'SUCCESS')?.card;
  const transaction: Transaction = {
    ...newTransaction(parts.world, transactionId, 'REFUND', 'APPROVED'),
    amount: amount.thousandths,
    currency,
    ...(card !== undefined && { card }),
    ...(reference !== undefined && { reference }),
  };
  record(parts, 'credit', order.id, { id: transactionId, currency, amount: amount.text });
  return { transaction, answer: 'given' };
}

/** Undoes a payment, even one whose outcome is unknown; afterwards it has certainly taken nothing. */
export function voidPayment(parts: PaymentParts, request: OperationRequest, order: Order): Made {
  const path = 'transaction.targetTransactionId';
  const target = findTransaction(order, requiredText(request.body, path));
  if (target === undefined) throw invalid(path, 'The order has no such transaction');
  const undone = order.transactions.some((one) => one.target === target.id);
  if (target.type !== 'PAYMENT' || target.result === 'FAILURE' || undone)
    throw invalid(path, 'The transaction is no payment that can be voided');
  if (refundedTotal(order) > 0n) throw invalid(path, 'A payment that was refunded cannot be voided');
  const { amount, currency, card } = target;
  const transaction: Transaction = {
    ...newTransaction(parts.world, request.transactionId, 'VOID_PAYMENT', 'APPROVED'),
    amount,
    currency,
    target: target.id,
    ...(card !== undefined && { card }),
  };
  if (target.result === 'SUCCESS')
    record(parts, 'credit', order.id, { id: transaction.id, currency, amount: amountText(amount, currency) });
  return { transaction, answer: 'given' };
}
