/**
 * What the worker repeats for batches of payouts: run the occurrences that are due, end what was cancelled.
 *
 * Invariant: any number of processes may run these at once; each occurrence and each line is guarded.
 */

import type { Deps } from '../usecases/deps.ts';
import { closeCancelledPayouts } from '../usecases/payout-close.ts';
import { type BeginningLimits, runDuePayouts } from '../usecases/payout-run.ts';
import type { Work } from './payment-rounds.ts';

export function payoutBatchRounds(deps: Deps, limits: Omit<BeginningLimits, 'stopping'>): Work[] {
  return [
    { name: 'payout-occurrences', every: 1_000, run: (stopping) => runDuePayouts(deps, { ...limits, stopping }) },
    { name: 'payout-cancellations', every: 1_000, run: () => closeCancelledPayouts(deps) },
  ];
}
