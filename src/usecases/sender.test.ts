import { expect, test } from 'vitest';
import { manualClock } from '../platform/testing/manual-clock.ts';
import { memoryLog } from '../platform/testing/memory-log.ts';
import { createSender, type Sent } from './sender.ts';

const LIMITS = { atReceiver: 1, inAll: 1, waitingAtReceiver: 10, waitingInAll: 10 };

/** A sender of one piece at a time, whose sending the test decides by the piece's name. */
function openSender(ways: Readonly<Record<string, () => Promise<Sent>>>) {
  const log = memoryLog();
  const started: string[] = [];
  const sender = createSender<string>({ clock: manualClock(0), log }, LIMITS, {
    kind: 'refund',
    about: (refund_id) => ({ refund_id }),
    send(work) {
      started.push(work);
      return ways[work]?.() ?? Promise.resolve({ outcome: 'answered', written: Promise.resolve() });
    },
  });
  return { log, sender, started };
}

test('what could not be sent is logged by its name, and the next piece is sent', async () => {
  const { log, sender, started } = openSender({ one: () => Promise.reject(new Error('the database is away')) });
  for (const work of ['one', 'two']) expect(sender.add('shop', 'carrier', work)).toBe(true);
  await sender.idle();
  expect(started).toEqual(['one', 'two']);
  const [line, ...more] = log.lines.map((one) => JSON.parse(one));
  expect(line).toMatchObject({ level: 'error', event: 'refund_not_sent', refund_id: 'one' });
  expect(JSON.stringify(line)).toContain('the database is away');
  expect(more).toEqual([]);
});

test('an answer that could not be written is logged by the name of its piece, and waited for at the end', async () => {
  let fail: (error: Error) => void = () => undefined;
  const written = new Promise<void>((_, reject) => {
    fail = reject;
  });
  const { log, sender, started } = openSender({ one: async () => ({ outcome: 'answered', written }) });
  for (const work of ['one', 'two']) sender.add('shop', 'carrier', work);
  let isOver = false;
  const closed = sender.close().then(() => {
    isOver = true;
  });
  // What was queued is left to another process's round, and the answer of what was in flight is still being written.
  await new Promise((resolve) => setImmediate(resolve));
  expect([started, isOver, sender.add('shop', 'carrier', 'three')]).toEqual([['one'], false, false]);
  fail(new Error('the database is away'));
  await closed;
  expect(log.lines.map((one) => JSON.parse(one))).toMatchObject([
    { level: 'error', event: 'refund_not_recorded', refund_id: 'one' },
  ]);
});
