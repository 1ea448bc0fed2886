/** A world is still exactly when nothing goes on in it but waiting for the clock. */

import { once } from 'node:events';
import { createServer, request, type Server, type ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { portOf } from './listening.ts';
import { stillness, working } from './stillness.ts';

let database: TestDatabase;
/** Answers every request as `answering` says. */
let server: Server;
let answering: (response: ServerResponse) => unknown = () => undefined;

beforeAll(async () => {
  database = await createTestDatabase();
  server = createServer((_request, response) => answering(response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await database.drop();
});

/** Asks the server; the number of its answer's bytes. */
function ask(): Promise<number> {
  return new Promise((resolve, reject) => {
    const port = portOf(server);
    const asking = request({ port, host: '127.0.0.1', agent: false }, (response) => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      response.on('end', () => resolve(bytes));
    });
    asking.on('error', reject);
    asking.end();
  });
}

/** Whether the work has ended once it is still. */
async function endsBefore(work: Promise<unknown>): Promise<boolean> {
  let isOver = false;
  void work.then(() => {
    isOver = true;
  });
  await stillness();
  return isOver;
}

test('the world is not still before a new connection’s query is answered', async () => {
  expect(await endsBefore(database.pool.query('select pg_sleep(0.1)'))).toBe(true);
});

test('the world is not still before an old connection’s query is answered, and what follows from it', async () => {
  const twice = async (): Promise<void> => {
    await database.pool.query('select pg_sleep(0.05)');
    await database.pool.query("select repeat('x', 500) from generate_series(1, 20000)");
  };
  expect(await endsBefore(twice())).toBe(true);
});

test('the world is not still before an answer of this process has been read', async () => {
  answering = (response) => response.end(Buffer.alloc(5_000_000));
  const asked = ask();
  expect(await endsBefore(asked)).toBe(true);
  expect(await asked).toBe(5_000_000);
});

test('the world is not still before work that was noted has ended', async () => {
  expect(await endsBefore(working(pause(50)))).toBe(true);
  await expect(working(Promise.reject(new Error('failed')))).rejects.toThrow('failed');
});

test('the world is still while a request waits for something else', async () => {
  const waiting: ServerResponse[] = [];
  answering = (response) => waiting.push(response);
  const asked = ask();
  expect(await endsBefore(asked)).toBe(false);
  expect(waiting).toHaveLength(1);
  waiting[0]?.end('late');
  expect(await endsBefore(asked)).toBe(true);
});

test('time cannot pass while a query waits for the test itself', async () => {
  const mine = await database.pool.connect();
  await mine.query('select pg_advisory_lock(1)');
  const waits = database.pool.query('select pg_advisory_lock(1)');
  await expect(stillness(50)).rejects.toThrow('time cannot pass');
  await mine.query('select pg_advisory_unlock(1)');
  mine.release();
  expect(await endsBefore(waits)).toBe(true);
});

test('time cannot pass while the test goes on asking', async () => {
  answering = (response) => response.end('at once');
  let isOver = false;
  const asking = (async () => {
    while (!isOver) await ask();
  })();
  await expect(stillness(50)).rejects.toThrow('time cannot pass');
  isOver = true;
  await asking;
});
