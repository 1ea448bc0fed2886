/**
 * Joins the observers: metrics always, traces if they are configured.
 *
 * Invariant: observing changes nothing. Without traces nothing is wrapped for them.
 */

import type { Outbound, Platform } from '../platform/platform.ts';
import type { Store } from '../store/store.ts';
import { commitMetrics, watchCommits } from './commit-metrics.ts';
import { rememberTransactions, traceCommits, traceWebhooks, upstreamTraces } from './traced.ts';
import { upstreamMetrics } from './upstream-metrics.ts';
import type { UpstreamWatch } from './upstream-watch.ts';

export interface Watch {
  readonly upstreams: UpstreamWatch;
  /** The outbound network for webhooks. */
  readonly webhooks: Outbound;
  /** The same store, whose commits are watched. */
  commits(store: Store): Store;
}

/** Makes the observers of one process. Without `traces` they only count and time. */
export function openWatch({
  metrics,
  traces,
  clock,
  outbound,
}: Pick<Platform, 'metrics' | 'traces' | 'clock' | 'outbound'>): Watch {
  const calls = upstreamMetrics(metrics, clock);
  const commits = commitMetrics(metrics);
  const counted = (store: Store): Store => watchCommits(store, commits);
  if (traces === undefined) return { upstreams: calls, webhooks: outbound, commits: counted };
  const known = rememberTransactions();
  const traced = upstreamTraces(traces, known);
  return {
    upstreams: (call, make, outcomeOf) => traced(call, () => calls(call, make, outcomeOf), outcomeOf),
    webhooks: traceWebhooks(outbound, traces, known),
    commits: (store) => traceCommits(counted(store), traces, known),
  };
}
