/**
 * The journal: what operators' commands did.
 *
 * Invariant: an entry is part of the change that it describes, so that neither exists without the other. It names records by
 * their ids, and holds none of their content.
 */

import { isMonth } from './archive.ts';
import type { Change, GuardedTable, KeyedTable } from './change.ts';
import { isHoldId } from './hold.ts';
import { isWalletNumber } from './wallet.ts';

/** Tables that are written in passing, and that nobody looks up in the journal. */
const BESIDE: ReadonlySet<string> = new Set(['idempotency', 'payment_history', 'webhook_attempt']);
const ID = /^[a-z]{2,5}_[0-9a-z]{26}$/;
/** Fields that name a record, or the record that it belongs to. */
const NAMES = ['id', 'merchant_id', 'payment_id', 'transaction_id', 'batch_id'] as const;

/** Whether a text has the form of an id, of whatever kind, of a wallet's number, of a month of the archive, or of a hold's name. */
export function canBeAbout(text: string): boolean {
  return ID.test(text) || isWalletNumber(text) || isMonth(text) || isHoldId(text);
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

/** A record that a change writes, and that may say whom it belongs to. */
export interface Touched {
  readonly table: GuardedTable | KeyedTable;
  readonly shard: number;
  readonly id: string;
}

/** What a change updates or removes: the change itself gives nothing but the ids of such records. */
export function touchedBy({ updates, removals }: Change): readonly Touched[] {
  return [...(updates ?? []), ...(removals ?? [])].map(({ table, shard, id }) => ({ table, shard, id }));
}

/** The shard of the first thing that a change writes; undefined: it writes nothing. */
export function shardOfChange({ updates, claims, inserts, transfers, removals }: Change): number | undefined {
  const written = [...(updates ?? []), ...(transfers ?? []), ...(removals ?? [])];
  const rows = [...(claims ?? []), ...(inserts ?? [])].map(({ row }) => row);
  return [...written, ...rows][0]?.shard;
}
