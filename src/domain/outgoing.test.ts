/** What an upstream's answers do to the money that goes out through it, in every order in which they may come. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SettlementContext } from './attempt-settlement.ts';
import { settleOutgoing } from './outgoing.ts';
import { isLineOver } from './payout.ts';
import { lineOrder } from './payout-outgoing.ts';
import {
  account,
  attemptAt,
  balance,
  expectSound,
  hear,
  line,
  NOT_FOUND,
  NOT_SENT,
  newId,
  newWorld,
  PAID,
  REFUSED,
  SETTLE_DELAY_MS,
  sent,
  start,
  TAKEN,
  TRANSIT,
  text,
  UNKNOWN,
} from './testing/payout-world.ts';

describe('an upstream says', () => {
  test('paid: the amount to the upstream, the fee to us, one event', () => {
    const world = sent();
    hear(world, TAKEN, 20, false);
    expect(world.line.status).toBe('processing');
    hear(world, PAID, 30);
    expect(world.line).toMatchObject({ status: 'completed', completed_at: 30, provider_reference: 'p1', events: 2 });
    expect([balance(world, TRANSIT), balance(world, 'fees:usd'), balance(world, account('reserved'))]).toEqual([
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
    expect(balance(world, account('available'))).toBe(5_000n);
    expect(world.events).toMatchObject([{ type: 'payout.failed' }]);
  });

  test('certainly not taken: the line waits with its money reserved, longer each time', () => {
    const world = sent();
    let now = 20;
    for (const pause of [5_000, 15_000, 30_000, 60_000, 120_000, 300_000, 300_000]) {
      hear(world, NOT_SENT, now, false);
      expect(world.line).toMatchObject({ status: 'pending', reason: 'not_sent', next_start_at: now + pause });
      expect([balance(world, account('reserved')), world.events]).toEqual([1_025n, []]);
      now += pause;
      start(world, now);
    }
  });

  test('nothing: the attempt is inquired about under its reference, and sent again only after “not found” twice', () => {
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

  test('not found, of an attempt that it had taken: a person is called, and nothing is sent again', () => {
    const world = sent();
    hear(world, TAKEN, 20, false);
    hear(world, NOT_FOUND, 30);
    expect(hear(world, NOT_FOUND, 30 + SETTLE_DELAY_MS)?.alarm).toBe('contradiction');
    expect(world.line.status).toBe('processing');
  });
});

const step = fc.oneof(
  { weight: 2, arbitrary: fc.constant('start' as const) },
  {
    weight: 5,
    arbitrary: fc.record({
      answer: fc.constantFrom(PAID, TAKEN, REFUSED, NOT_SENT, UNKNOWN, NOT_FOUND),
      inquiry: fc.constantFrom<SettlementContext['inquiry']>('due', 'due', 'hint', false),
      back: fc.nat({ max: 2 }),
    }),
  },
);

test('an upstream’s answer that contradicts what the merchant was told moves nothing, and calls a person', () => {
  const attempt = { ...attemptAt(1, 1), status: 'waiting' as const };
  const told = { ...line, status: 'completed' as const, attempt_id: attempt.id };
  // As a process would see it that takes an ended line for an open one.
  const order = { ...lineOrder(told, text), isItsOwn: () => true };
  const refused = { kind: 'declined', reason: 'carrier_failed', providerReference: null } as const;
  const context = { now: 5, askedAt: 5, settleDelayMs: 60_000, newId, inquiry: 'due' } as const;
  expect(settleOutgoing(attempt, order, refused, context)).toEqual({ attempt, alarm: 'contradiction' });
});

test('whatever is said in whatever order: one final state, one event, and money moved once and to the right account', () => {
  const history = fc.array(fc.tuple(step, fc.integer({ min: 1, max: 90_000 })), { maxLength: 16, size: 'max' });
  fc.assert(
    fc.property(history, (steps) => {
      const world = newWorld();
      let now = 10;
      let final: string | undefined;
      for (const [next, later] of steps) {
        now += later;
        if (next === 'start') start(world, now);
        else hear(world, next.answer, now, next.inquiry, world.attempts.length - 1 - next.back);
        if (final !== undefined) expect(world.line.status).toBe(final);
        if (isLineOver(world.line.status)) final = world.line.status;
        expectSound(world);
      }
      expect(world.events.map(({ type }) => type)).toEqual(final === undefined ? [] : [`payout.${final}`]);
    }),
    { numRuns: 1_000 },
  );
});
