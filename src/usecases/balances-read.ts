/**
 * A merchant's balances, by currency.
 *
 * Invariant: a currency is listed once the merchant has ever had an account in it, and with all three balances.
 */

import { CURRENCIES, type Currency } from '../domain/currency.ts';
import { type MerchantAccount, merchantAccount } from '../domain/ledger.ts';
import type { Merchant } from '../domain/records.ts';
import type { Deps } from './deps.ts';

/** Minor units. */
export interface CurrencyBalances {
  readonly currency: Currency;
  readonly available: bigint;
  readonly reserved: bigint;
  readonly held: bigint;
}

/** The merchant's balances in each currency that it has ever had an account in, in the order of `CURRENCIES`. */
export async function readBalances(deps: Pick<Deps, 'store'>, merchant: Merchant): Promise<CurrencyBalances[]> {
  const accounts = await deps.store.accounts.ofMerchant(merchant.shard, merchant.id);
  const byId = new Map(accounts.map(({ id, balance }) => [id, balance]));
  return CURRENCIES.filter((currency) => accounts.some((account) => account.currency === currency)).map((currency) => {
    const minorOf = (what: MerchantAccount): bigint => byId.get(merchantAccount(merchant.id, what, currency).id) ?? 0n;
    return { currency, available: minorOf('available'), reserved: minorOf('reserved'), held: minorOf('held') };
  });
}

/** The merchant's available balance in that currency, in minor units; zero if it has never had an account in it. */
export async function readAvailable(
  deps: Pick<Deps, 'store'>,
  merchant: Pick<Merchant, 'id'>,
  currency: Currency,
): Promise<bigint> {
  const { shard, id } = merchantAccount(merchant.id, 'available', currency);
  return (await deps.store.account.get(shard, id))?.balance ?? 0n;
}
