/**
 * The references under which operators say that money has moved outside: by a transfer of their own, or by one that an upstream
 * has confirmed to them.
 *
 * Invariant: as far as operators say, what one reference names has paid or given back one order, ever. What upstreams say
 * themselves claims nothing.
 */

import { type AccountRef, type Change, merged } from '../domain/change.ts';
import type { Currency } from '../domain/currency.ts';
import { transitAccount } from '../domain/ledger.ts';
import { moneyText } from '../domain/money.ts';
import { BANK_TRANSFER } from '../domain/proof.ts';
import type { Attempt, AttemptPurpose, Keyed } from '../domain/records.ts';
import type { RefundRows } from '../domain/refund.ts';
import { distinctive, movementKey, type TransferReference } from '../domain/transfer-reference.ts';
import type { Deps } from './deps.ts';
import { latestAttempt } from './latest-attempt.ts';
import { OperatorError, UsageError } from './operator-error.ts';

/** A movement that an operator names. */
export interface NamedMovement {
  /** What the money moved for: `refund` is money that somebody got back, `payment` is money that came in. */
  readonly purpose: AttemptPurpose;
  /** The upstream's account, of a refund the one that took the money; and its currency. */
  readonly account: AccountRef;
  readonly currency: Currency;
  readonly amountMinor: bigint;
  /** What it has paid or given back. */
  readonly orderId: string;
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
  const { shard, connector, currency, amount_minor: amountMinor, payment_id: orderId } = attempt;
  return { purpose, account: transitAccount(shard, connector, currency), currency, amountMinor, orderId, reference };
}

/**
 * The account of the upstream through which a refund's money came in, and so goes out: by hand, or by what sends money there, which
 * may have another name.
 */
export async function refundedFrom(deps: Pick<Deps, 'store'>, { refund, payment }: RefundRows): Promise<AccountRef> {
  const paidBy = await latestAttempt(deps, payment);
  return transitAccount(refund.shard, paidBy?.connector ?? BANK_TRANSFER, refund.currency);
}

/** A movement, and what an operator has used its reference for before; undefined: nothing. */
export interface LookedUp {
  readonly movement: NamedMovement;
  readonly key: Keyed;
  readonly used: TransferReference | undefined;
}

/**
 * Looks up a movement, if one is named. A decision does it before it reads its rows: of two commands alike, the one that comes
 * second then finds in the rows what the first one did, and is told that.
 */
export async function lookUpMovement(
  { store }: Pick<Deps, 'store'>,
  movement: NamedMovement | undefined,
): Promise<LookedUp | undefined> {
  if (movement === undefined) return undefined;
  const key = movementKey(movement.purpose, movement.account.id, movement.reference);
  return { movement, key, used: await store.transferReference.get(key.shard, key.id) };
}

/** @throws OperatorError when an operator has used the movement's reference, which says for what. */
export function requireUnused(looked: LookedUp | undefined): void {
  if (looked?.used === undefined) return;
  const { reference, currency } = looked.movement;
  const { payment_id, amount_minor, created_at } = looked.used;
  const since = new Date(created_at).toISOString();
  throw namedTwice(reference, `already names ${moneyText(amount_minor, currency)} for ${payment_id}, since ${since}`);
}

/** What an operator is told of a reference that names another order's money: `what` it names. */
export function namedTwice(reference: string, what: string): OperatorError {
  const wayOut = `if one movement is for both, add what tells them apart, like ${reference}/2`;
  return new OperatorError(`${reference} ${what}: ${wayOut}`);
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
