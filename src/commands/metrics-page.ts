/**
 * The metrics of several processes on one page for Prometheus.
 *
 * Invariant: each sample stays that of its process, identified by the label `process`. If samples were added up here, a counter
 * would fall whenever a process ends, and Prometheus would take that for a reset and count the rest again.
 */

/** The metrics of one process, in Prometheus's text format. */
export interface ProcessMetrics {
  readonly process: string;
  readonly text: string;
}

interface Family {
  /** `# HELP` and `# TYPE`. */
  readonly about: string[];
  readonly samples: string[];
}

/** Joins pages: every metric has one HELP and TYPE, followed by the samples of all processes. */
export function joinMetrics(pages: readonly ProcessMetrics[]): string {
  const families = new Map<string, Family>();
  for (const { process, text } of pages) {
    let family: Family | undefined;
    let explains = false;
    for (const line of text.split('\n')) {
      if (line === '') continue;
      const about = /^# (HELP|TYPE) (\S+)/.exec(line);
      if (about !== null) {
        const name = about[2] ?? '';
        family = families.get(name);
        if (about[1] === 'HELP') explains = family === undefined;
        family ??= { about: [], samples: [] };
        families.set(name, family);
        if (explains) family.about.push(line);
      } else family?.samples.push(labelled(line, process));
    }
  }
  return [...families.values()].map(({ about, samples }) => `${[...about, ...samples].join('\n')}\n`).join('\n');
}

/** A sample with the label `process` added; a metric's name holds neither a blank nor a brace. */
function labelled(sample: string, process: string): string {
  const end = sample.search(/[{ ]/);
  const [name, rest] = [sample.slice(0, end), sample.slice(end)];
  return rest.startsWith('{')
    ? `${name}{process="${process}",${rest.slice(1)}`
    : `${name}{process="${process}"}${rest}`;
}
