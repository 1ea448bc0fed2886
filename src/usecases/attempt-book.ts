/**
 * An operator decides whose money it is that moved after its order had ended.
 *
 * Invariant: it is booked once, however many operators decide at the same time; the second one is told where it went. One movement
 * returns the money of one attempt. No status changes and no webhook is sent. Who decided, and why, is in the log before the
 * command answers.
 */

import { isOpen } from '../domain/attempt.ts';
import { guard, type Update } from '../domain/change.ts';
import { startOfDay } from '../domain/day.ts';
import { MINUTE_MS } from '../domain/durations.ts';
import { timeOfId, transferIds } from '../domain/ids.ts';
import { bookLate, type LateTarget, lateMoneyOf, lateTargetsOf, whyNotKept } from '../domain/late-money.ts';
import { isFinal } from '../domain/payment.ts';
import type { Attempt, Payment } from '../domain/records.ts';
import { isSessionOpen } from '../domain/session.ts';
import { findPayment } from './archive-find.ts';
import { type LateMoney, readLateOut } from './attempt-book-out.ts';
import { requireAttempt } from './attempt-decide.ts';
import { type Deps, idsOf, type OperatorDeps } from './deps.ts';
import {
  claiming,
  lookUpMovement,
  movementOf,
  type NamedMovement,
  requireDistinctive,
  requireUnused,
} from './movement-once.ts';
import { decideOnce } from './operator-commit.ts';
import { OperatorError, UsageError } from './operator-error.ts';
import { type Attribution, requireAttribution, requireReference } from './operator-input.ts';

/** An operator's decision about late money: who gets it, or bears it; who decides; and why. */
export interface LateVerdict {
  readonly to: LateTarget;
  /**
   * The bank's or the upstream's reference for the movement by which the money was returned: to the payer, where it is required, or
   * by the upstream, which may instead have said that it never sent it.
   */
  readonly reference?: string | undefined;
  readonly by: string;
  readonly why: string;
}

/** An attempt whose money moved late, and its order, which had ended without it. */
export type LateRows = Pick<LateMoney, 'attempt' | 'order' | 'feeMinor'>;

/**
 * How far the clocks of two gateways may differ. Each judges by its own clock when a session begins and ends, so here a session
 * is taken to begin this much earlier and end this much later.
 */
const CLOCKS_DIFFER_MS = 5 * MINUTE_MS;

const ADVICE = 'see `mbongo suspense list`';

/**
 * @throws OperatorError when there is no such attempt, none of its money is in suspense, or it cannot go to `verdict.to`; when the
 *   reference names another movement already; UsageError when the reference is missing, or there can be none.
 */
export async function bookLateMoney(
  deps: OperatorDeps & Pick<Deps, 'log'>,
  attemptId: string,
  verdict: LateVerdict,
): Promise<LateRows> {
  const attribution = requireAttribution(verdict);
  const reference = referenceOf(verdict);
  const known = await requireAttempt(deps, attemptId);
  const ids = transferIds(idsOf(deps), known.shard);
  const movement = movedBack(known, verdict.to, reference);
  const booked = await decideOnce(deps, known.shard, ADVICE, async () => {
    const named = await lookUpMovement(deps, movement);
    const late = await requireLate(deps, attemptId, verdict.to);
    // If two operators book money of the same order at once, one change loses and is decided again.
    const now = deps.clock.now();
    const { change, attempt } = late.book({ ids, now });
    return { change: claiming(named, change, now), answer: { attempt, order: late.order, feeMinor: late.feeMinor } };
  });
  logDecision(deps, booked, { to: verdict.to, reference }, attribution);
  return booked;
}

/** What names the movement, cleaned. @throws UsageError */
function referenceOf({ to, reference }: Pick<LateVerdict, 'to' | 'reference'>): string | undefined {
  if (reference === undefined) {
    if (to === 'payer') throw new UsageError('--to payer needs the reference of the movement: add --reference');
    return undefined;
  }
  if (to === 'payer' || to === 'upstream') return requireDistinctive(requireReference(reference), '--reference');
  throw new UsageError(`--reference names money that was returned: with --to ${to} there is none`);
}

/** The movement by which the money went back to its payer, or came back from the upstream. */
function movedBack(attempt: Attempt, to: LateTarget, reference: string | undefined): NamedMovement | undefined {
  if (reference === undefined) return undefined;
  return movementOf(attempt, to === 'payer' ? 'refund' : 'payment', reference);
}

/** Requires that a verdict can be carried out now, and returns the attempt and its order. @throws as `bookLateMoney` */
export async function requireBookable(
  deps: Pick<Deps, 'store' | 'clock'>,
  attemptId: string,
  verdict: Pick<LateVerdict, 'to' | 'reference'>,
): Promise<LateMoney> {
  const reference = referenceOf(verdict);
  const late = await requireLate(deps, attemptId, verdict.to);
  requireUnused(await lookUpMovement(deps, movedBack(late.attempt, verdict.to, reference)));
  return late;
}

