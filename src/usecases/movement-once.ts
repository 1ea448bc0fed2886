/**
 * The references under which operators say that money has moved outside: by a transfer of their own, or by one that an upstream
 * has confirmed to them.
 *
 * Invariant: as far as operators say, what one reference names has paid or given back one order, ever. What upstreams say
 * themselves claims nothing.
 */

import type { AccountRef, Claim } from '../domain/change.ts';
import type { Currency } from '../domain/currency.ts';
import { moneyText } from '../domain/money.ts';
import type { AttemptPurpose, Keyed } from '../domain/records.ts';
import { distinctive, movementKey } from '../domain/transfer-reference.ts';
import type { Deps } from './deps.ts';
import { OperatorError, UsageError } from './operator-error.ts';

/** A movement that an operator names. */
export interface NamedMovement {
  readonly purpose: AttemptPurpose;
  /** The upstream's account, and its currency. */
  readonly account: AccountRef;
  readonly currency: Currency;
  readonly reference: string;
}

/** The reference. @throws UsageError, which names its option, when it tells no movement apart from others. */
export function requireDistinctive(reference: string, option: string): string {
  if (distinctive(reference) === '') throw new UsageError(`${option} must contain letters or digits`);
  return reference;
}

/** The key of a movement that no operator has named yet. @throws OperatorError when one has, which says for what. */
export async function requireUnnamed(
  { store }: Pick<Deps, 'store'>,
  { purpose, account, currency, reference }: NamedMovement,
): Promise<Keyed> {
  const key = movementKey(purpose, account.id, reference);
  const used = await store.transferReference.get(key.shard, key.id);
  if (used === undefined) return key;
  const { payment_id, amount_minor, created_at } = used;
  const since = new Date(created_at).toISOString();
  throw namedTwice(reference, `already names ${moneyText(amount_minor, currency)} for ${payment_id}, since ${since}`);
}

/** What an operator is told of a reference that names another order's money. */
export function namedTwice(reference: string, what: string): OperatorError {
  const wayOut = `if one movement is for both, add what tells them apart, like ${reference}/2`;
  return new OperatorError(`${reference} ${what}: ${wayOut}`);
}

/** Claims a movement for an order for good. `transferId` names the ledger line that moved the money. */
export function claimMovement(
  key: Keyed,
  row: { readonly transferId: string; readonly orderId: string; readonly amountMinor: bigint },
  created_at: number,
): Claim {
  const { transferId: transfer_id, orderId: payment_id, amountMinor: amount_minor } = row;
  return { table: 'transfer_reference', row: { ...key, transfer_id, payment_id, amount_minor, created_at } };
}
