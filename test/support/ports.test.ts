/**
 * That ports which are drawn at once are different ones, whoever draws them.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { portOf } from './listening.ts';
import { portsOf } from './ports.ts';

test('whoever draws ports at once draws different ones, and none at which a server listens', async () => {
  const range = { first: 19_000, blocks: 3, ofBlock: 4 };
  const taken = createServer().listen(19_001, '127.0.0.1');
  await once(taken, 'listening');
  const draws = [portsOf(range), portsOf(range), portsOf(range)];
  const drawn = await Promise.all(draws.flatMap((draw) => [draw(), draw(), draw()]));
  expect(new Set([...drawn, portOf(taken)]).size).toBe(10);
  expect(Math.min(...drawn)).toBeGreaterThanOrEqual(19_000);
  expect(Math.max(...drawn)).toBeLessThan(19_012);
  await expect(portsOf(range)()).rejects.toThrow('all ports from 19000 on are claimed');
  taken.close();
});
