/**
 * `mbongo archive …`: moves final, old records out of the live tables, and drops months that need not be kept.
 *
 * Invariant: nothing is dropped without --yes.
 */

import type { Month } from '../store/archive-months.ts';
import { dropArchived, listArchive, requireDroppable, runArchive } from '../usecases/archive-run.ts';
import { OperatorError, UsageError } from '../usecases/operator-error.ts';
import { pause } from '../usecases/patience.ts';
import { type Output, table, timeOf } from './output.ts';
import type { Tools } from './tools.ts';

/** The options of `mbongo archive`. `olderThan`: an age in whole months or years, `13m` or `2y`, which must be given. */
export interface ArchiveOptions {
  readonly olderThan?: string;
  readonly dryRun?: true;
}

/** 5 ms at least between steps. Otherwise it pauses for as long as a step took, which leaves the gateway half of the time. */
const MIN_REST_MS = 5;

/**
 * Moves records that became final longer ago than `olderThan` into the archive, or with --dry-run only counts them:
 * `{final_before, dry_run, rows, busy_steps}`. `rows` counts by table; `busy_steps` is how many steps were left out because their
 * rows are in use.
 *
 * @throws UsageError when the age is missing, malformed or out of range.
 */
export async function archiveRun({ deps }: Tools, options: ArchiveOptions): Promise<Output> {
  const dry = options.dryRun === true;
  const rest = (took: number): Promise<void> => pause(deps.clock, dry ? 0 : Math.max(MIN_REST_MS, took));
  const { cutoff, rows, busy } = await runArchive(deps, { months: readMonths(options.olderThan), dry, rest });
  const final_before = timeOf(cutoff);
  const left = Object.entries(rows).filter(([, count]) => count > 0);
  const lines = table(
    ['table', 'rows'],
    left.map(([name, count]) => [name, String(count)]),
  );
  const held =
    busy === 0 ? [] : [`${busy} steps were left out because their rows are in use: run the command again later`];
  return {
    document: { final_before, dry_run: dry, rows, busy_steps: busy },
    lines: [`${dry ? 'would move' : 'moved'} what was final before ${final_before}`, ...lines, ...held],
  };
}

/**
 * The months in the archive as `{ledger_begins, months: [{month, rows, bytes}]}`. `ledger_begins`: the first day (UTC) whose ledger
 * lines are kept; null if none have been dropped. `bytes` is text, since it may be larger than a JSON number.
 */
export async function archiveList({ deps }: Tools): Promise<Output> {
  const months = await listArchive(deps);
  const ledgerBegins = (await deps.store.archive.ledgerBegins()) ?? null;
  const rows = months.map((month) => [month.month, String(rowsOf(month)), `${bytesOf(month) / 1_048_576n} MiB`]);
  return {
    document: { ledger_begins: ledgerBegins, months: months.map(documentOf) },
    lines: [
      ...table(['month', 'rows', 'on disk'], rows),
      ...(ledgerBegins === null ? [] : [`the ledger's lines begin with ${ledgerBegins}`]),
    ],
  };
}

/** The options of `mbongo archive drop`. `month`: the oldest month of the archive, as `2024-05`. */
export interface DropOptions {
  readonly month: string;
  readonly yes?: true;
}

/**
 * Deletes the oldest month of the archive for ever, and returns `{dropped: {month, rows, bytes}}`.
 *
 * @throws OperatorError when the month cannot be dropped, and, without --yes, with the number of rows that would be deleted.
 */
export async function archiveDrop({ deps }: Tools, { month, yes }: DropOptions): Promise<Output> {
  if (yes !== true) {
    const found = await requireDroppable(deps, month);
    throw new OperatorError(`${rowsOf(found)} rows of ${month} would be deleted for ever: add --yes to do it`);
  }
  const dropped = await dropArchived(deps, month);
  return {
    document: { dropped: documentOf(dropped) },
    lines: [`${month} is deleted: ${rowsOf(dropped)} rows, ${bytesOf(dropped) / 1_048_576n} MiB`],
  };
}

/** Whole months such as `13m`, or years such as `2y`. */
function readMonths(text: string | undefined): number {
  if (text === undefined) throw new UsageError('--older-than is missing: add it, for example --older-than 13m');
  const match = /^([0-9]{1,3})([my])$/.exec(text);
  if (match === null) {
    throw new UsageError(`${JSON.stringify(text)} is not an age: write it like 13m for months or 2y for years`);
  }
  return Number(match[1]) * (match[2] === 'y' ? 12 : 1);
}

function documentOf(found: Month) {
  const { month, tables } = found;
  const rows = Object.fromEntries(tables.map((one) => [one.table, one.rows]));
  return { month, rows, bytes: bytesOf(found).toString() };
}

function rowsOf({ tables }: Month): number {
  return tables.reduce((sum, { rows }) => sum + rows, 0);
}

function bytesOf({ tables }: Month): bigint {
  return tables.reduce((sum, { bytes }) => sum + bytes, 0n);
}
