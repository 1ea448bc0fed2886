/**
 * Approves a payment from a wallet, by PIN alone or after a one-time code.
 *
 * Invariant: the money, the fee, the timeline and the event are one change.
 */

import type { Change } from '../domain/change.ts';
import { transferIds } from '../domain/ids.ts';
import { paymentTransfers, walletAccount } from '../domain/ledger.ts';
import type { Moved } from '../domain/payment.ts';
import type { Payment } from '../domain/records.ts';
import { collectEvent, eventInsert } from '../domain/webhook.ts';
import { type Deps, idsOf, newId } from './deps.ts';

/** What a step of a payment writes, and the payment after it. */
export interface Step {
  readonly change: Change;
  readonly payment: Payment;
}

/** What an approved wallet payment writes: its money, fee, timeline and event. */
export function approvedStep(
  deps: Pick<Deps, 'clock' | 'random'>,
  moved: Moved,
  walletNumber: string,
  now: number,
): Step {
  const { payment } = moved;
  const ids = transferIds(idsOf(deps), payment.shard);
  const event = eventInsert(collectEvent(payment, newId(deps, 'evt', payment.shard), now));
  return {
    change: {
      updates: [moved.update],
      inserts: [moved.history, event],
      transfers: paymentTransfers(payment, walletAccount(walletNumber), ids, now),
    },
    payment,
  };
}
