/** When room is made for new connections: soon, but not for each of thousands that are dropped. */
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { openMetrics } from '../platform/metrics.ts';
import { manualClock } from '../platform/testing/manual-clock.ts';
import { limitConnections } from './socket-limits.ts';

test('room is made once in a tenth of a second, however many are dropped, and also after the clock was set back', async () => {
  const [server, clock] = [createServer(), manualClock(0)];
  const shares: number[] = [];
  const makeRoom = (share: number) => {
    shares.push(share);
    return { idle: 1, over_share: 0 };
  };
  limitConnections(server, 10, { makeRoom }, { clock, metrics: openMetrics({ ofProcess: false }) });
  const drop = (count: number) => {
    for (let dropped = 0; dropped < count; dropped += 1) server.emit('drop');
    return shares;
  };
  expect(drop(1_000)).toEqual([5]);
  await clock.advance(99);
  expect(drop(1_000)).toEqual([5]);
  await clock.advance(1);
  expect(drop(1_000)).toEqual([5, 5]);
  clock.setBack(3_600_000);
  expect(drop(1_000)).toEqual([5, 5, 5]);
});
