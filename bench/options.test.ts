/**
 * The options of the full run.
 */
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { builtProgram } from '../test/support/built.ts';
import { PARTS, readOptions } from './options.ts';

test('without options it measures everything, in three rounds', () => {
  const { settings, parts } = readOptions([]);
  expect(settings).toMatchObject({ rounds: 3, connections: 64, merchants: 100, payments: 5_000_000 });
  expect([...parts]).toEqual([...PARTS]);
});

test('figures can be set, for a quick run too', () => {
  const { settings } = readOptions(['--quick', '--payments', '200000', '--warmup-seconds', '1']);
  expect(settings).toMatchObject({ rounds: 1, payments: 200_000, warmupSeconds: 1 });
});

test('parts are separated by commas', () => {
  expect([...readOptions(['--only', 'reads, open']).parts]).toEqual(['open', 'reads']);
});

test.each([
  [['--only', 'speed'], /--only takes parts out of payments/],
  [['--only', 'reads,reads'], /--only takes parts/],
  [['--rounds', '0'], /--rounds takes a whole number/],
  [['--payments', '5e6'], /--payments takes a whole number/],
  [['--frobnicate'], /frobnicate/],
  [['--json', 'figures.json'], /figures\.json/],
])('%j is refused', (args, why) => {
  expect(() => readOptions(args)).toThrow(why);
});

test('a request for help, or for an unknown option, is answered with the usage', () => {
  const main = builtProgram('bench/main.js');
  const run = (...args: string[]) => spawnSync(process.execPath, [main, ...args], { encoding: 'utf8' });
  const helped = run('--help');
  expect([helped.status, helped.stderr]).toEqual([0, '']);
  expect(helped.stdout).toMatch(/^Usage: mbongo bench \[bench\] \[options\]\n/);
  for (const name of ['all', 'payments', 'payouts', 'statement', 'overload', '--quick', '--only <parts>', '--json']) {
    expect(helped.stdout).toContain(`\n  ${name} `);
  }
  expect(helped.stdout).toContain(PARTS.join(','));
  expect(helped.stdout).toMatch(/--warmup-seconds <count> .*\(default: 20, with --quick 2\)\n/);
  for (const of of ['payouts', 'statement', 'overload']) expect(run(of, '--help').stdout).toBe(helped.stdout);
  const wrong = run('payouts', '--frobnicate');
  expect([wrong.status, wrong.stderr]).toEqual([2, expect.stringContaining('npm run bench')]);
  expect(wrong.stderr).not.toContain('    at ');
  for (const words of [['frobnicate'], ['--rounds', 'x']]) {
    const refused = run(...words);
    expect([refused.status, refused.stderr]).toEqual([2, expect.stringContaining('npm run bench')]);
    expect(refused.stderr).not.toContain('    at ');
  }
  const inJson = run('payouts', '--frobnicate', '--json');
  expect([inJson.status, JSON.parse(inJson.stderr)]).toEqual([
    2,
    { error: true, message: expect.stringContaining('--frobnicate') },
  ]);
});
