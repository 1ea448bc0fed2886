/**
 * What the worker repeats for statements and audits: close the days that are over.
 *
 * Invariant: any number of processes may run it at once; two that close the same day write the same result.
 */

import type { Deps } from '../usecases/deps.ts';
import { closeDays } from '../usecases/snapshot-days.ts';
import type { Work } from './payment-rounds.ts';

export function snapshotRounds(deps: Pick<Deps, 'store' | 'clock' | 'log'>): Work[] {
  return [{ name: 'close_days', every: 60_000, run: () => closeDays(deps) }];
}
