import { expect, test } from 'vitest';
import type { SettlementRows } from '../domain/settlement.ts';
import { manualClock } from '../platform/testing/manual-clock.ts';
import { memoryLog } from '../platform/testing/memory-log.ts';
import { StoreRefused, StoreUnavailable } from '../store/errors.ts';
import { type Acceptance, createAcceptances } from './acceptances.ts';

function begin() {
  const clock = manualClock(0);
  const log = memoryLog(clock);
  const background: Promise<unknown>[] = [];
  const deps = {
    clock,
    log,
    recording: new Map<string, Promise<unknown>>(),
    background: (work: Promise<unknown>) => void background.push(work),
  };
  const written: string[] = [];
  const make = (n: number, write?: () => Promise<unknown>): Acceptance => ({
    rows: { attempt: { id: `att_${n}` }, payment: { session_id: `ses_${n}` }, session: {} } as Acceptance['rows'],
    write: async () => {
      written.push(`att_${n}`);
      await write?.();
    },
  });
  return { clock, log, written, make, acceptances: createAcceptances(deps), done: () => Promise.all(background) };
}

test('an acceptance that nobody asks about is written after a second, once', async () => {
  const { clock, written, make, acceptances, done } = begin();
  expect(acceptances.defer(make(1))).toBe(true);
  await clock.advance(999);
  expect(written).toEqual([]);
  await clock.advance(1);
  await done();
  expect(written).toEqual(['att_1']);
  await acceptances.writtenOf('att_1');
  expect(acceptances.writtenOfSession('ses_1')).toBeUndefined();
  expect(acceptances.settledBy('att_1', () => Promise.resolve())).toBeUndefined();
  expect([written, clock.pending()]).toEqual([['att_1'], 0]);
});

test('a reader of the attempt or its session has it written first, and other readers wait for the same write', async () => {
  const { written, make, acceptances } = begin();
  let end = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    end = resolve;
  });
  acceptances.defer(make(1, () => held));
  const order: string[] = [];
  const asked = [acceptances.writtenOfSession('ses_1'), acceptances.writtenOf('att_1')].map(async (waiting) => {
    await waiting;
    order.push('read');
  });
  await Promise.resolve();
  order.push('held');
  end();
  await Promise.all(asked);
  expect(order).toEqual(['held', 'read', 'read']);
  expect(written).toEqual(['att_1']);
  expect(acceptances.writtenOfSession('ses_2')).toBeUndefined();
});

test('a final result is written in its place, and readers wait for that', async () => {
  const { clock, written, make, acceptances } = begin();
  const acceptance = make(1);
  acceptances.defer(acceptance);
  const order: string[] = [];
  let end = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    end = resolve;
  });
  const settled = acceptances.settledBy('att_1', async (rows: SettlementRows) => {
    expect(rows).toBe(acceptance.rows);
    await held;
    order.push('settled');
    return 'approved';
  });
  const reading = acceptances.writtenOfSession('ses_1')?.then(() => order.push('read'));
  end();
  expect(await settled).toBe('approved');
  await reading;
  expect([order, written, clock.pending()]).toEqual([['settled', 'read'], [], 0]);
});

test('if the final result cannot be written, its caller is told at once, and the acceptance stays unwritten', async () => {
  const { clock, written, make, acceptances, done } = begin();
  acceptances.defer(make(1));
  const settled = acceptances.settledBy('att_1', () => Promise.reject(new StoreUnavailable()));
  await expect(settled).rejects.toThrow(StoreUnavailable);
  expect(written).toEqual([]);
  expect(await acceptances.settledBy('att_1', () => Promise.resolve('approved'))).toBe('approved');
  expect([written, clock.pending()]).toEqual([[], 0]);
  acceptances.defer(make(2));
  await expect(acceptances.settledBy('att_2', () => Promise.reject(new StoreUnavailable()))).rejects.toThrow();
  await acceptances.writtenOfSession('ses_2');
  await done();
  expect(written).toEqual(['att_2']);
});

test('an acceptance that cannot be written is kept until the database is back, and logged as an error', async () => {
  const { clock, log, written, make, acceptances, done } = begin();
  let away = true;
  acceptances.defer(make(1, () => (away ? Promise.reject(new StoreUnavailable()) : Promise.resolve())));
  await acceptances.writtenOfSession('ses_1');
  await done();
  expect(log.lines.filter((line) => line.includes('acceptance_not_written'))).toHaveLength(1);
  away = false;
  await clock.advance(1_000);
  await done();
  expect(written).toEqual(['att_1', 'att_1']);
  expect([acceptances.writtenOfSession('ses_1'), clock.pending()]).toEqual([undefined, 0]);
});

test('an acceptance that can never be written is given up, and the log says so', async () => {
  const { clock, log, make, acceptances, done } = begin();
  acceptances.defer(make(1, () => Promise.reject(new StoreRefused('23514', undefined))));
  await clock.advance(1_000);
  await done();
  expect(log.lines.filter((line) => line.includes('acceptance_not_written'))).toHaveLength(1);
  expect([acceptances.writtenOfSession('ses_1'), clock.pending()]).toEqual([undefined, 0]);
});

test('a reader waits two seconds at most for a write that hangs', async () => {
  const { clock, make, acceptances } = begin();
  acceptances.defer(make(1, () => new Promise(() => undefined)));
  let over = false;
  void acceptances.writtenOfSession('ses_1')?.then(() => {
    over = true;
  });
  await clock.advance(2_000);
  expect(over).toBe(true);
});

test('above two thousand no further acceptance is deferred; the end writes all of them, and accepts no more', async () => {
  const { written, make, acceptances } = begin();
  const taken = Array.from({ length: 2_001 }, (_, n) => acceptances.defer(make(n)));
  expect(taken.indexOf(false)).toBe(2_000);
  await acceptances.close();
  expect(written).toHaveLength(2_000);
  expect(acceptances.defer(make(1))).toBe(false);
});
