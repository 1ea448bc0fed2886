/**
 * What a batch does as a whole: its occurrences are run, it is approved or rejected, paused, resumed and cancelled.
 *
 * Invariant: every change guards the batch, so that an occurrence is run or skipped once, however many processes try; a line is
 * called off only while it waits, and its reserved money returns in the same change.
 */

import { type Change, type DecisionContext, guardedUpdate, merged, revise, type Update } from './change.ts';
import type { PayoutBatch, PayoutLine } from './outgoing-records.ts';
import { moveLine, reserveTransfer, returnTransfer } from './payout.ts';
import { hasMore, linesOf } from './payout-order.ts';
import { eventInsert, payoutEvent } from './webhook.ts';

/** What decisions about a batch are handed from outside. */
export interface BatchContext extends DecisionContext {
  /** The sentence that describes a line. */
  say(line: PayoutLine): string;
  /** The part of the calendar that says when dates run. */
  readonly calendar: { instantOf(date: string, hour: number, zone: string): number };
}

/** A batch as an operator sees it. */
export const BATCH_STATES = [
  'waiting_for_approval',
  'scheduled',
  'paused',
  'started',
  'rejected',
  'cancelled',
] as const;
/** One of `BATCH_STATES`. */
export type BatchState = (typeof BATCH_STATES)[number];

/** `started`: no occurrence is to come, though its lines may still be open. */
export function batchStateOf(batch: PayoutBatch): BatchState {
  if (batch.cancelled_at !== null) return 'cancelled';
  if (batch.approval === 'rejected') return 'rejected';
  if (batch.approval === 'waiting') return 'waiting_for_approval';
  if (batch.paused_at !== null) return 'paused';
  return hasMore(batch) ? 'scheduled' : 'started';
}

/** When an occurrence runs; null: the batch has no such date. */
export function runsAt(batch: PayoutBatch, occurrence: number, calendar: BatchContext['calendar']): number | null {
  const date = batch.dates?.[occurrence - 1];
  return date === undefined ? null : calendar.instantOf(date, batch.run_hour, batch.time_zone);
}

/** An occurrence that is run. */
export interface OccurrenceRun {
  readonly change: Change;
  /** The lines that were there before, as they will be; those that the change inserts are not among them. */
  readonly lines: readonly PayoutLine[];
}

/**
 * Runs the next occurrence. Money is reserved as each line starts, so that without funds it fails line by line and the schedule
 * continues (contract §5). The first occurrence's lines were made with the batch; later ones are made here. `first` are the first
 * occurrence's lines, if that is next. `startAt`: when any process may start the lines; later than now if the caller starts them
 * itself.
 */
export function runNextOccurrence(
  batch: PayoutBatch,
  first: readonly PayoutLine[],
  context: BatchContext,
  startAt = context.now,
): OccurrenceRun {
  const advanced = advance(batch, context);
  if (batch.next_occurrence === 1) {
    const due = first
      .filter(({ status }) => status === 'pending')
      .map((line) => revise('payout_line', line, { next_start_at: startAt }));
    return {
      change: { updates: [advanced, ...due.map(({ update }) => update)] },
      lines: due.map(({ after }) => after),
    };
  }
  const lines = newLines(batch, context).map((line) => ({ ...line, next_start_at: startAt }));
  const inserts = [
    ...lines.map((row) => ({ table: 'payout_line' as const, row })),
    ...lines.map((line) => eventOf(line, context)),
  ];
  return { change: { updates: [advanced], inserts }, lines: [] };
}

/** Skips the next occurrence: its lines fail as called off, so that what was ordered still adds up. */
export function skipNextOccurrence(batch: PayoutBatch, first: readonly PayoutLine[], context: BatchContext): Change {
  const advanced = advance(batch, context);
  if (batch.next_occurrence === 1)
    return merged({ updates: [advanced] }, ...first.map((line) => callOffLine(line, context)));
  const inserts = newLines(batch, context).flatMap((line) => {
    const row = { ...line, status: 'failed', reason: 'called_off', events: 2, completed_at: context.now } as const;
    const events = [eventOf(line, context), eventOf(row, context)];
    return [{ table: 'payout_line' as const, row }, ...events];
  });
  return { updates: [advanced], inserts };
}

