/**
 * Work on many things, so many at a time.
 *
 * Invariant: the next part begins when the part before has ended; the results are in the order of the things.
 */

/** What `work` makes of each thing, in parts of `size`. Fails with the first failure; later parts are not begun then. */
export async function inParts<T, R>(
  things: readonly T[],
  size: number,
  work: (thing: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  for (let from = 0; from < things.length; from += size) {
    results.push(...(await Promise.all(things.slice(from, from + size).map(work))));
  }
  return results;
}
