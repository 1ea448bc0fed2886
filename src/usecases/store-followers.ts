/**
 * Stores whose commits are followed by something else.
 *
 * Invariant: what is committed, and what the caller is told of it, are those of the store itself.
 */

import type { Insert } from '../domain/change.ts';
import type { Store } from '../store/store.ts';

/** Counts something while it is under way. */
interface Counted {
  follow<T>(work: Promise<T>): Promise<T>;
}

/** A store whose pending commits are counted, so that load shedding knows its backlog. */
export function countingCommits(store: Store, commits: Counted): Store {
  return { ...store, commit: (change) => commits.follow(store.commit(change)) };
}

/** Announces what each commit inserted: events, lines and refunds are leased to this process, which starts them at once. */
export function announcingInserts(store: Store, announce: (insert: Insert) => void): Store {
  const commit: Store['commit'] = async (change) => {
    const outcome = await store.commit(change);
    if (outcome === 'won') for (const insert of change.inserts ?? []) announce(insert);
    return outcome;
  };
  return { ...store, commit };
}
