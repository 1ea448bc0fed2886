/**
 * Monitoring matches the metrics: the dashboard and the alert rules refer to names and labels that the gateway has, and
 * every alert has its section in the runbook.
 *
 * Invariant: a renamed metric breaks this test, and not someone's night.
 */
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readText } from './support/sources.ts';

interface Metric {
  readonly type: string;
  readonly labels: readonly string[];
}

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly datasource?: { readonly uid: string };
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string } };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

const RULES: { groups: { name: string; rules: Rule[] }[] } = parse(readText('deploy/helm/mbongo/files/alerts.yml'));
const DASHBOARD: { uid: string; title: string; panels: Panel[]; annotations: { list: { expr: string }[] } } =
  JSON.parse(readText('deploy/helm/mbongo/files/mbongo.json'));
const rules = RULES.groups.flatMap((group) => group.rules);
const panels = DASHBOARD.panels.filter(({ type }) => type !== 'row');
const METRICS = readMetrics();

/** Labels added by Prometheus, and by the supervisor of several processes. */
const ADDED = ['le', 'instance', 'job', 'process'];

/** The table of docs/metrics.md, which another test compares with a running process. */
function readMetrics(): Map<string, Metric> {
  const rows = readText('docs/metrics.md').matchAll(/^\| `(mbongo_\w+)` \| (\w+) \| ([^|]*)\|/gm);
  return new Map(
    [...rows].map(([, name = '', type = '', labels = '']) => [
      name,
      { type, labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label) },
    ]),
  );
}

/** The metric of a series: a histogram has three series. */
function metricOf(series: string): Metric | undefined {
  const part = /^(.*)_(bucket|sum|count)$/.exec(series);
  const histogram = part === null ? undefined : METRICS.get(part[1] ?? '');
  return histogram?.type === 'histogram' ? histogram : METRICS.get(series);
}

/** What is wrong with an expression, in words. */
function faultsOf(expr: string): string[] {
  const faults: string[] = [];
  const known = new Set(ADDED);
  for (const [, series = '', selector = ''] of expr.matchAll(/\b(mbongo_\w+)(?:\{([^}]*)\})?/g)) {
    const metric = metricOf(series);
    if (metric === undefined || (metric.type === 'histogram' && METRICS.has(series))) {
      faults.push(`${series} is no series`);
      continue;
    }
    for (const label of metric.labels) known.add(label);
    for (const [, label = ''] of selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)) {
      if (![...metric.labels, ...ADDED].includes(label)) faults.push(`${series} has no label ${label}`);
    }
    const isCounter = metric.type === 'counter' || metric.type === 'histogram';
    const told = new RegExp(`(rate|increase)\\(${series}\\b`).test(expr);
    if (isCounter !== told) faults.push(`${series} is a ${metric.type}`);
  }
  for (const [, list = ''] of expr.matchAll(/\bby \(([^)]*)\)/g)) {
    faults.push(...list.split(', ').flatMap((label) => (known.has(label) ? [] : [`nothing has the label ${label}`])));
  }
  if (expr.match(/[([{]/g)?.length !== expr.match(/[)\]}]/g)?.length) faults.push('its brackets do not match');
  return faults;
}

/** The anchors of a text's headings. */
function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^## (.+)$/gm)].map(([, heading = '']) =>
    heading.toLowerCase().replaceAll(/[^a-z0-9-]/g, ''),
  );
}

test('the page of metrics can be read', () => {
  expect(METRICS.size).toBeGreaterThan(40);
  expect(metricOf('mbongo_http_request_duration_seconds_bucket')).toEqual({ type: 'histogram', labels: ['route'] });
});

test('an expression with a mistake is detected', () => {
  expect(faultsOf('sum(mbongo_nothing)')).toEqual(['mbongo_nothing is no series']);
  expect(faultsOf('rate(mbongo_http_requests_total{stutus="5xx"}[5m])')).toHaveLength(1);
  expect(faultsOf('sum by (merchant) (rate(mbongo_http_requests_total[5m]))')).toHaveLength(1);
  expect(faultsOf('mbongo_http_requests_total')).toEqual(['mbongo_http_requests_total is a counter']);
});

