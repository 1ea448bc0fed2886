/**
 * Fair queueing: one queue per merchant and receiver, and shares of the calls that may be in flight. A receiver is whatever may
 * answer slowly or not at all: a merchant's webhook endpoint, or a carrier.
 *
 * Invariant: nobody can use up a shared limit. A merchant may hold a multiple of what is still free (the dynamic thresholds of
 * Choudhury and Hahne), per receiver and in total, and gets fewer and fewer calls to a receiver that does not answer it, so
 * that however many receivers hang, a newcomer finds room. Only the merchant whose calls go unanswered is slowed: many
 * merchants may share a host of which one path hangs. One merchant's work for one receiver starts in order of arrival.
 */

import type { Clock } from '../platform/platform.ts';
import type { CallOutcome } from './call-outcome.ts';

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
  /**
   * For work that was just turned away: after how many ms to offer it again. Half the time that the receiver, at its recent
   * pace, needs for everything turned away before it, at most `most`; beyond that the slots are handed out from the start. 0 if
   * the pace is unknown.
   */
  retryAfterMs(merchantId: string, receiver: string, most: number): number;
  /** Whether nothing is queued and nothing is in flight. */
  isEmpty(): boolean;
  /** Drops everything that is queued. */
  clear(): void;
}

/** 4 times the free places at a receiver may be held by one merchant: four fifths of all, if it is alone there. */
const RECEIVER_FACTOR = 4;
/** 1/4 of the free places in all may be held by one merchant: a fifth of all, if it is alone. */
const MERCHANT_FACTOR = 1 / 4;
/** 8 queues of each share are looked at when a call ends; the end of the next call looks at the next ones. */
const LOOKS = 8;
/** 1/32: the weight of one answer in the moving average of a receiver's pace, once there have been 32. */
const PACE_WEIGHT = 1 / 32;
/** 10 s at most count as the time to the next answer: the clock may have been set, or all calls of the lane hang. */
const PACE_MOST_MS = 10_000;
/** 10 000 empty lanes at most are remembered for their silence. */
const MOST_REMEMBERED = 10_000;

/** Work that counts towards one limit: a merchant's, a receiver's, or all. */
interface Share<W> {
  inFlight: number;
  waiting: number;
  /** The lanes of this share with queued work, the one not looked at for longest first. */
  readonly lanes: Set<Lane<W>>;
}

/** When the first and the last call ended that have gone unanswered since the last answer. */
interface Silence {
  readonly since: number;
  readonly until: number;
}

