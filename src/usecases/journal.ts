/**
 * Keeps the journal of operators' commands.
 *
 * Invariant: everything that a command commits comes with an entry; a command that is refused, or loses, leaves none.
 */

import { merged } from '../domain/change.ts';
import { aboutOf, shardOfChange, touchedBy } from '../domain/journal.ts';
import type { JournalEntry } from '../domain/records.ts';
import { type Deps, newId } from './deps.ts';
import { type Attribution, requireAttribution } from './operator-input.ts';

/** A command, as the journal names it. */
export interface Command extends Attribution {
  readonly verb: string;
}

/**
 * The same store, which adds a journal entry about the command to every change. It throws a UsageError, instead of committing,
 * for a name or a reason that is not one clean line.
 */
export function journaled(
  deps: Pick<Deps, 'store' | 'clock' | 'random'>,
  { verb, ...attribution }: Command,
): Deps['store'] {
  const { store } = deps;
  const entryOf = (shard: number, about: readonly string[]): JournalEntry => {
    const { by: said_by, why } = requireAttribution(attribution);
    return {
      shard,
      id: newId(deps, 'jrn', shard),
      version: 1,
      verb,
      said_by,
      why,
      about,
      created_at: deps.clock.now(),
    };
  };
  return {
    ...store,
    archive: { ...store.archive, drop: async (month) => store.archive.drop(month, entryOf(0, [month])) },
    commit: async (change) => {
      const shard = shardOfChange(change);
      if (shard === undefined) return store.commit(change);
      const row = entryOf(shard, aboutOf(change));
      const owners = await store.journal.ownersOf(touchedBy(change));
      const about = [...new Set([...row.about, ...owners])].toSorted();
      const entry = { table: 'journal', row: { ...row, about } } as const;
      return store.commit(merged(change, { inserts: [entry] }));
    },
  };
}
