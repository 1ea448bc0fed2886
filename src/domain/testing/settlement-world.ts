/**
 * A payment at an upstream, its attempt, its session and the session's other payment, as a store would keep them, for tests of what
 * an upstream's answers do to them.
 *
 * Invariant: a change is applied as the store applies it: by versions, and above zero.
 */

import { expect } from 'vitest';
import type { AttemptAnswer } from '../answer.ts';
import type { SettlementContext } from '../attempt-settlement.ts';
import type { Change } from '../change.ts';
import { makeId } from '../ids.ts';
import { transitAccount } from '../ledger.ts';
import type { Attempt, Payment, Session } from '../records.ts';
import { needsSession, type Settlement, type SettlementRows, settleAttempt } from '../settlement.ts';
import type { WebhookEvent } from '../webhook-records.ts';
import { attemptWith } from './attempts.ts';
import { paymentWith, sessionWith } from './payments.ts';
import { updatedRow } from './updates.ts';

const SHARD = 5;
export const SETTLE_DELAY_MS = 60_000;
export const txn = makeId('txn', 1, new Uint8Array(16), SHARD);
const mch = makeId('mch', 1, new Uint8Array(16), SHARD);

export const payment = paymentWith({
  shard: SHARD,
  id: txn,
  version: 2,
  merchant_id: mch,
  session_id: makeId('ses', 1, new Uint8Array(16), SHARD),
  status: 'processing',
  method: 'mobile_money',
  fee_minor: 25n,
  total_minor: 1025n,
  msisdn: '+243810000042',
  carrier: 'Vodacom M-Pesa',
  attempt_id: 'att_1',
  submitted_at: 2,
});

export const attempt = attemptWith({ shard: SHARD, id: 'att_1', merchant_id: mch, payment_id: txn });

export const session = sessionWith({
  shard: SHARD,
  id: payment.session_id,
  version: 3,
  merchant_id: mch,
  submitting_payment_id: txn,
});

/** The rows as a store would keep them, with everything that was ever written to them. */
export interface World {
  attempt: Attempt;
  payment: Payment;
  session: Session;
  sibling: Payment;
  events: WebhookEvent[];
  toMerchant: bigint;
  toFees: bigint;
  toSuspense: bigint;
}

export function newWorld(): World {
  const sibling = { ...payment, id: `${txn}2`, status: 'pending' as const, submitted_at: null };
  return { attempt, payment, session, sibling, events: [], toMerchant: 0n, toFees: 0n, toSuspense: 0n };
}

export function rowsOf(world: World): SettlementRows {
  const matters = needsSession(world.attempt, world.payment);
  return {
    attempt: world.attempt,
    payment: world.payment,
    session: matters ? world.session : undefined,
    sessionPayments: matters ? [world.payment, world.sibling] : [],
  };
}

export function apply(world: World, change: Change): void {
  for (const update of change.updates ?? []) {
    if (update.table === 'attempt') world.attempt = updatedRow(world.attempt, update);
    else if (update.table === 'session') world.session = updatedRow(world.session, update);
    else if (update.id === world.payment.id) world.payment = updatedRow(world.payment, update);
    else world.sibling = updatedRow(world.sibling, update);
  }
  for (const insert of change.inserts ?? []) if (insert.table === 'webhook_event') world.events.push(insert.row);
  for (const { debit, credit, amount_minor } of change.transfers ?? []) {
    expect(amount_minor).toBeGreaterThan(0n);
    // Whoever gets it, it comes out of what the upstream owes us.
    expect(debit).toEqual(transitAccount(SHARD, world.attempt.connector, world.payment.currency));
    if (credit.id.startsWith(mch)) world.toMerchant += amount_minor;
    else if (credit.id.startsWith('fees')) world.toFees += amount_minor;
    else if (credit.id.startsWith('suspense:')) world.toSuspense += amount_minor;
    else throw new Error(`nobody expects money at ${credit.id}`);
  }
}

export function contextAt(now: number, inquiry: SettlementContext['inquiry'] = false): SettlementContext {
  let made = 0;
  return {
    now,
    askedAt: now,
    settleDelayMs: SETTLE_DELAY_MS,
    inquiry,
    newId: (prefix, shard) => {
      made += 1;
      return makeId(prefix, now, new Uint8Array(16).fill(made), shard);
    },
  };
}

export function hear(
  world: World,
  answer: AttemptAnswer,
  now: number,
  inquiry: SettlementContext['inquiry'] = 'due',
): Settlement {
  const settled = settleAttempt(rowsOf(world), answer, contextAt(now, inquiry));
  if (settled.change !== undefined) apply(world, settled.change);
  return settled;
}
