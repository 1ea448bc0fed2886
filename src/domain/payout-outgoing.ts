/**
 * A payout line on its way out: what starting it writes, and what its attempt's outcome writes.
 *
 * Invariant: no money is sent that has not been reserved, and a line that ends announces it: money, status and event are one
 * change.
 */

import { type Change, type DecisionContext, guardedUpdate, merged, type Transfer, type Update } from './change.ts';
import { transferIds } from './ids.ts';
import { takenFromSuspense } from './late-money.ts';
import { suspenseAccount, transitAccount, walletAccount } from './ledger.ts';
import {
  isNotPaid,
  type LateColumns,
  lateColumns,
  NOTHING_REMEMBERED,
  type Outgoing,
  type OutgoingFact,
  onward,
  type Remembered,
} from './outgoing.ts';
import type { PayoutLine } from './outgoing-records.ts';
import {
  isLineOver,
  type MovedLine,
  moveLine,
  nextStartAt,
  type PayoutColumns,
  type PayoutFact,
  paidTransfers,
  reserveTransfer,
  returnTransfer,
} from './payout.ts';
import type { Reason } from './reason.ts';
import type { Attempt, Wallet } from './records.ts';
import { eventInsert, payoutEvent } from './webhook.ts';

/** The sentence that describes a line, in its batch's language. */
export type LineText = (language: string, line: PayoutLine) => string;

/** What a decision about a line is handed besides its rows: `text` makes the sentence of its event. */
export interface LineContext extends DecisionContext {
  readonly text: LineText;
}

/** A change, and the line as it will be. */
export interface LineChange {
  readonly change: Change;
  readonly line: PayoutLine;
}

/** A line as the order that its attempts pay. */
export function lineOrder(line: PayoutLine, text: LineText, known: Remembered = NOTHING_REMEMBERED): Outgoing {
  return {
    status: line.status,
    isItsOwn: (attempt) => line.attempt_id === attempt.id && !isLineOver(line.status),
    waits: line.status === 'pending',
    move: (fact, reason, attempt, context) => {
      if (isNotPaid(fact) && line.late_attempt_id !== null) return goOnWithLate(line, known, { text, ...context });
      return afterAnswer(line, fact, reason, attempt, { text, ...context });
    },
    noteLate: (attempt, hasMoved) => noteLate(line, lateColumns(line, attempt, known, hasMoved)),
  };
}

function noteLate(line: PayoutLine, row: LateColumns): Update[] {
  return row === undefined ? [] : [guardedUpdate('payout_line', line, row)];
}

/** The line's attempt has not paid, but another one was accepted: the line now waits for that one, or was paid by it. */
function goOnWithLate(line: PayoutLine, known: Remembered, context: LineContext): Change {
  const next = onward(line, known);
  if (next.kind === 'paid') return endByLate(line, next.by, { attempt_id: next.by.id }, context);
  return { updates: [guardedUpdate('payout_line', line, next.row)] };
}

function afterAnswer(
  line: PayoutLine,
  fact: OutgoingFact,
  reason: Reason | null,
  attempt: Attempt,
  context: LineContext,
): Change | undefined {
  const { now, newId } = context;
  const { shard } = line;
  const { id: attempt_id, provider_reference } = attempt;
  switch (fact) {
    case 'upstream_paid': {
      const target = transitAccount(shard, attempt.connector, line.currency);
      const transfers = paidTransfers(line, target, transferIds(newId, shard), now);
      const columns = { attempt_id, provider_reference };
      return endLine(line, { fact, reason, transfers, columns }, context).change;
    }
    case 'upstream_refused': {
      const transfers = [returnTransfer(line, newId('trf', shard), now)];
      return endLine(line, { fact, reason, transfers, columns: { provider_reference } }, context).change;
    }
    case 'attempt_not_taken':
      return only(moveLine(line, fact, reason, now, { next_start_at: nextStartAt(line.tries, now) }));
    case 'upstream_accepted':
    case 'upstream_silent':
      return only(moveLine(line, fact, reason, now, { attempt_id }));
  }
}