/** One merchant's queue for one receiver. */
interface Lane<W> {
  readonly merchantId: string;
  readonly receiverId: string;
  readonly merchant: Share<W>;
  readonly receiver: Share<W>;
  readonly queue: W[];
  inFlight: number;
  /** How many of its calls may be in flight: halved by every call left unanswered, doubled by any other. */
  width: number;
  silence: Silence | undefined;
  /** Milliseconds from one answer to the next while work is queued; undefined: not known. */
  pace: number | undefined;
  /** How many answers the pace was measured from. */
  paced: number;
  /** When the last answer came; undefined if nothing was queued then, since the time to the next answer says nothing. */
  answeredAt: number | undefined;
  /** When the work last turned away for lack of room will come again. */
  sentAwayUntil: number;
}

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
  const all: Share<W> = emptyShare();
  const merchants = new Map<string, Share<W>>();
  const receivers = new Map<string, Share<W>>();
  const lanes = new Map<string, Lane<W>>();
  /** Silences of removed lanes, the one removed longest ago first. */
  const silences = new Map<string, Silence>();

  const laneOf = (merchantId: string, receiverId: string): Lane<W> => {
    const key = keyOf(merchantId, receiverId);
    const known = lanes.get(key);
    if (known !== undefined) return known;
    const merchant = shareOf(merchants, merchantId);
    const lane = {
      merchantId,
      receiverId,
      merchant,
      receiver: shareOf(receivers, receiverId),
      queue: [],
      inFlight: 0,
      width: limits.atReceiver,
      silence: silences.get(key),
      pace: undefined,
      paced: 0,
      answeredAt: undefined,
      sentAwayUntil: 0,
    };
    silences.delete(key);
    lanes.set(key, lane);
    return lane;
  };

  const hasRoom = (lane: Lane<W>): boolean =>
    all.waiting < limits.waitingInAll &&
    lane.queue.length < limits.waitingAtReceiver &&
    lane.merchant.waiting < Math.max(1, limits.waitingInAll - all.waiting);

  const mostAtReceiver = limits.atReceiver + (limits.newcomersAtReceiver ?? 0);
  const hasPlaceAtReceiver = ({ inFlight, receiver }: Lane<W>): boolean =>
    receiver.inFlight < (inFlight === 0 ? mostAtReceiver : limits.atReceiver) &&
    inFlight < Math.max(1, RECEIVER_FACTOR * (limits.atReceiver - receiver.inFlight));

  const mayStart = (lane: Lane<W>): boolean =>
    all.inFlight < limits.inAll &&
    lane.inFlight < lane.width &&
    hasPlaceAtReceiver(lane) &&
    lane.merchant.inFlight < Math.max(1, MERCHANT_FACTOR * (limits.inAll - all.inFlight));

  const sharesOf = (lane: Lane<W>): readonly Share<W>[] => [all, lane.merchant, lane.receiver];

  const wait = (lane: Lane<W>, work: W): void => {
    lane.queue.push(work);
    for (const share of sharesOf(lane)) {
      share.waiting += 1;
      share.lanes.add(lane);
    }
  };

  const run = (lane: Lane<W>): void => {
    while (lane.queue.length > 0 && mayStart(lane)) {
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
    lane.width =
      outcome === 'silent' ? Math.max(1, Math.floor(lane.width / 2)) : Math.min(limits.atReceiver, lane.width * 2);
    if (outcome === 'silent') lane.silence = goesOn(lane.silence, now());
    if (outcome === 'answered') {
      lane.silence = undefined;
      noteAnswer(lane, now());
    } else lane.answeredAt = undefined;
    lane.inFlight -= 1;
    for (const share of sharesOf(lane)) share.inFlight -= 1;
    forget(lane);
    // The ended call made room at its receiver, for its merchant and in all: lanes that wait longest come first, its own last.
    const most = all.inFlight === 0 ? Number.POSITIVE_INFINITY : LOOKS;
    const isFull = (): boolean => all.inFlight >= limits.inAll;
    look(lane.receiver, lane, most, () => isFull() || lane.receiver.inFlight >= mostAtReceiver);
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

  const forget = (lane: Lane<W>): void => {
    if (lane.inFlight === 0 && lane.queue.length === 0) {
      const key = keyOf(lane.merchantId, lane.receiverId);
      lanes.delete(key);
      if (lane.silence !== undefined) remember(key, lane.silence);
    }
    if (isUnused(lane.merchant)) merchants.delete(lane.merchantId);
    if (isUnused(lane.receiver)) receivers.delete(lane.receiverId);
  };

  const remember = (key: string, silence: Silence): void => {
    silences.set(key, silence);
    const [oldest] = silences.keys();
    if (oldest !== undefined && silences.size > MOST_REMEMBERED) silences.delete(oldest);
  };

  return {
    add(merchantId, receiverId, work) {
      const lane = laneOf(merchantId, receiverId);
      if (!hasRoom(lane)) {
        forget(lane);
        return false;
      }
      wait(lane, work);
      run(lane);
      return true;
    },
    waiting: (merchantId, receiverId) => lanes.get(keyOf(merchantId, receiverId))?.queue.length ?? 0,
    waitingInAll: () => all.waiting,
    silence(merchantId, receiverId) {
      const key = keyOf(merchantId, receiverId);
      const silence = lanes.get(key)?.silence ?? silences.get(key);
      return silence === undefined ? 0 : silence.until - silence.since;
    },
    retryAfterMs(merchantId, receiverId, most) {
      const lane = lanes.get(keyOf(merchantId, receiverId));
      if (lane?.pace === undefined) return 0;
      const at = now();
      const begun = lane.sentAwayUntil - at;
      const pause = (begun > 0 && begun <= most ? begun : 0) + lane.pace / 2;
      lane.sentAwayUntil = at + pause;
      return Math.min(most, pause);
    },
    isEmpty: () => all.inFlight === 0 && all.waiting === 0,
    clear() {
      for (const lane of all.lanes) {
        const left = lane.queue.splice(0).length;
        for (const share of sharesOf(lane)) {
          share.waiting -= left;
          share.lanes.delete(lane);
        }
        forget(lane);
      }
    },
  };
}

/** Updates the pace. An answer while nothing is queued lowers it: the receiver may be quicker than measured. */
function noteAnswer<W>(lane: Lane<W>, at: number): void {
  const since = lane.answeredAt;
  const isBusy = lane.queue.length > 0;
  lane.answeredAt = isBusy ? at : undefined;
  if (!isBusy) lane.pace = lane.pace === undefined ? undefined : lane.pace * (1 - PACE_WEIGHT);
  else if (since !== undefined) {
    const taken = Math.min(PACE_MOST_MS, Math.max(0, at - since));
    lane.paced += 1;
    lane.pace ??= taken;
    lane.pace += (taken - lane.pace) * Math.max(PACE_WEIGHT, 1 / lane.paced);
  }
}

function keyOf(merchantId: string, receiverId: string): string {
  return `${merchantId} ${receiverId}`;
}

/** Extends a silence to `at`; if the clock was set back, the silence begins anew. */
function goesOn(silence: Silence | undefined, at: number): Silence {
  return { since: Math.min(silence?.since ?? at, at), until: at };
}

function emptyShare<W>(): Share<W> {
  return { inFlight: 0, waiting: 0, lanes: new Set() };
}

function shareOf<W>(shares: Map<string, Share<W>>, id: string): Share<W> {
  const known = shares.get(id);
  if (known !== undefined) return known;
  const share = emptyShare<W>();
  shares.set(id, share);
  return share;
}

function isUnused<W>(share: Share<W>): boolean {
  return share.inFlight === 0 && share.waiting === 0;
}
