/**
 * Randomness that a test can repeat, and the moments at which it kills something.
 *
 * Invariant: `FAULTS_SEED` repeats the same draws, and a test that fails says which seed it had.
 */

import { setTimeout as pause } from 'node:timers/promises';
import { onTestFailed } from 'vitest';
import type { Random } from '../../src/platform/platform.ts';
import { seededRandom } from '../../src/platform/testing/seeded-random.ts';

export interface Seed {
  readonly random: Random;
  /** Another source from the same seed, for a second drawer that runs beside the first. */
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

/** At most 25 ms between the awaited event and the moment, to hit any point of what the event causes. */
const MAX_MS_MORE = 25;
/** 1 000 ms without enough events, after which the moment comes all the same. */
const MAX_QUIET_MS = 1_000;

export interface Moments {
  /** Counts an event: a request, an answer or a webhook. */
  happened(): void;
  /** Resolves at the next moment: after a drawn number of events, and a short drawn delay. */
  next(): Promise<void>;
}

/** `mostEvents`: the most events between two moments. */
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
        setTimeout(resolve, MAX_QUIET_MS);
      });
      await pause(random.below(MAX_MS_MORE));
    },
  };
}
