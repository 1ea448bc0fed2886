/**
 * A payment that is given back, its refunds and their attempts, as a store would keep them, for tests of their laws.
 *
 * Invariant: a change is applied as the store applies it: by versions, and above floors.
 */

import { expect } from 'vitest';
import type { AttemptAnswer } from '../answer.ts';
import { isOpen } from '../attempt.ts';
import type { SettlementContext } from '../attempt-settlement.ts';
import type { Change, DecisionContext } from '../change.ts';
import { releaseDelivery } from '../delivery.ts';
import { makeId, type Prefix } from '../ids.ts';
import { lateMoneyOf } from '../late-money.ts';
import { merchantShare, transitAccount } from '../ledger.ts';
import { parseAmount } from '../money.ts';
import { settleOutgoing } from '../outgoing.ts';
import type { Refund } from '../outgoing-records.ts';
import type { Attempt, Payment, PaymentHistory } from '../records.ts';
import { isRefundOver, moveRefund, type RefundFact } from '../refund.ts';
import { makeRefund, type RefundRoute } from '../refund-order.ts';
import { intendRefund, refundOrder } from '../refund-outgoing.ts';
import { Refusal } from '../refusal.ts';
import type { WebhookEvent } from '../webhook-records.ts';
import { attemptWith } from './attempts.ts';
import { paymentWith } from './payments.ts';
import { updatedRow } from './updates.ts';

export const SHARD = 5;
export const SETTLE_DELAY_MS = 60_000;
export const txn = makeId('txn', 1, new Uint8Array(16), SHARD);
const mch = makeId('mch', 1, new Uint8Array(16), SHARD);

export const paid = paymentWith({
  shard: SHARD,
  id: txn,
  version: 2,
  merchant_id: mch,
  session_id: makeId('ses', 1, new Uint8Array(16), SHARD),
  status: 'approved',
  method: 'mobile_money',
  fee_minor: 30n,
  fee_covered_by: 'merchant',
  wallet_number: '990500000001',
  msisdn: '+243810000042',
  carrier: 'Vodacom M-Pesa',
  attempt_id: 'att_0',
  events: 1,
  submitted_at: 2,
  completed_at: 3,
});

export const UPSTREAM: RefundRoute = {
  kind: 'upstream',
  connector: 'mtn-momo',
  carrier: 'M-Pesa',
  msisdn: '+243810000042',
};
export const WALLET: RefundRoute = { kind: 'wallet', number: '990500000001' };

function newAttempt(id: string, refund: Refund, now: number): Attempt {
  return attemptWith({
    shard: SHARD,
    id,
    merchant_id: mch,
    purpose: 'refund',
    payment_id: refund.id,
    connector: 'mtn-momo-disbursement',
    reference: id,
    msisdn: refund.msisdn,
    amount_minor: refund.amount_minor,
    fee_minor: 0n,
    next_inquiry_at: now + 20_000,
    created_at: now,
  });
}

/** The rows as a store would keep them, with the balances and all events. */
export class RefundWorld {
  payment: Payment;
  readonly refunds = new Map<string, Refund>();
  readonly attempts: Attempt[] = [];
  readonly events: WebhookEvent[] = [];
  readonly history: PaymentHistory[] = [];
  readonly balances = new Map<string, bigint>();
  now = 10;
  made = 0;

  constructor(payment: Payment, available: bigint) {
    this.payment = payment;
    const share = merchantShare(payment);
    const isHeld = payment.delivery_behaviour === 'delayed_delivery';
    this.balances.set(`${mch}:available:usd`, available + (isHeld ? 0n : share));
    this.balances.set(`${mch}:held:usd`, isHeld ? share : 0n);
    this.balances.set('others', -available - share);
  }

  readonly newId = (prefix: Prefix, shard: number): string => {
    this.made += 1;
    const random = new Uint8Array(16);
    new DataView(random.buffer).setUint32(9, this.made);
    return makeId(prefix, this.now, random, shard);
  };

