/**
 * The same work for each of several rows, side by side, for rounds.
 *
 * Invariant: all of it has ended before the caller goes on, and a row whose work fails does not keep the others from theirs.
 */

import type { Log } from '../platform/platform.ts';
import { isTransient } from '../store/errors.ts';

/** The event's name in the log when a row's work fails, and what identifies the row. */
interface Failing<T> {
  readonly event: string;
  readonly about: (item: T) => { readonly [name: string]: string };
}

/**
 * Does the work for all items and waits for its end. What fails is logged under the row's id. Returns how many failed: a run with
 * any has failed, but only once all its rows have had their turn.
 *
 * @throws the first transient failure, which is the database's and not the row's: the run is over
 */
export async function eachOf<T>(
  log: Pick<Log, 'error'>,
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
  { event, about }: Failing<T>,
): Promise<number> {
  let failed = 0;
  let transient: Error | undefined;
  const one = async (item: T): Promise<void> => {
    try {
      await work(item);
    } catch (error) {
      failed += 1;
      if (isTransient(error)) transient ??= error;
      else log.error(event, about(item), error);
    }
  };
  await Promise.all(items.map(one));
  if (transient !== undefined) throw transient;
  return failed;
}
