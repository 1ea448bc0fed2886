/** Late answers about money going out: about an attempt that was believed to be over, or that another one has followed. */

import { describe, expect, test } from 'vitest';
import { lateColumns, settleOutgoing } from './outgoing.ts';
import type { PayoutLine } from './outgoing-records.ts';
import { lineOrder, payByLate } from './payout-outgoing.ts';
import { LATE_KEPT, LATE_WAITS } from './reason.ts';
import type { Attempt } from './records.ts';
import {
  account,
  attemptAt,
  balance,
  callOff,
  hear,
  line,
  NOT_FOUND,
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
  UNKNOWN,
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

  test('taken, of an attempt that is known to be, while the line waits: the line is in progress with it', () => {
    const world = sent();
    hear(world, NOT_SENT, 20, false);
    world.attempts = world.attempts.map((one) => ({ ...one, status: 'waiting' as const }));
    hear(world, TAKEN, 30);
    expect(world.line).toMatchObject({ status: 'processing', attempt_id: 'att_0', next_start_at: null });
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

  test('taken, and then paid, of the last attempt at a line that was called off: its money is booked aside', () => {
    const world = sent();
    hear(world, NOT_SENT, 20, false);
    callOff(world, 30);
    expect(hear(world, TAKEN, 40)?.alarm).toBe('late_acceptance');
    expect(world.line).toMatchObject({ status: 'failed', reason: 'called_off', late_attempt_id: 'att_0' });
    expect(hear(world, PAID, 50)?.alarm).toBe('late_success');
    expect([world.line.status, balance(world, TRANSIT), balance(world, 'suspense:usd')]).toEqual([
      'failed',
      1_000n,
      -1_000n,
    ]);
  });
});

describe('while the line waits to be sent again, what does not say that it was taken leaves it waiting:', () => {
  test.each([
    ['not found', NOT_FOUND],
    ['refused', REFUSED],
    ['no answer', UNKNOWN],
  ])('%s', (_, answer) => {
    const world = sent();
    hear(world, NOT_SENT, 20, false);
    expect(hear(world, answer, 30)?.alarm).toBeUndefined();
    expect(world.line).toMatchObject({ status: 'pending', attempt_id: 'att_0', late_attempt_id: null });
  });

  test('taken, of an attempt that it has refused', () => {
    const world = sent();
    hear(world, NOT_SENT, 20, false);
    world.attempts = world.attempts.map((one) => ({ ...one, status: 'declined' as const }));
    hear(world, TAKEN, 30);
    expect([world.line.status, world.attempts[0]?.status]).toEqual(['pending', 'declined']);
  });
});

describe('an order remembers', () => {
  const att = (number: number, status: Attempt['status']): Attempt => {
    return { ...attemptAt(number, 10), status, provider_reference: `p${number}` };
  };
  const remember = (columns: Partial<PayoutLine>, attempt: Attempt, all: readonly Attempt[], hasMoved = true) => {
    const order = { ...line, status: 'processing' as const, attempt_id: 'att_9', ...columns };
    return lateColumns(order, attempt, { late: all.find(({ id }) => id === order.late_attempt_id), all }, hasMoved);
  };
  const [paid, taken, over] = [att(1, 'approved'), att(1, 'waiting'), att(1, 'declined')];
  const knowing = { late_attempt_id: 'att_0' };

  test('the attempt that has paid, rather than one that has only been taken, and the first of two that have paid', () => {
    expect(remember({}, paid, [])).toEqual({ late_attempt_id: 'att_1', provider_reference: 'p1' });
    expect(remember({ status: 'failed' }, paid, [])).toEqual({ late_attempt_id: 'att_1' });
    const instead = { late_attempt_id: 'att_1', provider_reference: 'p1' };
    expect(remember(knowing, paid, [att(0, 'waiting'), paid])).toEqual(instead);
    expect(remember({ late_attempt_id: 'att_1' }, paid, [paid])).toEqual(instead);
    expect(remember(knowing, paid, [att(0, 'approved'), paid])).toEqual(knowing);
    expect(remember({ status: 'completed' }, paid, [])).toBeUndefined();
  });

  test('the first attempt that has been taken', () => {
    expect(remember({}, taken, [])).toEqual({ late_attempt_id: 'att_1' });
    expect(remember(knowing, taken, [att(0, 'waiting'), taken])).toEqual(knowing);
  });

  test('another one that has been taken instead of one that has ended unpaid, and not the one that it waits for', () => {
    expect(remember({}, over, [])).toEqual({ late_attempt_id: null });
    expect(remember({}, over, [], false)).toBeUndefined();
    expect(remember(knowing, over, [att(0, 'waiting'), over])).toEqual(knowing);
    const known = { late_attempt_id: 'att_1' };
    const all = [over, att(9, 'waiting'), att(2, 'waiting')];
    expect(remember(known, over, all)).toEqual({ late_attempt_id: 'att_2' });
    expect(remember(known, over, [over, att(9, 'waiting')])).toEqual({ late_attempt_id: null });
    expect(remember({ ...known, status: 'failed' }, over, all)).toEqual({ late_attempt_id: 'att_9' });
  });
});

test('late money pays a line in the place of the failed one before it is sent, reserved or not', () => {
  const late: Attempt = { ...attemptAt(0, 10), status: 'approved', reason: LATE_WAITS, provider_reference: 'p0' };
  for (const reserved_at of [null, 5]) {
    const change = payByLate({ ...line, reserved_at }, late, { now: 20, newId, text });
    const row = { status: 'completed', provider_reference: 'p0', started_at: 20, reserved_at: null };
    expect(change.updates).toMatchObject([{ row }, { table: 'attempt', id: late.id, row: { reason: LATE_KEPT } }]);
    const moved = change.transfers?.map(({ debit, credit, amount_minor }) => [debit.id, credit.id, amount_minor]);
    expect(moved).toEqual([
      ...(reserved_at === null ? [[account('available'), account('reserved'), 1_025n]] : []),
      [account('reserved'), 'suspense:usd', 1_000n],
      [account('reserved'), 'fees:usd', 25n],
    ]);
  }
});
