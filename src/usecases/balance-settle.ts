/**
 * Pays money out of a merchant's available balance to the merchant's own bank.
 *
 * Invariant: it is taken once, also if the command is repeated with the same reference, however much later, and never more than is
 * available. The ledger line carries the reference of the bank's payment order, so that the statement shows it.
 */

import type { Currency } from '../domain/currency.ts';
import { merchantAccount, settledAccount } from '../domain/ledger.ts';
import { formatMinor, moneyText } from '../domain/money.ts';
import type { Merchant } from '../domain/records.ts';
import { referenceKey, type TransferReference } from '../domain/transfer-reference.ts';
import { readAvailable } from './balances-read.ts';
import type { Deps, OperatorDeps } from './deps.ts';
import { readAfter } from './operator-commit.ts';
import { OperatorError } from './operator-error.ts';
import { requireAttribution, requireMerchant, requireReference } from './operator-input.ts';
import { transferOnce } from './transfer-once.ts';

/** What to pay to a merchant's bank, and who orders it. */
export interface SettleOrder {
  readonly merchantId: string;
  readonly currency: Currency;
  /** Above zero. */
  readonly amountMinor: bigint;
  /** The bank's, or the operator's own; null: the ledger line's id is used. */
  readonly reference: string | null;
  readonly by: string;
  readonly why: string | null;
}

/** A settlement that was made, now or before. */
export interface BalanceSettled {
  readonly merchantId: string;
  readonly currency: Currency;
  readonly amountMinor: bigint;
  readonly reference: string;
  /** Minor units, now. */
  readonly available: bigint;
  readonly settledAt: number;
  /** The same amount had been settled under this reference before, at `settledAt`, and nothing was taken now. */
  readonly isRepeated: boolean;
}

/**
 * What settling that would do now: the merchant whose money it takes, or the settlement that was made before under the reference.
 *
 * @throws OperatorError as `settleBalance`; nothing is changed.
 */
export async function previewSettlement(
  deps: OperatorDeps,
  { merchantId, currency, amountMinor, reference }: Omit<SettleOrder, 'by' | 'why'>,
): Promise<Merchant | BalanceSettled> {
  const named = nameOf(reference);
  const merchant = await requireMerchant(deps, merchantId);
  const { id, shard } = merchant;
  const debit = merchantAccount(id, 'available', currency);
  const [available, settled] = await Promise.all([
    readAvailable(deps, merchant, currency),
    named === null ? undefined : deps.store.transferReference.get(shard, referenceKey('settlement', debit.id, named)),
  ]);
  if (named !== null && settled !== undefined) {
    return settledBefore(settled, { merchantId: id, currency, amountMinor, reference: named, available });
  }
  if (available < amountMinor) throw tooLittle(available, currency);
  return merchant;
}

function nameOf(reference: string | null): string | null {
  return reference === null ? null : requireReference(reference);
}

/**
 * @throws OperatorError when there is no such merchant, too little is available, or another amount was settled under the reference.
 */
export async function settleBalance(
  deps: OperatorDeps & Pick<Deps, 'log'>,
  { merchantId, currency, amountMinor, reference, by, why }: SettleOrder,
): Promise<BalanceSettled> {
  const named = nameOf(reference);
  const attribution = requireAttribution({ by, why });
  const { id, shard } = await requireMerchant(deps, merchantId);
  const debit = merchantAccount(id, 'available', currency);
  const credit = settledAccount(shard, currency);
  const order = { debit, credit, amount_minor: amountMinor, currency, cause: 'settlement' } as const;
  const moved = await transferOnce(deps, { ...order, account: debit, reference: named });
  const read = (): Promise<bigint> => readAvailable(deps, { id }, currency);
  const asked = { merchantId: id, currency, amountMinor };
  if (moved.kind === 'short') throw tooLittle(await read(), currency);
  if (moved.kind === 'before') {
    return settledBefore(moved.before, { ...asked, reference: moved.reference, available: await read() });
  }
  const { transfer } = moved;
  deps.log.warn('balance_settled_by_operator', {
    merchant_id: id,
    currency,
    amount: formatMinor(amountMinor, currency),
    transfer_id: transfer.id,
    reference: transfer.cause_id,
    ...attribution,
  });
  const available = await readAfter(deps, read);
  return { settledAt: transfer.at, isRepeated: false, ...asked, reference: transfer.cause_id, available };
}

/** The settlement that a repeated command names. @throws OperatorError if that was of another amount. */
function settledBefore(
  { amount_minor, created_at }: TransferReference,
  asked: Omit<BalanceSettled, 'settledAt' | 'isRepeated'>,
): BalanceSettled {
  if (amount_minor === asked.amountMinor) return { settledAt: created_at, isRepeated: true, ...asked };
  const what = `${moneyText(amount_minor, asked.currency)} were settled as ${asked.reference}`;
  const when = new Date(created_at).toISOString();
  throw new OperatorError(
    `${what} at ${when}, as the merchant's statement shows: for another settlement, use another reference`,
  );
}

function tooLittle(available: bigint, currency: Currency): OperatorError {
  return new OperatorError(`only ${moneyText(available, currency)} are available: settle at most that`);
}
