/**
 * Reads proofs of bank transfers for an operator: what they are, and for which other payments the same file was used.
 *
 * Invariant: a file is compared by a keyed hash of its content, over all merchants and with what has left for the archive;
 * two payments with one proof are what an operator has to see.
 */

import { shardOf } from '../domain/ids.ts';
import type { Payment } from '../domain/records.ts';
import type { Proof } from '../domain/transfer-records.ts';
import type { ProofFilter } from '../store/nouns.ts';
import { findProofsOf } from './archive-find.ts';
import { type OperatorDeps, OperatorError, requireId } from './operator.ts';

export interface ProofSeen {
  readonly proof: Proof;
  readonly payment: Payment;
  /** The other payments that the same file was uploaded for, by transaction_id. */
  readonly duplicateOf: readonly string[];
}

/** The proofs that fit the filter, with their payments and where the same files were used before. */
export async function listProofs(deps: OperatorDeps, filter: ProofFilter): Promise<ProofSeen[]> {
  const proofs = await deps.store.proof.list(filter);
  return Promise.all(proofs.map((proof) => seen(deps, proof)));
}

/** @throws OperatorError when there is no such proof. */
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
  if (proof === undefined) throw new OperatorError(`there is no proof ${proofId}: see \`mbongo proof list\``);
  return proof;
}

/** The payment that a proof was uploaded for. One that is missing is a bug. */
export async function requirePaymentOf(deps: Pick<OperatorDeps, 'store'>, proof: Proof): Promise<Payment> {
  const payment = await deps.store.payment.get(proof.shard, proof.payment_id);
  if (payment === undefined) throw new Error('a proof without its payment');
  return payment;
}

async function seen(deps: OperatorDeps, proof: Proof): Promise<ProofSeen> {
  const [payment, same] = await Promise.all([requirePaymentOf(deps, proof), findProofsOf(deps, proof.digest)]);
  const others = same.filter((other) => other.payment_id !== proof.payment_id);
  return { proof, payment, duplicateOf: [...new Set(others.map((other) => other.payment_id))] };
}
