/**
 * `mbongo serve` as a process: it announces itself when it answers, seeds a demo once, and stops when it is told to.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

type Ready = { type: 'ready'; url?: string; notes: string[] };

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
let database: TestDatabase;
let dataDir: string;
let children: ChildProcess[];

beforeEach(async () => {
  database = await createTestDatabase();
  dataDir = await mkdtemp(join(tmpdir(), 'mbongo-serve-'));
  children = [];
});

afterEach(async () => {
  for (const child of children) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});

function start(...words: string[]): ChildProcess {
  const child = spawn(process.execPath, ['--import', 'tsx', MAIN, 'serve', ...words], {
    env: { PATH: process.env.PATH, DATABASE_URL: database.url, DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'silent' },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  children.push(child);
  return child;
}

async function ready(child: ChildProcess): Promise<Ready> {
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('serve ended before it was ready')));
  const [message] = (await Promise.race([once(child, 'message'), ended])) as [Ready];
  return message;
}

async function ended(child: ChildProcess): Promise<number | null> {
  const [status] = (await once(child, 'exit')) as [number | null];
  return status;
}

function credentialOf({ notes }: Ready): string {
  return notes.find((note) => note.trim().startsWith('key_'))?.trim() ?? '';
}

async function mint(url: string, credential: string): Promise<number> {
  const answer = await fetch(`${url}/api/v1/internal/sessions/create`, {
    method: 'POST',
    headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
    body: JSON.stringify({ amount: '12.50', currency: 'usd', customer_reference: 'order-1' }),
  });
  return answer.status;
}

describe('mbongo serve', () => {
  it('seeds a demo merchant whose credential works, shows it again, and stops at SIGTERM with 0', async () => {
    const first = start();
    const announced = await ready(first);
    const credential = credentialOf(announced);
    expect(await mint(announced.url ?? '', credential)).toBe(201);
    expect((await stat(join(dataDir, 'demo.json'))).mode & 0o777).toBe(0o600);
    first.kill('SIGTERM');
    expect(await ended(first)).toBe(0);

    const second = start();
    const again = await ready(second);
    expect(credentialOf(again)).toBe(credential);
    expect(await mint(again.url ?? '', credential)).toBe(201);
    second.kill('SIGINT');
    expect(await ended(second)).toBe(0);
  });

  it('stops when whoever started it is gone', async () => {
    const child = start();
    await ready(child);
    child.disconnect();
    expect(await ended(child)).toBe(0);
  });

  it('works without answering requests as a worker, and seeds nothing', async () => {
    const child = start('--role', 'worker');
    expect(await ready(child)).toEqual({ type: 'ready', notes: [] });
    child.kill('SIGTERM');
    expect(await ended(child)).toBe(0);
  });
});
