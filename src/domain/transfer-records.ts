/**
 * What is stored about bank transfers: the accounts that customers transfer to, and the proofs that they upload.
 *
 * The rules of `records.ts` hold here too: names are columns, money is `bigint` minor units, instants are milliseconds.
 */

import type { Currency } from './currency.ts';
import type { Keyed, Versioned } from './records.ts';

/** A bank account that customers transfer to. */
export interface BankAccount extends Versioned {
  readonly merchant_id: string;
  /** The bank's own identifier, the same for all accounts at it. */
  readonly bank_id: string;
  readonly bank_name: string;
  /** ISO 3166-1 alpha-2, upper case. */
  readonly country: string;
  readonly account_name: string;
  readonly account_number: string;
  readonly iban: string | null;
  readonly swift: string | null;
  readonly currency: Currency;
  readonly branch_city: string | null;
  readonly status: 'ACTIVE' | 'CLOSED';
  readonly created_at: number;
}

export type ProofStatus = 'waiting' | 'approved' | 'declined';

/** A customer's proof of a bank transfer. The file is stored separately, in the `ProofFile` of the same id. */
export interface Proof extends Versioned {
  readonly merchant_id: string;
  readonly payment_id: string;
  /** By content: `image/jpeg`, `image/png` or `application/pdf`. */
  readonly content_type: string;
  /** Bytes. */
  readonly size: number;
  /** A keyed hash of the content: the same file used twice has the same. */
  readonly digest: string;
  readonly status: ProofStatus;
  /** What the operator wrote about the decision. */
  readonly note: string | null;
  readonly created_at: number;
  readonly decided_at: number | null;
}

/** A proof's content, sealed; written once, never changed. */
export interface ProofFile extends Keyed {
  readonly sealed: string;
  readonly created_at: number;
}
