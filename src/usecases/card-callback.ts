/**
 * The card network's callback after a challenge: once its sender is proved, it is remembered, and taken as no more than a hint.
 *
 * Invariant: the callback alone never approves. Its result is not used; the network is asked, and its answer is written. A
 * repeated callback is answered as the first was, and a forged or stale one changes nothing.
 */

import { isOpen } from '../domain/attempt.ts';
import { type Change, merged } from '../domain/change.ts';
import { isWithin } from '../domain/elapsed.ts';
import { isId, shardOf } from '../domain/ids.ts';
import { isFinal, isPaid } from '../domain/payment.ts';
import type { Attempt, Merchant, Payment } from '../domain/records.ts';
import { Refusal } from '../domain/refusal.ts';
import { type SettlementRows, settleAttempt } from '../domain/settlement.ts';
import { type Settling, settlementContext, upstreamOf, writeCallAnswer } from './attempt-answer.ts';
import { readSettlement } from './attempt-settle.ts';
import { callbackReceipt } from './card-callback-memory.ts';
import { type CardCallback, type Proven, prove } from './card-callback-proof.ts';
import { readWithEarlier, settleEarlier } from './card-earlier.ts';
import { type Look, lookAgainLater, lookAtChallenge } from './card-pay.ts';
import type { Deps } from './deps.ts';
import { latestAttempt } from './latest-attempt.ts';
import { findPaidAside, isPaidAside } from './paid-aside.ts';
import { pause } from './patience.ts';
import { commitDecision, type Receipt, type Reply } from './perform.ts';
import { LOOK_AGAIN_MS, TURN_PATIENCE_MS } from './session-turns.ts';

/** The payment after a callback, and what decides where the customer's browser is sent. */
export interface CallbackEnd {
  readonly payment: Payment;
  /** The money has been asked for, and the outcome is not known yet. */
  readonly isPaying: boolean;
  /** Money has come for the order, too late to count, or may have come by an earlier try: it must not be asked for again. */
  readonly isPaidAside: boolean;
  /** The payment is shown on a hosted page that a browser has opened. */
  readonly hasPage: boolean;
}

/** The payment, and its current attempt, if any. */
interface Rows {
  readonly payment: Payment;
  readonly attempt: Attempt | undefined;
}

/** The rows that a reply is rendered from. */
interface Told extends Rows {
  /** As in `CallbackEnd`. */
  readonly isPaidAside: boolean;
}

/** How a callback's reply is rendered, and where it is remembered. */
interface Replying {
  readonly receipt: Receipt;
  render(told: Told): Reply;
}

/**
 * Verifies a callback, counts it, and advances the payment. `count` gets its order, and the order's merchant if there is one; it
 * may throw. `render` makes the reply.
 *
 * @throws Refusal 1304 without a valid proof, 1109 or 1110 for its form, 1301, and 1204 for an order that does not exist.
 */
export async function takeCallback(
  deps: Deps,
  callback: CardCallback,
  count: (order: string, merchant: Merchant | undefined) => void,
  render: (end: CallbackEnd) => Reply,
): Promise<Reply> {
  const proven = prove(deps, callback);
  const payment = await paymentOf(deps, proven);
  const merchant = payment && (await deps.store.merchant.get(payment.shard, payment.merchant_id));
  count(payment?.id ?? proven.orderId ?? proven.transactionId, merchant);
  if (payment === undefined) throw new Refusal(1204);
  if (callback.networkOrder !== undefined && callback.networkOrder !== payment.id) throw new Refusal(1304);
  const receipt = callbackReceipt(deps, payment, proven.identity);
  const hasPage = await isPageOpen(deps, payment);
  const replying: Replying = {
    receipt,
    render: (told) => render({ ...told, isPaying: isPaying(told), hasPage }),
  };
  return deps.sessionTurns.inTurn(payment.session_id, () => answerOnce(deps, payment, proven, replying));
}

/**
 * Whether the money has been asked for and the payment has not ended. That includes an approved attempt whose payment was read
 * just before the approval: it is as good as paid.
 */
function isPaying({ payment, attempt }: Rows): boolean {
  if (attempt === undefined || attempt.status === 'intended' || attempt.status === 'challenged') return false;
  return isOpen(attempt.status) || (attempt.status === 'approved' && !isFinal(payment.status));
}

/** Whether a browser has opened the payment's page: a browser sent to an unopened page would find it closed. */
async function isPageOpen(deps: Deps, { shard, checkout_id }: Payment): Promise<boolean> {
  const checkout = checkout_id === null ? undefined : await deps.store.checkout.get(shard, checkout_id);
  return checkout !== undefined && checkout.page_hash !== null;
}

/** The card payment that a verified callback is about; undefined if its ids do not belong together. */
async function paymentOf(deps: Deps, { orderId, transactionId }: Proven): Promise<Payment | undefined> {
  const payment = await paymentNamed(deps, transactionId);
  if (payment === undefined || (payment.method !== 'card' && payment.method !== 'none')) return undefined;
  const fits = orderId === undefined || orderId === payment.id || orderId === payment.customer_reference;
  return fits ? payment : undefined;
}

async function paymentNamed(deps: Deps, transactionId: string): Promise<Payment | undefined> {
  if (isId('txn', transactionId)) return deps.store.payment.get(shardOf(transactionId), transactionId);
  const attemptId = deps.connectors.card?.attemptOf(transactionId);
  const attempt = attemptId === undefined ? undefined : await deps.store.attempt.get(shardOf(attemptId), attemptId);
  return attempt && deps.store.payment.get(attempt.shard, attempt.payment_id);
}

