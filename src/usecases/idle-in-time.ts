/**
 * Waits for work that goes on by itself, within a round's patience.
 *
 * Invariant: a round never waits longer than its patience for somebody else's answer; what is under way then goes on beside
 * the next run.
 */

import type { Deps } from './deps.ts';

/** A run of a round waits this long for upstreams. */
const PATIENCE_MS = 1_000;

/** Returns false when patience was over before nothing was under way. */
export async function idleInTime({ clock }: Pick<Deps, 'clock'>, work: { idle(): Promise<void> }): Promise<boolean> {
  let cancel = (): void => undefined;
  const over = new Promise<boolean>((done) => {
    cancel = clock.after(PATIENCE_MS, () => done(false));
  });
  const isIdle = await Promise.race([over, work.idle().then(() => true)]);
  cancel();
  return isIdle;
}
