/**
 * Deletes rows whose time is over, of any kind.
 *
 * Invariant: no run of a round deletes more than it can finish before the next run.
 */

const BATCH = 5_000;
/** 50 batches per run: some 4000 rows a second, as the round runs once a minute; the rest waits for the next run. */
const MOST_BATCHES = 50;

/** Reaps a few thousand rows at a time, until no more are due. */
export async function inBatches(reap: (limit: number) => Promise<number>): Promise<number> {
  let reaped = 0;
  for (let batch = 0; batch < MOST_BATCHES; batch += 1) {
    const found = await reap(BATCH);
    reaped += found;
    if (found < BATCH) break;
  }
  return reaped;
}
