/**
 * An operator decides a waiting refund: it has been carried out by hand, or it is called off.
 *
 * Invariant: a refund is decided once, however many operators decide at the same time, and only while no attempt at it is open;
 * the second one is told its state. What an operator names at an upstream has given back one refund, ever. Who decided, and why, is
 * in the log before the command answers.
 */

import type { Change } from '../domain/change.ts';
import type { Refund } from '../domain/outgoing-records.ts';
import type { Reason } from '../domain/reason.ts';
import { moveRefund, type RefundFact, type RefundRows } from '../domain/refund.ts';
import { isOverRefunded } from '../domain/refund-order.ts';
import { type Deps, idsOf, type OperatorDeps } from './deps.ts';
import { latestAttempt } from './latest-attempt.ts';
import {
  claiming,
  lookUpMovement,
  type NamedMovement,
  refundedFrom,
  requireDistinctive,
  requireUnused,
} from './movement-once.ts';
import { decideOnce } from './operator-commit.ts';
import { OperatorError } from './operator-error.ts';
import { type Attribution, requireAttribution, requireReference } from './operator-input.ts';
import { requireRefund } from './refund-read.ts';

type RefundDecideDeps = OperatorDeps & Pick<Deps, 'log'>;

interface Verified {
  /** The operator has verified at the upstream that it did not take an attempt that it had turned away. */
  readonly notTaken?: boolean;
}

/** How an operator has given the money back. */
interface ByHand extends Verified {
  /** The bank's or the upstream's reference for the movement: the evidence. */
  readonly reference: string;
}

/**
 * Completes a refund that was paid by hand.
 *
 * @throws OperatorError when an upstream has already paid it, or may have, or its reference has given back another refund.
 */
export async function executeRefund(
  deps: RefundDecideDeps,
  refundId: string,
  { reference, notTaken = false }: ByHand,
  attribution: Attribution,
): Promise<RefundRows> {
  const line = requireDistinctive(requireReference(reference), '--reference');
  const verdict = { fact: 'executed_by_hand', reason: null, reference: line, notTaken } as const;
  return decide(deps, refundId, verdict, attribution, (rows) => requireUnpaid(deps, rows, notTaken));
}

/**
 * Calls a refund off: its money goes back to the merchant, and another refund can be made.
 *
 * @throws OperatorError when an upstream may have paid it.
 */
export async function callOffRefund(
  deps: RefundDecideDeps,
  refundId: string,
  attribution: Attribution,
  { notTaken = false }: Verified = {},
): Promise<RefundRows> {
  const verdict = { fact: 'called_off', reason: CALLED_OFF, reference: null, notTaken } as const;
  return decide(deps, refundId, verdict, attribution, async ({ refund }) => {
    if (!notTaken) await requireNotTaken(deps, [refund]);
  });
}

/** The refund, if that could be recorded now. @throws OperatorError as `executeRefund`; nothing is changed. */
export async function requireExecutable(
  deps: RefundDecideDeps,
  refundId: string,
  { reference, notTaken = false }: ByHand,
): Promise<Refund> {
  const line = requireDistinctive(requireReference(reference), '--reference');
  const rows = await requireRefund(deps, refundId);
  requireOpenRefund(rows);
  await requireUnpaid(deps, rows, notTaken);
  requireUnused(await lookUpMovement(deps, await movementBy(deps, rows, line)));
  return rows.refund;
}

/** The refund, if it could be called off now. @throws OperatorError as `callOffRefund`; nothing is changed. */
export async function requireCallable(
  deps: RefundDecideDeps,
  refundId: string,
  { notTaken = false }: Verified = {},
): Promise<Refund> {
  const rows = await requireRefund(deps, refundId);
  requireOpenRefund(rows);
  if (!notTaken) await requireNotTaken(deps, [rows.refund]);
  return rows.refund;
}

/** Refuses a refund that is over, or that is at an upstream. */
function requireOpenRefund({ refund: { id, status } }: RefundRows): void {
  if (status === 'pending') return;
  if (status === 'processing') {
    throw new OperatorError(
      `${id} is at the upstream: if the upstream does not tell its outcome, use \`mbongo attempt settle\``,
    );
  }
  throw new OperatorError(`${id} is over: it has ${status === 'failed' ? 'failed' : 'been completed'}`);
}

