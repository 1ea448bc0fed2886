/**
 * Repeats a piece of work: a run, a pause, the next run.
 *
 * Invariant: it never overlaps itself, and no error ends it: an error is logged, and the next run tries again. An outage of the
 * database is logged once when it begins and once when it ends, however many runs fail between.
 */

import type { Deps } from '../usecases/deps.ts';
import { isTransientFailure } from '../usecases/perform.ts';

export interface Round {
  readonly name: string;
  /** Runs once more, after a run that may be in progress, and resolves when that run has ended. */
  runNow(): Promise<void>;
  /** Stops repeating, and resolves when a run in progress has ended. */
  stop(): Promise<void>;
}

/** Called with every run that has ended. */
export type RoundWatch = (round: string, run: { readonly milliseconds: number; readonly well: boolean }) => void;

/**
 * Starts repeating at once. `every` is the pause between two runs, in milliseconds. `run` is given a signal that is aborted when
 * the round is stopped, for runs that may take long.
 */
export function repeat(
  name: string,
  every: number,
  run: (stopping: AbortSignal) => Promise<unknown>,
  deps: Pick<Deps, 'clock' | 'log'>,
  watch?: RoundWatch,
): Round {
  const stopping = new AbortController();
  let last: Promise<void> = Promise.resolve();
  let cancel: () => void = () => undefined;
  let isWaiting = false;

  const logFailure = (error: unknown): void => {
    if (!isTransientFailure(error)) deps.log.error('round_failed', { round: name }, error);
    else if (!isWaiting) {
      isWaiting = true;
      deps.log.warn('round_waits', { round: name, reason: error.message });
    }
  };

  const once = async (): Promise<void> => {
    if (stopping.signal.aborted) return;
    const begun = deps.clock.wall();
    let well = false;
    try {
      await run(stopping.signal);
      well = true;
      if (isWaiting) deps.log.info('round_goes_on', { round: name });
      isWaiting = false;
    } catch (error) {
      logFailure(error);
    }
    watch?.(name, { milliseconds: deps.clock.wall() - begun, well });
  };
  /** Every run queues behind the one before, so that none overlaps. */
  const queue = (): Promise<void> => {
    cancel();
    last = last.then(once).then(() => {
      cancel();
      if (!stopping.signal.aborted) cancel = deps.clock.after(every, () => void queue());
    });
    return last;
  };

  void queue();
  return {
    name,
    runNow: queue,
    stop() {
      stopping.abort();
      cancel();
      return last;
    },
  };
}
