/**
 * Load shedding: which requests to turn away when the database is overloaded; reads first, callbacks last.
 *
 * The decision is based on how long work arriving now would wait in the store: pieces waiting, divided by the rate at which the
 * last ones left. It is computed on every request, so that nothing oscillates: a class is admitted less and less as the wait
 * moves through its ramp. Invariant: no class loses a request before every class below it has lost all of theirs, and a few
 * waiting pieces never count as overload.
 */

/** What a request is about, by how soon it is turned away. A route says which (`Route.loadClass`). */
export type LoadClass = 'read' | 'begin' | 'collect' | 'finish' | 'callback';

/** From the first class to be turned away to the last. */
export const LOAD_CLASSES: readonly LoadClass[] = ['read', 'begin', 'collect', 'finish', 'callback'];

/** Milliseconds of waiting in the store: until `from` every request of a class is admitted, from `to` on none. */
interface Ramp {
  readonly from: number;
  readonly to: number;
}

/**
 * A read can simply be repeated. Beginning something costs its merchant nothing yet; a refused collect wastes a session. At
 * `finish` a payer is waiting, and a callback is a carrier's answer, which is not repeated for ever. A payment waits for half a
 * dozen commits while it holds one of its carrier's slots: if `begin` is admitted up to 150 to 250 ms, twice as many payments
 * start as the carrier's callbacks can finish, and a third of the peak completes; with these figures, nine tenths.
 */
const RAMPS: Readonly<Record<LoadClass, Ramp>> = {
  read: { from: 25, to: 40 },
  begin: { from: 40, to: 80 },
  collect: { from: 300, to: 500 },
  finish: { from: 1_000, to: 1_500 },
  callback: { from: 2_000, to: 3_000 },
};

/** This many pieces may always wait: half a batch is gone in an instant. */
const FREE = 128;
/**
 * A measured rate counts as the store's capacity only if at least this many pieces waited throughout; and fewer pieces that
 * have waited long mean a slow request, not a queue.
 */
const BUSY = 16;
/** Rates are measured over this long: several batches. */
const WINDOW_MS = 200;
/** The weight of a new measurement in the rate. */
const BELIEF = 0.2;
/** Pieces per millisecond, until there is a measurement. */
const RATE_AT_FIRST = 2;
/** The oldest piece's age counts from here on: a short pause of a disk is no overload, a database that stalls is one. */
const HICCUP_MS = 750;
/**
 * Weight of the event loop's turn length: a refused request has waited for the turn too, and a payment waits for some ten turns
 * while it holds one of its carrier's slots and one of its receiver's.
 */
const TURN_WEIGHT = 4;
/** A turn with fewer requests was long for another reason, or just serves a few dozen waiting clients. */
const FEW = 128;
/** After the event loop has rested this long, nobody is waiting for it. */
const REST_MS = 5;
/** The precision of ages. */
const EPOCH_MS = 100;
/** A class counts as turned away for this long after its last refusal, so that the level tells of minutes and not of moments. */
const LEVEL_HOLDS_MS = 2_000;

/** One place in the store where work waits. */
export interface Backlog {
  /** Counts a piece of work until it settles. Returns the same promise. */
  follow<T>(work: Promise<T>): Promise<T>;
  /** How many pieces there are. */
  pending(): number;
}

/** What a process decides load shedding by: the work that waits, and the classes that are admitted meanwhile. */
export interface Limiter {
  /** Changes under way: the group commit. */
  readonly commits: Backlog;
  /** Callers that are being looked up: the coalesced reads. */
  readonly reads: Backlog;
  /** Whether a request of that class is admitted. */
  admits(loadClass: LoadClass): boolean;
  /** How many classes are being turned away, or were a moment ago: 0 is none, 5 is all. */
  level(): number;
}

export interface LimiterParts {
  /** Milliseconds, by a clock that only goes forward. */
  now(): number;
  /** Runs a task when everything that is ready in the event loop has had its turn. */
  afterTurn(task: () => void): void;
}

