/**
 * Fair queueing: one queue per merchant and receiver, and shares of the calls that may be in flight (`fair-shares.ts`). A receiver
 * is whatever may answer slowly or not at all: a merchant's webhook endpoint, or a carrier.
 *
 * Invariant: a merchant gets fewer and fewer calls to a receiver that does not answer it, so that however many receivers hang, a
 * newcomer finds room. Only the merchant whose calls go unanswered is slowed: many merchants may share a host of which one path
 * hangs. One merchant's work for one receiver starts in order of arrival.
 */

import type { Clock } from '../platform/platform.ts';
import type { CallOutcome } from './call-outcome.ts';
import { createLanes } from './fair-lanes.ts';
import { type FairQueueLimits, hasRoom, type Lane, mayStart, mostAtReceiver, type Share } from './fair-shares.ts';
import { noteAnswer, sendAway } from './lane-pace.ts';
import { goesOn } from './silences.ts';

/** Queues of work for receivers, with fair shares of the calls in flight. */
export interface FairQueue<W> {
  /** Takes work on, or returns false if there is no room for it. */
  add(merchantId: string, receiver: string, work: W): boolean;
  /** How many pieces of that merchant's work wait for that receiver. */
  waiting(merchantId: string, receiver: string): number;
  /** How many pieces wait in all. */
  waitingInAll(): number;
  /**
   * Milliseconds from the end of the first to that of the last of the merchant's calls that this receiver has left unanswered
   * since it last answered one: 0 if it answers, or if it is a single call.
   */
  silence(merchantId: string, receiver: string): number;
  /** For work that was just turned away: after how many milliseconds to offer it again (`sendAway`). */
  sendAway(merchantId: string, receiver: string, most: number): number;
  /** Whether nothing is queued and nothing is in flight. */
  isEmpty(): boolean;
  /** Drops everything that is queued. */
  clear(): void;
}

/** 8 queues of each share are looked at when a call ends; the end of the next call looks at the next ones. */
const LOOKS = 8;

/**
 * Makes the queues. `start` makes one call; its promise never rejects. A call that was not made (the work had waited too long,
 * say) widens the lane but keeps its silence. `emptied` is called whenever the last piece of work is done.
 */
export function createFairQueue<W>(
  { now }: Pick<Clock, 'now'>,
  limits: FairQueueLimits,
  start: (work: W) => Promise<CallOutcome>,
  emptied: () => void,
): FairQueue<W> {
  const lanes = createLanes<W>(limits.atReceiver);
  const { all } = lanes;

  const sharesOf = (lane: Lane<W>): readonly Share<W>[] => [all, lane.merchant, lane.receiver];

  const wait = (lane: Lane<W>, work: W): void => {
    lane.queue.push(work);
    for (const share of sharesOf(lane)) {
      share.waiting += 1;
      share.lanes.add(lane);
    }
  };

  const run = (lane: Lane<W>): void => {
    while (lane.queue.length > 0 && mayStart(lane, all, limits)) {
      const work = lane.queue.shift();
      if (work === undefined) return;
      lane.inFlight += 1;
      for (const share of sharesOf(lane)) {
        share.waiting -= 1;
        share.inFlight += 1;
        if (lane.queue.length === 0) share.lanes.delete(lane);
      }
      void start(work).then((outcome) => end(lane, outcome));
    }
  };

  const end = (lane: Lane<W>, outcome: CallOutcome): void => {
    noteOutcome(lane, outcome, now(), limits);
    lane.inFlight -= 1;
    for (const share of sharesOf(lane)) share.inFlight -= 1;
    lanes.removeIfUnused(lane);
    // The ended call made room at its receiver, for its merchant and in all: lanes that wait longest come first, its own last.
    const most = all.inFlight === 0 ? Number.POSITIVE_INFINITY : LOOKS;
    const isFull = (): boolean => all.inFlight >= limits.inAll;
    look(lane.receiver, lane, most, () => isFull() || lane.receiver.inFlight >= mostAtReceiver(limits));
    look(lane.merchant, lane, most, isFull);
    look(all, lane, most, isFull);
    run(lane);
    if (all.inFlight === 0 && all.waiting === 0) emptied();
  };

  /** Looks in turn at up to `most` lanes of a share, except the one whose call ended; the next look begins after them. */
  const look = (share: Share<W>, ended: Lane<W>, most: number, isFull: () => boolean): void => {
    const some: Lane<W>[] = [];
    for (const lane of share.lanes) {
      if (some.length >= most) break;
      if (lane !== ended) some.push(lane);
    }
    for (const lane of some) {
      if (isFull()) return;
      share.lanes.delete(lane);
      share.lanes.add(lane);
      run(lane);
    }
  };

  return {
    add(merchantId, receiverId, work) {
      const lane = lanes.of(merchantId, receiverId);
      if (!hasRoom(lane, all, limits)) {
        lanes.removeIfUnused(lane);
        return false;
      }
      wait(lane, work);
      run(lane);
      return true;
    },
    waiting: (merchantId, receiverId) => lanes.find(merchantId, receiverId)?.queue.length ?? 0,
    waitingInAll: () => all.waiting,
    silence(merchantId, receiverId) {
      const silence = lanes.silenceOf(merchantId, receiverId);
      return silence === undefined ? 0 : silence.until - silence.since;
    },
    sendAway(merchantId, receiverId, most) {
      const lane = lanes.find(merchantId, receiverId);
      return lane === undefined ? 0 : sendAway(lane.pace, now(), most);
    },
    isEmpty: () => all.inFlight === 0 && all.waiting === 0,
    clear() {
      for (const lane of all.lanes) {
        const left = lane.queue.splice(0).length;
        for (const share of sharesOf(lane)) {
          share.waiting -= left;
          share.lanes.delete(lane);
        }
        lanes.removeIfUnused(lane);
      }
    },
  };
}

/** What the end of a call says of its lane: how many more it may have in flight, and whether the receiver is silent. */
function noteOutcome<W>(lane: Lane<W>, outcome: CallOutcome, at: number, { atReceiver }: FairQueueLimits): void {
  lane.width = outcome === 'silent' ? Math.max(1, Math.floor(lane.width / 2)) : Math.min(atReceiver, lane.width * 2);
  if (outcome === 'silent') lane.silence = goesOn(lane.silence, at);
  if (outcome === 'answered') {
    lane.silence = undefined;
    noteAnswer(lane.pace, at, lane.queue.length > 0);
  } else lane.pace.answeredAt = undefined;
}
