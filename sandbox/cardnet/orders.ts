/**
 * Orders and their transactions as the card network keeps them.
 * Invariant: an order's totals are the sums of its transactions that moved money, and a transaction's operation is carried
 * out once, however often it is requested.
 */
import type { Chapter } from '../diary.ts';
import type { GatewayCode, SecurityCodeResult, ShownCard } from './cards.ts';

export type AuthenticationStatus =
  | 'AUTHENTICATION_AVAILABLE'
  | 'AUTHENTICATION_NOT_SUPPORTED'
  | 'AUTHENTICATION_PENDING'
  | 'AUTHENTICATION_SUCCESSFUL'
  | 'AUTHENTICATION_FAILED'
  | 'AUTHENTICATION_REJECTED';

export type Authentication = {
  readonly status: AuthenticationStatus;
  /** The network's own identifiers of this authentication. */
  readonly acsTransactionId: string;
  readonly dsTransactionId: string;
  /** Identifies the card that was authenticated: a keyed digest, never its number. */
  readonly cardDigest: string;
  /** 3-D Secure's result: Y, N, R; absent until there is one. */
  readonly transactionStatus?: 'Y' | 'N' | 'R';
  /** EMV 3DS: 01 failed, 14 timed out at the issuer. */
  readonly statusReasonCode?: string;
  readonly eci?: string;
  /** The proof that the issuer signs; base64. */
  readonly token?: string;
  /** The HTML of the page that takes the customer to the challenge. */
  readonly redirectHtml?: string;
  readonly methodUrl?: string;
};

export type Result = 'SUCCESS' | 'FAILURE' | 'PENDING' | 'UNKNOWN';
export type Recommendation = 'PROCEED' | 'DO_NOT_PROCEED';
export type TransactionType = 'AUTHENTICATION' | 'PAYMENT' | 'REFUND' | 'VOID_PAYMENT';

export type Transaction = {
  readonly id: string;
  readonly type: TransactionType;
  readonly at: number;
  readonly updatedAt: number;
  /** Thousandths of the currency's unit. */
  readonly amount: bigint;
  readonly currency: string;
  readonly result: Result;
  readonly gatewayCode: GatewayCode | 'AUTHENTICATION_IN_PROGRESS' | 'PENDING';
  readonly recommendation?: Recommendation;
  readonly card?: ShownCard;
  readonly reference?: string;
  readonly authentication?: Authentication;
  readonly securityCode?: SecurityCodeResult;
  /** The acquirer's numbers of a payment that was approved. */
  readonly receipt?: { readonly authorizationCode: string; readonly receipt: string; readonly stan: string };
  /** The transaction that a void undoes. */
  readonly target?: string;
};

export type Order = {
  readonly id: string;
  readonly at: number;
  readonly updatedAt: number;
  readonly amount?: bigint;
  readonly currency: string;
  readonly reference?: string;
  readonly walletProvider?: string;
  /** In the order in which they began. */
  readonly transactions: readonly Transaction[];
};

/** The result of an operation, returned again when the request is repeated. */
export type Done = { readonly fingerprint: string; readonly order: Order; readonly transaction: Transaction };

export type Orders = {
  readonly find: (orderId: string) => Order | undefined;
  readonly put: (order: Order) => void;
  readonly done: (orderId: string, transactionId: string, operation: string) => Done | undefined;
  readonly remember: (operation: string, done: Done) => void;
};

const ordersKept = 100_000;

const movesMoney = (one: Transaction): boolean => one.result === 'SUCCESS' && one.type !== 'AUTHENTICATION';

function total(order: Order, type: TransactionType): bigint {
  const moved = order.transactions.filter((one) => one.type === type && movesMoney(one));
  return moved.reduce((sum, { amount }) => sum + amount, 0n);
}