/**
 * The operator's approval. An immediate batch is reserved as a whole and starts; dated occurrences run on their dates, those
 * already past at once. The change loses if the merchant has too little available.
 */
export function approveBatch(batch: PayoutBatch, first: readonly PayoutLine[], context: BatchContext): Change {
  const { now, newId, calendar } = context;
  if (batch.sending_type !== 'immediate') {
    const next = runsAt(batch, batch.next_occurrence, calendar);
    return { updates: [guardedUpdate('payout_batch', batch, { approval: 'approved', next_run_at: next })] };
  }
  return {
    updates: [
      guardedUpdate('payout_batch', batch, { approval: 'approved', next_occurrence: batch.occurrences + 1 }),
      ...first.map((line) => guardedUpdate('payout_line', line, { reserved_at: now, next_start_at: now })),
    ],
    transfers: first.map((line) => reserveTransfer(line, newId('trf', line.shard), now)),
  };
}

/** The operator's rejection: nothing of the batch has been started, and nothing will be. */
export function rejectBatch(batch: PayoutBatch, first: readonly PayoutLine[], context: BatchContext): Change {
  const update = guardedUpdate('payout_batch', batch, { approval: 'rejected', next_run_at: null });
  return merged({ updates: [update] }, ...first.map((line) => callOffLine(line, context)));
}

/** No further occurrence runs. The waiting lines are called off separately, one by one: some may be starting just now. */
export function cancelBatch(batch: PayoutBatch, now: number): Change {
  return { updates: [guardedUpdate('payout_batch', batch, { cancelled_at: now, next_run_at: null })] };
}

/** Notes that no line of a cancelled batch is open any more. */
export function closeBatch(batch: PayoutBatch, now: number): Change {
  return { updates: [guardedUpdate('payout_batch', batch, { closed_at: now })] };
}

/** No occurrence runs until it is resumed; what has been started continues. */
export function pauseBatch(batch: PayoutBatch, now: number): Change {
  return { updates: [guardedUpdate('payout_batch', batch, { paused_at: now, next_run_at: null })] };
}

/** Occurrences run again, from the next one on. */
export function resumeBatch(batch: PayoutBatch, { calendar }: BatchContext): Change {
  const next = runsAt(batch, batch.next_occurrence, calendar);
  return { updates: [guardedUpdate('payout_batch', batch, { paused_at: null, next_run_at: next })] };
}

/** Ends a waiting line, which was never sent to a carrier, or certainly not accepted. Other lines are left alone. */
export function callOffLine(line: PayoutLine, context: BatchContext): Change {
  const { now, newId } = context;
  if (line.status !== 'pending') return {};
  const moved = moveLine(line, 'called_off', 'called_off', now);
  if (moved === undefined) return {};
  return {
    updates: [moved.update],
    inserts: [eventOf(moved.line, context)],
    transfers: line.reserved_at === null ? [] : [returnTransfer(line, newId('trf', line.shard), now)],
  };
}

function newLines(batch: PayoutBatch, { now, newId }: BatchContext): PayoutLine[] {
  const ids = batch.beneficiaries.map(() => newId('txn', batch.shard));
  return linesOf(batch, batch.next_occurrence, ids, now);
}

/** Makes the occurrence after this one the next, due at its hour unless the batch is paused. */
function advance(batch: PayoutBatch, { calendar }: BatchContext): Update {
  const next_occurrence = batch.next_occurrence + 1;
  const paused = batch.paused_at !== null;
  return guardedUpdate('payout_batch', batch, {
    next_occurrence,
    next_run_at: paused ? null : runsAt(batch, next_occurrence, calendar),
  });
}

function eventOf(line: PayoutLine, { now, newId, say }: BatchContext) {
  return eventInsert(payoutEvent(line, say(line), newId('evt', line.shard), now));
}
