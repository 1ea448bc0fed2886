/**
 * The references under which operators say that money has moved outside: by a transfer of their own, or by one that an upstream
 * has confirmed to them.
 *
 * Invariant: as far as operators say, what one reference names has paid or given back one order, ever. What an upstream has itself
 * called another attempt claims nothing, but is not taken for an order either as long as that attempt is recent.
 */

import { type AccountRef, type Change, merged } from '../domain/change.ts';
import type { Currency } from '../domain/currency.ts';
import { transitAccount } from '../domain/ledger.ts';
import { moneyText } from '../domain/money.ts';
import { BANK_TRANSFER } from '../domain/proof.ts';
import type { Attempt, AttemptPurpose, Keyed } from '../domain/records.ts';
import type { RefundRows } from '../domain/refund.ts';
import { distinctive, movementKey, type TransferReference } from '../domain/transfer-reference.ts';
import type { FindDeps } from './archive-find.ts';
import type { Deps } from './deps.ts';
import { latestAttempt } from './latest-attempt.ts';
import { OperatorError, UsageError } from './operator-error.ts';
import { findNamed } from './order-search.ts';

/** A movement that an operator names. */
export interface NamedMovement {
  /** What the money moved for: `refund` is money that somebody got back, `payment` is money that came in. */
  readonly purpose: AttemptPurpose;
  /** The upstream's account, of a refund the one that took the money; and its currency. */
  readonly account: AccountRef;
  readonly currency: Currency;
  readonly amountMinor: bigint;
  /** Through what it moved; undefined: no upstream has names for it, as at a bank. */
  readonly through: Pick<Attempt, 'connector' | 'carrier'> | undefined;
  /** What it has paid or given back. */
  readonly orderId: string;
  /** The attempt that the upstream may call so, or the order whose attempts it may. */
  readonly itself: string;
  /** The bank's or the upstream's. */
  readonly reference: string;
}

/** The reference. @throws UsageError, which names its option, when it tells no movement apart from others. */
export function requireDistinctive(reference: string, option: string): string {
  if (distinctive(reference) === '') throw new UsageError(`${option} must contain letters or digits`);
  return reference;
}

/** A movement of an attempt's money through its upstream. */
export function movementOf(attempt: Attempt, purpose: AttemptPurpose, reference: string): NamedMovement {
  const { shard, id: itself, connector, currency, amount_minor: amountMinor, payment_id: orderId } = attempt;
  const account = transitAccount(shard, connector, currency);
  return { purpose, account, currency, amountMinor, through: attempt, orderId, itself, reference };
}

/**
 * The attempt by which a refund's money came in, and the account of its upstream, from which it goes out: by hand, or by what sends
 * money there, which may have another name.
 */
export async function refundedFrom(
  deps: Pick<Deps, 'store'>,
  { refund, payment }: RefundRows,
): Promise<Pick<NamedMovement, 'account' | 'through'>> {
  const through = await latestAttempt(deps, payment);
  return { account: transitAccount(refund.shard, through?.connector ?? BANK_TRANSFER, refund.currency), through };
}

/** A movement, and what its reference names already. */
export interface LookedUp {
  readonly movement: NamedMovement;
  readonly key: Keyed;
  /** What an operator has used it for; undefined: nothing. */
  readonly used: TransferReference | undefined;
  /** Another attempt that the upstream calls so; undefined: none of the last 30 days. */
  readonly theirs: Attempt | undefined;
}

/**
 * Looks up a movement, if one is named. A decision does it before it reads its rows: of two commands alike, the one that comes
 * second then finds in the rows what the first one did, and is told that.
 */
export async function lookUpMovement(
  deps: FindDeps,
  movement: NamedMovement | undefined,
): Promise<LookedUp | undefined> {
  if (movement === undefined) return undefined;
  const { purpose, account, currency, through, itself, reference } = movement;
  const key = movementKey(purpose, account.id, reference);
  const [used, theirs] = await Promise.all([
    deps.store.transferReference.get(key.shard, key.id),
    through && findNamed(deps, { purpose, currency, through, itself, reference }),
  ]);
  return { movement, key, used, theirs };
}

/** @throws OperatorError when the movement's reference names something else, by an operator's word or by the upstream's. */
export function requireUnused(looked: LookedUp | undefined): void {
  if (looked === undefined) return;
  const { movement, used, theirs } = looked;
  const { reference, currency } = movement;
  const wayOut = `if one movement is for both, add what tells them apart, like ${reference}/2`;
  if (theirs !== undefined) {
    const { id, status, payment_id } = theirs;
    throw new OperatorError(`${reference} is the reference of ${id}, ${status}, for ${payment_id}: ${wayOut}`);
  }
  if (used === undefined) return;
  const { payment_id, amount_minor, created_at } = used;
  const what = `${moneyText(amount_minor, currency)} for ${payment_id}, since ${new Date(created_at).toISOString()}`;
  throw new OperatorError(`${reference} already names ${what}: ${wayOut}`);
}

/**
 * The change that books an order's money, with the claim of the movement, if one was named.
 *
 * @throws OperatorError as `requireUnused`.
 */
export function claiming(looked: LookedUp | undefined, change: Change, created_at: number): Change {
  if (looked === undefined) return change;
  requireUnused(looked);
  const moved = change.transfers?.[0];
  const { orderId: payment_id, amountMinor: amount_minor } = looked.movement;
  if (moved === undefined) throw new Error(`an operator names a movement for ${payment_id}, and no money moves`);
  const row = { ...looked.key, transfer_id: moved.id, payment_id, amount_minor, created_at };
  return merged(change, { claims: [{ table: 'transfer_reference', row }] });
}