/** What was taken from the customer: payments, less those that were voided. */
export function capturedTotal(order: Order): bigint {
  const takenBack = order.transactions
    .filter((one) => one.type === 'VOID_PAYMENT' && movesMoney(one))
    .map(({ target }) => findTransaction(order, target ?? ''))
    .filter((one) => one?.result === 'SUCCESS');
  return takenBack.reduce((sum, one) => sum - (one?.amount ?? 0n), total(order, 'PAYMENT'));
}

export function refundedTotal(order: Order): bigint {
  return total(order, 'REFUND');
}

export function findTransaction(order: Order, id: string): Transaction | undefined {
  return order.transactions.find((one) => one.id === id);
}

/** The authentication that counts: the latest. */
export function lastAuthentication(order: Order): Transaction | undefined {
  return order.transactions.findLast(({ type }) => type === 'AUTHENTICATION');
}

const authenticationPhases: Readonly<Record<AuthenticationStatus, string>> = {
  AUTHENTICATION_AVAILABLE: 'AUTHENTICATION_INITIATED',
  AUTHENTICATION_NOT_SUPPORTED: 'AUTHENTICATION_NOT_NEEDED',
  AUTHENTICATION_PENDING: 'AUTHENTICATION_INITIATED',
  AUTHENTICATION_SUCCESSFUL: 'AUTHENTICATED',
  AUTHENTICATION_FAILED: 'AUTHENTICATION_UNSUCCESSFUL',
  AUTHENTICATION_REJECTED: 'AUTHENTICATION_UNSUCCESSFUL',
};

/** The order's status in the network's terms. */
export function orderStatus(order: Order): string {
  const captured = capturedTotal(order);
  const refunded = refundedTotal(order);
  if (captured > 0n) {
    if (refunded === 0n) return 'CAPTURED';
    return refunded < captured ? 'PARTIALLY_REFUNDED' : 'REFUNDED';
  }
  const last = order.transactions.at(-1);
  if (last?.type === 'VOID_PAYMENT') return 'CANCELLED';
  if (last?.type === 'PAYMENT') return last.result === 'UNKNOWN' ? 'INITIATED' : 'FAILED';
  return last?.authentication === undefined ? 'INITIATED' : authenticationPhases[last.authentication.status];
}

/** The order with a transaction added, or replaced by its new state. */
export function withTransaction(order: Order, transaction: Transaction): Order {
  const known = order.transactions.some(({ id }) => id === transaction.id);
  const transactions = known
    ? order.transactions.map((one) => (one.id === transaction.id ? transaction : one))
    : [...order.transactions, transaction];
  return { ...order, updatedAt: transaction.updatedAt, transactions };
}

/** The parts of the orders that are recorded in the diary. */
export type OrderBooks = {
  readonly orders: Chapter<Order>;
  readonly operations: Chapter<{ readonly operation: string; readonly done: Done }>;
};

export function createOrders(written: OrderBooks): Orders {
  const orders = new Map<string, Order>();
  const operations = new Map<string, Map<string, Done>>();
  const forgetOldest = () => {
    // Money must stay findable for ever: a gateway that is told "not found" would conclude that it was not taken.
    for (const { id, transactions } of orders.values()) {
      if (transactions.some(movesMoney)) continue;
      orders.delete(id);
      operations.delete(id);
      return;
    }
  };

  const put = (order: Order): void => {
    orders.set(order.id, order);
    if (orders.size > ordersKept) forgetOldest();
  };
  const remember = (operation: string, done: Done): void => {
    const ofOrder = operations.get(done.order.id) ?? new Map<string, Done>();
    operations.set(done.order.id, ofOrder.set(`${done.transaction.id} ${operation}`, done));
  };
  for (const order of written.orders.past()) put(order);
  for (const { operation, done } of written.operations.past()) remember(operation, done);

  return {
    find: (orderId) => orders.get(orderId),
    put: (order) => {
      written.orders.note(order);
      put(order);
    },
    done: (orderId, transactionId, operation) => operations.get(orderId)?.get(`${transactionId} ${operation}`),
    remember: (operation, done) => {
      written.operations.note({ operation, done });
      remember(operation, done);
    },
  };
}
