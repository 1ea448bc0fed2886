/**
 * Metrics of the background rounds: how long runs take, how many fail, and when a run last succeeded.
 *
 * Invariant: a round that has never succeeded exports no time of success, so that an alert on its age is not misled.
 */

import type { Clock, Metrics } from '../platform/platform.ts';
import type { RoundWatch } from '../rounds/round.ts';

const BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60];

/** Exports, in seconds, how long runs took and when each round last succeeded. */
export function roundMetrics(metrics: Metrics, clock: Pick<Clock, 'wall'>): RoundWatch {
  const took = metrics.histogram('mbongo_round_duration_seconds', 'How long a run took.', ['round'], BUCKETS);
  const failures = metrics.counter('mbongo_round_failures_total', 'Runs that ended in an error.', ['round']);
  const succeeded = metrics.gauge(
    'mbongo_round_last_success_timestamp_seconds',
    'When a run last ended well, in seconds since 1970.',
    ['round'],
  );
  return (round, { milliseconds, well }) => {
    took({ round }, Math.max(0, milliseconds) / 1_000);
    if (well) succeeded({ round }, clock.wall() / 1_000);
    else failures({ round });
  };
}
