/**
 * Chance that a test can have again, and the moments at which it kills something.
 *
 * Invariant: `FAULTS_SEED` draws the same once more, and a test that fails says which seed it had.
 */

import { setTimeout as pause } from 'node:timers/promises';
import { onTestFailed } from 'vitest';
import type { Random } from '../../src/platform/platform.ts';
import { seededRandom } from '../../src/platform/random.ts';

export interface Seed {
  readonly random: Random;
  /** Another source of the same seed, for whoever draws beside the first one. */
  beside(number: number): Random;
  /** To be called inside a test. */
  tellOnFailure(): void;
}

export function openSeed(): Seed {
  const seed = Number(process.env.FAULTS_SEED ?? Date.now() % 1_000_000);
  return {
    random: seededRandom(seed),
    beside: (number) => seededRandom(seed + number),
    tellOnFailure() {
      onTestFailed(() => {
        process.stderr.write(`the moments were those of FAULTS_SEED=${seed}\n`);
      });
    },
  };
}

/** A moment comes this much after what it waited for: at any point of what that causes. */
const MOST_MS_MORE = 25;
/** When nothing happens for so long, it comes all the same. */
const QUIET_LIMIT_MS = 1_000;

export interface Moments {
  /** A request, an answer or a webhook: what moments are counted by. */
  happened(): void;
  /** Resolves at the next moment: after so much more of these as is drawn, and a little while. */
  next(): Promise<void>;
}

/** `mostEvents`: how much happens between two moments at the most. */
export function openMoments(random: Random, mostEvents: number): Moments {
  let left = 0;
  let wake = (): void => undefined;
  return {
    happened() {
      left -= 1;
      if (left <= 0) wake();
    },
    async next() {
      await new Promise<void>((resolve) => {
        left = 1 + random.below(mostEvents);
        wake = resolve;
        setTimeout(resolve, QUIET_LIMIT_MS);
      });
      await pause(random.below(MOST_MS_MORE));
    },
  };
}
