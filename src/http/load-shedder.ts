/**
 * Turns requests away from an overloaded process: counts them, tells them when to come again, and logs the overload.
 *
 * Invariant: a request is turned away by its headers alone, before its body is read or its sender looked up, and its
 * connection is kept. Only routes with a class are ever turned away.
 */

import { Refusal } from '../domain/refusal.ts';
import type { Log, Metrics, Random } from '../platform/platform.ts';
import { type Limiter, LOAD_CLASSES, type LoadClass } from './overload.ts';

export interface LoadShedderParts {
  readonly limiter: Limiter;
  readonly metrics: Metrics;
  readonly random: Random;
  readonly log: Log;
}

/** Decides about each request by its class alone. */
export interface LoadShedder {
  /** The refusal for a request of that class; undefined if it is admitted. */
  refusalFor(loadClass: LoadClass): Refusal | undefined;
}

/** Seconds for `Retry-After`, drawn, so that clients that were turned away together do not come back together. */
const RETRY_SECONDS = [1, 2, 3, 4, 5] as const;

/** Made once: capturing an error's stack takes as long as all the rest of a refusal. */
const REFUSALS = RETRY_SECONDS.map((retryAfter) => new Refusal(1402, { retryAfter }));

/**
 * Registers its counter and the overload level with `metrics`, so a process makes only one. Its refusals are 1402, with one to
 * five seconds to wait.
 */
export function createLoadShedder({ limiter, metrics, random, log }: LoadShedderParts): LoadShedder {
  const count = metrics.counter(
    'mbongo_http_shed_total',
    'Requests turned away because of overload, by class.',
    ['class'],
    LOAD_CLASSES.map((loadClass) => ({ class: loadClass })),
  );
  let loggedLevel = 0;

  /** Logs when overload begins, when it gets worse and when it is over: a line per request would add to the load. */
  const logLevel = (level: number): void => {
    if (level > loggedLevel)
      log.warn('overloaded', { overload_level: level, turned_away: LOAD_CLASSES.slice(0, level).join(', ') });
    else if (level === 0 && loggedLevel > 0) log.info('overload_over', { overload_level: loggedLevel });
    if (level > loggedLevel || level === 0) loggedLevel = level;
  };

  metrics.read(
    'mbongo_overload_level',
    'gauge',
    'How many classes of requests are turned away: 0 none, 1 reads, 2 what begins, 3 collects, 4 submits, 5 callbacks.',
    [],
    () => {
      const level = limiter.level();
      logLevel(level);
      return [{ labels: {}, value: level }];
    },
  );

  return {
    refusalFor(loadClass) {
      const isAdmitted = limiter.admits(loadClass);
      if (!isAdmitted) count({ class: loadClass });
      if (!isAdmitted || loggedLevel > 0) logLevel(limiter.level());
      return isAdmitted ? undefined : REFUSALS[random.below(REFUSALS.length)];
    },
  };
}