  context(): DecisionContext {
    return { now: this.now, newId: this.newId };
  }

  balance(what: string): bigint {
    return this.balances.get(`${mch}:${what}:usd`) ?? 0n;
  }

  /** Applies a change as the store does; what would lose there, or be refused (a stale version, a floor, an amount of zero), fails. */
  apply(change: Change | undefined): void {
    for (const update of change?.updates ?? []) {
      if (update.table === 'payment') this.payment = updatedRow(this.payment, update);
      else if (update.table === 'refund') this.refunds.set(update.id, updatedRow(this.refund(update.id), update));
      else {
        const at = this.attempts.findIndex(({ id }) => id === update.id);
        const attempt = this.attempts[at];
        if (attempt !== undefined) this.attempts[at] = updatedRow(attempt, update);
      }
    }
    for (const insert of change?.inserts ?? []) {
      if (insert.table === 'refund') {
        expect(insert.row.amount_minor).toBeGreaterThan(0n);
        this.refunds.set(insert.row.id, insert.row);
      }
      if (insert.table === 'attempt') this.attempts.push(insert.row);
      if (insert.table === 'webhook_event') this.events.push(insert.row);
      if (insert.table === 'payment_history') this.history.push(insert.row);
    }
    for (const { debit, credit, amount_minor } of change?.transfers ?? []) {
      expect(amount_minor).toBeGreaterThan(0n);
      this.balances.set(debit.id, (this.balances.get(debit.id) ?? 0n) - amount_minor);
      this.balances.set(credit.id, (this.balances.get(credit.id) ?? 0n) + amount_minor);
      if (debit.floored) expect(this.balances.get(debit.id)).toBeGreaterThanOrEqual(0n);
    }
  }

  refund(id: string): Refund {
    const refund = this.refunds.get(id);
    if (refund === undefined) throw new Error(`no refund ${id}`);
    return refund;
  }

  all(): Refund[] {
    return [...this.refunds.values()];
  }

  make(amount: string | undefined, route: RefundRoute): void {
    const sources = { payment: this.payment, earlier: this.all(), availableMinor: this.balance('available') };
    try {
      this.apply(makeRefund(sources, { amount, note: null }, () => route, this.context()).change);
    } catch (error) {
      expect(error).toBeInstanceOf(Refusal);
      expect(this.isCovered(amount)).toBe(false);
    }
  }

  /** Whether the payment's rest and the merchant's money cover the amount, or all of that rest. */
  private isCovered(amount: string | undefined): boolean {
    const { status, amount_minor, refunded_minor, refunding_minor, currency } = this.payment;
    const gone = sum(this.all().filter((one) => one.status === 'failed' && one.late_attempt_id !== null));
    const left = amount_minor - refunded_minor - refunding_minor - gone;
    const asked = amount === undefined ? left : (parseAmount(amount, currency)?.minor ?? 0n);
    const funds = this.balance('held') + this.balance('available');
    return status === 'approved' && asked > 0n && asked <= left && asked <= funds;
  }

  start(at: number): void {
    const refund = this.all()[at];
    if (refund?.status !== 'pending' || refund.next_start_at === null) return;
    const attempt = newAttempt(`att_${this.attempts.length + 1}`, refund, this.now);
    this.apply(intendRefund({ refund, payment: this.payment }, attempt, this.context()).change);
  }

  say(at: number, answer: AttemptAnswer, inquiry: SettlementContext['inquiry']): void {
    const attempt = this.attempts[at];
    if (attempt === undefined) return;
    const rows = { refund: this.refund(attempt.payment_id), payment: this.payment };
    const late = this.attempts.find(({ id }) => id === rows.refund.late_attempt_id);
    const context = { ...this.context(), askedAt: this.now, settleDelayMs: SETTLE_DELAY_MS, inquiry };
    this.apply(
      settleOutgoing(
        attempt,
        refundOrder(rows, {
          late,
          all: late === undefined ? [] : this.attempts.filter((one) => one.payment_id === rows.refund.id),
        }),
        answer,
        context,
      ).change,
    );
  }

