import { expect, test } from 'vitest';
import type { PayoutLine } from '../domain/outgoing-records.ts';
import type { Clock } from '../platform/platform.ts';
import { manualClock } from '../platform/testing/manual-clock.ts';
import { memoryLog } from '../platform/testing/memory-log.ts';
import { openCarriers } from './payout-carriers.ts';

const line = (id: number, tries = 0, merchant_id = 'mch_one'): PayoutLine =>
  ({ id: `txn_${id}`, merchant_id, connector: 'mtn-momo', next_start_at: 60_000, tries }) as PayoutLine;

test('lines that cannot go are passed over one turn at a time, so that others are served meanwhile', async () => {
  const clock = manualClock(0);
  let offered = 0;
  let turns = 0;
  const counting: Pick<Clock, 'now' | 'after'> = {
    now: clock.now,
    after(ms, run) {
      if (ms === 0) turns += 1;
      return clock.after(ms, run);
    },
  };
  const background = (): void => undefined;
  const parts = { clock: counting, log: memoryLog(clock), background, store: {} };
  const deps = parts as unknown as Parameters<typeof openCarriers>[0];
  const carriers = openCarriers(deps, (one) => {
    offered += 1;
    // The line was admitted, but its carrier is not called, because the merchant has been suspended.
    if (carriers.admits(one)) queueMicrotask(() => carriers.record(one, 'not_called'));
  });
  for (let id = 0; carriers.away().length === 0; id += 1) {
    carriers.admits(line(id));
    carriers.record(line(id), 'silent');
  }
  for (let id = 100; id < 150; id += 1) expect(carriers.admits(line(id))).toBe(false);
  while (offered < 50) await clock.advance(1_000);
  expect(turns).toBeGreaterThanOrEqual(49);
  carriers.close();
});

/** The carriers on a clock of the test's own, and the lines that they have offered. */
function open() {
  const clock = manualClock(0);
  const offered: PayoutLine[] = [];
  const background = (): void => undefined;
  const store = { payoutLine: { retryNow: async () => 0 } };
  const log = memoryLog(clock);
  const deps = { clock, log, background, store } as unknown as Parameters<typeof openCarriers>[0];
  const carriers = openCarriers(deps, (one) => void offered.push(one));
  return { clock, log, offered, carriers };
}

test('a line that has failed three times says nothing of its carrier any more, unless it is the probe', async () => {
  const { clock, offered, carriers } = open();
  const fail = (tries: number): void => {
    for (let id = 0; id < 8; id += 1) {
      expect(carriers.admits(line(id, tries))).toBe(true);
      carriers.record(line(id, tries), 'silent');
    }
  };
  fail(3);
  expect(carriers.away()).toEqual([]);
  fail(2);
  expect(carriers.away()).toEqual(['mtn-momo']);
  const suspect = line(20, 3);
  expect(carriers.admits(suspect)).toBe(false);
  await clock.advance(1_000);
  expect([offered, carriers.admits(suspect)]).toEqual([[suspect], true]);
  carriers.record(suspect, 'silent');
  await clock.advance(1_999);
  expect(carriers.away()).toEqual(['mtn-momo']);
  await clock.advance(1);
  expect(carriers.away()).toEqual([]);
  carriers.close();
});

test('an outage is noticed, too, when all lines that are left have failed three times', () => {
  const { carriers } = open();
  const fail = (count: number): void => {
    for (let id = 0; id < count; id += 1) carriers.record(line(id, 3), 'silent');
  };
  fail(107);
  expect(carriers.away()).toEqual([]);
  carriers.record(line(0), 'answered');
  fail(107);
  expect(carriers.away()).toEqual([]);
  fail(1);
  expect(carriers.away()).toEqual(['mtn-momo']);
  carriers.close();
});

test('the probe is a line that has not failed again and again, of another merchant, the least tried one', async () => {
  const { clock, offered, carriers } = open();
  for (let id = 0; id < 8; id += 1) carriers.record(line(id), 'silent');
  const [suspect, own, tried, other] = [
    line(10, 3, 'mch_two'),
    line(11),
    line(12, 2, 'mch_two'),
    line(13, 1, 'mch_two'),
  ];
  for (const one of [suspect, own, tried, other]) expect(carriers.admits(one)).toBe(false);
  // Each is asked for in vain: its merchant has been suspended, say.
  await clock.advance(1_000);
  for (const one of [other, tried, own, suspect]) {
    expect(offered.splice(0)).toEqual([one]);
    expect(carriers.admits(one)).toBe(true);
    carriers.record(one, 'not_called');
    await clock.advance(0);
  }
  carriers.close();
});

