// The process: it reports when it is ready, and stops when it is told to or when its parent is gone.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { builtProgram } from '../test/support/built.ts';

type Ready = { readonly type: string; readonly url: string };

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

function start(port: string, env: Readonly<Record<string, string>> = {}): ChildProcess {
  const child = spawn(process.execPath, [builtProgram('sandbox/main.js')], {
    env: { ...process.env, SANDBOX_PORT: port, ...env },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  children.push(child);
  return child;
}

async function ready(child: ChildProcess): Promise<Ready> {
  const [message] = (await once(child, 'message')) as [Ready];
  return message;
}

test.each([
  ['SIGTERM', (child: ChildProcess) => child.kill('SIGTERM')],
  ['its parent going away', (child: ChildProcess) => child.disconnect()],
])('%s stops it with status 0, open event streams included', async (_name, end) => {
  const child = start('0');
  const { type, url } = await ready(child);
  expect(type).toBe('ready');
  const stream = await fetch(`${url}/phone/243810000042/events`);
  expect(stream.status).toBe(200);
  const exited = once(child, 'exit');
  end(child);
  expect(await exited).toEqual([0, null]);
});

test('a port that is taken or invalid is reported in one line that names the variable', async () => {
  const first = start('0');
  const { url } = await ready(first);
  for (const port of [new URL(url).port, 'eighty']) {
    const second = start(port);
    let errors = '';
    second.stderr?.setEncoding('utf8').on('data', (text: string) => {
      errors += text;
    });
    const [code] = await once(second, 'close');
    expect([code, errors.trim().split('\n')]).toEqual([1, [expect.stringContaining('SANDBOX_PORT')]]);
  }
});

test('a second sandbox on the same folder names the first, and the folder is free once that has been killed', async () => {
  const SANDBOX_DATA_DIR = mkdtempSync(join(tmpdir(), 'mbongo-sandbox-'));
  const first = start('0', { SANDBOX_DATA_DIR });
  await ready(first);
  const second = start('0', { SANDBOX_DATA_DIR });
  let errors = '';
  second.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  expect(await once(second, 'close')).toEqual([1, null]);
  expect(errors).toContain(`another sandbox (process ${first.pid})`);
  const gone = once(first, 'exit');
  first.kill('SIGKILL');
  await gone;
  expect((await ready(start('0', { SANDBOX_DATA_DIR }))).type).toBe('ready');
  rmSync(SANDBOX_DATA_DIR, { recursive: true, force: true });
});
