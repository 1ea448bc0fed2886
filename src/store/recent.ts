/**
 * Rows that this process has written lately: what the next step of the same payment would otherwise read again.
 *
 * Invariant: every row in here was committed, but may be older than the database's. So it serves only callers who guard its
 * version and read again when they lose; it is never an answer by itself. A row that is final is dropped.
 */

import type { Change } from '../domain/change.ts';
import { evictOldest } from '../domain/evict.ts';
import type { Attempt, Payment, Versioned } from '../domain/records.ts';

/** Enough for the payments in flight; abandoned ones are evicted by newer ones. */
const MAX_ROWS = 2_000;

export interface Recent {
  /** Notes the rows that a committed change wrote. */
  note(change: Change): void;
  payment(shard: number, id: string): Payment | undefined;
  attempt(shard: number, id: string): Attempt | undefined;
}

/** Makes an empty memory. It holds 2 000 payments and 2 000 attempts, and forgets the oldest beyond that. */
export function openRecent(): Recent {
  const payments = new Map<string, Payment>();
  const attempts = new Map<string, Attempt>();
  return {
    note({ inserts = [], updates = [] }) {
      for (const insert of inserts) {
        if (insert.table === 'payment') keep(payments, insert.row, insert.row.completed_at);
        else if (insert.table === 'attempt') keep(attempts, insert.row, insert.row.settled_at);
      }
      for (const update of updates) {
        if (update.table === 'payment') advance(payments, update, ({ completed_at }) => completed_at);
        else if (update.table === 'attempt') advance(attempts, update, ({ settled_at }) => settled_at);
      }
    },
    payment: (shard, id) => ofShard(payments.get(id), shard),
    attempt: (shard, id) => ofShard(attempts.get(id), shard),
  };
}

function keep<R extends { readonly id: string }>(rows: Map<string, R>, row: R, finalAt: number | null): void {
  rows.delete(row.id);
  if (finalAt !== null) return;
  rows.set(row.id, row);
  evictOldest(rows, MAX_ROWS);
}

/** Takes a row on by an update of ours; one that is not the version that was updated is forgotten. */
function advance<R extends Versioned>(
  rows: Map<string, R>,
  { id, version, row: columns }: Versioned & { readonly row: Partial<Omit<R, keyof Versioned>> },
  finalAt: (row: R) => number | null,
): void {
  const known = rows.get(id);
  if (known?.version !== version) rows.delete(id);
  else {
    const row = { ...known, ...columns, version: version + 1 };
    keep(rows, row, finalAt(row));
  }
}

function ofShard<R extends { readonly shard: number }>(row: R | undefined, shard: number): R | undefined {
  return row?.shard === shard ? row : undefined;
}
