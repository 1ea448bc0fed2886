/**
 * A payout line's life, and what moving between its states writes; a batch's status follows from its lines.
 *
 * Invariant: a final status never changes again. A line is processing only once its amount and fee are reserved, and the reserved
 * money leaves the reserved balance in the change that makes the line final.
 */

import { type AccountRef, revise, type Transfer, type Update } from './change.ts';
import { feesAccount, merchantAccount } from './ledger.ts';
import { type Machine, StateConflict, step } from './machine.ts';
import type { PayoutLine, PayoutStatus } from './outgoing-records.ts';
import type { Reason } from './reason.ts';

const PAYOUT_FACTS = [
  'attempt_intended',
  'attempt_not_taken',
  'upstream_accepted',
  'upstream_silent',
  'upstream_paid',
  'upstream_refused',
  'wallet_credited',
  'wallet_refused',
  'funds_missing',
  'called_off',
] as const;
/** What can happen to a payout line, as input to its state machine. */
export type PayoutFact = (typeof PAYOUT_FACTS)[number];

/** The states of a payout line (contract §5). */
export const PAYOUT: Machine<PayoutStatus, PayoutFact> = {
  name: 'payout_line',
  initial: 'pending',
  final: ['completed', 'failed'],
  facts: PAYOUT_FACTS,
  table: {
    pending: {
      attempt_intended: 'processing',
      wallet_credited: 'completed',
      wallet_refused: 'failed',
      funds_missing: 'failed',
      called_off: 'failed',
      // An attempt that counted as not accepted was accepted after all, as is found out before the next one.
      upstream_accepted: 'processing',
      upstream_paid: 'completed',
    },
    // A line that was certainly not accepted waits again, its money still reserved.
    processing: {
      attempt_not_taken: 'pending',
      upstream_accepted: 'processing',
      upstream_silent: 'processing',
      upstream_paid: 'completed',
      upstream_refused: 'failed',
    },
    completed: { upstream_paid: 'completed', wallet_credited: 'completed' },
    failed: { upstream_refused: 'failed', wallet_refused: 'failed', funds_missing: 'failed', called_off: 'failed' },
  },
};

/**
 * Milliseconds that the process which leased a due line has to start it, before the round may lease it. Lines may be born leased.
 */
export const START_LEASE_MS = 30_000;

/**
 * Backoff in milliseconds before an order that was certainly not accepted is sent again, by number of tries; then
 * `MAX_START_PAUSE_MS`.
 */
const START_PAUSES_MS = [5_000, 15_000, 30_000, 60_000, 120_000] as const;
const MAX_START_PAUSE_MS = 300_000;

/** When an order that was not accepted after that many tries is sent again. */
export function nextStartAt(tries: number, now: number): number {
  return now + (START_PAUSES_MS[tries - 1] ?? MAX_START_PAUSE_MS);
}

/**
 * When an order is due again if its upstream could not say what became of the previous attempt: after half the time it has been
 * under way, within the same bounds (5 s to 5 min).
 */
export function nextLookBackAt(
  { started_at, created_at }: { readonly started_at: number | null; readonly created_at: number },
  now: number,
): number {
  const half = (now - (started_at ?? created_at)) / 2;
  return now + Math.round(Math.min(MAX_START_PAUSE_MS, Math.max(START_PAUSES_MS[0], half)));
}

/** Whether a line has ended, completed or failed. */
export function isLineOver(status: PayoutStatus): boolean {
  return PAYOUT.final.includes(status);
}

/** What a line costs its merchant: the amount, and the fee on top of it. */
export function costOf(line: Pick<PayoutLine, 'amount_minor' | 'fee_minor'>): bigint {
  return line.amount_minor + line.fee_minor;
}

/** How many lines of a batch are in each status. They add up to all its lines. */
export interface PayoutCounts {
  readonly pending: number;
  readonly processing: number;
  readonly completed: number;
  readonly failed: number;
}

/** The counts of several occurrences, or batches, taken together. */
export function sumOfCounts(counts: readonly PayoutCounts[]): PayoutCounts {
  const sum = { pending: 0, processing: 0, completed: 0, failed: 0 };
  for (const { pending, processing, completed, failed } of counts) {
    sum.pending += pending;
    sum.processing += processing;
    sum.completed += completed;
    sum.failed += failed;
  }
  return sum;
}

