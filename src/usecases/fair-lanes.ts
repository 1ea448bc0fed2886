/**
 * The lanes of a fair queue, and the shares that they count towards: made when work comes for them, removed once they are unused.
 *
 * Invariant: a lane that is removed leaves nothing but its silence, of which a bounded number is kept.
 */

import { emptyShare, isUnused, type Lane, type Share, shareOf } from './fair-shares.ts';
import { unknownPace } from './lane-pace.ts';
import { createSilences, type Silence } from './silences.ts';

/** The lanes and shares of one fair queue. */
export interface Lanes<W> {
  /** The share that all work counts towards. */
  readonly all: Share<W>;
  /** The merchant's lane at a receiver, made if there is none. */
  of(merchantId: string, receiverId: string): Lane<W>;
  /** The lane, if work is queued or in flight for it. */
  find(merchantId: string, receiverId: string): Lane<W> | undefined;
  /** Since when, and until when, the receiver has left the merchant's calls unanswered; kept when the lane is removed. */
  silenceOf(merchantId: string, receiverId: string): Silence | undefined;
  /** Removes the lane, and its merchant's and receiver's shares, each if nothing is queued or in flight for it. */
  removeIfUnused(lane: Lane<W>): void;
}

/** Makes the lanes of one queue: none at first. `width`: how many calls of a new lane may be in flight. */
export function createLanes<W>(width: number): Lanes<W> {
  const lanes = new Map<string, Lane<W>>();
  const merchants = new Map<string, Share<W>>();
  const receivers = new Map<string, Share<W>>();
  /** Silences of removed lanes. */
  const silences = createSilences();

  return {
    all: emptyShare(),
    of(merchantId, receiverId) {
      const key = keyOf(merchantId, receiverId);
      const known = lanes.get(key);
      if (known !== undefined) return known;
      const lane: Lane<W> = {
        merchantId,
        receiverId,
        merchant: shareOf(merchants, merchantId),
        receiver: shareOf(receivers, receiverId),
        queue: [],
        inFlight: 0,
        width,
        silence: silences.take(key),
        pace: unknownPace(),
      };
      lanes.set(key, lane);
      return lane;
    },
    find: (merchantId, receiverId) => lanes.get(keyOf(merchantId, receiverId)),
    silenceOf(merchantId, receiverId) {
      const key = keyOf(merchantId, receiverId);
      return lanes.get(key)?.silence ?? silences.peek(key);
    },
    removeIfUnused(lane) {
      const { merchantId, receiverId, merchant, receiver } = lane;
      if (lane.inFlight === 0 && lane.queue.length === 0) {
        const key = keyOf(merchantId, receiverId);
        lanes.delete(key);
        if (lane.silence !== undefined) silences.putAway(key, lane.silence);
      }
      if (isUnused(merchant)) merchants.delete(merchantId);
      if (isUnused(receiver)) receivers.delete(receiverId);
    },
  };
}

function keyOf(merchantId: string, receiverId: string): string {
  return `${merchantId} ${receiverId}`;
}
