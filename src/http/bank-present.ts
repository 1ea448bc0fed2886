/**
 * Banks, accounts and proofs in wire form (contract §4).
 *
 * Invariant: a proof's facts are shown, never its content or its hash.
 */

import type { Payment } from '../domain/records.ts';
import type { BankAccount } from '../domain/transfer-records.ts';
import { type Language, say } from '../messages/messages.ts';
import type { Bank } from '../usecases/bank-config.ts';
import type { ProofUploaded } from '../usecases/proof-upload.ts';
import { presentPayment, type SealPaymentId, timestamp } from './present.ts';

/** The answer of `get-config-bank`: the banks in the order given, each with its accounts. */
export function presentBanks(banks: readonly Bank[]) {
  return {
    success: true,
    banks: banks.map(({ id, name, country, accounts }) => ({
      id,
      name,
      country,
      accounts: accounts.map((account) => presentAccount(account)),
    })),
  };
}

/** The answer to an uploaded proof: the payment, and the proof's facts. `seal` makes the `payment_id`. */
export function presentProof({ payment, proof }: ProofUploaded, seal: SealPaymentId, language: Language) {
  return {
    ...presentPayment(payment, seal, say(language, 'done.proof_received')),
    proof: {
      id: proof.id,
      status: proof.status,
      content_type: proof.content_type,
      size: proof.size,
      uploaded_at: timestamp(proof.created_at),
    },
  };
}

/**
 * The fields that a bank transfer's answers add: the account (`null` if there are several and no submit has chosen one yet), and
 * the address for the proof. None for other methods.
 */
export function presentTransfer(payment: Payment, account: BankAccount | undefined, publicUrl: string) {
  if (payment.method !== 'bank_transfer') return {};
  return {
    bank_account: account === undefined ? null : presentAccount(account),
    proof_upload_url: `${publicUrl}/api/v1/payments/bank-transfer/proof`,
  };
}

function presentAccount(account: BankAccount) {
  const { id, account_name, account_number, iban, swift, currency, branch_city } = account;
  return { id, account_name, account_number, iban, swift, currency, branch_city };
}
