/**
 * `npm run check`: every check of the sources that takes less than a minute. One line per step, and the whole output
 * of the steps that fail.
 *
 * Invariant: exit status 0 means that every step passed; no step is skipped because an earlier one failed.
 */
import { build, runTool } from './build.ts';

type Step = { name: string; run: () => Promise<unknown> };

const STEPS: Step[] = [
  { name: 'format and lint', run: () => runTool('biome', ['check', '--error-on-warnings', '.']) },
  { name: 'types', run: () => runTool('tsc', ['-p', 'tsconfig.json']) },
  { name: 'types in the browser', run: () => runTool('tsc', ['-p', 'tsconfig.sandbox-browser.json', '--noEmit']) },
  { name: 'types in the hosted page', run: () => runTool('tsc', ['-p', 'tsconfig.checkout-browser.json', '--noEmit']) },
  { name: 'lint with types', run: () => runTool('oxlint', ['--type-aware', '--deny-warnings', '.']) },
  { name: 'unused files, exports, dependencies', run: () => runTool('knip', []) },
  { name: 'build', run: build },
  { name: 'unit tests and tidiness', run: () => runTool('vitest', ['run', '--project', 'unit']) },
];

process.env.NODE_ENV = 'test';
let failed = 0;
const begun = performance.now();
for (const { name, run } of STEPS) {
  const started = performance.now();
  try {
    await run();
    process.stdout.write(`ok    ${name} (${seconds(started)} s)\n`);
  } catch (error) {
    failed += 1;
    process.stdout.write(`FAIL  ${name}\n${error instanceof Error ? error.message : String(error)}\n`);
  }
}
process.stdout.write(
  `${failed === 0 ? 'all checks passed' : `${failed} of ${STEPS.length} checks failed`} in ${seconds(begun)} s\n`,
);
process.exitCode = failed === 0 ? 0 : 1;

function seconds(since: number): string {
  return ((performance.now() - since) / 1000).toFixed(1);
}
