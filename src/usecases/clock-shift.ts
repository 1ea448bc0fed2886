/**
 * The test clock: how far a sandbox's time is ahead of the machine's. It is kept in the database, so that every process of the
 * gateway and every command has the same time.
 *
 * Invariant: time moves forward only, and never in production.
 */

import { DAY_MS } from '../domain/durations.ts';
import type { Setting } from '../domain/records.ts';
import type { Deps, OperatorDeps } from './deps.ts';
import { decideOnce } from './operator-commit.ts';
import { OperatorError, UsageError } from './operator-error.ts';
import { keptIn, readSetting, SETTINGS_SHARD, settingChange } from './setting.ts';
import { hasFields, isText } from './stored-json.ts';

const CLOCK_SHIFT = 'clock_shift';
/** Ten years: enough for any schedule that someone tests (366 runs a month apart would take thirty). */
const MAX_SHIFT_MS = 3_653 * DAY_MS;

/** `leaptAt` is the machine's time at which the clock was last set forward. */
export interface ClockShift {
  readonly shiftMs: number;
  readonly leaptAt: number;
}

/** What is stored; `by` names the command, which recognises its own row by it if the leap has let its claim be deleted. */
interface Kept extends ClockShift {
  readonly by: string;
}

/** How far the clock is ahead; undefined if it has never been moved. @throws Error that names the row if it is damaged */
export async function readClockShift(deps: Pick<Deps, 'store'>): Promise<ClockShift | undefined> {
  const found = await readSetting(deps, CLOCK_SHIFT);
  return found === undefined ? undefined : shiftIn(found);
}

/**
 * Sets the clock forward by `milliseconds`, once.
 *
 * @throws UsageError for nothing above zero; OperatorError in production, and beyond ten years in all.
 */
export async function advanceClock(deps: OperatorDeps, milliseconds: number): Promise<ClockShift> {
  requireSandbox(deps);
  if (milliseconds <= 0) {
    throw new UsageError('the duration must be above zero, for example 30d: the clock only moves forward');
  }
  const by = Buffer.from(deps.random.bytes(16)).toString('hex');
  return decideOnce<ClockShift>(deps, SETTINGS_SHARD, 'check with `mbongo clock show`', async () => {
    const found = await readSetting(deps, CLOCK_SHIFT);
    const before = found === undefined ? undefined : shiftIn(found);
    if (before?.by === by) return { answer: before };
    const shiftMs = (before?.shiftMs ?? 0) + milliseconds;
    if (shiftMs > MAX_SHIFT_MS) {
      throw new OperatorError('the clock can be at most ten years ahead: start with a new database');
    }
    const kept: Kept = { shiftMs, leaptAt: deps.clock.wall(), by };
    return { change: settingChange(CLOCK_SHIFT, found, JSON.stringify(kept)), answer: kept };
  });
}

/** @throws OperatorError in production, where money is real. */
export function requireSandbox({ mode }: Pick<OperatorDeps, 'mode'>): void {
  if (mode === 'production')
    throw new OperatorError('there is no test clock in production: GATEWAY_MODE is production');
}

function shiftIn(setting: Setting): Kept {
  const kept = keptIn(setting, isKept);
  if (kept !== undefined) return kept;
  throw new Error(`the row ${setting.id} of table setting is damaged: restore it from a backup`);
}

function isKept(value: unknown): value is Kept {
  if (!hasFields(value)) return false;
  return Number.isSafeInteger(value.shiftMs) && Number.isSafeInteger(value.leaptAt) && isText(value.by);
}
