/**
 * How rows whose time is over are deleted, whatever they remember.
 *
 * Invariant: no turn of a round deletes more than it can finish before the next one.
 */

const BATCH = 5_000;
/** Some 4 000 rows a second, where the round runs once a minute; more than that waits for its next turn. */
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
