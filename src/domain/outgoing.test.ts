import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isOpen } from './attempt.ts';
import type { SettlementContext, Word } from './attempt-settlement.ts';
import type { AccountRef, Change } from './change.ts';
import { makeId } from './ids.ts';
import { lateMoneyOf } from './late-money.ts';
import { merchantAccount } from './ledger.ts';
import { type OutgoingSettlement, settleOutgoing } from './outgoing.ts';
import type { PayoutLine } from './outgoing-records.ts';
import { costOf, isLineOver } from './payout.ts';
import { intendLine, type LineContext, lineOrder } from './payout-outgoing.ts';
import type { Attempt, WebhookEvent } from './records.ts';

const SHARD = 5;
const SETTLE_DELAY_MS = 60_000;
const mch = makeId('mch', 1, new Uint8Array(16), SHARD);

const line: PayoutLine = {
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

function attemptAt(number: number, now: number): Attempt {
  return {
    shard: SHARD,
    id: `att_${number}`,
    version: 1,
    merchant_id: mch,
    purpose: 'payout',
    payment_id: line.id,
    connector: 'mtn-momo-disbursement',
    method: 'mobile_money',
    status: 'intended',
    reference: `ref-${number}`,
    msisdn: line.msisdn,
    carrier: 'Vodacom M-Pesa',
    amount_minor: line.amount_minor,
    fee_minor: 0n,
    currency: 'usd',
    provider_reference: null,
    reason: null,
    challenge: null,
    three_ds_status: null,
    eci: null,
    inquiries: 0,
    not_found_at: null,
    next_inquiry_at: 0,
    created_at: now,
    settled_at: null,
  };
}

/** The rows as a store would keep them, and every account's balance. */
interface World {
  line: PayoutLine;
  attempts: Attempt[];
  events: WebhookEvent[];
  balances: Map<string, bigint>;
}

let made = 0;
const newId: SettlementContext['newId'] = (prefix, shard) => {
  made += 1;
  return makeId(prefix, made, new Uint8Array(16), shard);
};
const text: LineContext['text'] = (_language, { status }) => status;

function newWorld(): World {
  return { line, attempts: [], events: [], balances: new Map([[id('available'), 5_000n]]) };
}

const id = (what: 'available' | 'reserved'): string => merchantAccount(mch, what, 'usd').id;
const balance = (world: World, account: string): bigint => world.balances.get(account) ?? 0n;
const TRANSIT = 'transit:mtn-momo-disbursement:usd';

function apply(world: World, change: Change): void {
  for (const update of change.updates ?? []) {
    const raise = <R extends { version: number }>(row: R): R => {
      expect(update.version).toBe(row.version);
      return { ...row, ...update.row, version: row.version + 1 };
    };
    if (update.table === 'payout_line') world.line = raise(world.line);
    else world.attempts = world.attempts.map((row) => (row.id === update.id ? raise(row) : row));
  }
  for (const insert of change.inserts ?? []) {
    if (insert.table === 'webhook_event') world.events.push(insert.row);
    if (insert.table === 'attempt') world.attempts.push(insert.row);
  }
  for (const { debit, credit, amount_minor } of change.transfers ?? []) {
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
function start(world: World, now: number): void {
  if (world.line.status !== 'pending') return;
  apply(world, intendLine(world.line, attemptAt(world.attempts.length, now), { now, newId }).change);
}

/** Hears of the attempt of that number, or of the newest one. */
function hear(
  world: World,
  word: Word,
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
    word,
    context,
  );
  if (settled.change !== undefined) apply(world, settled.change);
  return settled;
}

const PAID: Word = { kind: 'approved', providerReference: 'p1' };
const TAKEN: Word = { kind: 'waiting', providerReference: null };
const REFUSED: Word = { kind: 'declined', reason: 'payee_unknown', providerReference: null };
const NOT_SENT: Word = { kind: 'not_sent', reason: 'connection refused' };
const UNKNOWN: Word = { kind: 'unknown', reason: 'timeout' };
const NOT_FOUND: Word = { kind: 'not_found' };

/** A line that has been sent once, and put its money aside. */
function sent(): World {
  const world = newWorld();
  start(world, 10);
  expect(world.line).toMatchObject({ status: 'processing', attempt_id: 'att_0', tries: 1, reserved_at: 10 });
  expect([balance(world, id('available')), balance(world, id('reserved'))]).toEqual([3_975n, 1_025n]);
  return world;
}

describe('an upstream says', () => {
  test('paid: the amount to the upstream, the fee to us, one event', () => {
    const world = sent();
    hear(world, TAKEN, 20, false);
    expect(world.line.status).toBe('processing');
    hear(world, PAID, 30);
    expect(world.line).toMatchObject({ status: 'completed', completed_at: 30, provider_reference: 'p1', events: 2 });
    expect([balance(world, TRANSIT), balance(world, 'fees:usd'), balance(world, id('reserved'))]).toEqual([
      1_000n,
      25n,
      0n,
    ]);
    expect(world.events).toMatchObject([{ type: 'payout.completed', sequence: 2 }]);
  });

  test('no: the line fails, and its money comes back', () => {
    const world = sent();
    hear(world, REFUSED, 20, false);
    expect(world.line).toMatchObject({ status: 'failed', reason: 'payee_unknown', reserved_at: null });
    expect(balance(world, id('available'))).toBe(5_000n);
    expect(world.events).toMatchObject([{ type: 'payout.failed' }]);
  });

  test('certainly not taken: the line waits with its money put aside, longer each time', () => {
    const world = sent();
    let now = 20;
    for (const pause of [5_000, 15_000, 30_000, 60_000, 120_000, 300_000, 300_000]) {
      hear(world, NOT_SENT, now, false);
      expect(world.line).toMatchObject({ status: 'pending', reason: 'not_sent', next_start_at: now + pause });
      expect([balance(world, id('reserved')), world.events]).toEqual([1_025n, []]);
      now += pause;
      start(world, now);
    }
  });

  test('nothing: it is asked about under the same reference, and goes out again only when it is not known twice', () => {
    const world = sent();
    hear(world, UNKNOWN, 20, false);
    hear(world, NOT_FOUND, 30);
    hear(world, NOT_FOUND, 30 + SETTLE_DELAY_MS - 1);
    expect(world.line.status).toBe('processing');
    hear(world, NOT_FOUND, 30 + SETTLE_DELAY_MS);
    expect(world.line).toMatchObject({ status: 'pending', reason: 'not_sent' });
    start(world, 100_000);
    expect(world.line).toMatchObject({ status: 'processing', attempt_id: 'att_1', tries: 2 });
  });

  test('not known, of what it had taken: a person is called, and nothing goes out again', () => {
    const world = sent();
    hear(world, TAKEN, 20, false);
    hear(world, NOT_FOUND, 30);
    expect(hear(world, NOT_FOUND, 30 + SETTLE_DELAY_MS)?.alarm).toBe('contradiction');
    expect(world.line.status).toBe('processing');
  });

  test('paid, of what was believed not to be taken, before it was sent again: it is paid, and not sent again', () => {
    const world = sent();
    hear(world, NOT_SENT, 20, false);
    expect(hear(world, PAID, 30)?.alarm).toBe('late_acceptance');
    expect(world.line).toMatchObject({ status: 'completed', next_start_at: null });
    expect([balance(world, TRANSIT), balance(world, 'suspense:usd')]).toEqual([1_000n, 0n]);
  });

  test('taken, of what was believed not to be: the line is under way again', () => {
    const world = sent();
    hear(world, NOT_SENT, 20, false);
    expect(hear(world, TAKEN, 30)?.alarm).toBe('late_acceptance');
    expect(world.line).toMatchObject({ status: 'processing', attempt_id: 'att_0', next_start_at: null });
    hear(world, PAID, 40);
    expect(world.line.status).toBe('completed');
  });

  test('paid, of an attempt that another one has followed: booked aside, once, and a person is called', () => {
    const world = sent();
    hear(world, NOT_SENT, 20, false);
    start(world, 30);
    expect(hear(world, PAID, 40, 'due', 0)?.alarm).toBe('late_success');
    hear(world, PAID, 50, 'due', 0);
    hear(world, PAID, 60);
    expect(world.line.status).toBe('completed');
    expect([balance(world, TRANSIT), balance(world, 'suspense:usd')]).toEqual([2_000n, -1_000n]);
    expect(world.events).toHaveLength(1);
  });

  test('paid, of an earlier attempt, while the line waits after a later one: it is paid, and not sent again', () => {
    const world = sent();
    hear(world, NOT_SENT, 20, false);
    start(world, 30);
    hear(world, NOT_SENT, 40, false);
    expect(hear(world, PAID, 50, 'hint', 0)?.alarm).toBe('late_acceptance');
    expect(world.line).toMatchObject({ status: 'completed', attempt_id: 'att_0', provider_reference: 'p1' });
    expect([balance(world, TRANSIT), balance(world, 'suspense:usd')]).toEqual([1_000n, 0n]);
  });

  test.each([
    ['not taken', NOT_SENT],
    ['refused', REFUSED],
  ])('taken, of an earlier attempt, and the one under way is %s: it is waited for, and nothing is sent', (_, word) => {
    const world = sent();
    hear(world, NOT_SENT, 20, false);
    start(world, 30);
    expect(hear(world, TAKEN, 40, 'hint', 0)?.alarm).toBe('late_acceptance');
    expect(world.line).toMatchObject({ status: 'processing', attempt_id: 'att_1', late_attempt_id: 'att_0' });
    hear(world, word, 50, false);
    expect(world.line).toMatchObject({ status: 'processing', attempt_id: 'att_0', late_attempt_id: null });
    hear(world, PAID, 60, 'due', 0);
    expect(world.line).toMatchObject({ status: 'completed', provider_reference: 'p1' });
    expect([balance(world, TRANSIT), balance(world, 'suspense:usd')]).toEqual([1_000n, 0n]);
  });

  test('taken, of an earlier attempt, and then no: what is under way is all there is', () => {
    const world = sent();
    hear(world, NOT_SENT, 20, false);
    start(world, 30);
    hear(world, TAKEN, 40, 'hint', 0);
    hear(world, REFUSED, 50, 'due', 0);
    expect(world.line).toMatchObject({ status: 'processing', attempt_id: 'att_1', late_attempt_id: null });
    hear(world, NOT_SENT, 60, false);
    expect(world.line.status).toBe('pending');
  });

  test('taken, of an earlier attempt, after the line has failed: it is remembered until that is over', () => {
    const world = sent();
    hear(world, NOT_SENT, 20, false);
    start(world, 30);
    hear(world, REFUSED, 40, false);
    hear(world, TAKEN, 50, 'hint', 0);
    expect(world.line).toMatchObject({ status: 'failed', attempt_id: 'att_1', late_attempt_id: 'att_0' });
    hear(world, REFUSED, 60, 'due', 0);
    expect(world.line).toMatchObject({ status: 'failed', late_attempt_id: null });
  });

  test.each([
    ['not taken', NOT_SENT],
    ['refused', REFUSED],
  ])('paid, of an earlier attempt, and the one under way is %s: nothing is sent again, the line is paid', (_, word) => {
    const world = sent();
    hear(world, NOT_SENT, 20, false);
    start(world, 30);
    expect(hear(world, PAID, 40, 'hint', 0)?.alarm).toBe('late_success');
    expect(world.line).toMatchObject({ status: 'processing', attempt_id: 'att_1', late_attempt_id: 'att_0' });
    hear(world, word, 50, false);
    expect(world.line).toMatchObject({ status: 'completed', attempt_id: 'att_0', reserved_at: null });
    expect(world.line.provider_reference).toBe('p1');
    expect([balance(world, TRANSIT), balance(world, 'suspense:usd')]).toEqual([1_000n, 0n]);
    expect(world.events).toMatchObject([{ type: 'payout.completed' }]);
  });

  test('taken late, of two: when the one that it remembers has ended, it remembers the other one', () => {
    const world = sent();
    hear(world, NOT_SENT, 20, false);
    start(world, 30);
    hear(world, NOT_SENT, 40, false);
    start(world, 50);
    for (const at of [0, 1]) hear(world, TAKEN, 60, 'hint', at);
    expect(world.line).toMatchObject({ attempt_id: 'att_2', late_attempt_id: 'att_0' });
    hear(world, REFUSED, 70);
    expect(world.line).toMatchObject({ status: 'processing', attempt_id: 'att_0', late_attempt_id: 'att_1' });
    hear(world, REFUSED, 80, 'due', 0);
    expect(world.line).toMatchObject({ status: 'processing', attempt_id: 'att_1', late_attempt_id: null });
    hear(world, REFUSED, 90, 'due', 1);
    expect(world.line).toMatchObject({ status: 'failed', late_attempt_id: null });
  });

  test('paid, after it has said no: the merchant keeps its money and its answer', () => {
    const world = sent();
    hear(world, REFUSED, 20);
    expect(hear(world, PAID, 30)?.alarm).toBe('late_success');
    expect([world.line.status, balance(world, id('available')), balance(world, 'suspense:usd')]).toEqual([
      'failed',
      5_000n,
      -1_000n,
    ]);
    // So that nobody pays it again.
    expect(world.line.late_attempt_id).toBe('att_0');
  });
});

const step = fc.oneof(
  { weight: 2, arbitrary: fc.constant('start' as const) },
  {
    weight: 5,
    arbitrary: fc.record({
      word: fc.constantFrom(PAID, TAKEN, REFUSED, NOT_SENT, UNKNOWN, NOT_FOUND),
      inquiry: fc.constantFrom<SettlementContext['inquiry']>('due', 'due', 'hint', false),
      back: fc.nat({ max: 2 }),
    }),
  },
);

test('an upstream whose word contradicts what the merchant was told moves nothing, and calls a person', () => {
  const attempt = { ...attemptAt(1, 1), status: 'waiting' as const };
  const told = { ...line, status: 'completed' as const, attempt_id: attempt.id };
  // As a reader would have it who takes an ended line for one under way.
  const order = { ...lineOrder(told, text), isItsOwn: () => true };
  const refused = { kind: 'declined', reason: 'carrier_failed', providerReference: null } as const;
  const context = { now: 5, askedAt: 5, settleDelayMs: 60_000, newId, inquiry: 'due' } as const;
  expect(settleOutgoing(attempt, order, refused, context)).toEqual({ attempt, alarm: 'contradiction' });
});

test('whatever is said in whatever order: one final state, one event, money moved once and where it belongs', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(step, fc.integer({ min: 1, max: 90_000 })), { maxLength: 16 }), (steps) => {
      const world = newWorld();
      let now = 10;
      let final: string | undefined;
      for (const [next, later] of steps) {
        now += later;
        if (next === 'start') start(world, now);
        else hear(world, next.word, now, next.inquiry, world.attempts.length - 1 - next.back);
        if (final !== undefined) expect(world.line.status).toBe(final);
        if (isLineOver(world.line.status)) final = world.line.status;
        expectSound(world);
      }
      expect(world.events.map(({ type }) => type)).toEqual(final === undefined ? [] : [`payout.${final}`]);
    }),
    { numRuns: 1_000 },
  );
});

