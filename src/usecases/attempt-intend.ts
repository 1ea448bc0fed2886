/**
 * Writes that an upstream is about to be asked: the first step of write, call, write.
 *
 * Invariant: the session is held, the payment processing and the attempt open before anything is sent to the network.
 * A process that dies after that leaves an open attempt, which the inquiry round settles.
 */

import type { Upstream } from '../connectors/connector.ts';
import { type Change, merged } from '../domain/change.ts';
import { requireMintingSecret } from '../domain/credential.ts';
import { advancePayment } from '../domain/payment.ts';
import type { Attempt, Payment, Session, UpstreamMethod } from '../domain/records.ts';
import { Refusal } from '../domain/refusal.ts';
import { reviseSession } from '../domain/session.ts';
import type { SettlementRows } from '../domain/settlement.ts';
import { methodColumns, PaymentMoved, requireMine, requireSubmittable, SubmitAgain } from '../domain/submission.ts';
import type { SessionCaller } from './callers.ts';
import { cachedFirst, type Deps, newId } from './deps.ts';
import { findTaken, findTriedInSession, isPaidAside } from './paid-aside.ts';
import { commitOrFind, type Receipt } from './perform.ts';

/** Which upstream is asked, and for which method and phone. */
export interface Intention {
  readonly connector: Pick<Upstream, 'name' | 'account'> & { referenceFor(attemptId: string): string };
  readonly method: UpstreamMethod;
  /** The upstream's name as customers know it. */
  readonly carrier: string;
  /** E.164; null for cards. */
  readonly msisdn: string | null;
  /** Milliseconds, more than the call can take: until then the inquiry round leaves the attempt alone. */
  readonly callLifeMs: number;
}

/** A submit that is about to open an attempt. */
export interface Intending {
  readonly caller: SessionCaller;
  /** The payment, as it was read. */
  readonly payment: Payment;
  readonly intention: Intention;
  /** Whose beginning is remembered with the attempt. */
  readonly answering: { readonly receipt: Receipt | undefined };
  /** Checks the payment and its session as they are when the attempt is opened; throws if they do not fit. */
  readonly check?: (payment: Payment, session: Session) => void;
  /** Time has passed since the caller was authenticated: its session is read anew, and whether its order may still be paid. */
  readonly hasWaited?: boolean;
}

/** The rows as they stand once the attempt is committed. */
export type Intended = Omit<SettlementRows, 'session'> & {
  readonly session: Session;
  /**
   * An earlier attempt of the session that was accepted, or paid too late to count, while it was in doubt whether this one had been
   * written: a carrier is not called any more. A card's submit looks for such money itself, after the authentication.
   */
  readonly earlier?: Attempt;
};

interface Rows {
  readonly session: Session | undefined;
  readonly payment: Payment | undefined;
  /** This very attempt, if it was written by a commit of ours whose outcome was lost. */
  readonly own: Attempt | undefined;
  /** The earlier attempts of the session that may have brought money for its order, too late to count, or may yet. */
  readonly tried: readonly Attempt[];
}

/**
 * Holds the session for this payment, moves it to `processing` and opens an attempt, in one change with the beginning of
 * the run's memory.
 *
 * @throws Refusal when the session may not pay the payment now, SubmitAgain when another submit holds it, the rows have moved, or
 * money has come too late to count.
 */
