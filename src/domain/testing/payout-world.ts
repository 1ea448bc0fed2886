/**
 * A payout line and the attempts at it, as a store would keep them, for tests of their laws.
 *
 * Invariant: a change is applied as the store applies it: by versions, and above floors.
 */

import { expect } from 'vitest';
import type { AttemptAnswer } from '../answer.ts';
import { isOpen } from '../attempt.ts';
import type { SettlementContext } from '../attempt-settlement.ts';
import type { AccountRef, Change } from '../change.ts';
import { makeId } from '../ids.ts';
import { lateMoneyOf } from '../late-money.ts';
import { merchantAccount } from '../ledger.ts';
import { type OutgoingSettlement, settleOutgoing } from '../outgoing.ts';
import type { PayoutLine } from '../outgoing-records.ts';
import { costOf, isLineOver } from '../payout.ts';
import { callOffLine } from '../payout-batch.ts';
import { intendLine, type LineContext, lineOrder } from '../payout-outgoing.ts';
import type { Attempt } from '../records.ts';
import type { WebhookEvent } from '../webhook-records.ts';
import { attemptWith } from './attempts.ts';
import { updatedRow } from './updates.ts';

const SHARD = 5;
export const SETTLE_DELAY_MS = 60_000;
const mch = makeId('mch', 1, new Uint8Array(16), SHARD);

export const line: PayoutLine = {
  shard: SHARD,
  id: makeId('txn', 1, new Uint8Array(16), SHARD),
  version: 1,
  merchant_id: mch,
  batch_id: makeId('batch', 1, new Uint8Array(16), SHARD),
  occurrence: 1,
  position: 0,
  scheduled_date: null,
  status: 'pending',
  receipt_mode: 'mobile_money',
  msisdn: '+243810000042',
  wallet_number: null,
  connector: 'mtn-momo',
  carrier: 'Vodacom M-Pesa',
  amount: '10.00',
  amount_minor: 1000n,
  fee_minor: 25n,
  currency: 'usd',
  customer_reference: 'salaries',
  notify_url: 'http://127.0.0.1:9/hook',
  note: null,
  language: 'fr',
  attempt_id: null,
  late_attempt_id: null,
  provider_reference: null,
  reason: null,
  events: 1,
  tries: 0,
  reserved_at: null,
  next_start_at: 0,
  retried_by: null,
  retry_of: null,
  created_at: 1,
  started_at: null,
  completed_at: null,
};

export function attemptAt(number: number, now: number): Attempt {
  return attemptWith({
    shard: SHARD,
    id: `att_${number}`,
    merchant_id: mch,
    purpose: 'payout',
    payment_id: line.id,
    connector: 'mtn-momo-disbursement',
    reference: `ref-${number}`,
    amount_minor: line.amount_minor,
    fee_minor: 0n,
    created_at: now,
  });
}

/** The rows as a store would keep them, and every account's balance. */
export interface World {
  line: PayoutLine;
  attempts: Attempt[];
  events: WebhookEvent[];
  balances: Map<string, bigint>;
}

let made = 0;
export const newId: SettlementContext['newId'] = (prefix, shard) => {
  made += 1;
  return makeId(prefix, made, new Uint8Array(16), shard);
};
export const text: LineContext['text'] = (_language, { status }) => status;

export function newWorld(): World {
  return { line, attempts: [], events: [], balances: new Map([[account('available'), 5_000n]]) };
}

export const account = (what: 'available' | 'reserved'): string => merchantAccount(mch, what, 'usd').id;
export const balance = (world: World, id: string): bigint => world.balances.get(id) ?? 0n;
export const TRANSIT = 'transit:mtn-momo-disbursement:usd';

function apply(world: World, change: Change): void {
  for (const update of change.updates ?? []) {
    if (update.table === 'payout_line') world.line = updatedRow(world.line, update);
    else world.attempts = world.attempts.map((row) => (row.id === update.id ? updatedRow(row, update) : row));
  }
  for (const insert of change.inserts ?? []) {
    if (insert.table === 'webhook_event') world.events.push(insert.row);
    if (insert.table === 'attempt') world.attempts.push(insert.row);
  }
  for (const { debit, credit, amount_minor } of change.transfers ?? []) {
    expect(amount_minor).toBeGreaterThan(0n);
    add(world, debit, -amount_minor);
    add(world, credit, amount_minor);
  }
}

