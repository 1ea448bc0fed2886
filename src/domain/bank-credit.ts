/**
 * A credit on a bank's statement: the transfer that a customer's proof speaks of.
 *
 * Invariant: a credit that has been named pays one payment, whoever's proof speaks of it and however the same file looks the second
 * time: its name is claimed for good in the change that approves the proof.
 */

import { type Change, type Claim, guard, revise } from './change.ts';
import type { Keyed, Payment } from './records.ts';
import type { BankAccount, Proof } from './transfer-records.ts';
import { distinctive, referenceKey } from './transfer-reference.ts';

/** A credit that an operator names. */
export interface BankCreditNamed {
  readonly key: Keyed;
  /** The bank's reference, as the operator wrote it. */
  readonly reference: string;
}

/** By what accounts are told apart: the bank, the currency, and the number without blanks and dashes. */
export function identityOf({ bank_id, currency, account_number }: BankAccount): readonly [string, string, string] {
  return [bank_id, currency, account_number.replaceAll(/[^0-9A-Za-z]/g, '').toUpperCase()];
}

/**
 * The key of a credit to that account under the bank's reference. Merchants may share an account, so the key is the same for all:
 * it is in shard 0, and the bank's name, which operators write differently, is no part of it. Of both numbers only letters and
 * digits count: a reference that is taken for another one is refused, and can be told apart by more of them.
 */
export function bankCreditKey(account: BankAccount, reference: string): Keyed {
  const [, currency, number] = identityOf(account);
  return { shard: 0, id: referenceKey('payment', `${number}/${currency}`, distinctive(reference)) };
}

/** What says that this credit has paid a payment; `transfer_id`: the ledger line that brought the money in. */
export function claimCredit(
  { key }: BankCreditNamed,
  { id: payment_id, total_minor: amount_minor }: Payment,
  transfer_id: string,
  created_at: number,
): Claim {
  return { table: 'transfer_reference', row: { ...key, transfer_id, payment_id, amount_minor, created_at } };
}

/** What is written when the credit of a payment that was approved without its reference is named afterwards. */
export function nameCredit(
  proof: Proof,
  payment: Payment,
  credit: BankCreditNamed,
  transferId: string,
  now: number,
): { readonly change: Change; readonly payment: Payment } {
  const { update, after } = revise('payment', payment, { provider_reference: credit.reference });
  const claims = [claimCredit(credit, payment, transferId, now)];
  // A proof that was approved is final. It is guarded so that the journal has the entry about it, too.
  return { change: { claims, updates: [update, guard('proof', proof)] }, payment: after };
}
