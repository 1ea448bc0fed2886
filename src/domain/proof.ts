/**
 * A proof of a bank transfer, and the operator's decision about it.
 *
 * Invariant: a proof is decided once. The payment, its money and its event move with the decision, in one change.
 */

import { type BankCreditNamed, claimCredit } from './bank-credit.ts';
import { type Change, revise } from './change.ts';
import { DAY_MS } from './durations.ts';
import { paymentTransfers, transitAccount } from './ledger.ts';
import { type Machine, StateConflict, step } from './machine.ts';
import { advancePayment } from './payment.ts';
import type { Payment } from './records.ts';
import type { Proof, ProofStatus } from './transfer-records.ts';
import { collectEvent, eventInsert } from './webhook.ts';

/** How long a customer has for the transfer and its proof (contract §4). */
export const PROOF_LIFE_MS = 7 * DAY_MS;

/** The connector name that stands for an upstream in the transit account of bank transfers. */
export const BANK_TRANSFER = 'bank_transfer';

const PROOF_FACTS = ['accepted', 'rejected'] as const;
/** What an operator's decision does to a proof, as input to its state machine. */
export type ProofFact = (typeof PROOF_FACTS)[number];

/** The states of the proof of a bank transfer: an operator decides it once. */
export const PROOF: Machine<ProofStatus, ProofFact> = {
  name: 'proof',
  initial: 'waiting',
  final: ['approved', 'declined'],
  facts: PROOF_FACTS,
  table: {
    waiting: { accepted: 'approved', rejected: 'declined' },
    approved: { accepted: 'approved' },
    declined: { rejected: 'declined' },
  },
};

/** An operator's decision about a proof. */
export interface ProofVerdict {
  readonly verdict: 'approved' | 'declined';
  /** Shown to operators only. */
  readonly note: string | null;
  /** The credit on the bank's statement that an approval names, if it names one. */
  readonly credit?: BankCreditNamed | undefined;
}

/** Ids made before deciding, so that deciding twice writes the same. */
export interface DecisionIds {
  readonly event: string;
  readonly transfers: readonly [string, string];
}

/** What a decision writes, and the proof and its payment as they will be. */
export interface Decided {
  readonly change: Change;
  readonly proof: Proof;
  readonly payment: Payment;
}

/**
 * What a decision about a waiting proof writes.
 *
 * @throws StateConflict when the proof is decided already, or the payment does not wait for the decision.
 */
export function decideProof(
  proof: Proof,
  payment: Payment,
  { verdict, note, credit }: ProofVerdict,
  { ids, now }: { readonly ids: DecisionIds; readonly now: number },
): Decided {
  const decided: ProofFact = verdict === 'approved' ? 'accepted' : 'rejected';
  const next = step(PROOF, proof.status, decided);
  if (next.kind !== 'moved') throw new StateConflict('proof', proof, decided);
  const fact = verdict === 'approved' ? 'proof_approved' : 'proof_declined';
  const columns = credit === undefined ? {} : { provider_reference: credit.reference };
  const moved = advancePayment(payment, fact, verdict === 'approved' ? null : 'proof_declined', now, columns);
  const { update, after } = revise('proof', proof, { status: next.to, note, decided_at: now });
  const event = eventInsert(collectEvent(moved.payment, ids.event, now));
  const source = transitAccount(payment.shard, BANK_TRANSFER, payment.currency);
  const transfers = verdict === 'approved' ? paymentTransfers(moved.payment, source, ids.transfers, now) : [];
  const [line] = transfers;
  if (credit !== undefined && line === undefined) throw new Error('a credit is named, but no money comes in');
  const claims = credit === undefined || line === undefined ? [] : [claimCredit(credit, payment, line.id, now)];
  return {
    change: {
      claims,
      updates: [update, moved.update],
      inserts: [moved.history, event],
      transfers,
    },
    proof: after,
    payment: moved.payment,
  };
}
