/**
 * What a load balancer and a monitor see of a process: that it is unready before it stops, and the state of a worker.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { builtProgram } from '../support/built.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { freePort } from '../support/ports.ts';

const MASTER_KEY = Buffer.alloc(32, 3).toString('base64');
/** 5 000 ms: what comes meanwhile is served. */
const DRAIN_MS = 5_000;
let database: TestDatabase;
let children: ChildProcess[];

beforeEach(async () => {
  database = await createTestDatabase();
  children = [];
});

afterEach(async () => {
  for (const child of children) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  await database.drop();
});

/** A gateway in production, which needs no folder to write to. */
async function start(role: 'api' | 'worker', env: Readonly<Record<string, string>>): Promise<ChildProcess> {
  const child = spawn(process.execPath, [builtProgram('src/main.js'), 'serve', '--role', role], {
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: database.url,
      GATEWAY_MODE: 'production',
      PUBLIC_URL: 'https://pay.example.com',
      MASTER_KEY,
      LOG_LEVEL: 'silent',
      ...env,
    },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  children.push(child);
  const failed = once(child, 'exit').then(() => Promise.reject(new Error('it ended before it was ready')));
  await Promise.race([once(child, 'message'), failed]);
  return child;
}

async function stop(child: ChildProcess): Promise<number | null> {
  const ended = once(child, 'exit') as Promise<[number | null]>;
  child.kill('SIGTERM');
  return (await ended)[0];
}

it('SIGTERM with DRAIN_MS: not ready first, and yet everything is served until the time is over', async () => {
  while ((await lookWhileItDrains()) === 'too late');
});

/** `too late`: the machine stood still until the time was over. */
async function lookWhileItDrains(): Promise<'seen' | 'too late'> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = await start('api', { PORT: String(port), DRAIN_MS: String(DRAIN_MS) });
  const ready = await fetch(`${url}/health/ready`);
  expect([ready.status, await ready.json()]).toEqual([
    200,
    { status: 'ready', checks: { database: true, accepting: true, clock: true } },
  ]);
  const told = performance.now();
  const ended = stop(child);
  const ask = (path: string): Promise<Response | undefined> =>
    fetch(`${url}${path}`).catch((error: unknown) => {
      if (performance.now() - told < DRAIN_MS) throw error;
      return undefined;
    });
  let turned = await ask('/health/ready');
  while (turned?.status === 200) turned = await ask('/health/ready');
  const served = await ask('/openapi.json');
  expect(await ended).toBe(0);
  await expect(fetch(`${url}/health`)).rejects.toThrow();
  if (turned === undefined || served === undefined) return 'too late';
  expect([turned.status, await turned.json()]).toMatchObject([
    503,
    { status: 'not_ready', checks: { database: true, accepting: false, clock: true }, error: true, error_code: '1402' },
  ]);
  expect([served.status, served.headers.get('connection')]).toEqual([200, 'close']);
  return 'seen';
}

it('a worker serves its health and metrics at WORKER_PORT, accepts no calls there, and stops without waiting', async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = await start('worker', { WORKER_PORT: String(port), DRAIN_MS: '60000' });
  expect((await fetch(`${url}/health/ready`)).status).toBe(200);
  expect(await (await fetch(`${url}/metrics`)).text()).toContain('mbongo_audit_last_run_timestamp_seconds');
  const call = await fetch(`${url}/api/v1/internal/sessions/create`, { method: 'POST', body: '{}' });
  expect(call.status).toBe(404);
  expect(await stop(child)).toBe(0);
});
