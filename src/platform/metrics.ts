/**
 * What monitoring reads: numbers by name, in the text form of Prometheus.
 *
 * Invariant: a label holds a name, a pattern or a class out of few, never an id: whoever may read the page learns nothing
 * about a merchant or a customer, and their number does not grow with the traffic.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Metrics } from './platform.ts';

export interface MetricsOptions {
  /** Whether to tell of this process too: memory, processor time, garbage collection, event loop. */
  readonly ofProcess: boolean;
}

export function openMetrics({ ofProcess }: MetricsOptions): Metrics {
  const registry = new Registry();
  const registers = [registry];
  if (ofProcess) collectDefaultMetrics({ register: registry, prefix: 'mbongo_' });
  return {
    counter(name, help, labels) {
      const counter = new Counter({ name, help, labelNames: [...labels], registers });
      return (values) => counter.inc(values);
    },
    gauge(name, help, labels) {
      const gauge = new Gauge({ name, help, labelNames: [...labels], registers });
      return (values, value) => gauge.set(values, value);
    },
    histogram(name, help, labels, buckets) {
      const histogram = new Histogram({ name, help, labelNames: [...labels], buckets: [...buckets], registers });
      return (values, value) => histogram.observe(values, value);
    },
    async page() {
      return { type: registry.contentType, body: await registry.metrics() };
    },
  };
}