/** The status of a batch, as its merchant reads it: see `batchStatus`. */
export type BatchStatus = 'pending' | 'processing' | 'completed' | 'partial_success' | 'failed';

/**
 * A batch's status follows from its lines (contract §5). `more` says that further occurrences are to come: then nothing is over
 * yet.
 */
export function batchStatus({ pending, processing, completed, failed }: PayoutCounts, more: boolean): BatchStatus {
  if (processing === 0 && completed === 0 && failed === 0) return 'pending';
  if (pending > 0 || processing > 0 || more) return 'processing';
  if (failed === 0) return 'completed';
  return completed === 0 ? 'failed' : 'partial_success';
}

/** Columns that a move may set besides those that it sets by itself. */
export type PayoutColumns = Partial<
  Omit<PayoutLine, 'shard' | 'id' | 'version' | 'status' | 'reason' | 'completed_at' | 'events'>
>;

/** What moving a payout line writes, and the line as it will be. */
export interface MovedLine {
  /** The line as it will be once the change has committed. */
  readonly line: PayoutLine;
  readonly update: Update;
}

/**
 * Moves a line by a fact. A repeated fact returns undefined, one that contradicts the state throws `StateConflict`. The caller
 * must write the event of a line that becomes final: `events` is incremented here for it.
 */
export function moveLine(
  line: PayoutLine,
  fact: PayoutFact,
  reason: Reason | null,
  now: number,
  columns: PayoutColumns = {},
): MovedLine | undefined {
  const next = step(PAYOUT, line.status, fact);
  if (next.kind === 'repeated') return undefined;
  if (next.kind === 'conflict') throw new StateConflict('payout', line, fact);
  const done = isLineOver(next.to);
  const row = {
    status: next.to,
    reason,
    completed_at: done ? now : null,
    ...usualColumns(line),
    ...(next.to === 'pending' ? {} : { next_start_at: null }),
    ...(done ? { reserved_at: null, events: line.events + 1 } : {}),
    ...columns,
  };
  const { update, after } = revise('payout_line', line, row);
  return { line: after, update };
}

/**
 * Columns that every move writes besides the status, changed or not, so that the moves of a batch are one statement (as for
 * payments).
 */
function usualColumns({
  attempt_id,
  provider_reference,
  tries,
  events,
  reserved_at,
  started_at,
  next_start_at,
}: PayoutLine) {
  return { attempt_id, provider_reference, tries, events, reserved_at, started_at, next_start_at };
}

type Moves = Pick<PayoutLine, 'shard' | 'id' | 'merchant_id' | 'currency' | 'amount_minor' | 'fee_minor'>;

/** Reserves a line's amount and fee. The change loses when the merchant has too little available. */
export function reserveTransfer(line: Moves, id: string, at: number): Transfer {
  return {
    id,
    debit: merchantAccount(line.merchant_id, 'available', line.currency),
    credit: merchantAccount(line.merchant_id, 'reserved', line.currency),
    amount_minor: costOf(line),
    cause: 'payout_reserved',
    ...common(line, at),
  };
}

/** Pays a line from the reserved money: the amount to `target`, the fee to us. */
export function paidTransfers(line: Moves, target: AccountRef, ids: readonly [string, string], at: number): Transfer[] {
  const reserved = merchantAccount(line.merchant_id, 'reserved', line.currency);
  const paid: Transfer = {
    id: ids[0],
    debit: reserved,
    credit: target,
    amount_minor: line.amount_minor,
    cause: 'payout',
    ...common(line, at),
  };
  if (line.fee_minor === 0n) return [paid];
  const fee: Transfer = {
    id: ids[1],
    debit: reserved,
    credit: feesAccount(line.shard, line.currency),
    amount_minor: line.fee_minor,
    cause: 'payout_fee',
    ...common(line, at),
  };
  return [paid, fee];
}

/** Returns the reserved money to the merchant's available balance. */
export function returnTransfer(line: Moves, id: string, at: number): Transfer {
  return {
    id,
    debit: merchantAccount(line.merchant_id, 'reserved', line.currency),
    credit: merchantAccount(line.merchant_id, 'available', line.currency),
    amount_minor: costOf(line),
    cause: 'payout_returned',
    ...common(line, at),
  };
}

function common({ shard, currency, id }: Moves, at: number): Pick<Transfer, 'shard' | 'currency' | 'cause_id' | 'at'> {
  return { shard, currency, cause_id: id, at };
}