/** The attempt and its order, read anew. @throws OperatorError when its money cannot be booked to `to`. */
export async function requireLate(
  deps: Pick<Deps, 'store' | 'clock'>,
  attemptId: string,
  to: LateTarget,
): Promise<LateMoney> {
  const attempt = await requireAttempt(deps, attemptId);
  requireWaiting(attempt);
  const targets = lateTargetsOf(attempt.purpose);
  if (!targets.includes(to)) {
    const [what, last] = [targets.slice(0, -1).join(', '), targets.at(-1)];
    throw new OperatorError(`${attempt.id} belongs to a ${attempt.purpose}: use --to ${what} or ${last}`);
  }
  return attempt.purpose === 'payment' ? readLateIn(deps, attempt, to) : readLateOut(deps, attempt, to);
}

async function readLateIn(deps: Pick<Deps, 'store' | 'clock'>, attempt: Attempt, to: LateTarget): Promise<LateMoney> {
  const payment = await findPayment(deps, attempt.shard, attempt.payment_id);
  if (payment === undefined) throw new Error(`attempt ${attempt.id} has lost its payment`);
  const guards = to === 'merchant' ? await requireKeepable(deps, payment) : [];
  const book: LateMoney['book'] = (context) => bookLate(attempt, payment, to, context, guards);
  return { attempt, order: payment, feeMinor: attempt.fee_minor, book };
}

/** @throws OperatorError when none of the attempt's money is in suspense: it never was, or it was booked. */
export function requireWaiting(attempt: Attempt): void {
  const { id, purpose, status } = attempt;
  const late = lateMoneyOf(attempt);
  if (late === 'waits') return;
  if (late !== undefined) {
    const how = `see who did it with \`mbongo journal list --about ${id}\`, or in the log of that command`;
    const orSo =
      purpose === 'payment' || late !== 'merchant'
        ? how
        : `its order was completed with it, or an operator booked it: ${how}`;
    throw new OperatorError(`${id} has been booked already, to the ${late}: ${orSo}`);
  }
  const instead = isOpen(status) ? 'close it with `mbongo attempt settle`' : ADVICE;
  throw new OperatorError(`${id} is ${status}, and none of its money is in suspense: ${instead}`);
}

/**
 * A merchant gets an order's money once: by this payment, by another of its session, or by an attempt that paid late. So
 * nothing else may still be able to pay the order. Returns guards for the live rows; an archived payment cannot be guarded, so
 * it is not booked this way.
 */
async function requireKeepable({ store, clock }: Pick<Deps, 'store' | 'clock'>, payment: Payment): Promise<Update[]> {
  const { shard, id, status, session_id } = payment;
  const why = whyNotKept(payment);
  const instead = 'return the money to the payer and use --to payer';
  if (why === 'open') throw new OperatorError(`${id} is ${status}: wait until it has ended`);
  if (why === 'paid') throw new OperatorError(`${id} is ${status}, so it was paid without this money: ${instead}`);
  // After a refused card another payment of the session may pay. Read before the payments: a session that is over gets no more.
  const session = await store.session.caller(shard, session_id);
  if (session !== undefined && isSessionOpen(session, clock.now() - CLOCKS_DIFFER_MS)) {
    const until = new Date(session.expires_at + CLOCKS_DIFFER_MS).toISOString();
    throw new OperatorError(`${id} has ended, but its session is open until ${until}: wait until then, or ${instead}`);
  }
  const live = await store.payment.ofSession(shard, session_id);
  if (!live.some((one) => one.id === id)) throw new OperatorError(`${id} has been archived: ${instead}`);
  const [paidBy] = await store.orderPaidBy(payment);
  if (paidBy !== undefined) throw new OperatorError(`the order of ${id} was paid by ${paidBy}: ${instead}`);
  // Read after `orderPaidBy`: if a month was dropped before or during that read, it shows here.
  const records = await store.archive.ledgerBegins();
  const begun = timeOfId(session_id) - CLOCKS_DIFFER_MS;
  if (records !== undefined && begun < startOfDay(records)) {
    const what = `records from the time of ${id} have been dropped, so it is no longer known whether its order was paid`;
    throw new OperatorError(`${what}: ${instead}`);
  }
  const open = live.find((one) => !isFinal(one.status));
  if (open !== undefined) {
    const what = `the order of ${id} may still be paid by ${open.id}, which is ${open.status}`;
    throw new OperatorError(`${what}: wait until that has ended, or ${instead}`);
  }
  const guards = live.map((one) => guard('payment', one));
  return session === undefined ? guards : [guard('session', session), ...guards];
}

function logDecision(
  deps: Pick<Deps, 'log'>,
  { attempt, order }: LateRows,
  { to, reference }: Pick<LateVerdict, 'to' | 'reference'>,
  { by, why }: Attribution,
): void {
  deps.log.warn('late_money_booked_by_operator', {
    attempt_id: attempt.id,
    purpose: attempt.purpose,
    transaction_id: order.id,
    merchant_id: attempt.merchant_id,
    payment_status: order.status,
    to,
    reference,
    by,
    why,
  });
}
