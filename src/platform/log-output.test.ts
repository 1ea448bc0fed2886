/** A log whose disk is full, or whose reader is slow, costs lines and says how many; nobody waits for it. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openLogOutput } from './log-output.ts';

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mbongo-log-'));
  file = join(folder, 'log');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The lines of the file; of a notice what it counts. */
function written(): (string | number)[] {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  return lines.map((line) => (line.startsWith('{') ? (JSON.parse(line) as { lines: number }).lines : line));
}

it.runIf(process.platform === 'linux')(
  'loses lines while the disk is full, and says how many once there is room',
  async () => {
    let time = 0;
    let dest = '/dev/full';
    let hear = (_text: string): void => undefined;
    const complained = new Promise<string>((resolve) => {
      hear = resolve;
    });
    const open = () => pino.destination({ dest, sync: false });
    const output = openLogOutput({ open, now: () => time, complain: hear });
    output.write('first\n');
    expect(await complained).toMatch(/^the log cannot be written \(ENOSPC.*\): lines are lost until it can$/);
    for (const line of ['second\n', 'third\n']) output.write(line);
    dest = file;
    time = 4_999;
    output.write('fourth\n');
    time = 5_000;
    output.write('fifth\n');
    await output.close();
    expect(written()).toEqual([3, 'fifth']);
  },
);

it('keeps a bounded part for a slow reader, and says what it lost', async () => {
  const stream = pino.destination({ dest: file, sync: false, maxLength: 200 });
  const output = openLogOutput({ open: () => stream });
  const drained = new Promise((resolve) => void stream.once('drain', resolve));
  const [long, lost] = ['x'.repeat(150), 'y'.repeat(100)];
  output.write(`${long}\n`);
  output.write(`${lost}\n`);
  await drained;
  output.write('next\n');
  await output.close();
  expect(written()).toEqual([long, 1, 'next']);
});

it.runIf(process.platform === 'linux')('closes at once where nothing can be written', async () => {
  const output = openLogOutput({
    open: () => pino.destination({ dest: '/dev/full', sync: false }),
    complain: () => undefined,
  });
  output.write('first\n');
  await output.close();
  output.write('second\n');
  await output.close();
});