async function answerOnce(deps: Deps, key: Payment, proven: Proven, replying: Replying): Promise<Reply> {
  const { receipt, render } = replying;
  const untilAnswered = async (): Promise<Reply | undefined> => {
    const begunAt = deps.clock.now();
    let stored = await receipt.stored();
    // Another process is working on the same callback.
    while (stored === undefined && receipt.begun() && isWithin(TURN_PATIENCE_MS, begunAt, deps.clock.now())) {
      await pause(deps.clock, LOOK_AGAIN_MS);
      stored = await receipt.stored();
    }
    return stored;
  };
  const before = await untilAnswered();
  if (before !== undefined) return before;
  if (!receipt.begun()) {
    const own = await answerFirst(deps, await readPayment(deps, key), proven, replying);
    // Another run may have begun since the memory was read, as the challenge ended: its reply then counts for all runs.
    const answer = own ?? (await untilAnswered());
    if (answer !== undefined) return answer;
  }
  // That run died, or takes long: only it may store a reply. This one is rendered from the rows and not stored.
  return render(await told(deps, await readPayment(deps, key)));
}

/** Answers a callback that has no reply yet. Undefined if another run of it has begun meanwhile. */
async function answerFirst(
  deps: Deps,
  { payment, attempt }: Rows,
  { comesAgain }: Proven,
  replying: Replying,
): Promise<Reply | undefined> {
  if (attempt?.status !== 'challenged')
    return remember(deps, replying, async () => told(deps, await readPayment(deps, payment)));
  const look = await lookAtChallenge(deps, attempt, payment, replying.receipt);
  // The challenge is still open: remembering this answer would replay it to the return that comes after the customer has
  // finished.
  const learned: Look = look.kind === 'open' && comesAgain ? { kind: 'unanswered' } : look;
  return writeLook(deps, attempt, learned, replying);
}

async function readPayment(deps: Deps, known: Payment): Promise<Rows> {
  const payment = (await deps.store.payment.get(known.shard, known.id)) ?? known;
  return { payment, attempt: await latestAttempt(deps, payment) };
}

/** The rows with what the shop has to know of its order besides. */
async function told<R extends Rows>(deps: Deps, rows: R): Promise<R & Told> {
  const { payment } = rows;
  if (isPaid(payment)) return { isPaidAside: false, ...rows };
  const all = await deps.store.payment.ofSession(payment.shard, payment.session_id);
  return { isPaidAside: (await findPaidAside(deps, all)) !== undefined, ...rows };
}

/** Writes what the look found, and the reply to remember. Undefined if another run of the callback has begun. */
async function writeLook(deps: Deps, attempt: Attempt, look: Look, replying: Replying): Promise<Reply | undefined> {
  const fresh = (): Promise<SettlementRows> => readSettlement(deps, attempt);
  switch (look.kind) {
    case 'unanswered':
    case 'unclear': {
      // Nothing was learned, so no reply is stored: when the same callback comes again, the network is asked again.
      const rows = await told(deps, await lookAgainLater(deps, attempt, 'unanswered'));
      return replying.render(look.kind === 'unclear' ? { ...rows, isPaidAside: true } : rows);
    }
    case 'open':
    case 'passed_on':
      return remember(deps, replying, async () => told(deps, await fresh()));
    case 'paid_before':
      return remember(
        deps,
        replying,
        async () => told(deps, await readWithEarlier(deps, attempt, look.paid)),
        (rows, settling) => {
          const settled = settling(settleEarlier(deps, rows, look.paid));
          const isAside = rows.isPaidAside || isPaidAside(settled.attempt);
          return { isPaidAside: isAside, ...settled, attempt: rows.attempt };
        },
      );
    case 'ended':
    case 'paid': {
      const { answer } = look;
      const threeDs = look.kind === 'ended' ? look.threeDs : undefined;
      const asked = { at: look.askedAt, inquiry: false, threeDs } as const;
      const context = () => settlementContext(deps, upstreamOf(deps, attempt), asked);
      // An approval pays the payment, or is itself what came too late.
      const read = async () => {
        const rows = await fresh();
        return answer.kind === 'approved' ? { isPaidAside: false, ...rows } : told(deps, rows);
      };
      return remember(deps, replying, read, (rows, settling) => {
        const settled = settling(settleAttempt(rows, answer, context()));
        return { isPaidAside: rows.isPaidAside || isPaidAside(settled.attempt), ...settled };
      });
    }
  }
}

/** What a decision writes, and the rows after it. */
type Decided = Told & { readonly change?: Change | undefined };

/**
 * Writes the decision whether or not a reply has been stored before: money never depends on the memory. Undefined if there was
 * nothing to decide and another run of this callback is still in progress: that run stores its reply.
 */
function remember<R extends Told>(
  deps: Deps,
  { receipt, render }: Replying,
  read: () => Promise<R>,
  decide?: (rows: R, settling: Settling) => Decided,
): Promise<Reply | undefined> {
  const write = (settling: Settling): Promise<Reply | undefined> =>
    commitDecision(
      deps.store,
      () => Promise.all([read(), receipt.stored()]),
      ([rows, stored]) => {
        const decided: Decided = decide?.(rows, settling) ?? rows;
        const { change, attempt } = decided;
        if (stored !== undefined) return { change, answer: stored };
        const isUnderWay = attempt !== undefined && isOpen(attempt.status);
        if (decide === undefined && receipt.begun() && isUnderWay) return { answer: undefined };
        const reply = render(decided);
        return { change: merged(change, receipt.remember(reply)), answer: reply };
      },
    );
  return writeCallAnswer(deps, write);
}
