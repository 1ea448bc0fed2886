/**
 * Opens the card network's hosted form for a payment, bound to its order, amount and currency.
 *
 * Invariant: the form is bound before any browser gets it, and no database transaction is open while the network is asked.
 */

import type { CardConnector } from '../connectors/connector.ts';
import { revise } from '../domain/change.ts';
import type { Payment, Session } from '../domain/records.ts';
import { Refusal } from '../domain/refusal.ts';
import {
  methodColumns,
  refuseUnderWay,
  requireMine,
  requireSubmittable,
  SubmitUnderWay,
} from '../domain/submission.ts';
import type { SessionCaller } from './callers.ts';
import { cachedFirst, type Deps } from './deps.ts';
import { commitDecision } from './perform.ts';

/** The card network's connector. @throws Error without one: cards are offered only where there is one. */
export function cardOf(deps: Pick<Deps, 'connectors'>): CardConnector {
  const { card } = deps.connectors;
  if (card === undefined) throw new Error('a card was offered without a network');
  return card;
}

/** Opens a form for the order's total. Returns the network's session id. @throws Refusal 1404 when the network opened none. */
export async function openForm(
  deps: Pick<Deps, 'connectors' | 'formCalls' | 'log'>,
  order: Pick<Payment, 'id' | 'currency' | 'total_minor'>,
): Promise<string> {
  const card = cardOf(deps);
  const form = await card.openForm({ orderId: order.id, amountMinor: order.total_minor, currency: order.currency });
  deps.formCalls.note(form.kind === 'opened');
  if (form.kind === 'opened') return form.sessionId;
  deps.log.warn('card_form_not_opened', { transaction_id: order.id, reason: form.reason });
  throw networkDown(card, 'payment_method');
}

/** The refusal when the network certainly did nothing: the customer may try again. */
export function networkDown(card: CardConnector, field: string, transactionId?: string): Refusal {
  return new Refusal(1404, {
    ...(transactionId === undefined ? {} : { transactionId }),
    retryAfter: 10,
    details: [{ field, code: 'CARRIER_DOWN', words: { carrier: card.displayName } }],
  });
}

/**
 * Opens a fresh form for a payment whose customer has chosen to pay by card on the hosted page. Returns the payment with it;
 * a form that was opened before is invalid from then on.
 *
 * @throws Refusal as a submit by card does, 1203 at once while a submit is in flight, and 1404 when the network opened no form.
 */
export async function openCardForm(deps: Deps, caller: SessionCaller, paymentId: string): Promise<Payment> {
  const { shard, id } = caller.session;
  const read = (): Promise<[Session | undefined, Payment | undefined]> =>
    Promise.all([deps.store.session.caller(shard, id), deps.store.payment.get(shard, paymentId)]);
  const payable = ([session, found]: [Session | undefined, Payment | undefined]): Payment => {
    if (session === undefined) throw new Refusal(1001);
    const payment = requireMine(found, session);
    requireFree(session, payment, deps.clock.now());
    return payment;
  };
  const known = await read();
  const payment = payable(known);
  const hosted_session_id = await openForm(deps, { ...payment, ...methodColumns(payment, caller.merchant, 'card') });
  return commitDecision(deps.store, cachedFirst(known, read), (rows) => {
    const now = payable(rows);
    const { update, after } = revise('payment', now, { hosted_session_id });
    return { change: { updates: [update] }, answer: after };
  });
}

/** Refuses instead of waiting for a submit that holds the session: that submit may well have paid. */
function requireFree(session: Session, payment: Payment, now: number): void {
  try {
    requireSubmittable(session, payment, now);
  } catch (error) {
    throw error instanceof SubmitUnderWay ? refuseUnderWay(error.paymentId) : error;
  }
}
