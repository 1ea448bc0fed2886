/**
 * Whether an upstream can be used just now, judged by its recent calls (contract §9).
 *
 * Invariant: no upstream is called down for a single call, and one that answers again is operational a minute later.
 */

import { HOUR_MS, MINUTE_MS } from './durations.ts';

/** `degraded`: it works, but not for everybody. `down`: hardly any call is answered. */
export type Availability = 'operational' | 'degraded' | 'down';

const FROM_BEST = ['operational', 'degraded', 'down'] as const satisfies readonly Availability[];

/** The worse one: what takes two kinds of calls is no better than either. */
export function worseOf(one: Availability, other: Availability): Availability {
  return FROM_BEST.indexOf(one) < FROM_BEST.indexOf(other) ? other : one;
}

/** One call that asked an upstream to move money. A declined payment counts as answered. */
export interface UpstreamCall {
  /** Milliseconds. */
  readonly at: number;
  readonly answered: boolean;
  /** An inquiry about it since then was not answered either. */
  readonly silent: boolean;
}

/** Milliseconds for which a call counts; longer ago, only calls that stayed silent do. */
const RECENT_MS = 5 * MINUTE_MS;
/** Milliseconds for which a silent call counts against an upstream that has answered none of its recent calls. */
export const SILENT_MS = HOUR_MS;

/** Failed calls from which on an upstream may be down. */
const DOWN_FROM = 3;
/** Percentages of failed calls from which on an upstream is down, or degraded. */
const DOWN_SHARE = 90;
const DEGRADED_SHARE = 10;

/** Judges an upstream by its `calls` of the last hour, in any order. */
export function availabilityOf(calls: readonly UpstreamCall[], now: number): Availability {
  const { answered, failed } = lastAnswers(calls, now);
  const share = failed === 0 ? 0 : (100 * failed) / (answered + failed);
  if (failed >= DOWN_FROM && share >= DOWN_SHARE) return 'down';
  return share >= DEGRADED_SHARE ? 'degraded' : 'operational';
}

interface Counts {
  readonly answered: number;
  readonly failed: number;
}

/**
 * The calls of the last minute, if they say enough. Otherwise those of five minutes, of which failures count only if no answer
 * came after them: three in a row outweigh all earlier answers.
 */
function lastAnswers(calls: readonly UpstreamCall[], now: number): Counts {
  const within = (span: number): UpstreamCall[] => calls.filter(({ at }) => at > now - span);
  const minute = countsOf(within(MINUTE_MS));
  if (minute.answered > 0 || minute.failed >= DOWN_FROM) return minute;
  const recent = within(RECENT_MS);
  const answers = recent.filter((call) => call.answered);
  if (answers.length === 0) {
    return { answered: 0, failed: calls.filter(({ at, silent }) => silent || at > now - RECENT_MS).length };
  }
  const lastAnswer = Math.max(...answers.map(({ at }) => at));
  const since = countsOf(recent.filter(({ at }) => at > lastAnswer));
  return since.failed >= DOWN_FROM ? since : { answered: answers.length, failed: since.failed };
}

function countsOf(calls: readonly UpstreamCall[]): Counts {
  const answered = calls.filter((call) => call.answered).length;
  return { answered, failed: calls.length - answered };
}
