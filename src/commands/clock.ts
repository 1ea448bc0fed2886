/**
 * `mbongo clock`: the test clock of a sandbox, so that schedules, expiries and retries can be watched.
 *
 * Invariant: refused in production. A running gateway adopts a new time within a second, in each of its processes.
 */

import type { ShiftableClock } from '../platform/clock.ts';
import { systemClock } from '../platform/clock.ts';
import { type Round, repeat } from '../rounds/round.ts';
import { advanceClock, type ClockShift, readClockShift, requireSandbox } from '../usecases/clock-shift.ts';
import type { Deps } from '../usecases/deps.ts';
import { readDuration } from './options.ts';
import { type Output, timeOf } from './output.ts';
import type { Tools } from './tools.ts';

/** 250 ms by the machine's clock between two checks whether the test clock was moved. */
const LOOK_EVERY_MS = 250;

/**
 * The time of the test clock as `{now, shift_ms, machine_time}`: by how many milliseconds it is ahead of the machine's clock; 0 if
 * it was never moved.
 *
 * @throws OperatorError in production.
 */
export async function clockShow({ deps }: Tools): Promise<Output> {
  requireSandbox(deps);
  const shift = await readClockShift(deps);
  const document = documentOf(shift, deps.clock.wall());
  const { now, machine_time } = document;
  return {
    document,
    lines:
      shift === undefined ? [`${now}, the same as the machine's`] : [now, `The machine's own time is ${machine_time}.`],
  };
}

/**
 * Sets the test clock forward by a duration such as `30d`, and returns the document of `clockShow`.
 *
 * @throws UsageError for what is no duration above zero; OperatorError in production, and beyond ten years in all.
 */
export async function clockAdvance({ deps }: Tools, duration: string): Promise<Output> {
  const shift = await advanceClock(deps, readDuration(duration));
  const document = documentOf(shift, deps.clock.wall());
  return {
    document,
    lines: [`It is now ${document.now}.`, 'A running gateway adopts the new time within a second.'],
  };
}

/** Keeps a process's clock as the database says, until the round is stopped; while that cannot be read, the clock stays as it was. */
export function followClock(clock: ShiftableClock, deps: Pick<Deps, 'store' | 'log'>): Round {
  const look = async (): Promise<void> => {
    const found = await readClockShift(deps);
    if (found !== undefined && found.shiftMs > clock.shift()) clock.shiftTo(found.shiftMs, found.leaptAt);
  };
  return repeat('clock', LOOK_EVERY_MS, look, { clock: systemClock(), log: deps.log });
}

function documentOf(shift: ClockShift | undefined, wall: number) {
  const shiftMs = shift?.shiftMs ?? 0;
  return { now: timeOf(wall + shiftMs), shift_ms: shiftMs, machine_time: timeOf(wall) };
}
