/**
 * The pace at which a receiver answers one merchant's calls, and from it when work that found no room should come again.
 *
 * Invariant: work that was sent away comes back one piece after the other, twice as often as the receiver answers, so that no slot
 * stays free and few pieces find none again.
 */

/** How quickly a receiver answers one merchant's calls, as measured. */
export interface Pace {
  /** Milliseconds from one answer to the next while work is queued; undefined: not known. */
  between: number | undefined;
  /** How many answers it was measured from. */
  answers: number;
  /** When the last answer came; undefined if nothing was queued then, since the time to the next answer says nothing. */
  answeredAt: number | undefined;
  /** When the work that was turned away last will come again. */
  sentAwayUntil: number;
}

/** 1/32: the weight of one answer in the moving average, once there have been 32. */
const WEIGHT = 1 / 32;
/** 10 s at most count as the time to the next answer: the clock may have been set, or all calls hang. */
const MAX_BETWEEN_MS = 10_000;

/** The pace of a lane that has had no answer yet. */
export function unknownPace(): Pace {
  return { between: undefined, answers: 0, answeredAt: undefined, sentAwayUntil: 0 };
}

/** Takes an answer into account. One that leaves nothing queued shortens it: the receiver may be quicker than measured. */
export function noteAnswer(pace: Pace, at: number, isBusy: boolean): void {
  const since = pace.answeredAt;
  pace.answeredAt = isBusy ? at : undefined;
  if (!isBusy) pace.between = pace.between === undefined ? undefined : pace.between * (1 - WEIGHT);
  else if (since !== undefined) {
    const taken = Math.min(MAX_BETWEEN_MS, Math.max(0, at - since));
    pace.answers += 1;
    pace.between ??= taken;
    pace.between += (taken - pace.between) * Math.max(WEIGHT, 1 / pace.answers);
  }
}

/**
 * Sends work away: after how many milliseconds to offer it again. Half the time that the receiver needs for everything that was
 * sent away before it, at most `most`; beyond that the slots are handed out from the start. 0 if the pace is unknown.
 */
export function sendAway(pace: Pace, at: number, most: number): number {
  if (pace.between === undefined) return 0;
  const begun = pace.sentAwayUntil - at;
  const pause = (begun > 0 && begun <= most ? begun : 0) + pace.between / 2;
  pace.sentAwayUntil = at + pause;
  return Math.min(most, pause);
}