describe('alert rules', () => {
  test.each(rules.map((rule) => [rule.alert, rule] as const))(
    '%s refers to existing metrics, and says what to do',
    (name, rule) => {
      expect(name).toMatch(/^Mbongo[A-Z]\w+$/);
      expect(faultsOf(rule.expr)).toEqual([]);
      expect(['critical', 'warning']).toContain(rule.labels.severity);
      const { summary = '', description = '', runbook_url } = rule.annotations;
      expect(summary).toMatch(/^.{10,}$/);
      expect(description).toMatch(/^.{20,}\.$/);
      expect(runbook_url).toBe(`docs/runbook.md#${name.toLowerCase()}`);
      const grouped =
        /^(?:sum|max|min|count|histogram_quantile|changes)\b[^=<>]*?\bby \(([^)]*)\)/.exec(rule.expr)?.[1] ?? '';
      const named = [...`${summary} ${description}`.matchAll(/\$labels\.(\w+)/g)].map(([, label = '']) => label);
      const kept = rule.expr.startsWith('changes(') ? ADDED : grouped.split(', ');
      expect(named.filter((label) => !kept.includes(label))).toEqual([]);
    },
  );

  test('an outage of every api, or of every worker, is seen although the others are there', () => {
    const absent = rules.flatMap(
      ({ expr }) => /^absent\(mbongo_build_info\{role=~"([^"]+)"\}\)$/.exec(expr)?.[1] ?? [],
    );
    expect(absent.sort()).toEqual(['api|all', 'worker|all']);
  });

  test('no target brings a label of the gateway, which Prometheus would then rename', () => {
    const { scrape_configs }: { scrape_configs: { relabel_configs?: { target_label?: string }[] }[] } = parse(
      readText('deploy/prometheus/prometheus.yml'),
    );
    const own = new Set([...METRICS.values()].flatMap(({ labels }) => labels));
    const brought = scrape_configs.flatMap(({ relabel_configs = [] }) =>
      relabel_configs.map((one) => one.target_label),
    );
    expect(brought.filter((label) => own.has(label ?? ''))).toEqual([]);
  });

  test('the runbook has a section for each, and no other', () => {
    const sections = anchorsOf(readText('docs/runbook.md'));
    expect(sections.sort()).toEqual(rules.map(({ alert }) => alert.toLowerCase()).sort());
    expect(new Set(sections).size).toBe(sections.length);
  });

  test('compose mounts them where Prometheus looks for them', () => {
    const { rule_files }: { rule_files: string[] } = parse(readText('deploy/prometheus/prometheus.yml'));
    expect(readText('deploy/compose.yaml')).toContain(`./helm/mbongo/files/alerts.yml:${rule_files[0]}:ro`);
  });
});

describe('the dashboard', () => {
  test.each(panels.map((panel) => [panel.title, panel] as const))('%s', (_title, panel) => {
    expect(panel.description).toMatch(/^[A-Z].{10,}\.$/);
    expect(panel.fieldConfig?.defaults.unit).toMatch(/^[a-z]+$/);
    expect(panel.datasource?.uid).toBe('$' + '{datasource}');
    expect(panel.targets?.length).toBeGreaterThan(0);
    for (const { expr, legendFormat } of panel.targets ?? []) {
      expect(faultsOf(expr)).toEqual([]);
      const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].map(([, list = '']) => list.split(', '));
      const named = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
      const kept = grouped[0] ?? ADDED;
      expect(named.filter((label) => !kept.includes(label))).toEqual([]);
    }
  });

  test('no two panels share an id, a title or a place', () => {
    expect(new Set(DASHBOARD.panels.map(({ id }) => id)).size).toBe(DASHBOARD.panels.length);
    expect(new Set(DASHBOARD.panels.map(({ title, type }) => `${type} ${title}`)).size).toBe(DASHBOARD.panels.length);
    const taken = new Set<string>();
    for (const { gridPos } of DASHBOARD.panels) {
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
          expect(taken.has(`${x} ${y}`)).toBe(false);
          taken.add(`${x} ${y}`);
        }
      }
    }
  });

  test('it shows what has to be monitored', () => {
    const shown = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)).join('\n');
    const missing = [...METRICS.keys()].filter((name) => !/_(process|nodejs)_/.test(name) && !shown.includes(name));
    expect(missing).toEqual([]);
    expect(DASHBOARD.annotations.list.flatMap(({ expr }) => faultsOf(expr))).toEqual([]);
  });
});
