/**
 * The bench's output for programs: the shortest possible run, with real processes and a PostgreSQL of its own.
 */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { builtProgram } from '../support/built.ts';
import { databasePlace } from '../support/database-place.ts';

/** It measures for most of a minute. */
const LONG = { timeout: 900_000 };
const SHORTEST = ['--quick', '--only', 'page', '--merchants', '1', '--warmup-seconds', '1', '--pages', '2'];

test('with --json it prints one JSON document, and reports its progress on standard error', LONG, async () => {
  const env = { PATH: process.env.PATH, TMPDIR: databasePlace() };
  const child = spawn(process.execPath, [builtProgram('bench/main.js'), ...SHORTEST, '--json'], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // It cleans up what it has started.
  onTestFinished(() => void child.kill('SIGTERM'));
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect(out, err).toMatch(/^[^\n]+\n$/);
  expect(JSON.parse(out)).toMatchObject({
    settings: { merchants: 1, pages: 2 },
    extras: { books: { empty: { ok: true } } },
  });
  expect(err).toContain('making 1 merchants');
  expect(err).toContain('hosted page, p50/p99 ms');
});
