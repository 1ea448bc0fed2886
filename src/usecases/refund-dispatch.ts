/**
 * The dispatcher of refunds: sends those that have just been made, or that the round has claimed.
 *
 * Invariant: a refund is sent only while this process holds its lease; if the process dies, the round claims the refund. An
 * upstream that hangs holds up no other upstream's refunds.
 */

import type { Refund } from '../domain/outgoing-records.ts';
import { START_LEASE_MS } from '../domain/payout.ts';
import type { CallOutcome } from './call-outcome.ts';
import type { Deps } from './deps.ts';
import { createFairQueue, type FairQueueLimits } from './fair-queue.ts';
import { waitingRoutes } from './holds.ts';
import { createIdle, type Idle, idleInTime } from './idle.ts';
import { createWriting } from './outgoing-start.ts';
import { startRefund } from './refund-start.ts';

export interface RefundDispatcher {
  /** Takes on a refund that has just been committed, or claimed. Returns false when there is nothing to send, or no room. */
  offer(refund: Refund): boolean;
  /** Resolves when nothing is queued or in flight, and all answers have been written. */
  idle: Idle['idle'];
  /** Stops: queued refunds are left to other processes' rounds, refunds in flight are finished. */
  close(): Promise<void>;
}

const LIMITS: FairQueueLimits = { atReceiver: 16, inAll: 64, waitingAtReceiver: 1_000, waitingInAll: 4_000 };

/** Makes the dispatcher of this process; `limits` say how many refunds may be in flight and queued. */
export function createRefundDispatcher(deps: Deps, limits: FairQueueLimits = LIMITS): RefundDispatcher {
  let closed = false;
  const start = async (refund: Refund): Promise<CallOutcome> => {
    // Its lease has run out: the round will claim it anew.
    if (closed || refund.next_start_at === null || deps.clock.now() >= refund.next_start_at) return 'not_called';
    const about = { refund_id: refund.id, merchant_id: refund.merchant_id };
    try {
      const { outcome, written } = await startRefund(deps, refund);
      writing.follow(written, (error) => deps.log.error('refund_not_recorded', about, error));
      return outcome;
    } catch (error) {
      // The refund is due again when its lease has run out; an open attempt is settled by the inquiry round.
      deps.log.error('refund_not_started', about, error);
      return 'not_called';
    }
  };
  const { idle, tell } = createIdle(() => writing.isEmpty() && queue.isEmpty());
  const writing = createWriting(tell);
  const queue = createFairQueue(deps.clock, limits, start, tell);

  return {
    offer(refund) {
      if (closed || refund.status !== 'pending' || refund.connector === null || refund.next_start_at === null)
        return false;
      return queue.add(refund.merchant_id, refund.connector, refund);
    },
    idle,
    close() {
      closed = true;
      queue.clear();
      return idle();
    },
  };
}

const CLAIMED_AT_ONCE = 64;
/** 16 claims at most per run, so that the round can be stopped even during a large backlog. */
const MOST_CLAIMS = 16;

/** Sends the refunds that are due. Returns how many there were. */
export async function startDueRefunds(
  deps: Pick<Deps, 'store' | 'clock' | 'holds'>,
  dispatcher: RefundDispatcher,
): Promise<number> {
  let found = 0;
  for (let claims = 0; claims < MOST_CLAIMS; claims += 1) {
    await deps.holds.look();
    const now = deps.clock.now();
    const held = waitingRoutes(deps.holds);
    const due = await deps.store.refund.leaseDue(now, now + START_LEASE_MS, CLAIMED_AT_ONCE, held);
    for (const refund of due) dispatcher.offer(refund);
    found += due.length;
    if (due.length < CLAIMED_AT_ONCE) break;
  }
  if (found > 0) await idleInTime(deps, dispatcher);
  return found;
}
