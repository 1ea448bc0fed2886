/**
 * An operator's word about a refund that waits: it has been carried out by hand, or it will not be.
 *
 * Invariant: a refund is decided once, however many decide at the same time, and only while nothing of it is at an
 * upstream; who comes second is told how it stands. Who said so, and why, stands in the log before it is answered.
 */

import { transitAccount } from '../domain/ledger.ts';
import { BANK_TRANSFER } from '../domain/proof.ts';
import type { Reason } from '../domain/reason.ts';
import { type MovedRefund, moveRefund, type RefundFact, type RefundRows } from '../domain/refund.ts';
import { type Deps, idsOf } from './deps.ts';
import { decideOnce, type OperatorDeps, OperatorError, requireLine, requireSay, type Say } from './operator.ts';
import { requireRefund } from './refund-read.ts';

type RefundDecideDeps = OperatorDeps & Pick<Deps, 'log'>;

/** The customer has the money. `reference` is what the bank or the upstream calls the movement: the evidence. */
export async function executeRefund(
  deps: RefundDecideDeps,
  refundId: string,
  reference: string,
  say: Say,
): Promise<RefundRows> {
  const line = requireLine(reference, 'the reference', REFERENCE_MOST);
  return decide(deps, refundId, { fact: 'executed_by_hand', reason: null, reference: line }, say);
}

/** It will not be carried out: its money goes back to the merchant, and can be asked for again. */
export async function callOffRefund(deps: RefundDecideDeps, refundId: string, say: Say): Promise<RefundRows> {
  return decide(deps, refundId, { fact: 'called_off', reason: 'refund_called_off', reference: null }, say);
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
}

const REFERENCE_MOST = 64;

async function decide(deps: RefundDecideDeps, refundId: string, verdict: Verdict, say: Say): Promise<RefundRows> {
  const said = requireSay(say);
  const { refund: known } = await requireRefund(deps, refundId);
  const decided = await decideOnce(deps, known.shard, 'see `mbongo refund show`', async () => {
    const rows = await requireRefund(deps, refundId);
    requireOpenRefund(rows);
    const { change, ...answer } = await move(deps, rows, verdict);
    return { change, answer };
  });
  tell(deps, decided, verdict, said);
  return decided;
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

function tell(deps: RefundDecideDeps, { refund, payment }: RefundRows, { reference }: Verdict, say: Say): void {
  deps.log.warn('refund_decided_by_operator', {
    refund_id: refund.id,
    transaction_id: payment.id,
    merchant_id: refund.merchant_id,
    status: refund.status,
    payment_status: payment.status,
    provider_reference: reference,
    by: say.by,
    why: say.why,
  });
}
