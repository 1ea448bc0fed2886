/**
 * A slice's cost is the difference of two readings, divided by everything that it completed.
 */
import { expect, test } from 'vitest';
import { batchesOf, cpuOf, metricIn, type Slice } from './measure.ts';

const page = (count: number, changes: number, seconds: number): string =>
  `# TYPE mbongo_commit_batch_changes histogram
mbongo_commit_batch_changes_bucket{le="8"} 3
mbongo_commit_batch_changes_sum ${changes}
mbongo_commit_batch_changes_count ${count}
mbongo_commit_batch_duration_seconds_sum ${seconds}
`;

test('batches are those between two readings', () => {
  expect(batchesOf(page(10, 20, 1), page(110, 820, 1.5), 4)).toEqual({ changes: 8, perSecond: 25, milliseconds: 5 });
});

test('a server that reports no batches has none', () => {
  expect(batchesOf('', '', 4)).toBeUndefined();
  expect(batchesOf(page(10, 20, 1), page(10, 20, 1), 4)).toBeUndefined();
});

test('a metric is found by its whole name', () => {
  expect(metricIn('ab_sum 3\na_sum 4.5\n', 'a_sum')).toBe(4.5);
  expect(metricIn('ab_sum 3\n', 'a_sum')).toBeUndefined();
});

test('CPU time is divided by everything that was completed', () => {
  const none = { count: 0, p50: 0, p99: 0, p999: 0 };
  const slice: Slice = {
    perSecond: 100,
    completed: 400,
    total: 500,
    errors: {},
    latency: {},
    toWebhook: none,
    toldAfterFinal: none,
    lateness: none,
    cpuSeconds: 0.05,
    receiverCpuSeconds: 0.02,
    gatewayCpuSeconds: 0.4,
    databaseCpuSeconds: 0.2,
    carrierCpuSeconds: 0.1,
    gatewayMiB: 100,
    walBytes: 3000,
  };
  const { server, postgres, carrier, load, receiver } = cpuOf(slice);
  expect([server, postgres, carrier, load, receiver].map(Math.round)).toEqual([800, 400, 200, 100, 40]);
});
