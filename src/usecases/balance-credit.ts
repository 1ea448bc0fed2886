/**
 * Puts money into a merchant's available balance, from which its payouts are paid (contract §5, §10).
 *
 * Invariant: that of `creditAccount`.
 */

import type { Currency } from '../domain/currency.ts';
import { merchantAccount } from '../domain/ledger.ts';
import { type AccountCredited, creditAccount } from './credit-account.ts';
import type { OperatorDeps } from './deps.ts';
import { requireMerchant } from './operator-input.ts';

/** A credit of a merchant's balance, and what is available after it. */
export interface BalanceCredited extends Omit<AccountCredited, 'balance'> {
  readonly merchant_id: string;
  readonly currency: Currency;
  /** Minor units, after the credit. */
  readonly available: bigint;
}

/** `amountMinor` is above zero. @throws OperatorError when there is no such merchant, and as `creditAccount`. */
export async function creditBalance(
  deps: OperatorDeps,
  merchantId: string,
  currency: Currency,
  amountMinor: bigint,
  reference: string | null = null,
): Promise<BalanceCredited> {
  const { id } = await requireMerchant(deps, merchantId);
  const account = merchantAccount(id, 'available', currency);
  const order = { account, currency, amountMinor, cause: 'balance_credit', ownerId: id, reference } as const;
  const { balance, ...credited } = await creditAccount(deps, order);
  return { merchant_id: id, currency, available: balance, ...credited };
}
