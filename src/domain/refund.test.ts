/**
 * The law of refunds, whatever is asked, said and decided in whatever order: never more than was paid, every one of them
 * ends once, and the money is where its states say.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SettlementContext, Word } from './attempt-settlement.ts';
import type { Change } from './change.ts';
import { releaseDelivery } from './delivery.ts';
import { makeId, type Prefix } from './ids.ts';
import { merchantShare, transitAccount } from './ledger.ts';
import { settleOutgoing } from './outgoing.ts';
import type { Refund } from './outgoing-records.ts';
import type { Attempt, Payment, WebhookEvent } from './records.ts';
import { isRefundOver, moveRefund, REFUND, type RefundContext, type RefundFact } from './refund.ts';
import { makeRefund, REFUNDS_OF_A_PAYMENT, type RefundWay } from './refund-order.ts';
import { intendRefund, refundOrder } from './refund-outgoing.ts';
import { Refusal } from './refusal.ts';

const SHARD = 5;
const SETTLE_DELAY_MS = 60_000;
const txn = makeId('txn', 1, new Uint8Array(16), SHARD);
const mch = makeId('mch', 1, new Uint8Array(16), SHARD);

const paid: Payment = {
  shard: SHARD,
  id: txn,
  version: 2,
  merchant_id: mch,
  session_id: makeId('ses', 1, new Uint8Array(16), SHARD),
  status: 'approved',
  method: 'mobile_money',
  amount: '10.00',
  amount_minor: 1000n,
  currency: 'usd',
  customer_reference: 'order-1',
  fee_minor: 30n,
  total_minor: 1000n,
  fee_covered_by: 'merchant',
  delivery_behaviour: 'direct_delivery',
  notify_url: 'http://127.0.0.1:9/hook',
  success_redirect_url: null,
  fail_redirect_url: null,
  wallet_number: '990500000001',
  msisdn: '+243810000042',
  carrier: 'Vodacom M-Pesa',
  hosted_session_id: null,
  bank_account_id: null,
  checkout_id: null,
  attempt_id: 'att_0',
  provider_reference: null,
  reason: null,
  events: 1,
  language: 'fr',
  created_at: 1,
  submitted_at: 2,
  completed_at: 3,
  released_at: null,
  refunded_minor: 0n,
  refunding_minor: 0n,
  expires_at: 1_000_000,
};

const UPSTREAM: RefundWay = { kind: 'upstream', connector: 'mtn-momo', carrier: 'M-Pesa', msisdn: '+243810000042' };
const WALLET: RefundWay = { kind: 'wallet', number: '990500000001' };

function newAttempt(id: string, refund: Refund, now: number): Attempt {
  return {
    shard: SHARD,
    id,
    version: 1,
    merchant_id: mch,
    purpose: 'refund',
    payment_id: refund.id,
    connector: 'mtn-momo-disbursement',
    method: 'mobile_money',
    status: 'intended',
    reference: id,
    msisdn: refund.msisdn,
    carrier: 'M-Pesa',
    amount_minor: refund.amount_minor,
    fee_minor: 0n,
    currency: 'usd',
    provider_reference: null,
    reason: null,
    challenge: null,
    three_ds_status: null,
    eci: null,
    inquiries: 0,
    not_found_at: null,
    next_inquiry_at: now + 20_000,
    created_at: now,
    settled_at: null,
  };
}

/** The rows as a store would keep them, with balances and everything that was told. */
class World {
  payment: Payment;
  readonly refunds = new Map<string, Refund>();
  readonly attempts: Attempt[] = [];
  readonly events: WebhookEvent[] = [];
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

  context(): RefundContext {
    return { now: this.now, newId: this.newId };
  }

  balance(what: string): bigint {
    return this.balances.get(`${mch}:${what}:usd`) ?? 0n;
  }

