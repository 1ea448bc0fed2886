/**
 * What the worker repeats for refunds: send what is due, because the upstream was down or because the process that committed it
 * has died.
 *
 * Invariant: it looks only at the database; a process that sends refunds from memory has leased them there.
 */

import type { Deps } from '../usecases/deps.ts';
import { type RefundDispatcher, startDueRefunds } from '../usecases/refund-dispatch.ts';
import type { Work } from './payment-rounds.ts';

export function refundRounds(deps: Pick<Deps, 'store' | 'clock' | 'holds'>, dispatcher: RefundDispatcher): Work[] {
  return [{ name: 'refunds', every: 1_000, run: () => startDueRefunds(deps, dispatcher) }];
}
