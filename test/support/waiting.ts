/**
 * Waiting for what happens in a world: at once, or while its clock moves.
 *
 * Invariant: nothing here sleeps: each try is real work over a socket, which lets other work run.
 */

import type { World } from './world.ts';

/** 20 000 ms: background work may wait seconds for a CPU, however many tries are made meanwhile. */
const PATIENCE_MS = 20_000;

/**
 * Calls `ask` until it returns something; gives up after `most` tries, but not before the patience has run out. Every call
 * must do real work over a socket, which lets other work run.
 */
export async function until<T>(ask: () => Promise<T | undefined>, most = 400): Promise<T> {
  const begun = performance.now();
  for (let tries = 0; tries < most || performance.now() - begun < PATIENCE_MS; tries += 1) {
    const found = await ask();
    if (found !== undefined) return found;
  }
  throw new Error('what was waited for did not happen');
}

/** Lets time pass, a second at a time, until `ask` returns something. */
export function untilLater<T>(world: World, ask: () => Promise<T | undefined>, stepMs = 1_000): Promise<T> {
  return until(async () => {
    await world.pass(stepMs);
    return ask();
  });
}

/**
 * Lets time pass, a few milliseconds at a time, until the work is done, for work that waits by the clock. Time passes only while
 * nothing else goes on, so that whatever a step sets off ends before the next step. Rounds run by the same clock, but are not
 * awaited, because a round may itself wait for the work. The work must not ask again and again: use `until` for that.
 */
export async function whileTimePasses<T>(world: World, work: Promise<T>, stepMs = 5): Promise<T> {
  let isOver = false;
  const over = (): void => {
    isOver = true;
  };
  work.then(over, over);
  await until(async () => {
    await world.clock.advance(stepMs);
    // Real work over a socket, which lets other work run.
    await world.call('GET', '/health');
    return isOver || undefined;
  }, 10_000);
  return work;
}