/** A limiter that has seen no work yet. A process has one: all its requests share the store. */
export function createLimiter({ now, afterTurn }: LimiterParts): Limiter {
  const turns = watchTurns(now, afterTurn);
  const [commits, reads] = [createBacklog(now), createBacklog(now)];
  const credits: Record<LoadClass, number> = { read: 0, begin: 0, collect: 0, finish: 0, callback: 0 };
  const refusedAt = new Map<LoadClass, number>();

  return {
    commits,
    reads,
    admits(loadClass) {
      const at = now();
      // Long turns are shortened by refusing only reads and what begins: payments that have begun are worth their time, and fewer
      // follow.
      const turn = Math.min(RAMPS.collect.from, turns.join(at) * TURN_WEIGHT);
      const share = shareOf(RAMPS[loadClass], Math.max(commits.wait(at), reads.wait(at), turn));
      if (share === 1) return true;
      // Admits the share evenly, one request of so many, without drawing at random.
      credits[loadClass] += share;
      if (credits[loadClass] >= 1) {
        credits[loadClass] -= 1;
        return true;
      }
      refusedAt.set(loadClass, at);
      return false;
    },
    level() {
      const since = now() - LEVEL_HOLDS_MS;
      const isTurnedAway = (loadClass: LoadClass): boolean =>
        (refusedAt.get(loadClass) ?? Number.NEGATIVE_INFINITY) > since;
      return LOAD_CLASSES.findLastIndex(isTurnedAway) + 1;
    },
  };
}

/** The share of a class that is admitted. */
function shareOf({ from, to }: Ramp, wait: number): number {
  if (wait <= from) return 1;
  return wait >= to ? 0 : (to - wait) / (to - from);
}

interface Turns {
  /** Counts a request. Returns the milliseconds that requests wait in this turn of the event loop, or did in the last one. */
  join(at: number): number;
}

/**
 * Requests that are ready wait for each other in one turn of the event loop. A long turn is a queue that nobody sees: requests
 * that arrive meanwhile wait in a socket until it is over.
 */
function watchTurns(now: () => number, afterTurn: (task: () => void) => void): Turns {
  let isOn = false;
  let from = 0;
  let came = 0;
  let last = 0;
  let endedAt = 0;
  const end = (): void => {
    isOn = false;
    endedAt = now();
    last = came < FEW ? 0 : endedAt - from;
  };
  return {
    join(at) {
      if (!isOn) {
        isOn = true;
        from = at;
        came = 0;
        if (at - endedAt > REST_MS) last = 0;
        afterTurn(end);
      }
      came += 1;
      return Math.max(came < FEW ? 0 : at - from, last);
    },
  };
}

/** Pieces begun within the same tenth of a second: enough to know how old the oldest is. */
interface Epoch {
  readonly at: number;
  pending: number;
}

interface MeasuredBacklog extends Backlog {
  /** How many milliseconds work that arrives at that time would wait, at least. */
  wait(at: number): number;
}

function createBacklog(now: () => number): MeasuredBacklog {
  let newest: Epoch = { at: now(), pending: 0 };
  const epochs: Epoch[] = [newest];
  let pending = 0;
  /** Pieces per millisecond. */
  let rate = RATE_AT_FIRST;
  let windowFrom = newest.at;
  let ended = 0;
  let fewest = 0;

  const epochAt = (at: number): Epoch => {
    if (at - newest.at >= EPOCH_MS) {
      newest = { at, pending: 0 };
      epochs.push(newest);
      forgetEnded();
    }
    return newest;
  };
  const forgetEnded = (): void => {
    while (epochs.length > 1 && epochs[0]?.pending === 0) epochs.shift();
  };
  const end = (epoch: Epoch): void => {
    epoch.pending -= 1;
    pending -= 1;
    ended += 1;
    if (pending < fewest) fewest = pending;
    const at = now();
    const took = at - windowFrom;
    if (took < WINDOW_MS) return;
    const measured = ended / took;
    // When few pieces wait, few leave: that says nothing about the capacity.
    if (fewest >= BUSY || measured > rate) rate += (measured - rate) * BELIEF;
    windowFrom = at;
    ended = 0;
    fewest = pending;
  };

  return {
    follow(work) {
      const epoch = epochAt(now());
      epoch.pending += 1;
      pending += 1;
      const over = (): void => end(epoch);
      work.then(over, over);
      return work;
    },
    pending: () => pending,
    wait(at) {
      if (pending < BUSY) return 0;
      forgetEnded();
      const age = at - (epochs[0]?.at ?? at) - HICCUP_MS;
      return Math.max(0, age, (pending - FREE) / rate);
    },
  };
}
