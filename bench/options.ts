/**
 * The options of the full run: how long, how large, and which parts of it.
 *
 * Invariant: options that make no sense are refused before anything is started.
 */

import { parseArgs } from 'node:util';
import { UsageError } from '../src/usecases/operator-error.ts';
import { type Teller, tellerOf } from './teller.ts';

export const PARTS = ['payments', 'filled', 'open', 'sessions', 'reads', 'wallet', 'drain', 'page'] as const;
export type Part = (typeof PARTS)[number];

export interface Settings {
  readonly rounds: number;
  /** Seconds per slice, its warm-up not included. */
  readonly seconds: number;
  /** Seconds per server, before the first round. */
  readonly warmupSeconds: number;
  readonly connections: number;
  /** How many merchants the “100 merchants” slices have. */
  readonly merchants: number;
  /** Payments in the filled database. */
  readonly payments: number;
  /** Webhooks that are waiting when the receivers come back. */
  readonly backlog: number;
  /** Hosted pages to open. */
  readonly pages: number;
}

export interface BenchOptions extends Teller {
  readonly settings: Settings;
  readonly parts: ReadonlySet<Part>;
}

export const FULL: Settings = {
  rounds: 3,
  seconds: 8,
  warmupSeconds: 20,
  connections: 64,
  merchants: 100,
  payments: 5_000_000,
  backlog: 10_000,
  pages: 500,
};

/** For a developer who wants an answer within a few minutes. */
export const QUICK: Settings = {
  rounds: 1,
  seconds: 2,
  warmupSeconds: 2,
  connections: 64,
  merchants: 10,
  payments: 50_000,
  backlog: 2_000,
  pages: 100,
};

const FIGURES = Object.keys(FULL) as (keyof Settings)[];

/** @throws UsageError that names the option and what it may be. */
export function readOptions(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      json: { type: 'boolean', default: false },
      ...Object.fromEntries(FIGURES.map((name) => [optionOf(name), { type: 'string' } as const])),
    },
  });
  const given = values as Readonly<Record<string, string | boolean | undefined>>;
  const base = values.quick ? QUICK : FULL;
  const settings = Object.fromEntries(FIGURES.map((name) => [name, figureOf(given, name) ?? base[name]]));
  return {
    settings: { ...base, ...settings },
    parts: partsOf(values.only),
    ...tellerOf(values),
  };
}

/** The option that sets a figure, without its dashes. */
export function optionOf(name: keyof Settings): string {
  return name === 'warmupSeconds' ? 'warmup-seconds' : name;
}

function figureOf(given: Readonly<Record<string, unknown>>, name: keyof Settings): number | undefined {
  const text = given[optionOf(name)];
  if (text === undefined) return undefined;
  if (typeof text === 'string' && /^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new UsageError(
    `--${optionOf(name)} takes a whole number above zero, for example --${optionOf(name)} ${FULL[name]}`,
  );
}

function partsOf(text: string | undefined): ReadonlySet<Part> {
  if (text === undefined) return new Set(PARTS);
  const wanted = text.split(',').map((name) => name.trim());
  const parts = PARTS.filter((part) => wanted.includes(part));
  if (parts.length === wanted.length) return new Set(parts);
  throw new UsageError(
    `--only takes parts out of ${PARTS.join(', ')}, with commas between them, for example --only payments`,
  );
}
