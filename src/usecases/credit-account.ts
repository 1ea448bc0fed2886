/**
 * Puts money from outside into an account: an operator's credit of a merchant's balance or of a wallet.
 *
 * Invariant: an amount is credited once, and under one reference an account is credited once, however long ago that was.
 */

import type { AccountRef, Transfer } from '../domain/change.ts';
import type { Currency } from '../domain/currency.ts';
import { floatAccount } from '../domain/ledger.ts';
import { formatMinor } from '../domain/money.ts';
import { referenceKey } from '../domain/transfer-reference.ts';
import { newId, type OperatorDeps } from './deps.ts';
import { commitOnce, readAfter } from './operator-commit.ts';
import { OperatorError } from './operator-error.ts';
import { requireReference } from './operator-input.ts';

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
  const { shard } = account;
  const at = deps.clock.now();
  const transfer: Transfer = {
    shard,
    id: newId(deps, 'trf', shard),
    debit: floatAccount(shard, currency),
    credit: account,
    amount_minor: amountMinor,
    currency,
    cause,
    cause_id: named ?? ownerId,
    at,
  };
  const read = async (): Promise<bigint> => (await deps.store.account.get(shard, account.id))?.balance ?? 0n;
  if (named === null) {
    if ((await commitOnce(deps, shard, transfer.id, { transfers: [transfer] })) === 'lost') throw cannotLose();
    return { balance: await readAfter(deps, read), reference: null, creditedAt: at, isRepeated: false };
  }
  const key = referenceKey(cause, account.id, named);
  const claim = {
    table: 'transfer_reference',
    row: { shard, id: key, transfer_id: transfer.id, payment_id: null, amount_minor: amountMinor, created_at: at },
  } as const;
  const look = 'give it again with the same reference, under which nothing is credited twice';
  const outcome = await commitOnce(deps, shard, transfer.id, { claims: [claim], transfers: [transfer] }, look);
  if (outcome === 'won') {
    return { balance: await readAfter(deps, read), reference: named, creditedAt: at, isRepeated: false };
  }
  const before = await deps.store.transferReference.get(shard, key);
  if (before === undefined) throw cannotLose();
  if (before.amount_minor !== amountMinor) {
    const what = `${formatMinor(before.amount_minor, currency)} ${currency} were credited under ${named}`;
    const when = new Date(before.created_at).toISOString();
    throw new OperatorError(`${what} at ${when}, and nothing now: for another credit, use another reference`);
  }
  return { balance: await read(), reference: named, creditedAt: before.created_at, isRepeated: true };
}

function cannotLose(): Error {
  return new Error('a credit cannot lose, unless its reference has been used');
}
