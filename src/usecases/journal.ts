/**
 * Keeps the journal of operators' commands, and a copy of it outside of the database.
 *
 * Invariant: everything that a command commits comes with an entry; a command that is refused, or loses, leaves none. An entry that
 * is in the database, or may be, has been copied before the command goes on.
 */

import { merged } from '../domain/change.ts';
import { aboutOf, shardOfChange, touchedBy } from '../domain/journal.ts';
import type { JournalEntry } from '../domain/records.ts';
import type { Log } from '../platform/platform.ts';
import { CommitUnknown } from '../store/errors.ts';
import { type Deps, newId } from './deps.ts';
import { type Attribution, requireAttribution } from './operator-input.ts';

/** A command, as the journal names it. */
export interface Command extends Attribution {
  readonly verb: string;
}

/** What the journal is kept with. `copies` takes the copies: a log that no setting can silence. */
export interface JournalDeps extends Pick<Deps, 'store' | 'clock' | 'random'> {
  readonly copies: Pick<Log, 'info'>;
}

/**
 * The same store, which adds a journal entry about the command to every change. It throws a UsageError, instead of committing,
 * for a name or a reason that is not one clean line.
 */
export function journaled(deps: JournalDeps, { verb, ...attribution }: Command): Deps['store'] {
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
  /** Runs the commit of an entry, and copies the entry unless nothing was written. */
  const copied = async <A>(
    entry: JournalEntry,
    commit: () => Promise<A>,
    isWritten: (answer: A) => boolean,
  ): Promise<A> => {
    try {
      const answer = await commit();
      if (isWritten(answer)) copy(deps, entry, 'committed');
      return answer;
    } catch (error) {
      if (error instanceof CommitUnknown) copy(deps, entry, 'unknown');
      throw error;
    }
  };
  return {
    ...store,
    archive: {
      ...store.archive,
      drop: async (month) => {
        const entry = entryOf(0, [month]);
        return copied(
          entry,
          () => store.archive.drop(month, entry),
          ({ kind }) => kind === 'dropped',
        );
      },
    },
    commit: async (change) => {
      const shard = shardOfChange(change);
      if (shard === undefined) return store.commit(change);
      const row = entryOf(shard, aboutOf(change));
      const owners = await store.journal.ownersOf(touchedBy(change));
      const entry = { ...row, about: [...new Set([...row.about, ...owners])].toSorted() };
      const whole = merged(change, { inserts: [{ table: 'journal', row: entry }] });
      return copied(
        entry,
        () => store.commit(whole),
        (outcome) => outcome === 'won',
      );
    },
  };
}

/** Copies an entry, with the names of `mbongo journal list`. `unknown`: the database did not answer whether it is written. */
function copy({ copies }: JournalDeps, entry: JournalEntry, outcome: 'committed' | 'unknown'): void {
  copies.info('journal_entry', {
    outcome,
    entry_id: entry.id,
    at: new Date(entry.created_at).toISOString(),
    command: entry.verb,
    by: entry.said_by,
    why: entry.why,
    about: entry.about.join(' '),
  });
}
