/**
 * What settling an upstream's answer takes, whatever the attempt moves money for: what the decision depends on, how it is written,
 * and the alarm that it may raise.
 *
 * Invariant: an answer to our own call is written until the database takes it; an alarm is raised once its decision is written, or
 * may have been.
 */

import type { SettlementContext } from '../domain/attempt-settlement.ts';
import type { Attempt, Payment } from '../domain/records.ts';
import type { Settlement } from '../domain/settlement.ts';
import { isUnwritten } from '../store/errors.ts';
import { type Deps, idsOf } from './deps.ts';
import { retryWhileUnavailable } from './perform.ts';

/** When an upstream was asked, why, and what else was learnt with its answer. */
export interface Asked extends Pick<SettlementContext, 'inquiry' | 'threeDs' | 'reason'> {
  /** Milliseconds. */
  readonly at: number;
}

/**
 * What a settlement depends on besides the rows: the current time, fresh ids, the upstream's settle delay, and when and why the
 * upstream was asked.
 */
export function settlementContext(
  deps: Deps,
  connector: { readonly settleDelayMs: number },
  { at, inquiry, threeDs, reason }: Asked,
): SettlementContext {
  return {
    now: deps.clock.now(),
    askedAt: at,
    settleDelayMs: connector.settleDelayMs,
    newId: idsOf(deps),
    inquiry,
    threeDs,
    reason,
  };
}

/**
 * The settle delay of an attempt's upstream. An upstream that was taken out of the configuration gets an endless delay: its
 * "not found" never proves anything then, while attempts that end by time alone are settled all the same.
 */
export function upstreamOf(deps: Deps, attempt: Pick<Attempt, 'connector'>): { readonly settleDelayMs: number } {
  return deps.connectors.upstream(attempt.connector) ?? { settleDelayMs: Number.POSITIVE_INFINITY };
}

/** What was settled: a payment's attempt, or one that sends money out. */
type Settled = Pick<Settlement, 'attempt' | 'alarm'> & { readonly payment?: Payment };

/** Returns a decision unchanged, and remembers it. */
export type Settling = <S extends Settled>(settled: S) => S;

/**
 * Writes what an upstream answered to our own call, which must not be lost: retried while the database is away. `run` must be safe
 * to repeat, and passes every decision through `settling`. Each try raises the alarm of its last decision, so that the alarm of a
 * try whose commit is in doubt is raised, too.
 */
export function writeCallAnswer<T>(
  deps: Pick<Deps, 'log' | 'alarmed' | 'clock'>,
  run: (settling: Settling) => Promise<T>,
): Promise<T> {
  return retryWhileUnavailable(deps, () => soundingLast(deps, run));
}

/**
 * Writes the answer to an inquiry, in one try: if the database is away, the inquiry is made again later. `run` passes every
 * decision through `settling`, and the alarm of the last one is raised.
 */
export function writeInquiryAnswer<T>(
  deps: Pick<Deps, 'log' | 'alarmed'>,
  run: (settling: Settling) => Promise<T>,
): Promise<T> {
  return soundingLast(deps, run);
}

/**
 * Raises the alarm of the last decision of one try, if any, once its change commits. Earlier decisions lost and do not count, nor
 * does one that was certainly not written. If the outcome of the commit is unknown, the alarm is raised: the next try may find
 * its change already written, and would have none to raise.
 */
async function soundingLast<T>(
  deps: Pick<Deps, 'log' | 'alarmed'>,
  run: (settling: Settling) => Promise<T>,
): Promise<T> {
  let last: Settled | undefined;
  const sound = (): void => {
    if (last !== undefined) soundAlarm(deps, last);
  };
  try {
    const done = await run((settled) => {
      last = settled;
      return settled;
    });
    sound();
    return done;
  } catch (error) {
    if (!isUnwritten(error)) sound();
    throw error;
  }
}

/** Logs an alarm, which a person must look at, as an error, and counts it. */
export function soundAlarm(deps: Pick<Deps, 'log' | 'alarmed'>, { alarm, attempt, payment }: Settled): void {
  if (alarm === undefined) return;
  deps.alarmed(alarm, attempt.purpose);
  deps.log.error('attempt_alarm', {
    alarm,
    attempt_id: attempt.id,
    transaction_id: attempt.payment_id,
    purpose: attempt.purpose,
    attempt_status: attempt.status,
    payment_status: payment?.status,
  });
}
