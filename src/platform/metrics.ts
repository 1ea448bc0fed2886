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
  const addNumbers = (name: string, type: string, help: string, labels: readonly string[]) => {
    const known = new Map<string, Numbered>();
    // A metric without labels is there from the start, so that its first increase is seen.
    if (labels.length === 0) known.set('', { text: '', value: 0 });
    add(name, type, help, () => [...known.values()].map(({ text, value }) => `${name}${text} ${value}`));
    return (values: MetricLabels): Numbered =>
      entryOf(known, labels, values, () => ({ text: textOf(labels, values), value: 0 }));
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
    counter(name, help, labels, known = []) {
      const numberOf = addNumbers(name, 'counter', help, labels);
      for (const values of known) numberOf(values);
      return (values) => {
        numberOf(values).value += 1;
      };
    },
    gauge(name, help, labels) {
      const numberOf = addNumbers(name, 'gauge', help, labels);
      return (values, value) => {
        numberOf(values).value = value;
      };
    },
    histogram(name, help, labels, buckets) {
      const known = new Map<string, Tallied>();
      add(name, 'histogram', help, () => [...known.values()].flatMap((one) => tallyLines(name, one.values, one.tally)));
      const empty = (values: MetricLabels): Tallied => {
        return {
          values: chosen(labels, values),
          tally: { bounds: buckets, counts: [...buckets.map(() => 0), 0], sum: 0 },
        };
      };
      return (values, value) => count(entryOf(known, labels, values, () => empty(values)).tally, value);
    },
    read(name, type, help, labels, read) {
      add(name, type, help, () => read().map(({ values, value }) => `${name}${textOf(labels, values)} ${value}`));
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
  readonly values: MetricLabels;
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
function entryOf<E>(known: Map<string, E>, labels: readonly string[], values: MetricLabels, make: () => E): E {
  let key = values[labels[0] ?? ''] ?? '';
  for (let at = 1; at < labels.length; at += 1) key += `\n${values[labels[at] ?? ''] ?? ''}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  const entry = make();
  known.set(key, entry);
  return entry;
}

/** Prometheus buckets are cumulative: each includes the smaller ones. */
function tallyLines(name: string, values: MetricLabels, { bounds, counts, sum }: MetricTally): string[] {
  const labels = Object.keys(values);
  let total = 0;
  const lines = [...bounds.map(String), '+Inf'].map((le, at) => {
    total += counts[at] ?? 0;
    return `${name}_bucket${textOf(['le', ...labels], { ...values, le })} ${total}`;
  });
  const text = textOf(labels, values);
  return [...lines, `${name}_sum${text} ${sum}`, `${name}_count${text} ${total}`];
}

function chosen(labels: readonly string[], values: MetricLabels): MetricLabels {
  return Object.fromEntries(labels.map((label) => [label, values[label] ?? '']));
}

function textOf(labels: readonly string[], values: MetricLabels): string {
  if (labels.length === 0) return '';
  return `{${labels.map((label) => `${label}="${escapeValue(values[label] ?? '')}"`).join(',')}}`;
}

function escapeValue(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}