test('of lines that come just when a probe is due, those that were tried before wait for one that was not', async () => {
  const { clock, offered, carriers } = open();
  for (let id = 0; id < 8; id += 1) carriers.record(line(id), 'silent');
  await clock.advance(1_000);
  const [tried, fresh] = [line(10, 1), line(11)];
  expect([carriers.admits(tried), carriers.admits(fresh)]).toEqual([false, true]);
  carriers.record(fresh, 'answered');
  await clock.advance(0);
  // In the database it is due again.
  expect([offered, carriers.away()]).toEqual([[], []]);
  carriers.close();
});

test('an answer to a line that has failed three times says that the carrier is there', () => {
  const { carriers } = open();
  const fail = (count: number): void => {
    for (let id = 0; id < count; id += 1) carriers.record(line(id), 'silent');
  };
  fail(7);
  carriers.record(line(10, 3), 'answered');
  fail(7);
  expect(carriers.away()).toEqual([]);
  carriers.close();
});

test('a line that was tried before is the probe if no other line comes', async () => {
  const { clock, offered, carriers } = open();
  for (let id = 0; id < 8; id += 1) carriers.record(line(id), 'silent');
  await clock.advance(1_000);
  const tried = line(10, 1);
  expect(carriers.admits(tried)).toBe(false);
  await clock.advance(0);
  expect(offered).toEqual([tried]);
  expect(carriers.admits(tried)).toBe(true);
  carriers.close();
});

test('a line whose lease has run out while it was parked is no probe: another process may have it by now', async () => {
  const { clock, offered, carriers } = open();
  for (let id = 0; id < 8; id += 1) carriers.record(line(id), 'silent');
  const [over, leased] = [{ ...line(10), next_start_at: 1_000 }, line(11, 2)];
  for (const one of [over, leased]) expect(carriers.admits(one)).toBe(false);
  await clock.advance(1_000);
  expect([offered, carriers.parked('mch_one', 'mtn-momo')]).toEqual([[leased], 0]);
  carriers.close();
});

test('parked lines are counted for their own merchant and carrier', () => {
  const { carriers } = open();
  for (let id = 0; id < 8; id += 1) carriers.record(line(id), 'silent');
  for (const one of [line(10), line(11), line(12, 0, 'mch_two')]) expect(carriers.admits(one)).toBe(false);
  const parked = [carriers.parked('mch_one', 'mtn-momo'), carriers.parked('mch_two', 'mtn-momo')];
  expect([...parked, carriers.parked('mch_one', 'another')]).toEqual([2, 1, 0]);
  carriers.close();
});

test('the log says for how long a carrier is left alone, each time, and that it is back', async () => {
  const { clock, log, carriers } = open();
  for (let id = 0; id < 8; id += 1) carriers.record(line(id), 'silent');
  for (const outcome of ['silent', 'answered'] as const) {
    await clock.advance(2_000);
    expect(carriers.admits(line(10))).toBe(true);
    carriers.record(line(10), outcome);
  }
  expect(log.lines.map((one) => JSON.parse(one))).toMatchObject([
    { level: 'warn', event: 'payout_carrier_away', connector: 'mtn-momo', ms: 1_000 },
    { level: 'warn', event: 'payout_carrier_away', connector: 'mtn-momo', ms: 2_000 },
    { level: 'info', event: 'payout_carrier_back', connector: 'mtn-momo' },
  ]);
  carriers.close();
});

test('no more than ten thousand lines are parked for a carrier: the others wait in the database', () => {
  const { carriers } = open();
  for (let id = 0; id < 8; id += 1) carriers.record(line(id), 'silent');
  const admitted = Array.from({ length: 10_001 }, (_, id) => carriers.admits(line(id)));
  expect([admitted.includes(true), carriers.parked('mch_one', 'mtn-momo')]).toEqual([false, 10_000]);
  carriers.close();
});

test('once closed, it offers nothing any more, not even after a call that was under way', async () => {
  for (const before of [8, 7]) {
    const { clock, offered, carriers } = open();
    for (let id = 0; id < before; id += 1) carriers.record(line(id), 'silent');
    carriers.close();
    for (let id = before; id < 8; id += 1) carriers.record(line(id), 'silent');
    expect(carriers.admits(line(10))).toBe(false);
    await clock.advance(1_000);
    expect(offered).toEqual([]);
  }
});
