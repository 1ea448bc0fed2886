/**
 * The door of an overloaded process: counts whom it turns away, says when to come again, and tells people once.
 *
 * Invariant: a request is turned away by its headers alone, before its body is read or its sender looked up, and its
 * connection is kept. Only routes with a class are ever turned away.
 */

import { Refusal } from '../domain/refusal.ts';
import type { Log, Metrics, Random } from '../platform/platform.ts';
import { type Limiter, LOAD_CLASSES, type LoadClass } from './overload.ts';

export interface DoorParts {
  readonly limiter: Limiter;
  readonly metrics: Metrics;
  readonly random: Random;
  readonly log: Log;
}

export interface Door {
  /** What a request of that class is turned away with; undefined: it is let in. */
  refusalFor(of: LoadClass): Refusal | undefined;
}

/** Seconds for `Retry-After`, drawn: whoever was turned away together does not come back together. */
const RETRY_SECONDS = [1, 2, 3, 4, 5] as const;

/** Made once: an error's stack takes as long to note as all the rest of a refusal. */
const REFUSALS = RETRY_SECONDS.map((retryAfter) => new Refusal(1402, { retryAfter }));

export function createDoor({ limiter, metrics, random, log }: DoorParts): Door {
  const count = metrics.counter(
    'mbongo_http_shed_total',
    'Requests turned away because of overload, by class.',
    ['class'],
    LOAD_CLASSES.map((of) => ({ class: of })),
  );
  let told = 0;

  /** A line when it begins, when it gets worse and when it is over: a line a request would add to the load. */
  const note = (level: number): void => {
    if (level > told) log.warn('overloaded', { level, turned_away: LOAD_CLASSES.slice(0, level).join(', ') });
    else if (level === 0 && told > 0) log.info('overload_over', { level: told });
    if (level > told || level === 0) told = level;
  };

  metrics.read(
    'mbongo_overload_level',
    'gauge',
    'How many classes of requests are turned away: 0 none, 1 reads, 2 what begins, 3 collects, 4 submits, 5 callbacks.',
    [],
    () => {
      const level = limiter.level();
      note(level);
      return [{ values: {}, value: level }];
    },
  );

  return {
    refusalFor(of) {
      const isAdmitted = limiter.admits(of);
      if (!isAdmitted) count({ class: of });
      if (!isAdmitted || told > 0) note(limiter.level());
      return isAdmitted ? undefined : REFUSALS[random.below(REFUSALS.length)];
    },
  };
}
