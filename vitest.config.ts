/**
 * The kinds of test, one after the other. Every kind may ask for a database; the server is shared.
 */
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { failedList } from './test/support/failed-list.ts';
import { translationsFolder } from './test/support/translations.ts';

const translations = translationsFolder(import.meta.dirname);

/**
 * A limit is there for what hangs, and is never near to what a test takes: a build server may be many times slower than a
 * desk's machine, and stand still for seconds.
 */
const limitOf = (milliseconds: number) => ({ testTimeout: milliseconds, hookTimeout: milliseconds });

/** Tests beside their code that start and kill real servers: too slow for every check. */
const KILLING = ['src/platform/embedded-database*.test.ts'];

/** Tests beside their code that start whole programs, which costs seconds of processor time each: left out of every check, too. */
const STARTING = [
  'bench/options.test.ts',
  'sandbox/main.test.ts',
  'scripts/{build,bundle,start,supervisor}.test.ts',
  'src/commands/webhook-listen.test.ts',
  'src/platform/log-output.test.ts',
];

/** Waits minutes for what its kills have left open: it begins first among its kind, so that others use the processors meanwhile. */
const WAITING = 'test/faults/payout-kill.test.ts';

/** Vitest's own order, which knows no durations in a fresh clone, with what waits before it. */
class WaitingFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const waits = ({ moduleId }: TestSpecification): boolean => moduleId.endsWith(WAITING);
    return [...sorted.filter(waits), ...sorted.filter((file) => !waits(file))];
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: WaitingFirst },
    globalSetup: ['./test/support/database.ts'],
    passWithNoTests: true,
    expect: { poll: { timeout: 60_000 } },
    reporters: ['default', failedList],
    // What a file is translated to is kept by its digest, until the lockfile changes (docs/performance-experiments.md).
    experimental: translations === undefined ? {} : { fsModuleCache: true, fsModuleCachePath: translations },
    // Half of the time is waiting for PostgreSQL: two files at once use two cores.
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          isolate: false,
          include: ['{src,sandbox,scripts,bench}/**/*.test.ts', 'test/*.test.ts', 'test/support/**/*.test.ts'],
          exclude: [...KILLING, ...STARTING],
          sequence: { groupOrder: 0 },
          ...limitOf(120_000),
        },
      },
      {
        extends: true,
        test: {
          name: 'programs',
          isolate: false,
          include: STARTING,
          sequence: { groupOrder: 0 },
          ...limitOf(120_000),
        },
      },
      {
        extends: true,
        test: {
          name: 'api',
          isolate: false,
          include: ['test/api/**/*.test.ts'],
          sequence: { groupOrder: 1 },
          ...limitOf(300_000),
        },
      },
      {
        extends: true,
        test: {
          name: 'faults',
          include: ['test/faults/**/*.test.ts', 'test/simulation/**/*.test.ts', ...KILLING],
          // Each kills what it has started itself, and waits half of its time for what it has killed.
          maxWorkers: 3,
          sequence: { groupOrder: 2 },
          ...limitOf(600_000),
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          isolate: false,
          include: ['test/e2e/**/*.test.ts'],
          // A page is waited for longer than it is worked at.
          maxWorkers: 3,
          sequence: { groupOrder: 3 },
          ...limitOf(300_000),
        },
      },
    ],
  },
});
