/**
 * An operator's word about a refund that waits: it has been carried out by hand, or it will not be.
 *
 * Invariant: a refund is decided once, however many decide at the same time, and only while nothing of it is at an
 * upstream; who comes second is told how it stands. Who said so, and why, stands in the log before it is answered.
 */

import { transitAccount } from '../domain/ledger.ts';
import type { Refund } from '../domain/outgoing-records.ts';
import { BANK_TRANSFER } from '../domain/proof.ts';
import type { Reason } from '../domain/reason.ts';
import { type MovedRefund, moveRefund, type RefundFact, type RefundRows } from '../domain/refund.ts';
import { isOverRefunded } from '../domain/refund-order.ts';
import { type Deps, idsOf } from './deps.ts';
import { decideOnce, type OperatorDeps, OperatorError, requireLine, requireSay, type Say } from './operator.ts';
import { requireRefund } from './refund-read.ts';

type RefundDecideDeps = OperatorDeps & Pick<Deps, 'log'>;

/** How a person has given the money back. */
export interface ByHand {
  /** What the bank or the upstream calls the movement: the evidence. */
  readonly reference: string;
  /** Somebody has seen at the upstream that it did not take what it had turned away. */
  readonly notTaken?: boolean;
}

/** The customer has the money. @throws OperatorError where an upstream has given it already, or may have. */
export async function executeRefund(
  deps: RefundDecideDeps,
  refundId: string,
  { reference, notTaken = false }: ByHand,
  say: Say,
): Promise<RefundRows> {
  const line = requireLine(reference, 'the reference', REFERENCE_MOST);
  const verdict = { fact: 'executed_by_hand', reason: null, reference: line, notTaken } as const;
  return decide(deps, refundId, verdict, say, (rows) => requireUnpaid(deps, rows, notTaken));
}

/**
 * It will not be carried out: its money goes back to the merchant, and can be asked for again. `notTaken`: somebody has seen at the
 * upstream that it did not take what it had turned away. @throws OperatorError where an upstream may have given the money
 */
export async function callOffRefund(
  deps: RefundDecideDeps,
  refundId: string,
  say: Say,
  notTaken = false,
): Promise<RefundRows> {
  const verdict = { fact: 'called_off', reason: CALLED_OFF, reference: null, notTaken } as const;
  return decide(deps, refundId, verdict, say, async ({ refund }) => {
    if (!notTaken) await requireNotTaken(deps, [refund]);
  });
}

/** Refuses what is over, and what an upstream may have. */
export function requireOpenRefund({ refund: { id, status } }: RefundRows): void {
  if (status === 'pending') return;
  if (status === 'processing') {
    throw new OperatorError(`${id} is at the upstream: where that says nothing, use \`mbongo attempt settle\``);
  }
  throw new OperatorError(`${id} is over: it has ${status === 'failed' ? 'failed' : 'been completed'}`);
}

interface Verdict {
  readonly fact: Extract<RefundFact, 'executed_by_hand' | 'called_off'>;
  readonly reason: Reason | null;
  readonly reference: string | null;
  readonly notTaken: boolean;
}

const REFERENCE_MOST = 64;
/** Why a refund has failed that an operator called off. */
export const CALLED_OFF = 'refund_called_off' satisfies Reason;

async function decide(
  deps: RefundDecideDeps,
  refundId: string,
  verdict: Verdict,
  say: Say,
  check: (rows: RefundRows) => Promise<void>,
): Promise<RefundRows> {
  const said = requireSay(say);
  const { refund: known } = await requireRefund(deps, refundId);
  const decided = await decideOnce(deps, known.shard, 'see `mbongo refund show`', async () => {
    const rows = await requireRefund(deps, refundId);
    requireOpenRefund(rows);
    await check(rows);
    const { change, ...answer } = await move(deps, rows, verdict);
    return { change, answer };
  });
  tell(deps, decided, verdict, said);
  return decided;
}

/**
 * Refuses to pay a customer by hand whom an upstream has paid, or may have. The gateway inquires before it sends again; a
 * person who pays by hand has not.
 */
async function requireUnpaid(deps: RefundDecideDeps, rows: RefundRows, notTaken: boolean): Promise<void> {
  const { refund, payment } = rows;
  // Read after the payment, whose version guards what they say.
  const refunds = await deps.store.refund.ofPayment(payment.shard, payment.id);
  if (isOverRefunded(payment, refunds)) {
    const what = `with ${refund.id} more of ${payment.id} would be given back than was paid`;
    throw new OperatorError(`${what}: an earlier refund was paid, or taken, after all; call this one off`);
  }
  if (notTaken) return;
  await requireNotTaken(deps, [refund, ...refunds.filter(({ reason }) => reason === CALLED_OFF)]);
}

async function requireNotTaken({ store }: RefundDecideDeps, refunds: readonly Refund[]): Promise<void> {
  for (const { id, attempt_id, shard } of refunds) {
    const tried = attempt_id === null ? undefined : await store.attempt.get(shard, attempt_id);
    if (tried?.status !== 'not_sent') continue;
    const what = `${tried.connector} turned ${id} away, and may have taken it all the same`;
    const wayOut = `say --not-taken if it did not, and \`mbongo attempt settle ${tried.id} --paid\` if it did`;
    throw new OperatorError(`${what}: look there, ${wayOut}`);
  }
}

async function move(deps: RefundDecideDeps, rows: RefundRows, verdict: Verdict): Promise<MovedRefund> {
  const { fact, reason, reference } = verdict;
  const now = deps.clock.now();
  const { shard, currency } = rows.refund;
  const step = {
    fact,
    reason,
    columns: reference === null ? {} : { provider_reference: reference },
    target: transitAccount(shard, await sourceOf(deps, rows), currency),
  };
  const moved = moveRefund(rows, step, { now, newId: idsOf(deps) });
  if (moved === undefined) throw new Error(`refund ${rows.refund.id} is pending, and ${fact} is no news`);
  return moved;
}

/** Where the money had come in, and so where it has gone out. */
async function sourceOf({ store }: RefundDecideDeps, { payment }: RefundRows): Promise<string> {
  const { shard, attempt_id } = payment;
  const paidBy = attempt_id === null ? undefined : await store.attempt.get(shard, attempt_id);
  return paidBy?.connector ?? BANK_TRANSFER;
}

function tell(deps: RefundDecideDeps, { refund, payment }: RefundRows, verdict: Verdict, say: Say): void {
  const { reference, notTaken } = verdict;
  deps.log.warn('refund_decided_by_operator', {
    refund_id: refund.id,
    transaction_id: payment.id,
    merchant_id: refund.merchant_id,
    status: refund.status,
    payment_status: payment.status,
    provider_reference: reference,
    not_taken: notTaken,
    by: say.by,
    why: say.why,
  });
}
