/** Late answers about money going out: about an attempt that was believed to be over, or that another one has followed. */

import { describe, expect, test } from 'vitest';
import { settleOutgoing } from './outgoing.ts';
import { lineOrder } from './payout-outgoing.ts';
import {
  account,
  attemptAt,
  balance,
  hear,
  line,
  NOT_SENT,
  newId,
  PAID,
  REFUSED,
  SETTLE_DELAY_MS,
  sent,
  start,
  TAKEN,
  TRANSIT,
  text,
} from './testing/payout-world.ts';

describe('late, an upstream says', () => {
  test('paid, of an attempt believed not to be taken, before it is sent again: the line is paid, not sent again', () => {
    const world = sent();
    hear(world, NOT_SENT, 20, false);
    expect(hear(world, PAID, 30)?.alarm).toBe('late_acceptance');
    expect(world.line).toMatchObject({ status: 'completed', next_start_at: null });
    expect([balance(world, TRANSIT), balance(world, 'suspense:usd')]).toEqual([1_000n, 0n]);
  });

  test('taken, of an attempt that was believed not to be: the line is in progress again', () => {
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

  test('paid, of an earlier attempt, while the line waits after a later one: the line is paid, and not sent again', () => {
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
  ])(
    'taken, of an earlier attempt, and the current one is %s: the line waits for the earlier one, and nothing is sent',
    (_, answer) => {
      const world = sent();
      hear(world, NOT_SENT, 20, false);
      start(world, 30);
      expect(hear(world, TAKEN, 40, 'hint', 0)?.alarm).toBe('late_acceptance');
      expect(world.line).toMatchObject({ status: 'processing', attempt_id: 'att_1', late_attempt_id: 'att_0' });
      hear(world, answer, 50, false);
      expect(world.line).toMatchObject({ status: 'processing', attempt_id: 'att_0', late_attempt_id: null });
      hear(world, PAID, 60, 'due', 0);
      expect(world.line).toMatchObject({ status: 'completed', provider_reference: 'p1' });
      expect([balance(world, TRANSIT), balance(world, 'suspense:usd')]).toEqual([1_000n, 0n]);
    },
  );

  test('taken, of an earlier attempt, and then no: only the current attempt is left', () => {
    const world = sent();
    hear(world, NOT_SENT, 20, false);
    start(world, 30);
    hear(world, TAKEN, 40, 'hint', 0);
    hear(world, REFUSED, 50, 'due', 0);
    expect(world.line).toMatchObject({ status: 'processing', attempt_id: 'att_1', late_attempt_id: null });
    hear(world, NOT_SENT, 60, false);
    expect(world.line.status).toBe('pending');
  });

  test('taken, of an earlier attempt, after the line has failed: the line remembers it until it is over', () => {
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
  ])('paid, of an earlier attempt, and the current one is %s: nothing is sent again, the line is paid', (_, answer) => {
    const world = sent();
    hear(world, NOT_SENT, 20, false);
    start(world, 30);
    expect(hear(world, PAID, 40, 'hint', 0)?.alarm).toBe('late_success');
    expect(world.line).toMatchObject({ status: 'processing', attempt_id: 'att_1', late_attempt_id: 'att_0' });
    hear(world, answer, 50, false);
    expect(world.line).toMatchObject({ status: 'completed', attempt_id: 'att_0', reserved_at: null });
    expect(world.line.provider_reference).toBe('p1');
    expect([balance(world, TRANSIT), balance(world, 'suspense:usd')]).toEqual([1_000n, 0n]);
    expect(world.events).toMatchObject([{ type: 'payout.completed' }]);
  });

  test('taken late, of two attempts: when the one that the line remembers has ended, it remembers the other', () => {
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

  test('no, of an attempt that the line does not wait for: that holds only as long as the line is as it was read', () => {
    const other = { ...attemptAt(1, 10), status: 'waiting' } as const;
    const read = { ...line, status: 'processing', attempt_id: 'att_2', version: 3 } as const;
    const context = { now: 20, askedAt: 20, settleDelayMs: SETTLE_DELAY_MS, inquiry: 'hint', newId } as const;
    const { change } = settleOutgoing(other, lineOrder(read, text), REFUSED, context);
    expect(change?.updates?.map(({ table, version }) => [table, version])).toEqual([
      ['attempt', 1],
      ['payout_line', 3],
    ]);
    const over = lineOrder({ ...read, status: 'failed' }, text);
    expect(settleOutgoing(other, over, REFUSED, context).change?.updates).toHaveLength(2);
    const told = lineOrder({ ...read, status: 'completed' }, text);
    expect(settleOutgoing(other, told, REFUSED, context).change?.updates).toHaveLength(1);
  });

  test.each([
    ['taken', TAKEN],
    ['paid', PAID],
  ])('%s, of its own attempt, which was closed after the line was read: it is decided again', (_, answer) => {
    const closed = { ...attemptAt(1, 10), status: 'not_sent', settled_at: 15, version: 2 } as const;
    const read = { ...line, status: 'processing', attempt_id: closed.id, version: 3 } as const;
    const context = { now: 20, askedAt: 20, settleDelayMs: SETTLE_DELAY_MS, inquiry: 'hint', newId } as const;
    const { change } = settleOutgoing(closed, lineOrder(read, text), answer, context);
    expect(change?.updates?.map(({ table, version }) => [table, version])).toEqual([
      ['attempt', 2],
      ['payout_line', 3],
    ]);
  });

  test('paid, after it has said no: the merchant keeps its money and its answer', () => {
    const world = sent();
    hear(world, REFUSED, 20);
    expect(hear(world, PAID, 30)?.alarm).toBe('late_success');
    expect([world.line.status, balance(world, account('available')), balance(world, 'suspense:usd')]).toEqual([
      'failed',
      5_000n,
      -1_000n,
    ]);
    // So that it is not paid again.
    expect(world.line.late_attempt_id).toBe('att_0');
  });
});
