/**
 * Moves final, old records out of the live tables, and drops months of the archive that need not be kept any longer.
 *
 * Invariant: it may be killed at any moment and run again: each step is a transaction of its own, and rows already moved are not
 * found again. It runs beside the gateway, and pauses after each step for as long as the step took.
 */

import { cutoffOf, isMonth, OLDEST_MONTHS, YOUNGEST_MONTHS } from '../domain/archive.ts';
import { SHARDS } from '../domain/ids.ts';
import { GROUPS, type Group } from '../store/archive-groups.ts';
import type { Dropped, Month, NotDropped } from '../store/archive-months.ts';
import type { Moved, WouldLeave } from '../store/archive-move.ts';
import { ARCHIVED_TABLES, type ArchivedTable } from '../store/archive-tables.ts';
import type { OperatorDeps } from './deps.ts';
import { OperatorError, UsageError } from './operator-error.ts';

type ArchiveDeps = Pick<OperatorDeps, 'store' | 'clock'>;

/** What a run of the archive is to do. */
export interface ArchiveOrder {
  /** For how many whole months a record must have been final. */
  readonly months: number;
  /** Only counts what would move. */
  readonly dry: boolean;
  /** Pauses after a step, for `took` milliseconds: as a rule, for as long as the step took. */
  readonly rest: (took: number) => Promise<void>;
}

/** What a run of the archive has moved, or would. */
export interface Archived {
  /** Milliseconds since 1970: everything that moved was final before this instant. */
  readonly cutoff: number;
  /** Rows by table: those that moved, or would. */
  readonly rows: { readonly [table in ArchivedTable]: number };
  /** Steps that still found rows locked by another transaction at the last try, and left them for the next run. */
  readonly busy: number;
}

/** 5 tries for a step whose rows are locked. */
const TRIES = 5;
/** 100 ms until rows that another transaction has locked are tried again. */
const LOCKED_PAUSE_MS = 100;
/** 60 s: no step takes longer; if more seems to have passed, the clock was set forward. */
const MAX_REST_MS = 60_000;

/** @throws UsageError when `months` is out of range: so few that something might still be under way, or too many. */
export async function runArchive(deps: ArchiveDeps, { months, dry, rest }: ArchiveOrder): Promise<Archived> {
  if (!Number.isInteger(months) || months < YOUNGEST_MONTHS || months > OLDEST_MONTHS) {
    throw new UsageError(
      `what is archived must be ${YOUNGEST_MONTHS} to ${OLDEST_MONTHS} months old: use --older-than 13m, for example`,
    );
  }
  const cutoff = cutoffOf(deps.clock.now(), months);
  const rows = new Map<ArchivedTable, number>(ARCHIVED_TABLES.map((table) => [table, 0]));
  let busy = 0;
  const archiver = await deps.store.archive.open();
  const step: Step = async (group, shard, after, wouldLeave) => {
    for (let tries = 1; ; tries += 1) {
      const begun = deps.clock.wall();
      const done = await archiver.slice(group, { shard, after, cutoff }, wouldLeave);
      addTo(rows, done.moved);
      if (done.busy && tries === TRIES) busy += 1;
      // A step that moved nothing has put no load on the database, so no pause follows.
      if (done.busy) await rest(LOCKED_PAUSE_MS);
      else if (done.moved.size > 0) await rest(Math.min(MAX_REST_MS, deps.clock.wall() - begun));
      if (!done.busy || tries === TRIES) return { reached: done.reached, hasMoved: done.moved.size > 0 };
    }
  };
  try {
    for (let shard = 0; shard < SHARDS; shard += 1) {
      const wouldLeave: WouldLeave | undefined = dry ? new Set() : undefined;
      for (const group of GROUPS) await walk(group, shard, step, wouldLeave);
    }
  } finally {
    await archiver.close();
  }
  return { cutoff, rows: Object.fromEntries(rows) as Archived['rows'], busy };
}

interface Walked {
  readonly reached: string | undefined;
  readonly hasMoved: boolean;
}

type Step = (group: Group, shard: number, after: string, wouldLeave: WouldLeave | undefined) => Promise<Walked>;

/** Walks a shard from its beginning; for a group that `repeats`, again and again while rows move: rows that left may free others. */
async function walk(group: Group, shard: number, step: Step, wouldLeave: WouldLeave | undefined): Promise<void> {
  let isOver = false;
  while (!isOver) {
    let hasMoved = false;
    for (let after: string | undefined = ''; after !== undefined; ) {
      const done: Walked = await step(group, shard, after, wouldLeave);
      hasMoved ||= done.hasMoved;
      after = done.reached;
    }
    isOver = group.repeats !== true || !hasMoved;
  }
}

function addTo(rows: Map<ArchivedTable, number>, moved: Moved): void {
  for (const [table, count] of moved) rows.set(table, (rows.get(table) ?? 0) + count);
}

/** The months in the archive, with what each holds. */
export function listArchive({ store }: Pick<ArchiveDeps, 'store'>): Promise<readonly Month[]> {
  return store.archive.months();
}

/** The month, if it could be dropped now. @throws OperatorError as `dropArchived`; nothing is changed. */
export async function requireDroppable({ store }: Pick<ArchiveDeps, 'store'>, month: string): Promise<Month> {
  requireMonth(month);
  const examined = await store.archive.examine(month);
  if (examined.kind !== 'droppable') throw notDropped(examined, month);
  return examined.month;
}

/** Drops the oldest month for ever. @throws OperatorError that says why it is not dropped. */
export async function dropArchived({ store }: Pick<ArchiveDeps, 'store'>, month: string): Promise<Month> {
  requireMonth(month);
  const dropped: Dropped = await store.archive.drop(month);
  if (dropped.kind !== 'dropped') throw notDropped(dropped, month);
  return dropped.month;
}

function requireMonth(month: string): void {
  if (!isMonth(month)) throw new UsageError(`${JSON.stringify(month)} is not a month: write it like 2024-05`);
}

function notDropped(why: NotDropped, month: string): OperatorError {
  switch (why.kind) {
    case 'unknown':
      return new OperatorError(`nothing of ${month} is in the archive: see \`mbongo archive list\``);
    case 'older':
      return new OperatorError(
        `the oldest month must be dropped first, and ${why.month} is still there: drop that one`,
      );
    case 'live_lines':
      return new OperatorError(
        `ledger lines of ${month} or earlier are not archived yet: run \`mbongo archive --older-than …\` first`,
      );
    case 'open_days':
      return new OperatorError(
        `days of ${month} are not closed yet, and closing them needs their records: let a worker run, and try again`,
      );
    case 'late_money': {
      const attempts = why.attempts === 1 ? '1 attempt' : `${why.attempts} attempts`;
      const what = `money of ${attempts} of ${month} or earlier came or left late and waits to be booked`;
      const wayOut = 'see `mbongo suspense list`, and book it first, with `mbongo attempt book`';
      return new OperatorError(`${what}, and booking it needs the records of that month: ${wayOut}`);
    }
    case 'busy':
      return new OperatorError('the archive is being read at the moment: try again');
  }
}
