/**
 * How far this machine's clock is from the database's, with which every machine compares its own.
 *
 * Invariant: the time that the question takes is never mistaken for a difference that is certain.
 */

import type { Deps } from './deps.ts';

/** Milliseconds that the two clocks certainly differ by. */
export async function clockDifference({ store, clock }: Pick<Deps, 'store' | 'clock'>): Promise<number> {
  const before = clock.wall();
  const there = await store.time();
  return Math.max(0, before - there, there - clock.wall());
}

/**
 * Milliseconds that the two clocks differ by at most: what the question takes counts, too, so that a clock that is set right meanwhile
 * does not pass as right.
 */
export async function clockDifferenceAtMost({ store, clock }: Pick<Deps, 'store' | 'clock'>): Promise<number> {
  const before = clock.wall();
  const there = await store.time();
  return Math.max(Math.abs(there - before), Math.abs(there - clock.wall()));
}

/** Milliseconds that this machine's clock certainly is ahead of the database's; zero or below: it is not known to be. */
export async function clockLead({ store, clock }: Pick<Deps, 'store' | 'clock'>): Promise<number> {
  const before = clock.wall();
  return before - (await store.time());
}
