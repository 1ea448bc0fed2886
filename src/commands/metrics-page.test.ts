import { Counter, Histogram, Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { joinMetrics } from './metrics-page.ts';

function pageOf(work: (registers: Registry[]) => void): Promise<string> {
  const registry = new Registry();
  work([registry]);
  return registry.metrics();
}

it('explains every name once, and keeps the numbers of each process apart', () => {
  const page = (calls: number, more: string) =>
    `# HELP calls_total Calls.\n# TYPE calls_total counter\ncalls_total{route="/a b{c}",to="\\"x\\""} ${calls}\ncalls_total ${calls}\n\n${more}`;
  const only = '# HELP lag_seconds Lag.\n# TYPE lag_seconds gauge\nlag_seconds 0.5\n';
  expect(
    joinMetrics([
      { process: 'api-1', text: page(3, '') },
      { process: 'worker-1', text: page(4, only) },
    ]),
  ).toBe(
    [
      '# HELP calls_total Calls.',
      '# TYPE calls_total counter',
      'calls_total{process="api-1",route="/a b{c}",to="\\"x\\""} 3',
      'calls_total{process="api-1"} 3',
      'calls_total{process="worker-1",route="/a b{c}",to="\\"x\\""} 4',
      'calls_total{process="worker-1"} 4',
      '',
      '# HELP lag_seconds Lag.',
      '# TYPE lag_seconds gauge',
      'lag_seconds{process="worker-1"} 0.5',
      '',
    ].join('\n'),
  );
});

it('keeps histograms whole, and explains metrics that have no numbers yet', async () => {
  const text = await pageOf((registers) => {
    new Histogram({ name: 'took_seconds', help: 'How long.', buckets: [1], labelNames: ['route'], registers }).observe(
      { route: '/a' },
      0.5,
    );
    new Counter({ name: 'never_total', help: 'Never.', labelNames: ['why'], registers });
  });
  const joined = joinMetrics([{ process: 'api-2', text }]);
  expect(joined).toContain('took_seconds_bucket{process="api-2",le="1",route="/a"} 1\n');
  expect(joined).toContain('took_seconds_count{process="api-2",route="/a"} 1\n');
  expect(joined).toContain('# TYPE never_total counter\n');
});

it('is empty if no process answered', () => {
  expect(joinMetrics([])).toBe('');
});
