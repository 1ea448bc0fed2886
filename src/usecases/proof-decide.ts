/**
 * An operator's decision about the proof of a bank transfer.
 *
 * Invariant: a proof is decided once, however many operators decide at the same time; the second one is told what was decided.
 */

import { transferIds } from '../domain/ids.ts';
import { decideProof, type ProofVerdict } from '../domain/proof.ts';
import type { Payment } from '../domain/records.ts';
import type { Proof } from '../domain/transfer-records.ts';
import { idsOf, newId, type OperatorDeps } from './deps.ts';
import { decideOnce } from './operator-commit.ts';
import { OperatorError } from './operator-error.ts';
import { requireLine } from './operator-input.ts';
import { requirePaymentOf, requireProof } from './proof-read.ts';

export interface ProofDecided {
  readonly proof: Proof;
  readonly payment: Payment;
}

/** Approves: the transfer has arrived, and the money is the merchant's. `note` is for operators only. */
export async function approveProof(deps: OperatorDeps, proofId: string, note: string | null): Promise<ProofDecided> {
  return decide(deps, proofId, { verdict: 'approved', note: note === null ? null : requireNote(note, '--note') });
}

/** Declines: the transfer has not arrived, or the file proves nothing. */
export async function declineProof(deps: OperatorDeps, proofId: string, reason: string): Promise<ProofDecided> {
  return decide(deps, proofId, { verdict: 'declined', note: requireNote(reason, '--reason') });
}

async function decide(deps: OperatorDeps, proofId: string, verdict: ProofVerdict): Promise<ProofDecided> {
  const known = await requireProof(deps, proofId);
  const { shard } = known;
  const ids = {
    event: newId(deps, 'evt', shard),
    transfers: transferIds(idsOf(deps), shard),
  } as const;
  return decideOnce(deps, shard, 'see `mbongo proof show`', async () => {
    const payment = await requirePaymentOf(deps, known);
    // Read after its payment: another operator's decision that shows in the payment shows in the proof, too.
    const proof = await requireProof(deps, proofId);
    if (proof.status !== 'waiting') {
      throw new OperatorError(`${proof.id} has already been ${proof.status}: a proof is decided once`);
    }
    const { change, ...answer } = decideProof(proof, payment, verdict, { ids, now: deps.clock.now() });
    return { change, answer };
  });
}

function requireNote(text: string, option: '--note' | '--reason'): string {
  return requireLine(text, option, 500);
}
