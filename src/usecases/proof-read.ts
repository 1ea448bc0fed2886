/**
 * Reads proofs of bank transfers for an operator, with what speaks against approving them: other payments for which the same file
 * was uploaded, and money that has come for the same order in another way.
 *
 * Invariant: files are compared by a keyed hash of their content, over all merchants and the archive, so that an operator sees
 * when two payments share one proof.
 */

import { shardOf } from '../domain/ids.ts';
import type { Payment } from '../domain/records.ts';
import type { Proof } from '../domain/transfer-records.ts';
import type { ProofFilter } from '../store/nouns.ts';
import { findProofsOf } from './archive-find.ts';
import type { OperatorDeps } from './deps.ts';
import { OperatorError } from './operator-error.ts';
import { requireId } from './operator-input.ts';
import { findPaidAside } from './paid-aside.ts';

/** A proof as an operator sees it. */
export interface ProofSeen {
  readonly proof: Proof;
  readonly payment: Payment;
  /** The other payments that the same file was uploaded for, by transaction_id. */
  readonly duplicateOf: readonly string[];
  /** The attempt whose money has come for the same order, too late to count; null: none is known. */
  readonly paidAsideBy: string | null;
}

/** The proofs that match the filter, with their payments and the other payments with the same file. */
export async function listProofs(deps: OperatorDeps, filter: ProofFilter): Promise<ProofSeen[]> {
  const proofs = await deps.store.proof.list(filter);
  return Promise.all(proofs.map((proof) => seen(deps, proof)));
}

/** One proof with its payment. @throws OperatorError when there is no such proof. */
export async function readProof(deps: OperatorDeps, proofId: string): Promise<ProofSeen> {
  return seen(deps, await requireProof(deps, proofId));
}

/** The file as it was uploaded. @throws OperatorError when it cannot be opened. */
export async function openProofFile(deps: OperatorDeps, { shard, id }: Proof): Promise<Uint8Array> {
  const file = await deps.store.proofFile.get(shard, id);
  const bytes = file === undefined ? undefined : deps.secrets.openBytes('proof', file.sealed, id);
  if (bytes !== undefined) return bytes;
  throw new OperatorError(`the file of ${id} cannot be opened: it was sealed with a master key that is not configured`);
}

/** @throws OperatorError when there is no such proof. */
export async function requireProof(deps: Pick<OperatorDeps, 'store'>, proofId: string): Promise<Proof> {
  requireId('prf', proofId, 'proof');
  const proof = await deps.store.proof.get(shardOf(proofId), proofId);
  if (proof === undefined)
    throw new OperatorError(`there is no proof ${proofId}, or it has been archived: see \`mbongo proof list\``);
  return proof;
}

/** The other payments that a proof with the very same file has been approved for. */
export async function paidBySameFile(deps: Pick<OperatorDeps, 'store'>, proof: Proof): Promise<string[]> {
  const same = await findProofsOf(deps, proof.digest);
  const paid = same.filter((other) => other.status === 'approved' && other.payment_id !== proof.payment_id);
  return [...new Set(paid.map((other) => other.payment_id))];
}

/** The payment that a proof was uploaded for. A missing one is a bug. */
export async function requirePaymentOf(deps: Pick<OperatorDeps, 'store'>, proof: Proof): Promise<Payment> {
  const payment = await deps.store.payment.get(proof.shard, proof.payment_id);
  if (payment === undefined) throw new Error('a proof without its payment');
  return payment;
}

async function seen(deps: OperatorDeps, proof: Proof): Promise<ProofSeen> {
  const [payment, same] = await Promise.all([requirePaymentOf(deps, proof), findProofsOf(deps, proof.digest)]);
  const aside = await findPaidAside(deps, await deps.store.payment.ofSession(payment.shard, payment.session_id));
  const others = same.filter((other) => other.payment_id !== proof.payment_id);
  const duplicateOf = [...new Set(others.map((other) => other.payment_id))];
  return { proof, payment, duplicateOf, paidAsideBy: aside?.id ?? null };
}
