/**
 * How every race goes, whoever runs in it: which seeds are run, how time passes for all of its clocks, and how long it takes until
 * nothing can become known any more.
 */
import { stillness } from '../support/stillness.ts';
import type { World } from '../support/world.ts';
import type { Pair } from './gateway-pair.ts';

const RACES = Number(process.env.RACES ?? 3);
const FIRST = Number(process.env.SEED ?? 1);
export const SEEDS = Array.from({ length: RACES }, (_, index) => FIRST + index);

export const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Whatever may be known late is known after these. */
const LEAPS_MS = [MINUTE_MS, 15 * MINUTE_MS, HOUR_MS, 6 * HOUR_MS, 24 * HOUR_MS, 24 * HOUR_MS];

export interface Course {
  /** Lets time pass in steps, for the world and for both gateways, until everything that this has begun is done. */
  readonly pass: (milliseconds: number, stepMs: number) => Promise<void>;
  /** Lets all time pass in which something may still become known. */
  readonly finish: () => Promise<void>;
}

export function openCourse(world: World, pair: Pair): Course {
  const pass = async (milliseconds: number, stepMs: number): Promise<void> => {
    for (let left = milliseconds; left > 0; left -= stepMs) {
      await world.clock.advance(Math.min(left, stepMs));
      await pair.clocks.strike();
    }
    await stillness();
  };
  const finish = async (): Promise<void> => {
    await pass(150_000, 15_000);
    for (const leap of LEAPS_MS) {
      // What a wrong clock has left open, a right one finishes.
      if (leap === HOUR_MS) pair.clocks.set([0, 0]);
      await world.leap(leap);
      pair.runRounds();
      await pass(2_500, 2_500);
    }
  };
  return { pass, finish };
}
