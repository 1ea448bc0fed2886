/**
 * What the worker repeats for payments: inquire about open attempts, end what ran out of time, reap what is no longer needed.
 *
 * Invariant: any number of processes may run these at once; each piece of work is leased or guarded.
 */

import { openInquiries } from '../usecases/attempt-inquire.ts';
import type { Deps } from '../usecases/deps.ts';
import { reapMemories } from '../usecases/idempotency-reap.ts';
import { expireDue } from '../usecases/payment-expire.ts';
import { reapPinGuards } from '../usecases/pin-guard-reap.ts';

/**
 * A unit of background work: its name, its interval (ms), and one run, which returns how much there was to do. A run that
 * continues while there is work starts nothing more once `stopping` is aborted.
 */
export interface Work {
  readonly name: string;
  readonly every: number;
  run(stopping: AbortSignal): Promise<number>;
}

export function paymentRounds(deps: Deps): Work[] {
  return [
    { name: 'inquire', every: 1_000, run: openInquiries(deps) },
    { name: 'expire', every: 1_000, run: (stopping) => expireDue(deps, stopping) },
    { name: 'reap', every: 60_000, run: async () => (await reapMemories(deps)) + (await reapPinGuards(deps)) },
  ];
}