interface Verdict {
  readonly fact: Extract<RefundFact, 'executed_by_hand' | 'called_off'>;
  readonly reason: Reason | null;
  readonly reference: string | null;
  readonly notTaken: boolean;
}

/** The failure reason of a refund that an operator called off. */
export const CALLED_OFF = 'refund_called_off' satisfies Reason;

async function decide(
  deps: RefundDecideDeps,
  refundId: string,
  verdict: Verdict,
  given: Attribution,
  check: (rows: RefundRows) => Promise<void>,
): Promise<RefundRows> {
  const attribution = requireAttribution(given);
  const known = await requireRefund(deps, refundId);
  const movement = await movementBy(deps, known, verdict.reference);
  const decided = await decideOnce(deps, known.refund.shard, 'see `mbongo refund show`', async () => {
    const named = await lookUpMovement(deps, movement);
    const rows = await requireRefund(deps, refundId);
    requireOpenRefund(rows);
    await check(rows);
    const { change, ...answer } = await move(deps, rows, verdict);
    return { change: claiming(named, change, deps.clock.now()), answer };
  });
  logDecision(deps, decided, verdict, attribution);
  return decided;
}

/**
 * Refuses if an upstream has paid the customer already, or may have. The gateway inquires before it sends again; an operator who
 * pays by hand has not.
 */
async function requireUnpaid(deps: RefundDecideDeps, rows: RefundRows, notTaken: boolean): Promise<void> {
  const { refund, payment } = rows;
  // Read after the payment, whose version guards them.
  const refunds = await deps.store.refund.ofPayment(payment.shard, payment.id);
  if (isOverRefunded(payment, refunds)) {
    const what = `with ${refund.id}, more of ${payment.id} would be refunded than was paid`;
    throw new OperatorError(`${what}: an earlier refund was paid or accepted after all; call this one off`);
  }
  if (notTaken) return;
  await requireNotTaken(deps, [refund, ...refunds.filter(({ reason }) => reason === CALLED_OFF)]);
}

async function requireNotTaken(deps: RefundDecideDeps, refunds: readonly Refund[]): Promise<void> {
  for (const refund of refunds) {
    const tried = await latestAttempt(deps, refund);
    if (tried?.status !== 'not_sent') continue;
    const what = `${tried.connector} turned ${refund.id} away, but may have made it after all`;
    const wayOut = `add --not-taken if it did not, or use \`mbongo attempt settle ${tried.id} --paid\` if it did`;
    throw new OperatorError(`${what}: check there, then ${wayOut}`);
  }
}

async function move(
  deps: RefundDecideDeps,
  rows: RefundRows,
  verdict: Verdict,
): Promise<RefundRows & { readonly change: Change }> {
  const { fact, reason, reference } = verdict;
  const { account: target } = await refundedFrom(deps, rows);
  const columns = reference === null ? {} : { provider_reference: reference };
  const moved = moveRefund(rows, { fact, reason, columns, target }, { now: deps.clock.now(), newId: idsOf(deps) });
  if (moved === undefined) throw new Error(`refund ${rows.refund.id} is pending, and ${fact} is no news`);
  return moved;
}

/** What the reference names; null: nothing was moved by hand. */
async function movementBy(
  deps: RefundDecideDeps,
  rows: RefundRows,
  reference: string | null,
): Promise<NamedMovement | undefined> {
  if (reference === null) return undefined;
  const { id: itself, currency, amount_minor: amountMinor } = rows.refund;
  const from = await refundedFrom(deps, rows);
  return { purpose: 'refund', ...from, currency, amountMinor, orderId: rows.payment.id, itself, reference };
}

function logDecision(
  deps: RefundDecideDeps,
  { refund, payment }: RefundRows,
  verdict: Verdict,
  attribution: Attribution,
): void {
  const { reference, notTaken } = verdict;
  deps.log.warn('refund_decided_by_operator', {
    refund_id: refund.id,
    transaction_id: payment.id,
    merchant_id: refund.merchant_id,
    status: refund.status,
    payment_status: payment.status,
    provider_reference: reference,
    not_taken: notTaken,
    by: attribution.by,
    why: attribution.why,
  });
}
