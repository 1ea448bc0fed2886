/**
 * The bank accounts that a sandbox merchant begins with, so that bank transfers can be tried like every other method.
 *
 * Invariant: sandbox mode only. The banks do not exist, and no two merchants have the same account number: one transfer pays once
 * at all merchants that share an account.
 */

import type { Merchant } from '../domain/records.ts';
import type { BankAccount } from '../domain/transfer-records.ts';
import { newId, type OperatorDeps } from './deps.ts';

const BANKS = [
  { bank_id: 'banque-okapi', bank_name: 'Banque Okapi', swift: 'OKPICDKI', currency: 'usd', branch_city: 'Goma' },
  { bank_id: 'banque-nyota', bank_name: 'Banque Nyota', swift: null, currency: 'cdf', branch_city: 'Bukavu' },
] as const;

/** One account in dollars and one in Congolese francs, in the merchant's name. */
export function sandboxAccounts(
  deps: Pick<OperatorDeps, 'random' | 'clock'>,
  { shard, id: merchant_id, name, created_at }: Merchant,
): BankAccount[] {
  return BANKS.map((bank) => ({
    ...bank,
    shard,
    id: newId(deps, 'bka', shard),
    version: 1,
    merchant_id,
    country: 'CD',
    account_name: name,
    account_number: `00011-05101-${digits(deps, 11)}-${digits(deps, 2)}`,
    iban: null,
    status: 'ACTIVE',
    created_at,
  }));
}

function digits({ random }: Pick<OperatorDeps, 'random'>, count: number): string {
  return Array.from({ length: count }, () => random.below(10)).join('');
}