export async function intendAttempt(
  deps: Deps,
  { caller, payment: known, intention, answering: { receipt }, check, hasWaited }: Intending,
): Promise<Intended> {
  const { shard } = known;
  const attemptId = newId(deps, 'att', shard);
  const fresh = async (): Promise<Rows> => {
    // Read first: if our own commit is found here, the rows that are read after it already include it.
    const own = await deps.store.attempt.get(shard, attemptId);
    const [session, payment, stored] = await Promise.all([
      deps.store.session.caller(shard, caller.session.id),
      deps.store.payment.get(shard, known.id),
      receipt?.stored(),
    ]);
    // Another request with this key has been answered meanwhile: a caller that waits for it finds that answer.
    if (stored !== undefined) throw new SubmitAgain(known.id);
    // A submit that reads anew has waited: its credential may have been revoked since, and its merchant suspended.
    if (own === undefined && session !== undefined) requireMintingSecret(session, deps.clock.now());
    const tried = payment && session ? await findTriedInSession(deps, payment, session) : [];
    return { session, payment, own, tried };
  };
  const atHand = { session: caller.session, payment: known, own: undefined, tried: [] };
  const read = hasWaited === true ? fresh : cachedFirst<Rows>(atHand, fresh);
  const decide = (rows: Rows): { readonly change?: Change; readonly answer: Intended } => {
    const now = deps.clock.now();
    if (rows.session === undefined) throw new Refusal(1001);
    const payment = requireMine(rows.payment, rows.session);
    // Checked before `requireSubmittable`: our own commit already holds the session.
    if (rows.own !== undefined) return { answer: wonBefore(rows.own, payment, rows.session, rows.tried) };
    requireSubmittable(rows.session, payment, now);
    check?.(payment, rows.session);
    // The submit has looked for such money before it waited. It starts over, and refuses in its method's words.
    if (rows.tried.some(isPaidAside)) throw new PaymentMoved(payment.id);
    // Method, fee and phone stay on the attempt until the upstream may have the order, so that nothing has to be undone.
    const { total_minor, fee_minor } = methodColumns(payment, caller.merchant, intention.method);
    const attempt = newAttempt(attemptId, orderOf(payment), { amount_minor: total_minor, fee_minor }, intention, now);
    const { change, answer } = opened(attempt, payment, rows.session, now);
    return { change: receipt === undefined ? change : merged(change, receipt.begin()), answer };
  };
  return commitOrFind(deps, read, decide);
}

/** The change that opens the attempt, and the rows after it. */
function opened(
  attempt: Attempt,
  payment: Payment,
  session: Session,
  now: number,
): { readonly change: Change; readonly answer: Intended } {
  const moved = advancePayment(payment, 'attempt_intended', null, now, { attempt_id: attempt.id, submitted_at: now });
  const held = reviseSession(session, { submitting_payment_id: payment.id });
  return {
    change: { updates: [held.update, moved.update], inserts: [moved.history, { table: 'attempt', row: attempt }] },
    answer: { attempt, payment: moved.payment, session: held.after, sessionPayments: [] },
  };
}

/**
 * The attempt that this call has written, by a commit whose outcome was lost. Its age still counts from when it was written: if
 * finding it took too long, the upstream is not asked. If another process has taken it further, that process gives the outcome.
 */
function wonBefore(attempt: Attempt, payment: Payment, session: Session, tried: readonly Attempt[]): Intended {
  if (attempt.status !== 'intended') throw new SubmitAgain(payment.id);
  const rows = { attempt, payment, session, sessionPayments: [] };
  const earlier = findTaken(tried);
  return earlier === undefined ? rows : { ...rows, earlier };
}

/** What an attempt moves money for. */
export type AttemptOrder = Pick<Attempt, 'shard' | 'merchant_id' | 'purpose' | 'payment_id' | 'currency'>;

/** What an attempt at a payment moves money for: that payment. */
export function orderOf({ shard, merchant_id, id, currency }: Payment): AttemptOrder {
  return { shard, merchant_id, purpose: 'payment', payment_id: id, currency };
}

/** An attempt of which nothing is known yet. */
export function newAttempt(
  id: string,
  order: AttemptOrder,
  money: Pick<Attempt, 'amount_minor' | 'fee_minor'>,
  { connector, method, carrier, msisdn, callLifeMs }: Intention,
  now: number,
): Attempt {
  // Every field by its name, so that all attempts are objects of one shape.
  return {
    shard: order.shard,
    id,
    version: 1,
    merchant_id: order.merchant_id,
    purpose: order.purpose,
    payment_id: order.payment_id,
    connector: connector.name,
    method,
    status: 'intended',
    reference: connector.referenceFor(id),
    msisdn,
    carrier,
    amount_minor: money.amount_minor,
    fee_minor: money.fee_minor,
    currency: order.currency,
    provider_reference: null,
    reason: null,
    challenge: null,
    three_ds_status: null,
    eci: null,
    inquiries: 0,
    not_found_at: null,
    upstream_account: connector.account,
    next_inquiry_at: now + callLifeMs,
    created_at: now,
    settled_at: null,
  };
}
