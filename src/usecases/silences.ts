/**
 * How long receivers have left calls unanswered, also once nothing is queued for them any more.
 *
 * Invariant: bounded: the silence that was put away longest ago is forgotten first.
 */

import { evictOldest } from '../domain/evict.ts';

/** When the first and the last call ended that have gone unanswered since the last answer. */
export interface Silence {
  readonly since: number;
  readonly until: number;
}

/** 10 000 silences at most are put away. */
const MAX = 10_000;

/** Extends a silence to `at`; if the clock was set back, the silence begins anew. */
export function goesOn(silence: Silence | undefined, at: number): Silence {
  return { since: Math.min(silence?.since ?? at, at), until: at };
}

/** The silences of lanes that have been removed. */
export interface Silences {
  /** Takes out what was put away under that key. */
  take(key: string): Silence | undefined;
  peek(key: string): Silence | undefined;
  putAway(key: string, silence: Silence): void;
}

/** Remembers silences, none at first. */
export function createSilences(): Silences {
  const kept = new Map<string, Silence>();
  return {
    take(key) {
      const silence = kept.get(key);
      kept.delete(key);
      return silence;
    },
    peek: (key) => kept.get(key),
    putAway(key, silence) {
      kept.set(key, silence);
      evictOldest(kept, MAX);
    },
  };
}
