/**
 * What the worker repeats for payouts: start the lines that are due.
 *
 * Invariant: it looks only at the database; a process that starts a line from memory has leased it there.
 */

import type { Deps } from '../usecases/deps.ts';
import { startDue } from '../usecases/payout-claim.ts';
import type { Dispatcher } from '../usecases/payout-dispatch.ts';
import type { Work } from './payment-rounds.ts';

export function payoutRounds(deps: Pick<Deps, 'store' | 'clock' | 'holds'>, dispatcher: Dispatcher): Work[] {
  return [{ name: 'payouts', every: 1_000, run: () => startDue(deps, dispatcher) }];
}
