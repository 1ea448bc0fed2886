/**
 * Who is told when something changes: open pages, by the phone or inbox that they show.
 * Invariant: a watcher that has stopped is told nothing more, and leaves nothing behind.
 */

export type Watchers = {
  /** Calls `changed` after every change of what has that name, until the returned function is called. */
  readonly watch: (name: string, changed: () => void) => () => void;
  /** What has that name has changed. */
  readonly changed: (name: string) => void;
};

export function createWatchers(): Watchers {
  const watchers = new Map<string, Set<() => void>>();
  return {
    watch: (name, changed) => {
      const set = watchers.get(name) ?? new Set();
      watchers.set(name, set.add(changed));
      return () => {
        set.delete(changed);
        if (set.size === 0 && watchers.get(name) === set) watchers.delete(name);
      };
    },
    changed: (name) => {
      for (const changed of watchers.get(name) ?? []) changed();
    },
  };
}
