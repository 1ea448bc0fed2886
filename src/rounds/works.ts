/**
 * What a worker repeats: later, or again.
 *
 * Invariant: any number of processes may run all of it at once, because each piece of work is leased or guarded in the database.
 * A round looks only there: what a process sends from memory, it has leased. Nothing is run by a clock that is known to be wrong.
 */

import { MINUTE_MS, SECOND_MS } from '../domain/durations.ts';
import { DELIVERY_ROUND_MS } from '../domain/webhook.ts';
import { openInquiries } from '../usecases/attempt-inquire.ts';
import { auditDue } from '../usecases/audit.ts';
import type { Deps } from '../usecases/deps.ts';
import { reapMemories } from '../usecases/idempotency-reap.ts';
import { reapLimitCounters } from '../usecases/limit-counter-reap.ts';
import { openExpiry } from '../usecases/payment-expire.ts';
import { startDue } from '../usecases/payout-claim.ts';
import { closeCancelledPayouts } from '../usecases/payout-close.ts';
import type { Dispatcher } from '../usecases/payout-dispatch.ts';
import { runDuePayouts } from '../usecases/payout-run.ts';
import { type RefundDispatcher, startDueRefunds } from '../usecases/refund-dispatch.ts';
import { closeDays } from '../usecases/snapshot-days.ts';
import { offerDue } from '../usecases/webhook-claim.ts';
import type { Courier } from '../usecases/webhook-deliver.ts';

/**
 * A unit of background work: its name, its interval (ms), and one run, which returns how much there was to do. A run that
 * continues while there is work starts nothing more once `stopping` is aborted.
 */
export interface Work {
  readonly name: string;
  readonly every: number;
  run(stopping: AbortSignal): Promise<number>;
}

/** The parts that send what a round has claimed. */
export interface Senders {
  readonly courier: Courier;
  readonly dispatcher: Dispatcher;
  readonly refunds: RefundDispatcher;
}

/** What a process knows of its own state. */
export interface Condition {
  /** Whether it is shedding no load. */
  isCalm(): boolean;
  /** Whether its clock can be believed. The promise rejects while the database, which is asked, cannot be reached. */
  isClockRight(): Promise<boolean>;
}

/** All work of a worker. */
export function worksOf(deps: Deps, senders: Senders, { isCalm, isClockRight }: Condition): readonly Work[] {
  const { courier, dispatcher, refunds } = senders;
  const works: readonly Work[] = [
    { name: 'inquire', every: SECOND_MS, run: openInquiries(deps) },
    { name: 'expire', every: SECOND_MS, run: openExpiry(deps) },
    { name: 'reap', every: MINUTE_MS, run: async () => (await reapMemories(deps)) + (await reapLimitCounters(deps)) },
    { name: 'webhooks', every: DELIVERY_ROUND_MS, run: () => offerDue(deps, courier) },
    { name: 'payouts', every: SECOND_MS, run: () => startDue(deps, dispatcher) },
    { name: 'refunds', every: SECOND_MS, run: () => startDueRefunds(deps, refunds) },
    {
      name: 'payout-occurrences',
      every: SECOND_MS,
      run: (stopping) => runDuePayouts(deps, { dispatcher, isCalm, stopping }),
    },
    { name: 'payout-cancellations', every: SECOND_MS, run: () => closeCancelledPayouts(deps) },
    { name: 'audit', every: MINUTE_MS, run: () => auditDue(deps, { isCalm: isCalm() }) },
    { name: 'close_days', every: MINUTE_MS, run: () => closeDays(deps) },
  ];
  return works.map((work) => ({ ...work, run: async (stopping) => ((await isClockRight()) ? work.run(stopping) : 0) }));
}
