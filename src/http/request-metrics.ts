/**
 * Counts answers and how long they took, by the route's pattern.
 *
 * Invariant: its labels are patterns and classes of statuses only: all paths that do not exist are one `unknown`.
 */

import type { Metrics } from '../platform/platform.ts';

/** Seconds. Most answers take some milliseconds; those of an upstream some seconds. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Called for every answer once it has been sent, with the route's pattern and how many milliseconds it took. */
export type CountAnswer = (method: string, route: string, status: number, milliseconds: number) => void;

/**
 * Registers both metrics of answers with `metrics`, and returns the function that counts one. Unusual methods count as `other`,
 * and statuses by their class.
 */
export function requestMetrics(metrics: Metrics): CountAnswer {
  const count = metrics.counter('mbongo_http_requests_total', 'Answers by route and class of status.', [
    'method',
    'route',
    'status',
  ]);
  const observe = metrics.histogram(
    'mbongo_http_request_duration_seconds',
    'Time from the request to the last byte of its answer.',
    ['route'],
    BUCKETS,
  );
  return (asked, route, status, milliseconds) => {
    const method = METHODS.has(asked) ? asked : 'other';
    count({ method, route, status: `${Math.floor(status / 100)}xx` });
    observe({ route }, milliseconds / 1_000);
  };
}
