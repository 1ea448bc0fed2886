/**
 * What starting a payout line and starting a refund have in common.
 *
 * Invariant: nothing is sent too long after its attempt was written, or to an upstream that an operator holds, or once it is known
 * that the money may have left already.
 */

import type { Answer } from '../domain/answer.ts';
import { guardedUpdate } from '../domain/change.ts';
import type { PayoutLine, Refund } from '../domain/outgoing-records.ts';
import type { Attempt } from '../domain/records.ts';
import { CONNECTOR_HELD, callWithinDeadline, HOLD_UNREAD, isUnsure, TAKEN_BEFORE, TOO_LATE } from './attempt-ask.ts';
import type { CallOutcome } from './call-outcome.ts';
import type { Deps } from './deps.ts';
import { rethrowUnlessTransient } from './perform.ts';

/** Whether this process still holds the order's lease; once it has run out, the round claims the order anew. */
export function isLeased({ next_start_at: until }: Pick<PayoutLine | Refund, 'next_start_at'>, now: number): boolean {
  return until !== null && now < until;
}

/**
 * Sends an order's money, unless too much time has passed since its attempt was written, or its connector is held by now, or the
 * order `isTaken`: an earlier attempt at it, or a failed order that it is sent in place of, has been accepted meanwhile.
 */
export async function sendUnlessHeld(
  deps: Pick<Deps, 'clock' | 'log'> & { readonly holds: Pick<Deps['holds'], 'isHeld'> },
  attempt: Attempt,
  { isTaken }: { readonly isTaken: boolean },
  send: () => Promise<Answer>,
): Promise<Answer> {
  // Read before the attempt's age is looked at: this takes time, too.
  const isHeld = await deps.holds.isHeld(attempt.connector).catch(() => undefined);
  return callWithinDeadline(deps, attempt, async () => {
    if (isTaken) return TAKEN_BEFORE;
    if (isHeld === undefined) return HOLD_UNREAD;
    return isHeld ? CONNECTOR_HELD : send();
  });
}

const NOT_CALLED: readonly Answer[] = [TOO_LATE, CONNECTOR_HELD, HOLD_UNREAD, TAKEN_BEFORE];

/** How our call went: not at all if our own commit took too long, the connector was held, or the order was taken meanwhile. */
export function outcomeOfCall(answer: Answer): CallOutcome {
  if (NOT_CALLED.includes(answer)) return 'not_called';
  return isUnsure(answer) ? 'silent' : 'answered';
}

/** Postpones an order that this process has leased until `next_start_at`. If that cannot be written, the lease's end applies. */
export async function postpone(
  { store }: Pick<Deps, 'store'>,
  table: 'payout_line' | 'refund',
  order: PayoutLine | Refund,
  next_start_at: number,
): Promise<void> {
  await store.commit({ updates: [guardedUpdate(table, order, { next_start_at })] }).catch(rethrowUnlessTransient);
}
