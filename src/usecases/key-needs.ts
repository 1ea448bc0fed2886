/** How many rows need a master key, in words. */

import type { KeyNeed } from '../store/key-reads.ts';

/** Counts the rows whose key's id passes `isAsked`: "2 wallets, 1 proof"; undefined: there are none. */
export function needsInWords(needs: readonly KeyNeed[], isAsked: (key: string) => boolean): string | undefined {
  const counts = new Map<string, number>();
  for (const { what, key, count } of needs) {
    if (isAsked(key)) counts.set(what, (counts.get(what) ?? 0) + count);
  }
  if (counts.size === 0) return undefined;
  return [...counts].map(([what, count]) => `${count} ${what}${count === 1 ? '' : 's'}`).join(', ');
}