function add(world: World, account: AccountRef, moved: bigint): void {
  const after = balance(world, account.id) + moved;
  world.balances.set(account.id, after);
  if (account.floored) expect(after >= 0n).toBe(true);
}

/** Sends the line, if it may be sent. */
export function start(world: World, now: number): void {
  if (world.line.status !== 'pending') return;
  apply(world, intendLine(world.line, attemptAt(world.attempts.length, now), { now, newId }).change);
}

/** An operator calls the line off while it waits. */
export function callOff(world: World, now: number): void {
  const context = { now, newId, say: ({ status }: PayoutLine) => status, calendar: { instantOf: () => now } };
  apply(world, callOffLine(world.line, context));
}

/** Applies an answer about the attempt of that number, or about the newest one. */
export function hear(
  world: World,
  answer: AttemptAnswer,
  now: number,
  inquiry: SettlementContext['inquiry'] = 'due',
  number = world.attempts.length - 1,
): OutgoingSettlement | undefined {
  const attempt = world.attempts[number];
  if (attempt === undefined) return undefined;
  const context = { now, askedAt: now, settleDelayMs: SETTLE_DELAY_MS, inquiry, newId };
  const late = world.attempts.find((row) => row.id === world.line.late_attempt_id);
  const settled = settleOutgoing(
    attempt,
    lineOrder(world.line, text, { late, all: late === undefined ? [] : world.attempts }),
    answer,
    context,
  );
  if (settled.change !== undefined) apply(world, settled.change);
  return settled;
}

export const PAID: AttemptAnswer = { kind: 'approved', providerReference: 'p1' };
export const TAKEN: AttemptAnswer = { kind: 'waiting', providerReference: null };
export const REFUSED: AttemptAnswer = { kind: 'declined', reason: 'payee_unknown', providerReference: null };
export const NOT_SENT: AttemptAnswer = { kind: 'not_sent', reason: 'connection refused' };
export const UNKNOWN: AttemptAnswer = { kind: 'unknown', reason: 'timeout' };
export const NOT_FOUND: AttemptAnswer = { kind: 'not_found' };

/** A line that has been sent once, with its money reserved. */
export function sent(): World {
  const world = newWorld();
  start(world, 10);
  expect(world.line).toMatchObject({ status: 'processing', attempt_id: 'att_0', tries: 1, reserved_at: 10 });
  expect([balance(world, account('available')), balance(world, account('reserved'))]).toEqual([3_975n, 1_025n]);
  return world;
}

/** The reserved balance is what is open, and each attempt that paid has left the carrier's account once. */
export function expectSound(world: World): void {
  const { status, reserved_at } = world.line;
  const paid = BigInt(world.attempts.filter((attempt) => attempt.status === 'approved').length);
  expect(balance(world, account('reserved'))).toBe(reserved_at === null ? 0n : costOf(line));
  expect(reserved_at === null || !isLineOver(status)).toBe(true);
  expect(balance(world, TRANSIT)).toBe(paid * line.amount_minor);
  // No line is sent again that is known to have been paid.
  if (status === 'pending') expect(paid).toBe(0n);
  // Nor one that is known to have been accepted.
  if (status === 'pending') expect(world.attempts.map((attempt) => attempt.status)).not.toContain('waiting');
  // A failed line remembers whether any of its attempts has paid, or may.
  const mayHavePaid = world.attempts.some((attempt) => attempt.status === 'approved' || isOpen(attempt.status));
  if (status === 'failed') expect(world.line.late_attempt_id !== null).toBe(mayHavePaid);
  const ours = status === 'completed' ? 1n : 0n;
  // The suspense balance is what operators are shown.
  const shown = BigInt(world.attempts.filter((attempt) => lateMoneyOf(attempt) === 'waits').length);
  expect(balance(world, 'suspense:usd')).toBe(-shown * line.amount_minor);
  expect(balance(world, 'suspense:usd')).toBe((ours - paid) * line.amount_minor);
  expect(balance(world, 'fees:usd')).toBe(ours * line.fee_minor);
  expect([...world.balances.values()].reduce((sum, one) => sum + one, 0n)).toBe(5_000n);
}
