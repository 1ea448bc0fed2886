/**
 * Derives metrics from commits: how changes end, which transactions have become final, and how webhook tries went.
 *
 * Invariant: what has been committed is counted once, from the committed rows, whichever code wrote them.
 */

import type { Change, Insert, Outcome, Update } from '../domain/change.ts';
import { timeOfId } from '../domain/ids.ts';
import type { WebhookAttempt } from '../domain/webhook-records.ts';
import type { Metrics } from '../platform/platform.ts';

export interface CommitWatch {
  /** A commit ended with an outcome. */
  done(change: Change, outcome: Outcome): void;
  /** A commit threw. */
  failed(error: unknown): void;
}

/** The same store, with `watch` told of every commit. */
export function watchCommits<S extends { commit(change: Change): Promise<Outcome> }>(store: S, watch: CommitWatch): S {
  const commit = async (change: Change): Promise<Outcome> => {
    try {
      const outcome = await store.commit(change);
      watch.done(change, outcome);
      return outcome;
    } catch (error) {
      watch.failed(error);
      throw error;
    }
  };
  return { ...store, commit };
}

/** Seconds: from a nearby receiver to one that comes back after a day. */
const ACKNOWLEDGE_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 600, 3_600, 86_400];
const TRY_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The outcome counted for each error that the store throws. */
const FAILED: { readonly [name: string]: string } = {
  StoreRefused: 'refused',
  StoreBusy: 'busy',
  StoreUnavailable: 'unavailable',
  CommitUnknown: 'unknown',
};

const TRANSACTIONS = { payment: 'payment', payout_line: 'payout', refund: 'refund' } as const;

/** Counts changes by outcome, transactions that have become final, and tries at webhooks with how long they took. */
export function commitMetrics(metrics: Metrics): CommitWatch {
  const changes = metrics.counter(
    'mbongo_commit_changes_total',
    'Changes by how they ended.',
    ['outcome'],
    ['won', 'lost', ...Object.values(FAILED)].map((outcome) => ({ outcome })),
  );
  const final = metrics.counter('mbongo_transactions_final_total', 'Transactions that have ended.', ['kind', 'status']);
  const webhooks = webhookMetrics(metrics);
  /** Counts a row that is written as final: by an update, or by an insert (a wallet's payout line, a token's payment). */
  const count = (written: Update | Insert): void => {
    const { table } = written;
    if (table !== 'payment' && table !== 'payout_line' && table !== 'refund') return;
    const { status, completed_at } = written.row;
    if (status === undefined || completed_at === undefined || completed_at === null) return;
    final({ kind: TRANSACTIONS[table], status });
  };
  return {
    done(change, outcome) {
      changes({ outcome });
      if (outcome === 'lost') return;
      for (const update of change.updates ?? []) {
        if (update.table === 'webhook_event') webhooks.updated(update);
        else count(update);
      }
      for (const insert of change.inserts ?? []) {
        if (insert.table === 'webhook_attempt') webhooks.tried(insert.row);
        else count(insert);
      }
    },
    failed(error) {
      changes({ outcome: (error instanceof Error ? FAILED[error.name] : undefined) ?? 'refused' });
    },
  };
}

function webhookMetrics(metrics: Metrics) {
  const tries = metrics.counter('mbongo_webhook_tries_total', 'Tries to deliver, by what came of them.', ['outcome']);
  const tryTook = metrics.histogram('mbongo_webhook_try_duration_seconds', 'How long a try took.', [], TRY_BUCKETS);
  const events = metrics.counter(
    'mbongo_webhook_events_total',
    'Events that are tried no more.',
    ['status'],
    ['delivered', 'dead', 'gone'].map((status) => ({ status })),
  );
  const acknowledged = metrics.histogram(
    'mbongo_webhook_acknowledge_duration_seconds',
    'Time from the event to its acknowledgement.',
    [],
    ACKNOWLEDGE_BUCKETS,
  );
  return {
    tried({ status_code, duration_ms }: WebhookAttempt): void {
      tries({ outcome: outcomeOf(status_code) });
      tryTook({}, duration_ms / 1_000);
    },
    updated({ id, row }: Extract<Update, { table: 'webhook_event' }>): void {
      // `waiting` is not an end: it is written by a replay, and by a try after which another is due.
      if (row.status === undefined || row.status === 'waiting') return;
      events({ status: row.status });
      if (typeof row.delivered_at !== 'number') return;
      acknowledged({}, Math.max(0, row.delivered_at - timeOfId(id)) / 1_000);
    },
  };
}

function outcomeOf(status: number | null): string {
  if (status === null) return 'unanswered';
  return status < 300 ? 'acknowledged' : `${Math.floor(status / 100)}xx`;
}