/** What lies in reserve is what is open, and each attempt that paid has left the carrier's account once. */
function expectSound(world: World): void {
  const { status, reserved_at } = world.line;
  const paid = BigInt(world.attempts.filter((attempt) => attempt.status === 'approved').length);
  expect(balance(world, id('reserved'))).toBe(reserved_at === null ? 0n : costOf(line));
  expect(reserved_at === null || !isLineOver(status)).toBe(true);
  expect(balance(world, TRANSIT)).toBe(paid * line.amount_minor);
  // Nothing is sent that is known to have been paid.
  if (status === 'pending') expect(paid).toBe(0n);
  // Nor what is known to have been taken.
  if (status === 'pending') expect(world.attempts.map((attempt) => attempt.status)).not.toContain('waiting');
  // What failed remembers whether any of its attempts has paid, or may.
  const mayHavePaid = world.attempts.some((attempt) => attempt.status === 'approved' || isOpen(attempt.status));
  if (status === 'failed') expect(world.line.late_attempt_id !== null).toBe(mayHavePaid);
  const ours = status === 'completed' ? 1n : 0n;
  // What lies in suspense is what a person is shown.
  const shown = BigInt(world.attempts.filter((attempt) => lateMoneyOf(attempt) === 'waits').length);
  expect(balance(world, 'suspense:usd')).toBe(-shown * line.amount_minor);
  expect(balance(world, 'suspense:usd')).toBe((ours - paid) * line.amount_minor);
  expect(balance(world, 'fees:usd')).toBe(ours * line.fee_minor);
  expect([...world.balances.values()].reduce((sum, one) => sum + one, 0n)).toBe(5_000n);
}
