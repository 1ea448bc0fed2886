/**
 * Payment sessions, which combine what the merchant's server wrote (the order) with what the customer typed (the card).
 * Invariant: every change gives the session a new version, and a browser may change only the card, a limited number
 * of times. A session that has ended is as unknown as one that never existed.
 */
import { randomBytes } from 'node:crypto';
import type { World } from '../world.ts';
import { parseAmount } from './amounts.ts';
import { type CardErrors, type CardInput, readCard } from './card-input.ts';
import type { Card } from './cards.ts';
import { type Body, invalid, missing, notFound, orderCurrency, textAt, valueAt } from './wire.ts';

export type SessionOrder = {
  readonly id?: string;
  readonly amount?: string;
  readonly currency?: string;
  readonly reference?: string;
};

export type Session = {
  readonly id: string;
  readonly createdAt: number;
  readonly aes256Key: string;
  readonly version: string;
  readonly updateStatus: 'NO_UPDATE' | 'SUCCESS';
  /** How many more times a browser may update it. */
  readonly authenticationLimit: number;
  readonly order: SessionOrder;
  readonly card?: Card;
  /** The order that was paid with it; it cannot pay another. */
  readonly paidOrder?: string;
};

/** The result for the hosted form; `limit_reached` means that the browser has tried too often. */
export type FormResult =
  | { readonly kind: 'ok'; readonly session: Session; readonly card: Card }
  | { readonly kind: 'errors'; readonly errors: CardErrors }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'limit_reached' };

export type Sessions = {
  readonly create: (body: Body) => Session;
  /** @throws CardnetError when the session is unknown or a value is wrong */
  readonly update: (id: string, body: Body) => Session;
  readonly find: (id: string) => Session;
  readonly fill: (id: string, input: CardInput) => FormResult;
  readonly markPaid: (id: string, orderId: string) => void;
  /** Changes the amount behind the merchant's back; returns the session's id, or undefined if no session has that order. */
  readonly tamper: (orderId: string, amount: string) => string | undefined;
};

const usualLimit = 5;
const highestLimit = 25;
const sessionsKept = 100_000;

/** "A single session lasts usually about 15 minutes" (Mastercard Gateway, Session Basics). */
const sessionLife = 15 * 60_000;

function newId(): string {
  const hex = randomBytes(10).toString('hex').toUpperCase();
  return `SESSION0002${hex}`;
}

function limitIn(body: Body): number {
  const limit = valueAt(body, 'session.authenticationLimit');
  if (limit === undefined) return usualLimit;
  if (typeof limit === 'number' && Number.isInteger(limit) && limit >= 1 && limit <= highestLimit) return limit;
  throw invalid('session.authenticationLimit', `authenticationLimit must be a whole number from 1 to ${highestLimit}`);
}

/** The order's fields that a body sets, over those that the session has. */
function orderIn(body: Body, before: SessionOrder): SessionOrder {
  const id = textAt(body, 'order.id', 40);
  const reference = textAt(body, 'order.reference');
  const currency = orderCurrency(body);
  const given = valueAt(body, 'order.amount');
  const amount = given === undefined ? undefined : parseAmount(given, currency ?? before.currency ?? 'USD');
  if (given !== undefined && amount === undefined)
    throw invalid('order.amount', 'Value of order.amount is no amount, or has more digits than its currency');
  return {
    ...before,
    ...(id !== undefined && { id }),
    ...(amount !== undefined && { amount: amount.text }),
    ...(currency !== undefined && { currency }),
    ...(reference !== undefined && { reference }),
  };
}

/** Allows a merchant's server to write a card too, though a hosted integration never does. */
function cardIn(body: Body, now: number): Card | undefined {
  const path = 'sourceOfFunds.provided.card';
  if (valueAt(body, path) === undefined) return undefined;
  const read = readCard(
    {
      cardNumber: valueAt(body, `${path}.number`),
      expiryMonth: valueAt(body, `${path}.expiry.month`),
      expiryYear: valueAt(body, `${path}.expiry.year`),
      securityCode: valueAt(body, `${path}.securityCode`),
      nameOnCard: valueAt(body, `${path}.nameOnCard`),
    },
    now,
  );
  if (read.kind === 'card') return read.card;
  throw read.errors.cardNumber === 'missing' ? missing(`${path}.number`) : invalid(path, 'The card is not valid');
}

export function createSessions(world: World): Sessions {
  const sessions = new Map<string, Session>();
  const keep = (session: Session): Session => {
    sessions.set(session.id, session);
    const oldest = sessions.size > sessionsKept ? sessions.keys().next().value : undefined;
    if (oldest !== undefined) sessions.delete(oldest);
    return session;
  };
  const change = (session: Session, changes: Partial<Session>): Session =>
    keep({ ...session, ...changes, updateStatus: 'SUCCESS', version: randomBytes(5).toString('hex') });
  const open = (id: string): Session | undefined => {
    const session = sessions.get(id);
    return session !== undefined && world.now() < session.createdAt + sessionLife ? session : undefined;
  };
  const find = (id: string): Session => {
    const session = open(id);
    if (session === undefined) throw notFound('session');
    return session;
  };

  return {
    find,
    create: (body) =>
      keep({
        id: newId(),
        createdAt: world.now(),
        aes256Key: randomBytes(32).toString('base64'),
        version: randomBytes(5).toString('hex'),
        updateStatus: 'NO_UPDATE',
        authenticationLimit: limitIn(body),
        order: orderIn(body, {}),
      }),
    update: (id, body) => {
      const session = find(id);
      const order = orderIn(body, session.order);
      const card = cardIn(body, world.now());
      return change(session, { order, ...(card !== undefined && { card }) });
    },
    fill: (id, input) => {
      const session = open(id);
      if (session === undefined) return { kind: 'unknown' };
      if (session.authenticationLimit === 0) return { kind: 'limit_reached' };
      const read = readCard(input, world.now());
      if (read.kind === 'errors') return read;
      const { card } = read;
      const authenticationLimit = session.authenticationLimit - 1;
      return { kind: 'ok', session: change(session, { card, authenticationLimit }), card };
    },
    markPaid: (id, orderId) => {
      const session = sessions.get(id);
      if (session?.card === undefined) return;
      const { securityCode: _forgotten, ...card } = session.card;
      keep({ ...session, card, paidOrder: orderId });
    },
    tamper: (orderId, amount) => {
      const session = [...sessions.values()].findLast(({ order }) => order.id === orderId);
      if (session === undefined) return undefined;
      change(session, { order: { ...session.order, amount } });
      return session.id;
    },
  };
}
