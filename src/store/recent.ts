/**
 * Rows that this process has written lately: what the next step of the same payment would otherwise read again.
 *
 * Invariant: every row in here was committed, but may be older than the database's. So it serves only callers who guard its
 * version and read again when they lose; it is never an answer by itself. A row that is final is dropped.
 */

import type { Change } from '../domain/change.ts';
import { evictOldest } from '../domain/evict.ts';
import type { Attempt, Payment } from '../domain/records.ts';

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
        if (update.table === 'payment') {
          const row = stepped(payments.get(update.id), update.version, update.row);
          if (row !== undefined) keep(payments, row, row.completed_at);
          else payments.delete(update.id);
        } else if (update.table === 'attempt') {
          const row = stepped(attempts.get(update.id), update.version, update.row);
          if (row !== undefined) keep(attempts, row, row.settled_at);
          else attempts.delete(update.id);
        }
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

/** The row after an update of ours; undefined if the row at hand is not the version that was updated. */
function stepped<R extends { readonly version: number }>(
  row: R | undefined,
  version: number,
  columns: Partial<Omit<R, 'shard' | 'id' | 'version'>>,
): R | undefined {
  return row === undefined || row.version !== version ? undefined : { ...row, ...columns, version: version + 1 };
}

function ofShard<R extends { readonly shard: number }>(row: R | undefined, shard: number): R | undefined {
  return row?.shard === shard ? row : undefined;
}
