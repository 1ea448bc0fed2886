/**
 * The journal: what operators' commands did.
 *
 * Invariant: an entry is part of the change that it tells of, so that neither is there without the other. It names records by
 * their ids, and holds nothing of what is in them.
 */

import { isMonth } from './archive.ts';
import type { Change, GuardedTable, KeyedTable } from './change.ts';
import { isWalletNumber } from './wallet.ts';

/** What everybody writes by the way, and nobody asks about. */
const BESIDE: ReadonlySet<string> = new Set(['idempotency', 'payment_history', 'webhook_attempt']);
const ID = /^[a-z]{2,5}_[0-9a-z]{26}$/;
/** Fields that name a record, or what it belongs to. */
const NAMES = ['id', 'merchant_id', 'payment_id', 'transaction_id', 'batch_id'] as const;

/** Whether a text has the form of an id, of whatever kind, of a wallet's number, or of a month of the archive. */
export function canBeAbout(text: string): boolean {
  return ID.test(text) || isWalletNumber(text) || isMonth(text);
}

/** The ids that a change names. */
export function aboutOf(change: Change): readonly string[] {
  const ids = new Set<string>();
  const note = (id: unknown): void => {
    if (typeof id === 'string' && canBeAbout(id)) ids.add(id);
  };
  const made = [...(change.claims ?? []), ...(change.inserts ?? [])].filter(({ table }) => !BESIDE.has(table));
  for (const { row } of made) {
    const fields = new Map<string, unknown>(Object.entries(row));
    for (const name of NAMES) note(fields.get(name));
  }
  for (const { id } of [...(change.updates ?? []), ...(change.removals ?? [])]) note(id);
  for (const { id, cause_id, debit, credit } of change.transfers ?? []) {
    // A merchant's account begins with its id and a colon; a wallet's is its number.
    for (const one of [id, cause_id, debit.id.split(':', 1)[0], credit.id.split(':', 1)[0]]) note(one);
  }
  return [...ids].toSorted();
}

/** A record that a change writes, and that may say whose it is. */
export interface Touched {
  readonly table: GuardedTable | KeyedTable;
  readonly shard: number;
  readonly id: string;
}

/** What a change updates or removes: of such records it names nothing but their ids. */
export function touchedBy({ updates, removals }: Change): readonly Touched[] {
  return [...(updates ?? []), ...(removals ?? [])].map(({ table, shard, id }) => ({ table, shard, id }));
}

/** The shard of a change: that of the first thing that it writes; undefined: it writes nothing. */
export function shardOfChange({ updates, claims, inserts, transfers, removals }: Change): number | undefined {
  const written = [...(updates ?? []), ...(transfers ?? []), ...(removals ?? [])];
  const rows = [...(claims ?? []), ...(inserts ?? [])].map(({ row }) => row);
  return [...written, ...rows][0]?.shard;
}
