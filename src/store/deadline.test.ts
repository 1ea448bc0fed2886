/** A pause of this process may use up the time of a run; each step of it is given some all the same. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import pg from 'pg';
import { expect, test } from 'vitest';
import { portOf } from '../../test/support/listening.ts';
import { connectWithin, MIN_RUN_MS, remainingMs } from './deadline.ts';

test('a step has what is left until its deadline, and its least time after that', () => {
  const now = performance.now();
  expect(remainingMs(now - 60_000)).toBe(100);
  expect(remainingMs(now - 60_000, MIN_RUN_MS)).toBe(1_000);
  expect(remainingMs(now + 3_600_000)).toBeGreaterThan(MIN_RUN_MS);
  expect(remainingMs(now + 3_600_000)).toBeLessThanOrEqual(3_600_000);
});

/** AuthenticationOk and ReadyForQuery: how a server lets in whom it asks for no password (PostgreSQL, message formats). */
const LET_IN = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);

test.each([
  ['a server is reached, although this process stood still until its time was up', LET_IN, true],
  ['a silent server is given up', undefined, false],
] as const)('%s', async (_, answer, isReached) => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => answer && socket.write(answer));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const client = new pg.Client({ host: '127.0.0.1', port: portOf(server), user: 'mbongo', ssl: false });
  client.on('error', () => undefined);
  const reached = connectWithin(200, client).then(
    () => true,
    () => false,
  );
  const until = performance.now() + 500;
  while (performance.now() < until);
  expect(await reached).toBe(isReached);
  client.connection.stream.destroy();
  server.close();
});
