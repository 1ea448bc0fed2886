/**
 * `npm run check`: every check of the sources that takes about a minute. One line per step, and the whole output of the steps
 * that fail. The tests run beside the checks that only read: each waits a part of its time, and two cores are busy.
 *
 * Invariant: exit status 0 means that every step passed; no step is skipped because an earlier one failed.
 */
import { build, runTool } from './build.ts';

/** What the compiler has found before, by the digests of all files, its version and its options. */
const SEEN = 'node_modules/.cache/mbongo/types.tsbuildinfo';

type Step = { name: string; run: () => Promise<unknown> };

/** Only read the sources. */
const READING: Step[] = [
  { name: 'format and lint', run: () => runTool('biome', ['check', '--error-on-warnings', '.']) },
  { name: 'types', run: () => runTool('tsc', ['-p', 'tsconfig.json', '--incremental', '--tsBuildInfoFile', SEEN]) },
  { name: 'types in the browser', run: () => runTool('tsc', ['-p', 'tsconfig.sandbox-browser.json', '--noEmit']) },
  { name: 'types in the hosted page', run: () => runTool('tsc', ['-p', 'tsconfig.checkout-browser.json', '--noEmit']) },
  { name: 'lint with types', run: () => runTool('oxlint', ['--type-aware', '--deny-warnings', '.']) },
  { name: 'unused files, exports, dependencies', run: () => runTool('knip', []) },
];

/** What cannot be bundled fails here. The programs themselves are started by other tests (`npm run test:programs`). */
const RUNNING: Step[] = [
  { name: 'build', run: build },
  { name: 'unit tests and tidiness', run: () => runTool('vitest', ['run', '--project', 'unit']) },
];

process.env.NODE_ENV = 'test';
const steps = READING.length + RUNNING.length;
let failed = 0;
const begun = performance.now();
await Promise.all([READING, RUNNING].map(runInTurn));
process.stdout.write(
  `${failed === 0 ? 'all checks passed' : `${failed} of ${steps} checks failed`} in ${seconds(begun)} s\n`,
);
process.exitCode = failed === 0 ? 0 : 1;

async function runInTurn(lane: readonly Step[]): Promise<void> {
  for (const { name, run } of lane) {
    const started = performance.now();
    try {
      await run();
      process.stdout.write(`ok    ${name} (${seconds(started)} s)\n`);
    } catch (error) {
      failed += 1;
      process.stdout.write(`FAIL  ${name}\n${error instanceof Error ? error.message : String(error)}\n`);
    }
  }
}

function seconds(since: number): string {
  return ((performance.now() - since) / 1000).toFixed(1);
}
