/**
 * Which methods this gateway can carry out, given its upstreams and a merchant's bank accounts.
 *
 * Invariant: a submit accepts every method that is listed as enabled.
 */

import type { Currency } from '../domain/currency.ts';
import { offeredMethods, type Reach } from '../domain/method.ts';
import type { Merchant, PaymentMethod } from '../domain/records.ts';
import type { BankAccount } from '../domain/transfer-records.ts';
import type { Deps } from './deps.ts';

/** What this needs to know of the upstreams. */
export interface Reaching {
  readonly connectors: Pick<Deps['connectors'], 'card' | 'servesMobileMoney'>;
}

/** The methods that the upstreams make possible in a currency. Whether there is a bank account is not checked here. */
export function reachOf({ connectors }: Reaching, currency: Currency): Reach {
  const cards = connectors.card?.currencies.includes(currency) ?? false;
  return {
    wallet: true,
    flash: true,
    mobile_money: connectors.servesMobileMoney(currency),
    card: cards,
    google_pay: cards,
    apple_pay: cards,
    bank_transfer: true,
  };
}

/**
 * The methods that a merchant's customers can choose in a currency, for a caller that wants one of them: bank accounts are read
 * only if the answer depends on them, because a bank transfer is wanted, or because a refusal has to name the methods that would
 * work.
 */
export async function offeredFor(
  deps: Deps,
  merchant: Merchant,
  currency: Currency,
  wanted: PaymentMethod | undefined,
): Promise<readonly PaymentMethod[]> {
  const offered = offeredMethods(merchant, reachOf(deps, currency));
  const certain = wanted !== undefined && wanted !== 'bank_transfer' && offered.includes(wanted);
  return certain ? offered : offeredTo(deps, merchant, currency);
}

/** The methods that a merchant's customers can choose in a currency; reads the merchant's bank accounts. */
export async function offeredTo(deps: Deps, merchant: Merchant, currency: Currency): Promise<readonly PaymentMethod[]> {
  const offered = offeredMethods(merchant, reachOf(deps, currency));
  if (!offered.includes('bank_transfer')) return offered;
  return offeredWith(deps, merchant, currency, await bankAccountsFor(deps, merchant, currency));
}

/** The methods that a merchant's customers can choose in a currency, given the bank accounts for it. */
export function offeredWith(
  upstreams: Reaching,
  merchant: Merchant,
  currency: Currency,
  accounts: readonly BankAccount[],
): readonly PaymentMethod[] {
  const reach = reachOf(upstreams, currency);
  return offeredMethods(merchant, { ...reach, bank_transfer: reach.bank_transfer && accounts.length > 0 });
}

/** The accounts that a merchant's customers may transfer to in a currency. */
export async function bankAccountsFor(
  deps: Pick<Deps, 'store'>,
  { shard, id }: Pick<Merchant, 'shard' | 'id'>,
  currency: Currency,
): Promise<BankAccount[]> {
  const accounts = await deps.store.bankAccount.ofMerchant(shard, id);
  return accounts.filter((account) => account.status === 'ACTIVE' && account.currency === currency);
}
