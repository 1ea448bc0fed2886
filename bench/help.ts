/**
 * The help of the bench: every bench and every option, with the figures that are used where none is given.
 *
 * Invariant: what the full run measures and how much of it is read from its own tables, so that the help cannot differ from them.
 */

import { FULL, optionOf, PARTS, QUICK, type Settings } from './options.ts';

type Rows = readonly (readonly [name: string, meaning: string])[];

const BENCHES: Rows = [
  ['all', 'everything that is promised about payments (default)'],
  ['payments', 'payments alone, as --only payments does'],
  ['payouts', 'lines of payout batches, from the call to their webhooks'],
  ['statement', 'the statement of a merchant with millions of ledger lines'],
  ['overload', 'several times as many calls as the gateway can answer'],
];

const FIGURES: { readonly [name in keyof Settings]: string } = {
  rounds: 'how many rounds',
  seconds: 'seconds of each slice',
  warmupSeconds: 'seconds before the first round',
  connections: 'how many connections call at the same time',
  merchants: 'how many merchants the slices with many have',
  payments: 'payments in the filled database',
  backlog: 'webhooks that wait when the receivers come back',
  pages: 'hosted pages to open',
};

const OF_ALL: Rows = [
  ['--quick', 'one short round and small tables: a minute or two'],
  ['--only <parts>', `these parts alone: ${PARTS.join(',')}`],
  ...(Object.keys(FULL) as (keyof Settings)[]).map((name) => figure(optionOf(name), FIGURES[name], defaultOf(name))),
];

const OF_PAYOUTS: Rows = [
  figure('seconds', 'seconds of each slice', '5'),
  figure('rounds', 'how many rounds', '3'),
  figure('batches', 'how many batches are under way at the same time', '16'),
];

const OF_STATEMENT: Rows = [
  figure('lines', 'lines of the ledger', '10000000'),
  figure('pages', 'pages to read', '200'),
];

const OF_OVERLOAD: Rows = [
  figure('seconds', 'seconds of each round', '10'),
  figure('rounds', 'how many rounds', '3'),
  figure('factor', 'how many times the peak is offered', '5'),
];

const OF_EVERY: Rows = [
  ['--json', 'print the figures as one JSON document; the table goes to standard error'],
  ['--help', 'display help'],
];

export const HELP: string = [
  'Usage: mbongo bench [bench] [options]',
  '       npm run bench -- [bench] [options]',
  '',
  "Measures the gateway's speed on this machine: a quarter of an hour, with --quick a minute or two. docs/performance.md says",
  'what each bench measures, and what was measured.',
  ...section('Benches', BENCHES),
  ...section('Options of all and payments', OF_ALL),
  ...section('Options of payouts', OF_PAYOUTS),
  ...section('Options of statement', OF_STATEMENT),
  ...section('Options of overload', OF_OVERLOAD),
  ...section('Options of every bench', OF_EVERY),
].join('\n');

function figure(name: string, meaning: string, otherwise: string): readonly [string, string] {
  return [`--${name} <count>`, `${meaning} (default: ${otherwise})`];
}

function defaultOf(name: keyof Settings): string {
  return FULL[name] === QUICK[name] ? String(FULL[name]) : `${FULL[name]}, with --quick ${QUICK[name]}`;
}

function section(title: string, rows: Rows): string[] {
  return ['', `${title}:`, ...rows.map(([name, meaning]) => `  ${name.padEnd(24)}  ${meaning}`)];
}
