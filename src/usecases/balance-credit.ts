/**
 * Puts money into a merchant's available balance, from which its payouts are paid (contract §5, §10).
 *
 * Invariant: an amount is credited once, and the ledger names the command that did it.
 */

import type { Transfer } from '../domain/change.ts';
import type { Currency } from '../domain/currency.ts';
import { floatAccount, merchantAccount } from '../domain/ledger.ts';
import { newId } from './deps.ts';
import { commitOnce, type OperatorDeps, readAfter, requireMerchant } from './operator.ts';

export interface BalanceCredited {
  readonly merchant_id: string;
  readonly currency: Currency;
  /** Minor units, after the credit. */
  readonly available: bigint;
}

/** `amountMinor` is above zero. @throws OperatorError when there is no such merchant. */
export async function creditBalance(
  deps: OperatorDeps,
  merchantId: string,
  currency: Currency,
  amountMinor: bigint,
): Promise<BalanceCredited> {
  const { id, shard } = await requireMerchant(deps, merchantId);
  const credit = merchantAccount(id, 'available', currency);
  const transfer: Transfer = {
    shard,
    id: newId(deps, 'trf', shard),
    debit: floatAccount(shard, currency),
    credit,
    amount_minor: amountMinor,
    currency,
    cause: 'balance_credit',
    cause_id: id,
    at: deps.clock.now(),
  };
  if ((await commitOnce(deps, shard, transfer.id, { transfers: [transfer] })) === 'lost') {
    throw new Error('a credit cannot lose');
  }
  const account = await readAfter(deps, () => deps.store.account.get(credit.shard, credit.id));
  return { merchant_id: id, currency, available: account?.balance ?? 0n };
}
