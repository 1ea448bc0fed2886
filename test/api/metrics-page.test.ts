/**
 * `docs/metrics.md` matches `/metrics`: every name with its type and its labels, and no other.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { openMetrics } from '../../src/platform/metrics.ts';
import { VERSION } from '../../src/platform/version.ts';
import { collect, payFromWallet } from '../support/flows.ts';
import { pushed } from '../support/phone-payments.ts';
import { readText } from '../support/sources.ts';
import { openWorld, type World } from '../support/world.ts';

/** What a page of documentation, or of metrics, says about a name. */
interface Told {
  readonly type: string;
  readonly labels: readonly string[];
}

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

function documented(): Map<string, Told> {
  const rows = readText('docs/metrics.md').matchAll(/^\| `(mbongo_\w+)` \| (\w+) \|([^|]*)\|(.*)$/gm);
  return new Map(
    [...rows]
      .filter(([, , , , meaning = '']) => isHere(meaning))
      .map(([, name = '', type = '', labels = '']) => [
        name,
        { type, labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label).toSorted() },
      ]),
  );
}

/** Whether a metric exists here: the library knows some of a process's numbers on Linux only. */
function isHere(meaning: string): boolean {
  return process.platform === 'linux' || !meaning.includes('(Linux)');
}

/** What a page of metrics says about each name; with the labels of those that have a value. */
function toldIn(text: string): Map<string, Told & { readonly shown: boolean }> {
  const names = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)];
  return new Map(
    names.map(([, name = '', type = '']) => {
      const sample = new RegExp(`^${name}(?:_count)?(?:\\{(.*)\\})? `, 'm').exec(text);
      const labels = [...(sample?.[1] ?? '').matchAll(/(\w+)="/g)].map(([, label = '']) => label);
      return [name, { type, labels: labels.toSorted(), shown: sample !== null }];
    }),
  );
}

test('an alert on the first increase of a counter finds it at 0 from the start', async () => {
  const rules = readText('deploy/helm/mbongo/files/alerts.yml');
  const page = await (await fetch(`${world.url}/metrics`)).text();
  const asked = [...rules.matchAll(/\b(?:rate|increase)\((mbongo_\w+)(?:\{([^}]+)\})?\[\w+\]\)\)? > 0$/gm)];
  expect(asked.map(([, name]) => name)).toEqual([
    'mbongo_attempt_alarms_total',
    'mbongo_http_shed_total',
    'mbongo_commit_changes_total',
    'mbongo_webhook_events_total',
  ]);
  for (const [, name = '', selector = ''] of asked) {
    const labels = [...selector.matchAll(/(\w+)=~?"([^"]+)"/g)];
    const series = labels.reduce<readonly string[]>(
      (begun, [, label = '', values = '']) =>
        begun.flatMap((one) => values.split('|').map((value) => `${one}.*\\b${label}="${value}"`)),
      [`^${name}\\{`],
    );
    const value = selector === '' ? '' : '.*\\} 0$';
    for (const line of series) expect(page).toMatch(new RegExp(`${line}${value}`, 'm'));
  }
});

test('every metric is documented, with its type and labels, and no other is', async () => {
  const merchant = await world.merchant();
  const paying = await collect(world, merchant);
  await payFromWallet(world, paying, await world.wallet());
  await world.receiver.about(paying.transaction_id);
  await world.gateway.courier.idle();
  await pushed(world, merchant, '02');
  await world.pass(60_000);
  const ofGateway = toldIn(await (await fetch(`${world.url}/metrics`)).text());
  const ofProcess = toldIn((await openMetrics({ ofProcess: true }).page()).body);
  const docs = documented();
  const seen = new Map([...ofGateway, ...ofProcess]);
  expect([...seen.keys()].toSorted()).toEqual([...docs.keys()].toSorted());
  for (const [name, { type, labels, shown }] of seen) {
    expect({ name, type: docs.get(name)?.type }).toEqual({ name, type });
    if (shown) expect({ name, labels: docs.get(name)?.labels }).toEqual({ name, labels });
  }
  // A metric that only a failure shows has no value here.
  const hidden = [...seen].filter(([, { shown }]) => !shown).map(([name]) => name);
  expect(hidden.toSorted()).toEqual(expect.arrayContaining(['mbongo_round_failures_total']));
  expect(hidden.length).toBeLessThanOrEqual(6);
});

test('the version is the package’s', async () => {
  expect(JSON.parse(readText('package.json')).version).toBe(VERSION);
  const { body } = await openMetrics({ ofProcess: true, role: 'api' }).page();
  expect(body).toContain(`mbongo_build_info{version="${VERSION}",node="${process.versions.node}",role="api"} 1`);
});

test('frequent scrapes do not make the process measure itself each time', async () => {
  const metrics = openMetrics({ ofProcess: true });
  const counted = metrics.counter('a_total', 'A.', []);
  const cpuOf = (body: string) => /^mbongo_process_cpu_seconds_total .*$/m.exec(body)?.[0];
  const first = (await metrics.page()).body;
  const before = process.cpuUsage().user;
  while (process.cpuUsage().user - before < 10_000) counted({});
  const second = (await metrics.page()).body;
  expect(cpuOf(first)).toBeDefined();
  expect(cpuOf(second)).toBe(cpuOf(first));
  // What we count ourselves is up to date.
  expect(/^a_total (\d+)$/m.exec(second)?.[1]).not.toBe('0');
});

test('labels and texts are escaped, and a name is made once', async () => {
  const metrics = openMetrics({ ofProcess: false });
  metrics.counter('a_total', 'One\nline with \\.', ['word'])({ word: 'say "hi"\\\n' });
  metrics.histogram('b_seconds', 'B.', ['of'], [1, 2])({ of: 'x' }, 1.5);
  metrics.gauge('c', 'C.', [])({}, 7);
  const { body } = await metrics.page();
  expect(body).toContain(
    [
      '# HELP a_total One\\nline with \\\\.',
      '# TYPE a_total counter',
      'a_total{word="say \\"hi\\"\\\\\\n"} 1',
      '',
      '# HELP b_seconds B.',
      '# TYPE b_seconds histogram',
      'b_seconds_bucket{le="1",of="x"} 0',
      'b_seconds_bucket{le="2",of="x"} 1',
      'b_seconds_bucket{le="+Inf",of="x"} 1',
      'b_seconds_sum{of="x"} 1.5',
      'b_seconds_count{of="x"} 1',
      '',
      '# HELP c C.',
      '# TYPE c gauge',
      'c 7',
    ].join('\n'),
  );
  expect(() => metrics.gauge('c', 'C.', [])).toThrow('the metric c is made twice');
});
