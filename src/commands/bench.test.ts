/** The `bench` verb: its arguments reach the bench, and the bench's exit status is passed on. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bench } from './bench.ts';
import { runCommandLine } from './command-line.ts';

test('its options and its exit status are passed on', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mbongo-bench-'));
  const program = join(folder, 'main.mjs');
  const seen = join(folder, 'seen.json');
  const script = `import { writeFileSync } from 'node:fs';
const named = ['MTN_MOMO_BASE_URL', 'CARRIER_ROUTES', 'MASTER_KEY', 'DATABASE_URL'].filter((name) => name in process.env);
writeFileSync(process.env.SEEN, JSON.stringify([...process.argv.slice(2), ...named]));
if (process.argv[2] === 'die') process.kill(process.pid, 'SIGKILL');
process.exitCode = 3;`;
  await writeFile(program, script);
  // The bench must not get the upstreams and keys of a gateway that is configured here.
  const away = { MTN_MOMO_BASE_URL: 'http://x', CARRIER_ROUTES: '/x.json', MASTER_KEY: 'x' };
  const env = { SEEN: seen, DATABASE_URL: 'postgresql://x', ...away };
  const io = { env, write: () => undefined, writeError: () => undefined };
  const args = ['payments', '--quick', '--json', '--help'];
  expect(await bench(io, args, program)).toBe(3);
  expect(JSON.parse(await readFile(seen, 'utf8'))).toEqual([...args, 'DATABASE_URL']);
  expect(await bench(io, ['die'], program)).toBe(137);
  await rm(seen);
  const production = { ...io, env: { ...env, GATEWAY_MODE: 'production' } };
  expect(await bench(production, args, program)).toBe(1);
  await expect(readFile(seen)).rejects.toThrow('ENOENT');
  await rm(folder, { recursive: true });
});

test.each([
  [['bench'], /^mbongo: the bench is not part of this installation: .*npm run bench.*\n$/],
  [['bench', 'payouts', '--quick'], /^mbongo: the bench is not part of this installation: .*\n$/],
  [['bench', '--help'], /^mbongo: the bench is not part of this installation: .*\n$/],
  [['bench', '--json'], /^\{"error":true,"message":"the bench is not part of this installation: .*"\}\n$/],
])('%j where the bench is not installed says so, and what to do', async (words, line) => {
  const err: string[] = [];
  const write = (): void => undefined;
  const io = { env: {}, write, writeError: (text: string) => void err.push(text) };
  expect(await runCommandLine(words, io, '0.1.0')).toBe(1);
  expect(err.join('')).toMatch(line);
});
