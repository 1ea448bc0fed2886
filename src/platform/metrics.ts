/**
 * What monitoring reads: metrics by name, in the text form of Prometheus.
 *
 * Invariant: a label holds a name, a pattern or one of a few classes, never an id: a reader of the page learns nothing about a
 * merchant or a customer, and the number of labels does not grow with the traffic.
 */
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { MetricLabels, Metrics, MetricTally } from './platform.ts';
import { VERSION } from './version.ts';

export interface MetricsOptions {
  /** Whether to report on this process too: memory, processor time, garbage collection, event loop. */
  readonly ofProcess: boolean;
  /** What this process does: `api`, `worker` or `all` (the default). */
  readonly role?: string;
}

/**
 * Milliseconds for which the process metrics are cached: computing them takes some milliseconds of the only thread, and anyone
 * who can reach the page may request it as often as they like.
 */
const PROCESS_KEPT_MS = 1_000;

/** Renders the lines of one metric. */
type Lines = () => string[];

/**
 * Counting is a look-up and an addition, because every request does some: 180 ns for a request's two metrics, where the library's
 * own take 570. The library reports on the process.
 */
export function openMetrics({ ofProcess, role = 'all' }: MetricsOptions): Metrics {
  const library = new Registry();
  const made = new Map<string, Lines>();
  const add = (name: string, type: string, help: string, lines: Lines): void => {
    if (made.has(name)) throw new Error(`the metric ${name} is made twice`);
    made.set(name, () => [`# HELP ${name} ${escapeHelp(help)}`, `# TYPE ${name} ${type}`, ...lines()]);
  };
  /** Values by their labels, one entry for each combination seen. */
  const addNumbers = (name: string, type: string, help: string, labelNames: readonly string[]) => {
    const known = new Map<string, Numbered>();
    // A metric without labels is there from the start, so that its first increase is seen.
    if (labelNames.length === 0) known.set('', { text: '', value: 0 });
    add(name, type, help, () => [...known.values()].map(({ text, value }) => `${name}${text} ${value}`));
    return (labels: MetricLabels): Numbered =>
      entryOf(known, labelNames, labels, () => ({ text: textOf(labelNames, labels), value: 0 }));
  };
  let kept: { readonly at: number; readonly text: Promise<string> } | undefined;
  const processText = (): Promise<string> => {
    const at = performance.now();
    if (kept === undefined || at - kept.at >= PROCESS_KEPT_MS) kept = { at, text: library.metrics() };
    return kept.text;
  };
  if (ofProcess) {
    collectDefaultMetrics({ register: library, prefix: 'mbongo_' });
    const build = { version: VERSION, node: process.versions.node, role };
    addNumbers(
      'mbongo_build_info',
      'gauge',
      'Which gateway, on which Node.js, and what it does.',
      Object.keys(build),
    )(build).value = 1;
  }
  return {
    counter(name, help, labelNames, known = []) {
      const numberOf = addNumbers(name, 'counter', help, labelNames);
      for (const labels of known) numberOf(labels);
      return (labels) => {
        numberOf(labels).value += 1;
      };
    },
    gauge(name, help, labelNames) {
      const numberOf = addNumbers(name, 'gauge', help, labelNames);
      return (labels, value) => {
        numberOf(labels).value = value;
      };
    },
    histogram(name, help, labelNames, buckets) {
      const known = new Map<string, Tallied>();
      add(name, 'histogram', help, () => [...known.values()].flatMap((one) => tallyLines(name, one.labels, one.tally)));
      const empty = (labels: MetricLabels): Tallied => {
        return {
          labels: chosen(labelNames, labels),
          tally: { bounds: buckets, counts: [...buckets.map(() => 0), 0], sum: 0 },
        };
      };
      return (labels, value) => count(entryOf(known, labelNames, labels, () => empty(labels)).tally, value);
    },
    read(name, type, help, labelNames, read) {
      add(name, type, help, () => read().map(({ labels, value }) => `${name}${textOf(labelNames, labels)} ${value}`));
    },
    readHistogram(name, help, read) {
      add(name, 'histogram', help, () => tallyLines(name, {}, read()));
    },
    async page() {
      const ours = [...made.values()].map((lines) => `${lines().join('\n')}\n`);
      return { type: library.contentType, body: [...ours, await processText()].join('\n') };
    },
  };
}

interface Numbered {
  readonly text: string;
  value: number;
}

interface Tallied {
  readonly labels: MetricLabels;
  readonly tally: Tally;
}

interface Tally extends MetricTally {
  readonly counts: number[];
  sum: number;
}

function count(tally: Tally, value: number): void {
  let at = 0;
  while (at < tally.bounds.length && value > (tally.bounds[at] ?? 0)) at += 1;
  tally.counts[at] = (tally.counts[at] ?? 0) + 1;
  tally.sum += value;
}

/** The entry of these labels. One label, the usual case, needs no key to be built. */
function entryOf<E>(known: Map<string, E>, labelNames: readonly string[], labels: MetricLabels, make: () => E): E {
  let key = labels[labelNames[0] ?? ''] ?? '';
  for (let at = 1; at < labelNames.length; at += 1) key += `\n${labels[labelNames[at] ?? ''] ?? ''}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  const entry = make();
  known.set(key, entry);
  return entry;
}

/** Prometheus buckets are cumulative: each includes the smaller ones. */
function tallyLines(name: string, labels: MetricLabels, { bounds, counts, sum }: MetricTally): string[] {
  const labelNames = Object.keys(labels);
  let total = 0;
  const lines = [...bounds.map(String), '+Inf'].map((le, at) => {
    total += counts[at] ?? 0;
    return `${name}_bucket${textOf(['le', ...labelNames], { ...labels, le })} ${total}`;
  });
  const text = textOf(labelNames, labels);
  return [...lines, `${name}_sum${text} ${sum}`, `${name}_count${text} ${total}`];
}

function chosen(labelNames: readonly string[], labels: MetricLabels): MetricLabels {
  return Object.fromEntries(labelNames.map((name) => [name, labels[name] ?? '']));
}

function textOf(labelNames: readonly string[], labels: MetricLabels): string {
  if (labelNames.length === 0) return '';
  return `{${labelNames.map((name) => `${name}="${escapeValue(labels[name] ?? '')}"`).join(',')}}`;
}

function escapeValue(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}
