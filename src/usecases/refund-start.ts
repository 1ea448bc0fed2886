/**
 * Sends a refund's money: write, call, write.
 *
 * Invariant: the attempt is committed before the upstream is called, and one process at a time sends a refund. An attempt that
 * may have been taken is inquired about; only a refund that certainly was not taken is sent again, as a new attempt, after an
 * inquiry about the previous one.
 */

import type { Answer } from '../domain/answer.ts';
import { type Change, type DecisionContext, merged, revise } from '../domain/change.ts';
import type { Refund } from '../domain/outgoing-records.ts';
import { nextLookBackAt } from '../domain/payout.ts';
import type { Attempt, Merchant, UpstreamMethod } from '../domain/records.ts';
import type { RefundRows } from '../domain/refund.ts';
import { isOverRefunded } from '../domain/refund-order.ts';
import { intendRefund, refundOrder } from '../domain/refund-outgoing.ts';
import { CALL_LIFE_MS } from './attempt-ask.ts';
import { type Intention, newAttempt } from './attempt-intend.ts';
import { recordOutgoing } from './attempt-outgoing.ts';
import { inquirePreviousAttempt, type PreviousAttempt } from './attempt-previous.ts';
import { cardIntention } from './card-pay.ts';
import { carrierOrderOf } from './carrier-order.ts';
import { type Deps, idsOf, newId } from './deps.ts';
import { latestAttempt } from './latest-attempt.ts';
import { outcomeOfCall, postpone, sendUnlessHeld } from './outgoing-start.ts';
import { commitOrFind } from './perform.ts';
import { CALLED_OFF } from './refund-decide.ts';
import { refundOfAttempt } from './refund-read.ts';
import { notSent, type Sent } from './sender.ts';

/** A refund's attempt, with the refund and its payment. */
interface Intended extends RefundRows {
  readonly attempt: Attempt;
  /** An earlier attempt, or another refund that had failed, was accepted while the attempt was in doubt. */
  readonly isTaken: boolean;
}

/** The upstream that gives the money back, and how to call it. */
interface Giver {
  readonly intention: Intention;
  /** Calls at once: whatever it needs has been read, because the permission to call grows old. */
  give(deps: Deps, rows: Intended, merchant: Merchant): Promise<Answer>;
}

/** Sends a refund unless another process has changed it; `known` is as it was when it was leased to this process. */
export async function startRefund(deps: Deps, known: Refund): Promise<Sent> {
  const giver = giverOf(deps, known);
  if (giver === undefined) {
    // It is claimed again whenever its lease runs out, until the upstream is configured, or an operator pays it by hand.
    deps.log.error('refund_upstream_missing', { refund_id: known.id, connector: known.connector });
    return notSent();
  }
  const before = await askEarlierAttempts(deps, known);
  if (before.kind === 'taken') return notSent('answered');
  if (before.kind === 'unclear') {
    await postpone(deps, 'refund', known, before.until);
    return notSent(before.outcome);
  }
  // It waits until its lease runs out, and from then on in the database, until the hold has ended.
  if (await deps.holds.isHeld(giver.intention.connector.name)) return notSent();
  const merchant = await merchantOf(deps, known);
  const rows = await intend(deps, known, giver.intention);
  if (rows === 'held_back') {
    // It stays held back until the other refund's outcome changes, or an operator calls this one off.
    deps.log.error('refund_held_back', { refund_id: known.id, transaction_id: known.payment_id });
    await postpone(deps, 'refund', known, nextLookBackAt(known, deps.clock.now()));
  }
  if (rows === undefined || rows === 'held_back') return notSent();
  const { attempt } = rows;
  const answer = await sendUnlessHeld(deps, attempt, rows, () => giver.give(deps, rows, merchant));
  // A refund that remembers another attempt must be read with all of its attempts.
  const order = rows.refund.late_attempt_id === null ? refundOrder(rows) : undefined;
  const written = recordOutgoing(deps, attempt, order, answer);
  return { outcome: outcomeOfCall(answer), written };
}

/**
 * How many called-off refunds are inquired about, newest first; the later inquiries of their attempts take care of the others.
 */
const MAX_WITHDRAWN = 4;

/**
 * Inquires about its own last attempt, and about the last attempt of each called-off refund of the payment that the upstream
 * had turned away. Any of those that was accepted after all is recorded; whether this refund would then be too much is decided when
 * it is intended, on fresh rows.
 */
