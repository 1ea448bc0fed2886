/**
 * Puts money from outside into an account: an operator's credit of a merchant's balance or of a wallet.
 *
 * Invariant: an amount is credited once, and under one reference an account is credited once, however long ago that was.
 */

import type { AccountRef, Transfer } from '../domain/change.ts';
import type { Currency } from '../domain/currency.ts';
import { floatAccount } from '../domain/ledger.ts';
import { moneyText } from '../domain/money.ts';
import type { OperatorDeps } from './deps.ts';
import { readAfter } from './operator-commit.ts';
import { OperatorError } from './operator-error.ts';
import { requireReference } from './operator-input.ts';
import { transferOnce } from './transfer-once.ts';

/** What to put into which account, and under which reference. */
export interface CreditOrder {
  readonly account: AccountRef;
  readonly currency: Currency;
  /** Above zero. */
  readonly amountMinor: bigint;
  readonly cause: Extract<Transfer['cause'], 'balance_credit' | 'wallet_credit'>;
  /** Whose account it is: what the ledger line names if there is no reference. */
  readonly ownerId: string;
  /** The operator's: a bank's or a receipt's; null: nothing keeps a repeated command from crediting again. */
  readonly reference: string | null;
}

/** A credit that was made, now or before. */
export interface AccountCredited {
  /** Minor units, now. */
  readonly balance: bigint;
  readonly reference: string | null;
  readonly creditedAt: number;
  /** The same amount had been credited under this reference before, at `creditedAt`, and nothing was credited now. */
  readonly isRepeated: boolean;
}

/** @throws OperatorError when another amount was credited under the reference, or it is not one clean line. */
export async function creditAccount(
  deps: OperatorDeps,
  { account, currency, amountMinor, cause, ownerId, reference }: CreditOrder,
): Promise<AccountCredited> {
  const named = reference === null ? null : requireReference(reference);
  const debit = floatAccount(account.shard, currency);
  const order = { debit, credit: account, amount_minor: amountMinor, currency, cause };
  const moved = await transferOnce(deps, { ...order, account, reference: named, ownerId });
  const read = async (): Promise<bigint> => (await deps.store.account.get(account.shard, account.id))?.balance ?? 0n;
  switch (moved.kind) {
    case 'moved': {
      const balance = await readAfter(deps, read);
      return { balance, reference: named, creditedAt: moved.transfer.at, isRepeated: false };
    }
    case 'before': {
      const { amount_minor, created_at } = moved.before;
      if (amount_minor === amountMinor) {
        return { balance: await read(), reference: named, creditedAt: created_at, isRepeated: true };
      }
      const what = `${moneyText(amount_minor, currency)} were credited under ${named}`;
      const when = new Date(created_at).toISOString();
      throw new OperatorError(`${what} at ${when}, and nothing now: for another credit, use another reference`);
    }
    case 'short':
      throw new Error('a credit cannot lose, unless its reference has been used');
  }
}
