/**
 * The shares of a fair queue: how much of a shared limit one merchant may hold, at a receiver and in all.
 *
 * Invariant: nobody can use up a shared limit. A merchant may hold a fixed proportion of what is still free (the dynamic thresholds of
 * Choudhury and Hahne), so that however many others there are, a newcomer finds room.
 */

import type { Pace } from './lane-pace.ts';
import type { Silence } from './silences.ts';

/** How much may be in flight and queued. */
export interface FairQueueLimits {
  /** Calls in flight at one receiver, over all merchants. */
  readonly atReceiver: number;
  /**
   * Extra calls on top of these, one per merchant with none in flight there; absent when all merchants share one receiver
   * (carriers).
   */
  readonly newcomersAtReceiver?: number;
  /** Calls in flight in all. */
  readonly inAll: number;
  /** Pieces of one merchant's work queued for one receiver. */
  readonly waitingAtReceiver: number;
  /** Pieces of work queued in all. */
  readonly waitingInAll: number;
}

/** Work that counts towards one limit: a merchant's, a receiver's, or all. */
export interface Share<W> {
  inFlight: number;
  waiting: number;
  /** The lanes of this share with queued work, the one not looked at for longest first. */
  readonly lanes: Set<Lane<W>>;
}

/** One merchant's queue for one receiver. */
export interface Lane<W> {
  readonly merchantId: string;
  readonly receiverId: string;
  readonly merchant: Share<W>;
  readonly receiver: Share<W>;
  readonly queue: W[];
  inFlight: number;
  /** How many of its calls may be in flight: halved by every call left unanswered, doubled by any other. */
  width: number;
  silence: Silence | undefined;
  readonly pace: Pace;
}

/** 4 times the free places at a receiver may be held by one merchant: four fifths of all, if it is alone there. */
const RECEIVER_FACTOR = 4;
/** 1/4 of the free places in all may be held by one merchant: a fifth of all, if it is alone. */
const MERCHANT_FACTOR = 1 / 4;

/** Whether one more piece of work may wait in the lane. */
export function hasRoom<W>({ queue, merchant }: Lane<W>, all: Share<W>, limits: FairQueueLimits): boolean {
  return (
    all.waiting < limits.waitingInAll &&
    queue.length < limits.waitingAtReceiver &&
    merchant.waiting < Math.max(1, limits.waitingInAll - all.waiting)
  );
}

/** Whether one more call of the lane may be in flight. */
export function mayStart<W>(lane: Lane<W>, all: Share<W>, limits: FairQueueLimits): boolean {
  return (
    all.inFlight < limits.inAll &&
    lane.inFlight < lane.width &&
    hasPlaceAtReceiver(lane, limits) &&
    lane.merchant.inFlight < Math.max(1, MERCHANT_FACTOR * (limits.inAll - all.inFlight))
  );
}

function hasPlaceAtReceiver<W>({ inFlight, receiver }: Lane<W>, limits: FairQueueLimits): boolean {
  return (
    receiver.inFlight < (inFlight === 0 ? mostAtReceiver(limits) : limits.atReceiver) &&
    inFlight < Math.max(1, RECEIVER_FACTOR * (limits.atReceiver - receiver.inFlight))
  );
}

/** Calls in flight at one receiver at most, those of newcomers included. */
export function mostAtReceiver({ atReceiver, newcomersAtReceiver = 0 }: FairQueueLimits): number {
  return atReceiver + newcomersAtReceiver;
}

/** A share that nothing counts towards yet. */
export function emptyShare<W>(): Share<W> {
  return { inFlight: 0, waiting: 0, lanes: new Set() };
}

/** The share of that id, made if there is none. */
export function shareOf<W>(shares: Map<string, Share<W>>, id: string): Share<W> {
  const known = shares.get(id);
  if (known !== undefined) return known;
  const share = emptyShare<W>();
  shares.set(id, share);
  return share;
}

/** Whether nothing of it is in flight or queued. */
export function isUnused<W>(share: Share<W>): boolean {
  return share.inFlight === 0 && share.waiting === 0;
}