async function askEarlierAttempts(deps: Deps, known: Refund): Promise<PreviousAttempt> {
  const own = await inquirePreviousAttempt(deps, known);
  if (own.kind !== 'over') return own;
  const others = await deps.store.refund.ofPayment(known.shard, known.payment_id);
  const withdrawn = others.filter(({ reason }) => reason === CALLED_OFF).sort((a, b) => (a.id < b.id ? 1 : -1));
  const results = await Promise.all(
    withdrawn.slice(0, MAX_WITHDRAWN).map(async (refund): Promise<PreviousAttempt> => {
      const tried = await latestAttempt(deps, refund);
      if (tried?.status !== 'not_sent') return { kind: 'over' };
      const { started_at, created_at } = known;
      return inquirePreviousAttempt(deps, {
        shard: refund.shard,
        attempt_id: refund.attempt_id,
        started_at,
        created_at,
      });
    }),
  );
  return results.find(({ kind }) => kind === 'unclear') ?? { kind: 'over' };
}

/** The upstream that paid; undefined if it is no longer configured. */
function giverOf({ connectors }: Deps, refund: Refund): Giver | undefined {
  const { connector: name, carrier, msisdn, method } = refund;
  if (name === null || carrier === null || !isUpstream(method)) return undefined;
  if (method === 'mobile_money') {
    const connector = connectors.payout(name);
    if (connector === undefined || msisdn === null) return undefined;
    return {
      intention: { connector, method, carrier, msisdn, callLifeMs: CALL_LIFE_MS },
      give: (deps, { attempt, payment }, merchant) => {
        const { customer_reference: customerReference } = payment;
        const order = carrierOrderOf(deps, { attempt, msisdn, merchant, customerReference });
        return connector.payOut({ note: null, ...order });
      },
    };
  }
  const { card } = connectors;
  if (card?.name !== name) return undefined;
  return {
    intention: cardIntention(card, method, carrier),
    give: (_deps, { attempt, payment }) =>
      card.refund({
        orderId: payment.id,
        attemptId: attempt.id,
        amountMinor: attempt.amount_minor,
        currency: attempt.currency,
      }),
  };
}

function isUpstream(method: Refund['method']): method is UpstreamMethod {
  return method !== 'wallet' && method !== 'flash' && method !== 'bank_transfer';
}

async function merchantOf(deps: Deps, { shard, merchant_id }: Refund): Promise<Merchant> {
  // Of any version: only its name is used, which never changes.
  const merchant = await deps.store.merchant.at(shard, merchant_id, 0);
  if (merchant === undefined) throw new Error(`merchant ${merchant_id} is not there`);
  return merchant;
}

interface Decided {
  readonly change?: Change;
  readonly answer: Intended | 'held_back' | undefined;
}

interface Rows extends RefundRows {
  /** This very attempt, if it was written by a commit of ours whose outcome was lost. */
  readonly own: Attempt | undefined;
  /** All refunds of the payment. */
  readonly refunds: readonly Refund[];
}

/**
 * Commits that the upstream may be asked; undefined if another process does so, or has. A refund is held back if a failed one was
 * paid after all, so that more would be given back than was paid.
 */
async function intend(deps: Deps, known: Refund, intention: Intention): Promise<Intended | 'held_back' | undefined> {
  const attemptId = newId(deps, 'att', known.shard);
  const read = async (): Promise<Rows> => {
    // Read in this order: if our own commit is found, the refund that is read after it already includes it.
    const own = await deps.store.attempt.get(known.shard, attemptId);
    const rows = await refundOfAttempt(deps, known.shard, known.id);
    // Read after the payment, whose version guards them.
    const refunds = await deps.store.refund.ofPayment(known.shard, known.payment_id);
    return { own, refunds, ...rows };
  };
  const decide = ({ own, refunds, ...rows }: Rows): Decided => {
    if (own !== undefined) {
      // Its age counts from when it was written: if finding it took too long, the upstream is not asked.
      if (own.status !== 'intended') return { answer: undefined };
      const isTaken = rows.refund.late_attempt_id !== null || isOverRefunded(rows.payment, refunds);
      return { answer: { attempt: own, isTaken, ...rows } };
    }
    // The lease is ours only if the refund has not been written since.
    if (rows.refund.status !== 'pending' || rows.refund.version !== known.version) return { answer: undefined };
    if (isOverRefunded(rows.payment, refunds)) return { answer: 'held_back' };
    const { shard, id, merchant_id, currency, amount_minor } = rows.refund;
    const order = { shard, merchant_id, purpose: 'refund', payment_id: id, currency } as const;
    const now = deps.clock.now();
    const attempt = newAttempt(attemptId, order, { amount_minor, fee_minor: 0n }, intention, now);
    const context: DecisionContext = { now, newId: idsOf(deps) };
    const { change, ...moved } = intendRefund(rows, attempt, context);
    if (refunds.length === 1) return { change, answer: { attempt, isTaken: false, ...moved } };
    // A change that marks another refund as paid also writes the payment: then this is decided again.
    const { update, after } = revise('payment', moved.payment, {});
    return {
      change: merged(change, { updates: [update] }),
      answer: { attempt, isTaken: false, ...moved, payment: after },
    };
  };
  return commitOrFind(deps, read, decide);
}
