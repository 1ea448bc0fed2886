/**
 * Carries out one operation on a transaction (PUT) and reads its state (GET).
 * Invariant: the same ids with the same body are one request: it is carried out once, and repeating it returns the same answer;
 * a different body under used ids is refused.
 */
import { createHash } from 'node:crypto';
import { type AuthenticationParts, authenticatePayer, initiateAuthentication } from './authentication.ts';
import { findTransaction, type Order, type Transaction, withTransaction } from './orders.ts';
import { type Made, type PaymentParts, pay, refund, voidPayment } from './payment.ts';
import type { OperationRequest } from './request.ts';
import { type Body, invalid, notFound, requiredText, textAt, unsupported } from './wire.ts';

export type OperationParts = AuthenticationParts & PaymentParts;

export type Performed = {
  readonly order: Order;
  readonly transaction: Transaction;
  /** Whether the transaction is new. */
  readonly created: boolean;
  readonly answer: Made['answer'];
};

export type Operations = {
  /** @throws CardnetError if the request is refused; then nothing was done */
  readonly perform: (request: OperationRequest) => Performed;
  readonly readOrder: (orderId: string) => Order;
  readonly readTransaction: (orderId: string, transactionId: string) => { order: Order; transaction: Transaction };
};

const operationNames = ['INITIATE_AUTHENTICATION', 'AUTHENTICATE_PAYER', 'PAY', 'REFUND', 'VOID'] as const;
type OperationName = (typeof operationNames)[number];

/** The same JSON has the same fingerprint, whatever the order of its keys. */
function fingerprint(body: Body): string {
  const sorted = JSON.stringify(body, (_key, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
  return createHash('sha256').update(sorted).digest('base64');
}

function operationIn(body: Body): OperationName {
  const asked = requiredText(body, 'apiOperation');
  const operation = operationNames.find((name) => name === asked);
  if (operation !== undefined) return operation;
  throw unsupported('apiOperation', `The operation ${asked} is not supported`);
}

function demandId(path: string, id: string): void {
  if (!/^[\w.-]{1,40}$/.test(id)) throw invalid(path, `Value of ${path} must have 1 to 40 letters, digits, - _ or .`);
}

export function createOperations(parts: OperationParts): Operations {
  const { orders } = parts;

  const make = (operation: OperationName, request: OperationRequest): Made => {
    const order = orders.find(request.orderId);
    if (operation === 'INITIATE_AUTHENTICATION')
      return { transaction: initiateAuthentication(parts, request, order), answer: 'given' };
    if (operation === 'PAY') return pay(parts, request, order);
    if (order === undefined) throw notFound('order');
    if (operation === 'AUTHENTICATE_PAYER')
      return { transaction: authenticatePayer(parts, request, order), answer: 'given' };
    return operation === 'REFUND' ? refund(parts, request, order) : voidPayment(parts, request, order);
  };

  return {
    perform: (request) => {
      const { orderId, transactionId, body } = request;
      demandId('order.id', orderId);
      demandId('transaction.id', transactionId);
      const operation = operationIn(body);
      const print = fingerprint(body);
      const done = orders.done(orderId, transactionId, operation);
      if (done !== undefined && done.fingerprint === print) return { ...done, created: false, answer: 'given' };
      const before = orders.find(orderId);
      const used = before && findTransaction(before, transactionId);
      if (done !== undefined || (used !== undefined && operation !== 'AUTHENTICATE_PAYER'))
        throw invalid('transaction.id', 'The transaction exists already, with other values');

      const { transaction, answer } = make(operation, request);
      const order = withTransaction(before ?? newOrder(request, transaction), transaction);
      const known = withOrderFields(order, request, transaction);
      orders.put(known);
      orders.remember(operation, { fingerprint: print, order: known, transaction });
      return { order: known, transaction, created: used === undefined, answer };
    },
    readOrder: (orderId) => {
      const order = orders.find(orderId);
      if (order === undefined) throw notFound('order');
      return order;
    },
    readTransaction: (orderId, transactionId) => {
      const order = orders.find(orderId);
      const transaction = order && findTransaction(order, transactionId);
      if (order === undefined || transaction === undefined) throw notFound('transaction');
      return { order, transaction };
    },
  };
}

function newOrder({ orderId }: OperationRequest, { at, currency }: Transaction): Order {
  return { id: orderId, at, updatedAt: at, currency, transactions: [] };
}

/** Fills an order's own fields from its transactions: the amount, the merchant's reference, the wallet. */
function withOrderFields(order: Order, { body }: OperationRequest, { type, amount, reference }: Transaction): Order {
  const walletProvider = textAt(body, 'order.walletProvider');
  const sets = (type === 'AUTHENTICATION' || type === 'PAYMENT') && amount > 0n;
  return {
    ...order,
    ...(sets && { amount }),
    ...(order.reference === undefined && reference !== undefined && { reference }),
    ...(walletProvider !== undefined && { walletProvider }),
  };
}
