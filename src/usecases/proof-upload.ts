/**
 * Stores the proof of a bank transfer.
 *
 * Invariant: the proof, its sealed file and the payment's change of state commit together: a payment whose proof is under review
 * has one, and no payment has more than one. The file is never opened here, only sealed.
 */

import type { ProofType } from '../domain/file-type.ts';
import { advancePayment, refuseState, requireInTime } from '../domain/payment.ts';
import type { Payment } from '../domain/records.ts';
import type { Proof } from '../domain/transfer-records.ts';
import { findProofsOf } from './archive-find.ts';
import type { SessionCaller } from './callers.ts';
import { type Deps, newId } from './deps.ts';
import { readByPaymentId } from './payment-read.ts';
import { type Answering, type Decision, perform, type Reply } from './perform.ts';

export interface ProofUploadCommand {
  readonly payment_id: string;
  /** The part of the file's content that is stored. */
  readonly bytes: Uint8Array;
  /** The file's type, judged by its content. */
  readonly type: ProofType;
}

export interface ProofUploaded {
  readonly payment: Payment;
  readonly proof: Proof;
}

/**
 * Stores the file, sealed, and moves the payment to `processing` until an operator decides (contract §4).
 *
 * @throws Refusal 1204 for a payment_id that is not the merchant's, 1205 when the payment waits for no proof, or its
 * seven days are over.
 */
export function uploadProof(
  deps: Deps,
  caller: SessionCaller,
  command: ProofUploadCommand,
  answering: Answering<ProofUploaded>,
): Promise<Reply> {
  const content = deps.secrets.digest(command.bytes);
  let prepared: Promise<Prepared> | undefined;
  return perform(
    deps.store,
    answering,
    async () => {
      const payment = await readByPaymentId(deps, caller, command.payment_id);
      // Only if this proof may be accepted, and once.
      if (payment.status === 'pendingBankProofUpload') prepared ??= prepare(deps, payment.shard, command, content);
      return { payment, prepared: await prepared, now: deps.clock.now() };
    },
    (rows) => decide(rows, command),
  );
}

/** The parts of a proof that take time or randomness to make. */
interface Prepared {
  readonly id: string;
  readonly digest: string;
  readonly sealed: string;
}

async function prepare(deps: Deps, shard: number, { bytes }: ProofUploadCommand, content: string): Promise<Prepared> {
  const digest = await keyedDigest(deps, content);
  const id = newId(deps, 'prf', shard);
  return { id, digest, sealed: deps.secrets.seal('proof', bytes, id) };
}

/**
 * The hash by which contents are compared. The same file may have been uploaded when another master key was active: all proofs of
 * one file use the hash of its first upload, so that each finds all the others.
 */
async function keyedDigest(deps: Deps, content: string): Promise<string> {
  for (const other of deps.secrets.macs('proof_digest', content).slice(1)) {
    if ((await findProofsOf(deps, other)).length > 0) return other;
  }
  return deps.secrets.mac('proof_digest', content);
}

interface Rows {
  readonly payment: Payment;
  readonly prepared: Prepared | undefined;
  readonly now: number;
}

function decide({ payment, prepared, now }: Rows, command: ProofUploadCommand): Decision<ProofUploaded> {
  if (payment.status !== 'pendingBankProofUpload' || prepared === undefined) throw refuseState(payment);
  requireInTime(payment, now);
  const moved = advancePayment(payment, 'proof_uploaded', null, now);
  const { shard } = payment;
  const { id, digest, sealed } = prepared;
  const proof: Proof = {
    shard,
    id,
    version: 1,
    merchant_id: payment.merchant_id,
    payment_id: payment.id,
    content_type: command.type,
    size: command.bytes.length,
    digest,
    status: 'waiting',
    note: null,
    created_at: now,
    decided_at: null,
  };
  return {
    change: {
      updates: [moved.update],
      inserts: [
        moved.history,
        { table: 'proof', row: proof },
        { table: 'proof_file', row: { shard, id: proof.id, sealed, created_at: now } },
      ],
    },
    answer: { payment: moved.payment, proof },
  };
}