  decide(at: number, fact: Extract<RefundFact, 'executed_by_hand' | 'called_off'>): void {
    const refund = this.all()[at];
    if (refund?.status !== 'pending') return;
    const target = transitAccount(SHARD, 'mtn-momo', 'usd');
    const reason = fact === 'called_off' ? 'refund_called_off' : null;
    this.apply(moveRefund({ refund, payment: this.payment }, { fact, reason, target }, this.context())?.change);
  }

  release(): void {
    try {
      this.apply(releaseDelivery(this.payment, this.all(), this.newId('trf', SHARD), this.now).change);
    } catch (error) {
      expect(error).toBeInstanceOf(Refusal);
    }
  }
}

const sum = (refunds: readonly Refund[]): bigint =>
  refunds.reduce((total, { amount_minor }) => total + amount_minor, 0n);

/** The sums, the events and the balances match the refunds' states. */
export function expectSound(world: RefundWorld): void {
  const { payment } = world;
  for (const { purpose, status, payment_id } of world.attempts) {
    // No refund is sent again that is known to have been paid.
    if (purpose === 'refund' && status === 'approved') expect(world.refund(payment_id).status).not.toBe('pending');
  }
  const refunds = world.all();
  for (const { id, status, late_attempt_id, next_start_at, completed_at } of refunds) {
    expect(next_start_at === null || status === 'pending').toBe(true);
    expect(completed_at !== null).toBe(isRefundOver(status));
    const own = world.attempts.filter(({ payment_id }) => payment_id === id);
    // A failed refund remembers whether any of its attempts has paid, or may.
    const mayHavePaid = own.some((one) => one.status === 'approved' || isOpen(one.status));
    if (status === 'failed') expect(late_attempt_id !== null).toBe(mayHavePaid);
  }
  const open = refunds.filter(({ status }) => !isRefundOver(status));
  const completed = refunds.filter(({ status }) => status === 'completed');
  expect(payment.refunding_minor).toBe(sum(open));
  expect(payment.refunded_minor).toBe(sum(completed));
  expect(payment.refunded_minor + payment.refunding_minor).toBeLessThanOrEqual(payment.amount_minor);
  expect(world.balance('reserved')).toBe(sum(open));
  const isGivenBack = sum(completed) === payment.amount_minor;
  expect(payment.status).toBe(isGivenBack ? 'refunded' : 'approved');
  expect(world.history.map(({ status }) => status)).toEqual(isGivenBack ? ['refunded'] : []);
  // One event per completed refund, numbered consecutively.
  expect(world.events.map(({ sequence }) => sequence)).toEqual(completed.map((_, index) => index + 2));
  expect(world.events.map(({ type }) => type)).toEqual(completed.map(() => 'payment.refunded'));
  for (const account of ['available', 'held', 'reserved']) {
    expect(world.balance(account)).toBeGreaterThanOrEqual(0n);
  }
  // The suspense balance is what operators are shown.
  const shown = world.attempts.filter((attempt) => lateMoneyOf(attempt) === 'waits');
  const aside = shown.reduce((total, { amount_minor }) => total + amount_minor, 0n);
  expect(world.balances.get('suspense:usd') ?? 0n).toBe(-aside);
  const isHeld = payment.delivery_behaviour === 'delayed_delivery' && payment.released_at === null;
  const fromHeld = refunds.reduce((total, { from_held_minor }) => total + from_held_minor, 0n);
  expect(world.balance('held')).toBe(isHeld ? merchantShare(payment) - fromHeld : 0n);
  expect([...world.balances.values()].reduce((total, balance) => total + balance, 0n)).toBe(0n);
}
