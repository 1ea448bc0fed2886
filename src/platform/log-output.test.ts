/** A log whose disk is full, or whose reader has stopped, costs lines at most; nothing waits for it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  watch,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest';
import { asJavaScript } from '../../test/support/as-javascript.ts';

const module = asJavaScript(fileURLToPath(new URL('./log-output.ts', import.meta.url)));
afterAll(() => module.remove());
const LINES = 60;

let folder: string;
let file: string;
let child: ChildProcess | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mbongo-log-'));
  file = join(folder, 'log');
});
afterEach(() => {
  child?.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

/** A process that writes lines to a log; `shell` runs before it. */
function run(program: string, output: number | 'pipe', shell = ''): ChildProcess {
  const source = `import { openLogOutput } from ${JSON.stringify(module.file)};
  const line = (n) => String(n).padStart(99, '.') + '\\n';
  ${program}`;
  const words = ['--input-type=module', '--eval', source];
  const stdio = ['ignore', output, 'pipe'] as const;
  child = spawn('sh', ['-c', `${shell} exec "$0" "$@"`, process.execPath, ...words], { stdio: [...stdio] });
  return child;
}

async function statusOf(started: ChildProcess): Promise<number | null> {
  const [status] = (await once(started, 'exit')) as [number | null];
  return status;
}

it('keeps what cannot be written until there is room, in order and complete, and counts what had to be dropped', async () => {
  const output = openSync(file, 'a');
  // No file may grow beyond a block or two: to a process that is a full disk.
  const full = run(
    `const output = openLogOutput({ pauseMs: 10, mostWaiting: 3_100 });
    for (let n = 1; n <= ${LINES}; n += 1) output.write(line(n));
    setInterval(() => undefined, 1_000);`,
    output,
    'ulimit -f 2;',
  );
  const [complaint] = (await once(full.stderr ?? full, 'data')) as [Buffer];
  expect(complaint.toString()).toMatch(
    /^mbongo: the log cannot be written \(.*\): its lines wait in memory, and .*\n$/,
  );
  const limit = statSync(file).size;
  const changes = watch(file);
  let all = '';
  while (!all.endsWith('log_lines_lost"}\n')) {
    const more = readFileSync(file, 'utf8');
    const isFull = more.length === limit;
    if (isFull || more.endsWith('log_lines_lost"}\n')) all += more;
    // Frees space, as an operator would; until then nothing more is written.
    if (isFull) truncateSync(file);
    else if (!all.endsWith('log_lines_lost"}\n')) await once(changes, 'change');
  }
  changes.close();
  closeSync(output);
  const lines = all.trimEnd().split('\n');
  const { event, lines: lost } = JSON.parse(lines.pop() ?? '') as { event: string; lines: number };
  expect(event).toBe('log_lines_lost');
  expect(lost).toBeGreaterThan(0);
  expect(lines.map((line) => Number(line.replaceAll('.', '')))).toEqual(
    Array.from({ length: LINES - lost }, (_, n) => n + 1),
  );
});

// Linux has this file, to which nothing can be written; other systems have no equivalent.
it.runIf(existsSync('/dev/full')).each([
  ['process.exit(3)', 3],
  ['output.close().then(() => process.exit(4))', 4],
  ['setTimeout(() => { throw new Error("a bug"); }, 5)', 1],
  ['', 0],
])('a full disk does not keep a process from ending by %j', async (end, status) => {
  const output = openSync('/dev/full', 'w');
  const ending = run(
    `const output = openLogOutput();
    for (let n = 1; n <= 5; n += 1) output.write(line(n));
    setImmediate(() => output.write(line(6)));
    ${end}`,
    output,
  );
  expect(await statusOf(ending)).toBe(status);
  closeSync(output);
});

it.each(['output.close()', 'output.close().then(() => process.exit(0))', 'process.exit(0)'])(
  'a reader that does not read does not keep a process from ending by %j',
  async (end) => {
    const stalled = run(
      `const output = openLogOutput();
      for (let n = 1; n <= 20_000; n += 1) output.write(line(n));
      setImmediate(() => ${end});`,
      'pipe',
    );
    expect(await statusOf(stalled)).toBe(0);
  },
);

it('waiting lines take little more memory than they have characters, for lines as pino makes them', async () => {
  const stalled = run(
    `const { pino } = await import('pino');
    const mostWaiting = 4 * 1024 * 1024;
    const output = openLogOutput({ mostWaiting });
    const taken = () => {
      gc();
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external;
    };
    let written = 0;
    const log = pino({ base: null }, { write: (line) => { written += line.length; output.write(line); } });
    for (let n = 0; n < 200; n += 1) log.info({ request_id: 'req_' + n, status: 200 }, 'request');
    const before = taken();
    for (let n = 0; written < 2 * mostWaiting; n += 1) {
      log.info({ request_id: 'req_' + n, route: '/api/v1/payments/submit', status: 200, ms: n / 7 }, 'request');
    }
    const grown = (taken() - before) / mostWaiting;
    console.error(grown < 1.5 ? 'little' : 'too much: ' + grown);
    process.exit(0);`,
    'pipe',
    'NODE_OPTIONS=--expose-gc',
  );
  const [said] = (await once(stalled.stderr ?? stalled, 'data')) as [Buffer];
  expect(said.toString()).toBe('little\n');
});

it('says how many lines it had failed to write when it was closed', async () => {
  const stalled = run(
    `const output = openLogOutput();
    for (let n = 1; n <= 20_000; n += 1) output.write(line(n));
    await output.close();
    process.exit(0);`,
    'pipe',
  );
  const [said] = (await once(stalled.stderr ?? stalled, 'data')) as [Buffer];
  expect(said.toString()).toMatch(/^mbongo: 1\d{4} lines of the log could not be written before the process ended\n$/);
});

it('says once that its reader is gone', async () => {
  const unread = run(
    `const output = openLogOutput();
    setInterval(() => output.write(line(1)), 1);`,
    'pipe',
  );
  await once(unread.stdout ?? unread, 'data');
  unread.stdout?.destroy();
  const [said] = (await once(unread.stderr ?? unread, 'data')) as [Buffer];
  expect(said.toString()).toBe('mbongo: nothing reads the log any more: its lines are lost\n');
});
