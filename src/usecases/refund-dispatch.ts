/**
 * The dispatcher of refunds: sends those that have just been made, or that the round has claimed.
 *
 * Invariant: a refund is sent only while this process holds its lease; if the process dies, the round claims the refund. An
 * upstream that hangs holds up no other upstream's refunds.
 */

import type { Refund } from '../domain/outgoing-records.ts';
import { START_LEASE_MS } from '../domain/payout.ts';
import type { Deps } from './deps.ts';
import type { FairQueueLimits } from './fair-shares.ts';
import { waitingRoutes } from './holds.ts';
import { idleInTime } from './idle.ts';
import { isLeased } from './outgoing-start.ts';
import { startRefund } from './refund-start.ts';
import { createSender, notSent, type Sender } from './sender.ts';

/** Sends refunds from memory. */
export interface RefundDispatcher extends Pick<Sender<Refund>, 'idle' | 'close'> {
  /** Takes on a refund that has just been committed, or claimed. Returns false when there is nothing to send, or no room. */
  offer(refund: Refund): boolean;
}

const LIMITS: FairQueueLimits = { atReceiver: 16, inAll: 64, waitingAtReceiver: 1_000, waitingInAll: 4_000 };

/** Makes the dispatcher of this process; `limits` say how many refunds may be in flight and queued. */
export function createRefundDispatcher(deps: Deps, limits: FairQueueLimits = LIMITS): RefundDispatcher {
  const sender = createSender<Refund>(deps, limits, {
    kind: 'refund',
    about: (refund) => ({ refund_id: refund.id, merchant_id: refund.merchant_id }),
    send: async (refund) => (isLeased(refund, deps.clock.now()) ? startRefund(deps, refund) : notSent()),
  });
  return {
    offer(refund) {
      if (refund.status !== 'pending' || refund.connector === null || refund.next_start_at === null) return false;
      return sender.add(refund.merchant_id, refund.connector, refund);
    },
    idle: sender.idle,
    close: sender.close,
  };
}

const CLAIMED_AT_ONCE = 64;
/** 16 claims at most per run, so that the round can be stopped even during a large backlog. */
const MAX_CLAIMS = 16;

/** Sends the refunds that are due. Returns how many there were. */
export async function startDueRefunds(
  deps: Pick<Deps, 'store' | 'clock' | 'holds'>,
  dispatcher: RefundDispatcher,
): Promise<number> {
  let found = 0;
  for (let claims = 0; claims < MAX_CLAIMS; claims += 1) {
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
