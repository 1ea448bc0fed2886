/**
 * Reads the banks and accounts that a session's payment may be transferred to (contract §4).
 *
 * Invariant: what is listed is what a submit accepts: open accounts of the session's merchant, in the session's currency.
 */

import { offeredMethods } from '../domain/method.ts';
import type { BankAccount } from '../domain/transfer-records.ts';
import type { SessionCaller } from './callers.ts';
import type { Deps } from './deps.ts';
import { bankAccountsFor, reachOf } from './method-reach.ts';

/** A bank as its first account names it, with its accounts in the order in which they were added. */
export interface Bank {
  readonly id: string;
  readonly name: string;
  readonly country: string;
  readonly accounts: readonly BankAccount[];
}

/** The banks of a session's merchant, in its currency; none where bank transfers are not offered. */
export async function readBanks(deps: Deps, { merchant, session }: SessionCaller): Promise<readonly Bank[]> {
  const { currency } = session;
  if (!offeredMethods(merchant, reachOf(deps, currency)).includes('bank_transfer')) return [];
  return banksOf(await bankAccountsFor(deps, merchant, currency));
}

/** Accounts grouped by their bank. */
export function banksOf(accounts: readonly BankAccount[]): readonly Bank[] {
  const ids = new Set(accounts.map(({ bank_id }) => bank_id));
  return [...ids].flatMap((id) => {
    const own = accounts.filter(({ bank_id }) => bank_id === id);
    const [first] = own;
    return first === undefined ? [] : [{ id, name: first.bank_name, country: first.country, accounts: own }];
  });
}
