/**
 * How an operator moves money under a reference: a bank's, or a receipt's.
 *
 * Invariant: under one reference an account's money moves once for each cause, however often the command is given, and however much
 * later.
 */

import type { AccountRef, Transfer } from '../domain/change.ts';
import { referenceKey, type TransferReference } from '../domain/transfer-reference.ts';
import { newId, type OperatorDeps } from './deps.ts';
import { commitOnce } from './operator-commit.ts';

/** What to move, and under which reference. */
export interface TransferOrder extends Pick<Transfer, 'debit' | 'credit' | 'amount_minor' | 'currency' | 'cause'> {
  /** The side whose money it is: the one that the reference belongs to. */
  readonly account: AccountRef;
  /** Null: nothing keeps a repeated command from moving the money again. */
  readonly reference: string | null;
  /** What the ledger line names where there is no reference; absent: the line itself. */
  readonly ownerId?: string;
}

/** Whether money moved. */
export type Moved =
  | { readonly kind: 'moved'; readonly transfer: Transfer }
  /** Money moved under that reference before, perhaps another amount; nothing moved now. */
  | { readonly kind: 'before'; readonly before: TransferReference; readonly reference: string }
  /** The balance would go below its floor. */
  | { readonly kind: 'short' };

/** Moves it, unless money has moved under the reference. @throws OperatorError when the outcome stays unknown. */
export async function transferOnce(deps: OperatorDeps, order: TransferOrder): Promise<Moved> {
  const { account, reference, ownerId, debit, credit, amount_minor, currency, cause } = order;
  const { shard } = account;
  const id = newId(deps, 'trf', shard);
  const at = deps.clock.now();
  const named = { shard, id, debit, credit, amount_minor, currency, cause, cause_id: reference ?? ownerId ?? id, at };
  const key = referenceKey(cause, account.id, named.cause_id);
  const row = { shard, id: key, transfer_id: id, payment_id: null, amount_minor, created_at: at };
  const claims = reference === null ? [] : [{ table: 'transfer_reference', row } as const];
  const advice =
    reference === null ? undefined : 'give it again with the same reference, under which no money moves twice';
  const outcome = await commitOnce(deps, shard, id, { claims, transfers: [named] }, advice);
  if (outcome === 'won') return { kind: 'moved', transfer: named };
  const before = reference === null ? undefined : await deps.store.transferReference.get(shard, key);
  return reference === null || before === undefined ? { kind: 'short' } : { kind: 'before', before, reference };
}
