/**
 * Writes that an upstream is about to be asked: the first of write, call, write.
 *
 * Invariant: the session is held, the payment processing and the attempt open before anything leaves for the network.
 * Whoever dies after that leaves an open attempt, which the inquiry round settles.
 */

import type { Change } from '../domain/change.ts';
import { movePayment, StateConflict } from '../domain/payment.ts';
import type { Attempt, Payment, Session, UpstreamMethod } from '../domain/records.ts';
import { Refusal } from '../domain/refusal.ts';
import { updateSession } from '../domain/session.ts';
import type { SettlementRows } from '../domain/settlement.ts';
import { methodColumns, requireMine, requireSubmittable, SubmitUnderWay } from '../domain/submission.ts';
import type { SessionCaller } from './callers.ts';
import { atHandFirst, type Deps, newId } from './deps.ts';
import { joined, type Receipt, settle } from './perform.ts';

/** Who is asked, and by what. */
export interface Intention {
  readonly connector: { readonly name: string; referenceFor(attemptId: string): string };
  readonly method: UpstreamMethod;
  /** The upstream's name as customers know it. */
  readonly carrier: string;
  /** E.164; null for cards. */
  readonly msisdn: string | null;
  /** Longer than the call can take: until then the inquiry round leaves the attempt alone. */
  readonly callLife: number;
}

/** The rows as they stand once the attempt is committed. */
export type Intended = Omit<SettlementRows, 'session'> & { readonly session: Session };

/**
 * Holds the session for this payment, moves it to `processing` and opens an attempt, in one change with the beginning of
 * the run's memory. `check` looks at the payment as it is in that change.
 *
 * @throws Refusal when the session may not pay the payment now, SubmitUnderWay when another submit holds it.
 */
export function intendAttempt(
  deps: Deps,
  caller: SessionCaller,
  known: Payment,
  intention: Intention,
  receipt: Receipt | undefined,
  check: (payment: Payment) => void = () => undefined,
): Promise<Intended> {
  const { shard } = known;
  const attemptId = newId(deps, 'att', shard);
  const read = atHandFirst<[Session | undefined, Payment | undefined]>([caller.session, known], async () => {
    const [session, payment, stored] = await Promise.all([
      deps.store.session.caller(shard, caller.session.id),
      deps.store.payment.get(shard, known.id),
      receipt?.stored(),
    ]);
    // Another run of this key has been answered meanwhile: whoever waits for it finds that answer.
    if (stored !== undefined) throw new SubmitUnderWay(known.id);
    return [session, payment];
  });
  return settle(deps.store, read, ([session, found]) => {
    const now = deps.clock.now();
    if (session === undefined) throw new Refusal(1001);
    const payment = requireMine(found, session);
    requireSubmittable(session, payment, now);
    check(payment);
    // Method, fee and phone stay with the attempt until the upstream may have the order: nothing has to be taken back.
    const { total_minor, fee_minor } = methodColumns(payment, caller.merchant, intention.method);
    const attempt = newAttempt(attemptId, payment, { amount_minor: total_minor, fee_minor }, intention, now);
    const moved = movePayment(payment, 'attempt_intended', null, now, { attempt_id: attemptId, submitted_at: now });
    if (moved === undefined) throw new StateConflict(payment, 'attempt_intended');
    const held = updateSession(session, { submitting_payment_id: payment.id });
    const change: Change = {
      updates: [held, moved.update],
      inserts: [moved.history, { table: 'attempt', row: attempt }],
    };
    const after = { ...session, submitting_payment_id: payment.id, version: session.version + 1 };
    return {
      change: receipt === undefined ? change : joined(change, receipt.begin()),
      answer: { attempt, payment: moved.payment, session: after, sessionPayments: [] },
    };
  });
}

/** An attempt of which nothing is known yet. */
export function newAttempt(
  id: string,
  payment: Payment,
  money: Pick<Attempt, 'amount_minor' | 'fee_minor'>,
  { connector, method, carrier, msisdn, callLife }: Intention,
  now: number,
): Attempt {
  return {
    shard: payment.shard,
    id,
    version: 1,
    merchant_id: payment.merchant_id,
    payment_id: payment.id,
    connector: connector.name,
    method,
    status: 'intended',
    reference: connector.referenceFor(id),
    msisdn,
    carrier,
    ...money,
    currency: payment.currency,
    provider_reference: null,
    reason: null,
    challenge: null,
    three_ds_status: null,
    eci: null,
    inquiries: 0,
    not_found_at: null,
    next_inquiry_at: now + callLife,
    created_at: now,
    settled_at: null,
  };
}
