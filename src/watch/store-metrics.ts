/**
 * The store's own counts as metrics.
 *
 * Invariant: they are read when they are scraped; no commit or read waits for monitoring.
 */

import type { Metrics } from '../platform/platform.ts';
import type { Store, StoreStats } from '../store/store.ts';

/** Shows the store's counts of commits and reads. */
export function storeMetrics(store: Pick<Store, 'stats'>, metrics: Metrics): void {
  const one = (type: 'counter' | 'gauge', name: string, help: string, of: (stats: StoreStats) => number): void =>
    metrics.read(name, type, help, [], () => [{ labels: {}, value: of(store.stats()) }]);
  metrics.readHistogram(
    'mbongo_commit_batch_changes',
    'Changes in one batch that was committed.',
    () => store.stats().commit.batchChanges,
  );
  metrics.readHistogram(
    'mbongo_commit_batch_duration_seconds',
    'Time from sending a batch to its end.',
    () => store.stats().commit.batchSeconds,
  );
  metrics.read('mbongo_commit_conflicts_total', 'counter', 'Changes that lost, by where.', ['found'], () => {
    const { lostInBatch, lostAtDatabase } = store.stats().commit;
    return [
      { labels: { found: 'batch' }, value: lostInBatch },
      { labels: { found: 'database' }, value: lostAtDatabase },
    ];
  });
  one('counter', 'mbongo_commit_resends_total', 'Batches that were sent again.', ({ commit }) => commit.resends);
  one('counter', 'mbongo_commit_splits_total', 'Batches that were halved to find a bad change.', ({ commit }) => {
    return commit.splits;
  });
  one(
    'gauge',
    'mbongo_commit_waiting_changes',
    'Changes that wait for the next batch.',
    ({ commit }) => commit.waiting,
  );
  const uses = (
    type: 'counter' | 'gauge',
    name: string,
    help: string,
    of: (stats: StoreStats['read']) => number,
  ): void =>
    metrics.read(name, type, help, ['use'], () => {
      const { read, lists } = store.stats();
      return [
        { labels: { use: 'read' }, value: of(read) },
        { labels: { use: 'lists' }, value: of(lists) },
      ];
    });
  uses('counter', 'mbongo_read_keys_total', "Rows' keys that were asked for.", ({ keys }) => keys);
  uses('counter', 'mbongo_read_statements_total', 'Statements that asked for them.', ({ statements }) => statements);
  uses('gauge', 'mbongo_read_waiting', 'Keys and statements that wait for a connection.', ({ waiting }) => waiting);
}

/** Returns a counter, to be called for every error of a database connection. */
export function databaseErrors(metrics: Metrics): () => void {
  const count = metrics.counter('mbongo_database_errors_total', 'Connections lost, and attempts given up.', []);
  return () => count({});
}
