/**
 * Sending leased work: payout lines, refunds and webhook events, each to whoever may answer slowly or not at all.
 *
 * Invariant: a receiver's slot is free as soon as it has answered, before the answer is written. Work is lost neither by a failure
 * nor by a stop: it is due again when its lease has run out, and an attempt that is left open is settled by the inquiry round.
 */

import type { CallOutcome } from './call-outcome.ts';
import type { Deps } from './deps.ts';
import { createFairQueue, type FairQueue } from './fair-queue.ts';
import type { FairQueueLimits } from './fair-shares.ts';
import { createIdle, type Idle } from './idle.ts';

/** How sending a piece of work went. */
export interface Sent {
  readonly outcome: CallOutcome;
  /** Settles when the answer has been written. */
  readonly written: Promise<unknown>;
}

/** Nothing was sent; `outcome` is that of an inquiry about the previous attempt, if one was made. */
export function notSent(outcome: CallOutcome = 'not_called'): Sent {
  return { outcome, written: Promise.resolve() };
}

/** One kind of work, and how a piece of it is sent. */
export interface Sending<W> {
  /** The first word of what is logged: `<kind>_not_sent` and `<kind>_not_recorded`. */
  readonly kind: string;
  /** Names a piece of work in the log. */
  about(work: W): Readonly<Record<string, string>>;
  /** Sends a piece of work, or leaves it if this process does not hold its lease any more. */
  send(work: W): Promise<Sent>;
}

/** Sends work of one kind, within the limits of a fair queue. */
export interface Sender<W> extends Pick<FairQueue<W>, 'waiting' | 'waitingInAll' | 'silence' | 'sendAway'> {
  /** Takes work on. Returns false when there is no room for it, or the sender is closed. */
  add: FairQueue<W>['add'];
  /** Resolves when nothing is queued or in flight, and all answers have been written. */
  idle: Idle['idle'];
  /** Stops: what is queued is left to other processes' rounds, calls in flight are finished. */
  close(): Promise<void>;
}

/** `limits` say how many pieces of work may be in flight and queued. */
export function createSender<W>(
  { clock, log }: Pick<Deps, 'clock' | 'log'>,
  limits: FairQueueLimits,
  { kind, about, send }: Sending<W>,
): Sender<W> {
  let closed = false;
  let writing = 0;

  const follow = async (work: W, written: Promise<unknown>): Promise<void> => {
    writing += 1;
    await written.catch((error: unknown) => log.error(`${kind}_not_recorded`, about(work), error));
    writing -= 1;
    notify();
  };
  const start = async (work: W): Promise<CallOutcome> => {
    try {
      const { outcome, written } = await send(work);
      void follow(work, written);
      return outcome;
    } catch (error) {
      log.error(`${kind}_not_sent`, about(work), error);
      return 'not_called';
    }
  };
  const { idle, notify } = createIdle(() => writing === 0 && queue.isEmpty());
  const queue = createFairQueue(clock, limits, start, notify);

  return {
    ...queue,
    add: (merchantId, receiver, work) => !closed && queue.add(merchantId, receiver, work),
    idle,
    close() {
      closed = true;
      queue.clear();
      return idle();
    },
  };
}
