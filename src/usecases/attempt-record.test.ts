import { expect, test } from 'vitest';
import { manualClock } from '../platform/testing/manual-clock.ts';
import { recorded, whileRecording } from './attempt-record.ts';

const begin = () => ({ clock: manualClock(0), recording: new Map<string, Promise<unknown>>() });

test('a waiting caller comes after the record, however it ends, and nothing is left behind', async () => {
  for (const end of ['done', 'failed'] as const) {
    const deps = begin();
    const order: string[] = [];
    let finish = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const recording = whileRecording(deps, 'att_1', async () => {
      await held;
      order.push('recorded');
      if (end === 'failed') throw new Error('the database is away');
    }).catch(() => undefined);
    const waiting = recorded(deps, 'att_1').then(() => order.push('asked'));
    await recorded(deps, 'att_2');
    expect(order).toEqual([]);
    finish();
    await Promise.all([recording, waiting]);
    expect(order).toEqual(['recorded', 'asked']);
    expect(deps.recording.size).toBe(0);
    expect(deps.clock.pending()).toBe(0);
  }
});

test('a record that does not end is waited for no longer than two seconds', async () => {
  const deps = begin();
  void whileRecording(deps, 'att_1', () => new Promise(() => undefined));
  let over = false;
  void recorded(deps, 'att_1').then(() => {
    over = true;
  });
  await deps.clock.advance(1_999);
  expect(over).toBe(false);
  await deps.clock.advance(1);
  expect(over).toBe(true);
});
