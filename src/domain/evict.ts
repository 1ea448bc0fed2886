/**
 * Bounds what a process remembers in a Map.
 *
 * Invariant: what goes is what was inserted first, because a Map keeps the order of insertion; whoever wants to keep what was used
 * last deletes it and inserts it again.
 */

/** Removes the oldest entry if there are more than `most`. To be called after each insertion. */
export function evictOldest<K>(map: Map<K, unknown>, most: number): void {
  if (map.size <= most) return;
  for (const oldest of map.keys()) {
    map.delete(oldest);
    break;
  }
}