/** An attempt that the line did not wait for has paid it: its money, booked to suspense as late, pays the line now. */
function endByLate(line: PayoutLine, late: Attempt, columns: PayoutColumns, context: LineContext): Change {
  const { now, newId } = context;
  const { shard, currency } = line;
  const ids = transferIds(newId, shard);
  const reserving = line.reserved_at === null ? [reserveTransfer(line, newId('trf', shard), now)] : [];
  const transfers = [...reserving, ...paidTransfers(line, suspenseAccount(shard, currency), ids, now)];
  const { change } = endLine(line, { fact: 'upstream_paid', reason: null, transfers, columns }, context);
  return merged(change, { updates: takenFromSuspense(late) });
}

/**
 * Completes a line that was to pay a failed one again, before it is sent: the failed line was paid after all, by `late`, and the
 * same money pays this one.
 */
export function payByLate(line: PayoutLine, late: Attempt, context: LineContext): Change {
  const { now } = context;
  const { provider_reference } = late;
  return endByLate(line, late, { provider_reference, started_at: line.started_at ?? now }, context);
}

function only(moved: MovedLine | undefined): Change | undefined {
  return moved === undefined ? undefined : { updates: [moved.update] };
}

/** Opens an attempt at a line. The line's cost is reserved with it, unless it already was. */
export function intendLine(line: PayoutLine, attempt: Attempt, { now, newId }: DecisionContext): LineChange {
  const moved = advanceLine(line, 'attempt_intended', null, now, {
    attempt_id: attempt.id,
    tries: line.tries + 1,
    started_at: line.started_at ?? now,
    reserved_at: line.reserved_at ?? now,
  });
  const transfers = line.reserved_at === null ? [reserveTransfer(line, newId('trf', line.shard), now)] : [];
  return {
    line: moved.line,
    change: { updates: [moved.update], inserts: [{ table: 'attempt', row: attempt }], transfers },
  };
}

/** Pays a line into a wallet of ours; if there is no such wallet, or none in that currency, the line fails. */
export function payWallet(line: PayoutLine, wallet: Wallet | undefined, context: LineContext): LineChange {
  const { now, newId } = context;
  const { shard } = line;
  const isReserved = line.reserved_at !== null;
  const columns = { tries: line.tries + 1, started_at: line.started_at ?? now };
  if (wallet === undefined || wallet.currency !== line.currency) {
    const reason = wallet === undefined ? 'wallet_unknown' : 'wallet_currency';
    const transfers = isReserved ? [returnTransfer(line, newId('trf', shard), now)] : [];
    return endLine(line, { fact: 'wallet_refused', reason, transfers, columns }, context);
  }
  const reserved = isReserved ? [] : [reserveTransfer(line, newId('trf', shard), now)];
  const paid = paidTransfers(line, walletAccount(wallet.id), transferIds(newId, shard), now);
  const transfers = [...reserved, ...paid];
  return endLine(line, { fact: 'wallet_credited', reason: null, transfers, columns }, context);
}

/** The merchant's available balance is too low: this line alone fails. */
export function failForFunds(line: PayoutLine, context: LineContext): LineChange {
  const columns = { tries: line.tries + 1 };
  const reason = 'merchant_funds_missing';
  return endLine(line, { fact: 'funds_missing', reason, transfers: [], columns }, context);
}

/** How a line ends: the fact that ends it, and what is written with it. */
interface LineEnd {
  readonly fact: PayoutFact;
  readonly reason: Reason | null;
  readonly transfers: readonly Transfer[];
  readonly columns: PayoutColumns;
}

/** Moves a line to its end, with its money and its event. */
function endLine(
  line: PayoutLine,
  { fact, reason, transfers, columns }: LineEnd,
  { now, newId, text }: LineContext,
): LineChange {
  const moved = advanceLine(line, fact, reason, now, columns);
  const event = payoutEvent(moved.line, text(line.language, moved.line), newId('evt', line.shard), now);
  return { line: moved.line, change: { updates: [moved.update], inserts: [eventInsert(event)], transfers } };
}

/**
 * Moves a line by a fact that nobody can have stated before: what `moveLine` does, for a step that is decided on the state.
 *
 * @throws StateConflict when the fact contradicts the state, Error when it repeats what is known
 */
function advanceLine(
  line: PayoutLine,
  fact: PayoutFact,
  reason: Reason | null,
  now: number,
  columns: PayoutColumns,
): MovedLine {
  const moved = moveLine(line, fact, reason, now, columns);
  if (moved === undefined) throw new Error(`payout ${line.id} is ${line.status}: ${fact} is known already`);
  return moved;
}