  /** Writes a change as the store does: what has moved since, or a floor, would make it lose. */
  apply(change: Change | undefined): void {
    for (const update of change?.updates ?? []) {
      const raise = <R extends { readonly version: number }>(row: R): R => {
        expect(update.version).toBe(row.version);
        return { ...row, ...update.row, version: row.version + 1 };
      };
      if (update.table === 'payment') this.payment = raise(this.payment);
      else if (update.table === 'refund') this.refunds.set(update.id, raise(this.refund(update.id)));
      else {
        const at = this.attempts.findIndex(({ id }) => id === update.id);
        const attempt = this.attempts[at];
        if (attempt !== undefined) this.attempts[at] = raise(attempt);
      }
    }
    for (const insert of change?.inserts ?? []) {
      if (insert.table === 'refund') this.refunds.set(insert.row.id, insert.row);
      else if (insert.table === 'attempt') this.attempts.push(insert.row);
      else if (insert.table === 'webhook_event') this.events.push(insert.row);
    }
    for (const { debit, credit, amount_minor } of change?.transfers ?? []) {
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

  make(amount: string | undefined, way: RefundWay): void {
    const sources = { payment: this.payment, earlier: this.all(), availableMinor: this.balance('available') };
    try {
      this.apply(makeRefund(sources, { amount, note: null }, () => way, this.context()).change);
    } catch (error) {
      expect(error).toBeInstanceOf(Refusal);
    }
  }

  start(at: number): void {
    const refund = this.all()[at];
    if (refund?.status !== 'pending' || refund.next_start_at === null) return;
    const attempt = newAttempt(`att_${this.attempts.length + 1}`, refund, this.now);
    this.apply(intendRefund({ refund, payment: this.payment }, attempt, this.context()).change);
  }

  say(at: number, word: Word, inquiry: SettlementContext['inquiry']): void {
    const attempt = this.attempts[at];
    if (attempt === undefined) return;
    const rows = { refund: this.refund(attempt.payment_id), payment: this.payment };
    const late = this.attempts.find(({ id }) => id === rows.refund.late_attempt_id);
    const context = { ...this.context(), askedAt: this.now, settleDelayMs: SETTLE_DELAY_MS, inquiry };
    this.apply(settleOutgoing(attempt, refundOrder(rows, late), word, context).change);
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

/** What stays for ever once it is over; what is noted of money that left late changes none of it. */
function toldOf({ version: _version, late_attempt_id: _late, ...told }: Refund) {
  return told;
}

function expectSound(world: World): void {
  const { payment } = world;
  for (const { purpose, status, payment_id } of world.attempts) {
    // Nothing is sent that is known to have been paid.
    if (purpose === 'refund' && status === 'approved') expect(world.refund(payment_id).status).not.toBe('pending');
  }
  const refunds = world.all();
  const open = refunds.filter(({ status }) => !isRefundOver(status));
  const completed = refunds.filter(({ status }) => status === 'completed');
  expect(payment.refunding_minor).toBe(sum(open));
  expect(payment.refunded_minor).toBe(sum(completed));
  expect(payment.refunded_minor + payment.refunding_minor).toBeLessThanOrEqual(payment.amount_minor);
  expect(world.balance('reserved')).toBe(sum(open));
  expect(payment.status).toBe(sum(completed) === payment.amount_minor ? 'refunded' : 'approved');
  // One event a completed refund, numbered on.
  expect(world.events.map(({ sequence }) => sequence)).toEqual(completed.map((_, index) => index + 2));
  expect(world.events.map(({ type }) => type)).toEqual(completed.map(() => 'payment.refunded'));
  for (const account of ['available', 'held', 'reserved']) {
    expect(world.balance(account)).toBeGreaterThanOrEqual(0n);
  }
  const isHeld = payment.delivery_behaviour === 'delayed_delivery' && payment.released_at === null;
  const fromHeld = refunds.reduce((total, { from_held_minor }) => total + from_held_minor, 0n);
  expect(world.balance('held')).toBe(isHeld ? merchantShare(payment) - fromHeld : 0n);
  expect([...world.balances.values()].reduce((total, balance) => total + balance, 0n)).toBe(0n);
}

const word: fc.Arbitrary<Word> = fc.constantFrom<Word[]>(
  { kind: 'approved', providerReference: 'P' },
  { kind: 'waiting', providerReference: null },
  { kind: 'declined', reason: 'payee_unknown', providerReference: null },
  { kind: 'not_sent', reason: 'x' },
  { kind: 'unknown', reason: 'x' },
  { kind: 'not_found' },
);

const place = fc.nat({ max: 5 });
const deed = fc.oneof(
  fc.record({
    do: fc.constant('make' as const),
    amount: fc.option(fc.constantFrom('0.01', '2.50', '5.00', '9.99', '10.00')),
    way: fc.constantFrom(UPSTREAM, UPSTREAM, WALLET, { kind: 'by_hand' } as const),
  }),
  fc.record({ do: fc.constant('start' as const), at: place }),
  fc.record({
    do: fc.constant('say' as const),
    at: place,
    word,
    inquiry: fc.constantFrom<SettlementContext['inquiry'][]>(false, 'due', 'hint'),
  }),
  fc.record({
    do: fc.constant('decide' as const),
    at: place,
    fact: fc.constantFrom('executed_by_hand' as const, 'called_off' as const),
  }),
  fc.record({ do: fc.constant('release' as const) }),
);

function carryOut(world: World, one: typeof deed extends fc.Arbitrary<infer D> ? D : never): void {
  switch (one.do) {
    case 'make':
      world.make(one.amount ?? undefined, one.way);
      break;
    case 'start':
      world.start(one.at);
      break;
    case 'say':
      // An answer to our own call comes without an inquiry; "not found" is only ever said to one.
      world.say(one.at, one.word, one.word.kind === 'not_found' && one.inquiry === false ? 'due' : one.inquiry);
      break;
    case 'decide':
      world.decide(one.at, one.fact);
      break;
    case 'release':
      world.release();
      break;
  }
}

describe('whatever is asked, said and decided, in whatever order', () => {
  test('never more is given back than was paid, and the money is where the states say', () => {
    const steps = fc.array(fc.tuple(deed, fc.constantFrom(1, 10_000, SETTLE_DELAY_MS)), { maxLength: 40 });
    const delivery = fc.constantFrom('direct_delivery' as const, 'delayed_delivery' as const);
    const covered = fc.constantFrom('buyer' as const, 'merchant' as const);
    fc.assert(
      fc.property(delivery, covered, fc.bigInt({ min: 0n, max: 60n }), steps, (delivered, fee, available, all) => {
        const world = new World({ ...paid, delivery_behaviour: delivered, fee_covered_by: fee }, available);
        const ended = new Map<string, Refund>();
        for (const [one, pause] of all) {
          world.now += pause;
          carryOut(world, one);
          expectSound(world);
          for (const refund of world.all()) {
            const before = ended.get(refund.id);
            if (before !== undefined) expect(toldOf(refund)).toEqual(toldOf(before));
            else if (isRefundOver(refund.status)) ended.set(refund.id, refund);
          }
        }
      }),
      { numRuns: 500 },
    );
  });
});

test('what is final stays so, whatever is heard of it', () => {
  for (const status of REFUND.final) {
    for (const fact of REFUND.facts) expect([undefined, status]).toContain(REFUND.table[status][fact]);
  }
});

test('money that has left for a refund that failed is booked aside, once, and the refund stays failed', () => {
  const world = new World(paid, 0n);
  world.make('5.00', UPSTREAM);
  world.start(0);
  world.say(0, { kind: 'declined', reason: 'payee_unknown', providerReference: null }, false);
  expect(world.all()[0]?.status).toBe('failed');
  for (let times = 0; times < 2; times += 1) {
    world.say(0, { kind: 'approved', providerReference: 'P' }, 'due');
    expect(world.balances.get('suspense:usd')).toBe(-500n);
    expectSound(world);
  }
});

test('what a failed refund has paid late cannot be asked for again', () => {
  const world = new World(paid, 5_000n);
  world.make('6.00', UPSTREAM);
  world.start(0);
  world.say(0, { kind: 'declined', reason: 'payee_unknown', providerReference: null }, false);
  world.say(0, { kind: 'approved', providerReference: 'P' }, 'hint');
  world.make('4.01', UPSTREAM);
  expect(world.all()).toHaveLength(1);
  world.make(undefined, UPSTREAM);
  expect(world.all()[1]).toMatchObject({ amount: '4.00', status: 'pending' });
});

test('an earlier attempt that has paid, and the one under way has not: the refund is completed by it', () => {
  const world = new World(paid, 0n);
  world.make('5.00', UPSTREAM);
  world.start(0);
  world.say(0, { kind: 'not_sent', reason: 'x' }, false);
  world.start(0);
  world.say(0, { kind: 'approved', providerReference: 'P' }, 'hint');
  expect(world.all()[0]).toMatchObject({ status: 'processing', late_attempt_id: 'att_1' });
  world.say(1, { kind: 'not_sent', reason: 'x' }, false);
  expect(world.all()[0]).toMatchObject({ status: 'completed', attempt_id: 'att_1' });
  expect(world.balances.get('suspense:usd')).toBe(0n);
  expectSound(world);
});

test('an earlier attempt that was taken, and the one under way has not paid: the refund waits for it', () => {
  const world = new World(paid, 0n);
  world.make('5.00', UPSTREAM);
  world.start(0);
  world.say(0, { kind: 'not_sent', reason: 'x' }, false);
  world.start(0);
  world.say(0, { kind: 'waiting', providerReference: null }, 'hint');
  expect(world.all()[0]).toMatchObject({ status: 'processing', attempt_id: 'att_2', late_attempt_id: 'att_1' });
  world.say(1, { kind: 'declined', reason: 'payee_unknown', providerReference: null }, false);
  expect(world.all()[0]).toMatchObject({ status: 'processing', attempt_id: 'att_1', late_attempt_id: null });
  world.say(0, { kind: 'approved', providerReference: 'P' }, 'due');
  expect(world.all()[0]).toMatchObject({ status: 'completed', provider_reference: 'P' });
  expect(world.balances.get('suspense:usd') ?? 0n).toBe(0n);
  expectSound(world);
});

test('what a failed refund may still pay cannot be asked for again, until that is over', () => {
  const world = new World(paid, 5_000n);
  world.make('6.00', UPSTREAM);
  world.start(0);
  world.say(0, { kind: 'not_sent', reason: 'x' }, false);
  world.start(0);
  world.say(1, { kind: 'declined', reason: 'payee_unknown', providerReference: null }, false);
  world.say(0, { kind: 'waiting', providerReference: null }, 'hint');
  world.make('4.01', UPSTREAM);
  expect(world.all()).toHaveLength(1);
  world.say(0, { kind: 'declined', reason: 'payee_unknown', providerReference: null }, 'due');
  world.make('10.00', UPSTREAM);
  expect(world.all()).toHaveLength(2);
});

test('a payment is given back in so many parts and no more, and is told so before anything is written', () => {
  const context: RefundContext = { now: 1, newId: (prefix) => makeId(prefix, 1, new Uint8Array(16), SHARD) };
  const part = { amount: '0.01', note: null };
  const nothing = { payment: paid, earlier: [], availableMinor: 1000n };
  const { refund } = makeRefund(nothing, part, () => UPSTREAM, context);
  const after = (parts: number) => () =>
    makeRefund({ ...nothing, earlier: Array<Refund>(parts).fill(refund) }, part, () => UPSTREAM, context);
  expect(after(REFUNDS_OF_A_PAYMENT - 1)).not.toThrow();
  // Where nothing is left, that is what is said: nobody should give the rest back another way.
  const spent = { ...paid, refunding_minor: paid.amount_minor };
  const all = { ...nothing, payment: spent, earlier: Array<Refund>(REFUNDS_OF_A_PAYMENT).fill(refund) };
  expect(() => makeRefund(all, part, () => UPSTREAM, context)).toThrow(
    expect.objectContaining({
      more: expect.objectContaining({ details: [expect.objectContaining({ code: 'ABOVE_REFUNDABLE' })] }),
    }),
  );
  expect(after(REFUNDS_OF_A_PAYMENT)).toThrow(
    expect.objectContaining({
      code: 1202,
      more: expect.objectContaining({
        transactionId: txn,
        details: [expect.objectContaining({ code: 'REFUNDS_USED' })],
      }),
    }),
  );
});
