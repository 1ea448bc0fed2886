import { expect, test } from 'vitest';
import type { PayoutLine } from '../domain/outgoing-records.ts';
import type { Clock } from '../platform/platform.ts';
import { manualClock } from '../platform/testing/manual-clock.ts';
import { memoryLog } from '../platform/testing/memory-log.ts';
import { openCarriers } from './payout-carriers.ts';

const line = (id: number): PayoutLine =>
  ({ id: `txn_${id}`, merchant_id: 'mch_one', connector: 'mtn-momo', next_start_at: 60_000, tries: 0 }) as PayoutLine;

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
    if (carriers.admits(one)) queueMicrotask(() => carriers.heard(one, 'not_called'));
  });
  for (let id = 0; carriers.away().length === 0; id += 1) {
    carriers.admits(line(id));
    carriers.heard(line(id), 'silent');
  }
  for (let id = 100; id < 150; id += 1) expect(carriers.admits(line(id))).toBe(false);
  while (offered < 50) await clock.advance(1_000);
  expect(turns).toBeGreaterThanOrEqual(49);
  carriers.close();
});
