/**
 * Traces of a gateway process: recorded only if a collector is named, and exported to the last one when it stops.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { builtProgram } from '../support/built.ts';
import { type Collector, openCollector } from '../support/collector.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { TEST_MASTER_KEY } from '../support/operator-world.ts';
import { readSources } from '../support/sources.ts';

let database: TestDatabase;
let collector: Collector;
let child: ChildProcess | undefined;
let folder: string;

beforeEach(async () => {
  database = await createTestDatabase();
  collector = await openCollector();
  child = undefined;
  folder = mkdtempSync(join(tmpdir(), 'mbongo-test-'));
});

afterEach(async () => {
  if (child !== undefined && child.exitCode === null && child.signalCode === null) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  await collector.close();
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

test('a process that is told to stop exports what it has recorded', async () => {
  child = spawn(process.execPath, [builtProgram('src/main.js'), 'serve', '--role', 'api'], {
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: database.url,
      // A folder that does not exist yet.
      DATA_DIR: join(folder, 'data'),
      MASTER_KEY: TEST_MASTER_KEY,
      PORT: '0',
      LOG_LEVEL: 'silent',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_SERVICE_NAME: 'pay',
    },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const [ready] = (await once(child, 'message')) as [{ readonly url: string }];
  const refused = await fetch(`${ready.url}/api/v1/payments/status/txn_x`);
  expect(refused.status).toBe(401);
  await refused.text();
  child.kill('SIGTERM');
  const [code] = await once(child, 'exit');
  expect(code).toBe(0);
  const span = collector.spans.find(({ name }) => name === 'GET /api/v1/payments/status/:transaction_id');
  expect(span?.attributes).toMatchObject({ 'http.response.status_code': 401 });
  expect(collector.bodies.join()).toContain('{"key":"service.name","value":{"stringValue":"pay"}}');
});

test('nothing loads the SDK before it is known that a collector is named', () => {
  const early = readSources()
    .filter(({ path }) => path.startsWith('src/') && !path.endsWith('.test.ts'))
    .filter(
      ({ code }) => /^import [^;]*platform\/traces\.ts'/m.test(code) || /^import [^;]*'\.\/traces\.ts'/m.test(code),
    );
  expect(early.map(({ path }) => path)).toEqual([]);
});
