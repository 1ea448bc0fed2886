/** What an update does to a row, for the worlds of tests that keep their rows themselves. */

import { expect } from 'vitest';
import type { Update } from '../change.ts';

/** The row as a store would leave it; fails for an update that relied on a stale version, which would lose there. */
export function updatedRow<R extends { readonly version: number }>(row: R, update: Update): R {
  expect(update.version).toBe(row.version);
  return { ...row, ...update.row, version: row.version + 1 };
}
