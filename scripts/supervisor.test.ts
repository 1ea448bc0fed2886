import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { asJavaScript } from '../test/support/as-javascript.ts';
import { gatewayStopMs } from './supervisor.ts';

const supervisor = asJavaScript(fileURLToPath(new URL('../test/support/supervisor-runner.ts', import.meta.url)));
afterAll(() => supervisor.remove());

/** Reports ready, and records how it ended in a file named after it. */
const PROGRAM = `
const { appendFileSync, existsSync, writeFileSync } = require('node:fs');
const [name, folder, manner] = process.argv.slice(2);
const end = (why) => { appendFileSync(folder + '/ends', name + ' ' + why + '\\n'); process.exit(0); };
process.on('SIGTERM', () => { if (manner !== 'deaf') end('asked'); });
process.on('disconnect', () => end('alone'));
process.on('message', () => undefined);
writeFileSync(folder + '/' + name + '.pid', String(process.pid));
if (manner === 'unable') { process.stderr.write('mbongo: why\\n'); process.exit(1); }
process.send({ type: 'ready', url: 'http://' + name, notes: ['try ' + name] });
if (manner === 'brittle') setInterval(() => existsSync(folder + '/first.pid') && process.exit(3), 5);
`;

/** 60 000 ms, for what never comes. */
const MAX_WAIT_MS = 60_000;

let folder: string;
let runner: ChildProcess;
let said: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mbongo-supervisor-'));
  writeFileSync(join(folder, 'program.cjs'), PROGRAM);
  said = '';
});
afterEach(() => {
  runner.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

test('the supervisor prints the notes when both are ready, and a signal stops them in order, with exit status 0', async () => {
  const ended = run('steady', 'steady', 10_000);
  await vi.waitUntil(() => said.includes('try first\ntry second'), MAX_WAIT_MS);
  runner.kill('SIGTERM');
  expect(await ended).toBe(0);
  expect(ends()).toBe('first asked\nsecond asked\n');
});

test('when one program ends by itself the other is stopped, and the exit status and a line report it', async () => {
  expect(await run('steady', 'brittle', 10_000)).toBe(1);
  expect(said).toContain('the second ended unexpectedly (exit status 3)');
  expect(ends()).toBe('first asked\n');
});

test('a program that cannot start says why, and nothing is added', async () => {
  expect(await run('steady', 'unable', 10_000)).toBe(1);
  expect(said.match(/^mbongo: .*$/gm)).toEqual(['mbongo: why']);
});

test('a program that does not stop in time is killed, the next has its own time, and the exit status reports it', async () => {
  const ended = run('deaf', 'steady', 200);
  await vi.waitUntil(() => said.includes('try first\ntry second'), MAX_WAIT_MS);
  runner.kill('SIGINT');
  expect(await ended).toBe(1);
  expect(said.match(/^mbongo: .*$/gm)).toEqual(['mbongo: the first did not stop in time and was killed']);
  expect(ends()).toBe('second asked\n');
});

test('a gateway may use up its own ten seconds, after those for load balancers, before it is killed', () => {
  expect(gatewayStopMs('0')).toBeGreaterThan(10_000);
  expect(gatewayStopMs('60000')).toBeGreaterThan(70_000);
});

test('both stop when the supervisor itself is killed', async () => {
  const ended = run('steady', 'deaf', 10_000);
  await vi.waitUntil(() => said.includes('try first\ntry second'), MAX_WAIT_MS);
  runner.kill('SIGKILL');
  await ended;
  await vi.waitUntil(() => ends().split('\n').length === 3, MAX_WAIT_MS);
  expect(ends().trim().split('\n').sort()).toEqual(['first alone', 'second alone']);
});

async function run(first: string, second: string, maxStopMs: number): Promise<number | null> {
  const program = (name: string, manner: string, stopMs: number): object => {
    return { name, file: join(folder, 'program.cjs'), args: [name, folder, manner], env: {}, maxStopMs: stopMs };
  };
  const programs = JSON.stringify([program('first', first, maxStopMs), program('second', second, MAX_WAIT_MS)]);
  runner = spawn(process.execPath, [supervisor.file, programs], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [runner.stdout, runner.stderr]) {
    stream?.on('data', (text) => {
      said += String(text);
    });
  }
  const [code] = await once(runner, 'close');
  return code;
}

function ends(): string {
  try {
    return readFileSync(join(folder, 'ends'), 'utf8');
  } catch {
    return '';
  }
}
