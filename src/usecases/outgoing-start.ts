/**
 * What starting a payout line and starting a refund have in common.
 *
 * Invariant: an upstream's slot is free as soon as it has answered, before the answer is written. The dispatcher counts as idle
 * only after those writes.
 */

import type { Answer } from '../domain/answer.ts';
import { guardedUpdate } from '../domain/change.ts';
import type { PayoutLine, Refund } from '../domain/outgoing-records.ts';
import type { Attempt } from '../domain/records.ts';
import { callWithinDeadline, HELD, HOLD_UNREAD, isUnsure, TOO_LATE } from './attempt-ask.ts';
import type { CallOutcome } from './call-outcome.ts';
import type { Deps } from './deps.ts';
import { rethrowUnlessTransient } from './perform.ts';

/** How a start went. */
export interface Started {
  readonly outcome: CallOutcome;
  /** Settles when the upstream's answer has been written. */
  readonly written: Promise<unknown>;
}

/** Nothing was sent; `outcome` is that of an inquiry about the previous attempt, if one was made. */
export function notSent(outcome: CallOutcome = 'not_called'): Started {
  return { outcome, written: Promise.resolve() };
}

/** Sends an order's money, unless too much time has passed since its attempt was written, or its connector is held by now. */
export function sendUnlessHeld(deps: Deps, attempt: Attempt, send: () => Promise<Answer>): Promise<Answer> {
  return callWithinDeadline(deps, attempt, async () => {
    const isHeld = await deps.holds.isHeld(attempt.connector).catch(() => undefined);
    if (isHeld === undefined) return HOLD_UNREAD;
    return isHeld ? HELD : send();
  });
}

const NOT_CALLED: readonly Answer[] = [TOO_LATE, HELD, HOLD_UNREAD];

/** How our call went: not at all if our own commit took too long, or the connector was held meanwhile. */
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

/** Writes in progress of answers that upstreams have given. */
export interface Writing {
  /** Tracks a write. If it fails, the attempt stays open, and the inquiry round settles it. */
  follow(written: Promise<unknown>, failed: (error: unknown) => void): void;
  isEmpty(): boolean;
}

/** `ended` is called whenever a write has ended. */
export function createWriting(ended: () => void): Writing {
  let count = 0;
  const wait = async (written: Promise<unknown>, failed: (error: unknown) => void): Promise<void> => {
    count += 1;
    await written.catch(failed);
    count -= 1;
    ended();
  };
  return { follow: (written, failed) => void wait(written, failed), isEmpty: () => count === 0 };
}
