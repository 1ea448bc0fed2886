/**
 * `npm test`: builds what changed and runs every test, or only the kinds that are named first (`npm run test:unit`,
 * `node --import tsx scripts/test.ts api faults`). Further arguments are passed to vitest: files, or `-t` and words
 * (`npm run test:api -- webhooks.test.ts`).
 *
 * Invariant: exit status 0 and the last line mean that every test of these kinds passed.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { build, ROOT } from './build.ts';

const KINDS = ['unit', 'programs', 'api', 'faults', 'e2e'];
const asked = process.argv.slice(2);
const others = asked.findIndex((word) => !KINDS.includes(word));
const kinds = others < 0 ? asked : asked.slice(0, others);
const filters = asked.slice(kinds.length);
const started = performance.now();

async function runTests(): Promise<boolean> {
  await build();
  const args = ['run', ...kinds.flatMap((kind) => ['--project', kind]), ...filters];
  // A filter that matches no test is a mistake.
  if (filters.length > 0) args.push('--passWithNoTests=false');
  const vitest = spawn(join(ROOT, 'node_modules', '.bin', 'vitest'), args, {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, NODE_ENV: 'test' },
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => vitest.kill(signal));
  const [code] = await once(vitest, 'exit');
  return code === 0;
}

let passed = false;
try {
  passed = await runTests();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
}
const what = asked.length === 0 ? 'all tests' : `the tests of ${asked.join(' ')}`;
const seconds = ((performance.now() - started) / 1000).toFixed(0);
process.stdout.write(passed ? `${what} passed in ${seconds} s\n` : `FAILED: not ${what} passed (${seconds} s)\n`);
process.exitCode = passed ? 0 : 1;
