/**
 * Counts and times calls to upstreams.
 *
 * Invariant: the metrics hold connector, operation and outcome, and nothing of what a call was about.
 */

import type { Clock, Metrics } from '../platform/platform.ts';
import type { UpstreamWatch } from './upstream-watch.ts';

/** Seconds: a carrier usually takes some tenths of a second, and gives up after half a minute. */
const BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60];

/** Counts calls by outcome, `failed` for one that threw, and measures them in seconds. */
export function upstreamMetrics(metrics: Metrics, clock: Pick<Clock, 'wall'>): UpstreamWatch {
  const calls = metrics.counter('mbongo_upstream_calls_total', 'Calls of upstreams, by what they said.', [
    'connector',
    'operation',
    'outcome',
  ]);
  const took = metrics.histogram(
    'mbongo_upstream_call_duration_seconds',
    'How long calls of upstreams took.',
    ['connector', 'operation'],
    BUCKETS,
  );
  return async ({ connector, operation }, make, outcomeOf) => {
    const begun = clock.wall();
    let outcome = 'failed';
    try {
      const answer = await make();
      outcome = outcomeOf(answer);
      return answer;
    } finally {
      calls({ connector, operation, outcome });
      took({ connector, operation }, Math.max(0, clock.wall() - begun) / 1_000);
    }
  };
}
