/** Slots with real processes, whose program refuses to end in the way that a test needs. */
import cluster from 'node:cluster';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { manualClock } from '../platform/testing/manual-clock.ts';
import { memoryLog } from '../platform/testing/memory-log.ts';
import { openSlots, pauseBefore, type Slots } from './supervise-slots.ts';

/** A program that sends `message`, and then can only be killed. */
const stubborn = (message: object) => `
process.on('SIGTERM', () => undefined);
process.on('disconnect', () => process.exit());
setInterval(() => undefined, 60_000);
process.send(${JSON.stringify(message)});`;

let folder: string;
let clock: ReturnType<typeof manualClock>;
let log: ReturnType<typeof memoryLog>;
let slots: Slots | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mbongo-slots-'));
  clock = manualClock(0);
  log = memoryLog(clock);
});
afterEach(async () => {
  const stopped = slots?.stop(0);
  await clock.advance(0);
  await stopped;
  delete cluster.settings.exec;
  rmSync(folder, { recursive: true, force: true });
});

function run(program: string): Slots {
  const exec = join(folder, 'program.cjs');
  writeFileSync(exec, program);
  cluster.setupPrimary({ exec });
  slots = openSlots([{ name: 'api-1', role: 'api' }], {
    clock,
    log: { ...log, pass: () => undefined },
    writeError: () => undefined,
    heard: () => undefined,
  });
  return slots;
}

function happened(event: string): number {
  return log.lines.filter((line) => line.includes(`"event":"${event}"`)).length;
}

it('restarts at once, waits longer after every start that failed, and never longer than ten seconds', () => {
  const pauses = Array.from({ length: 9 }, (_, failures) => pauseBefore(failures));
  expect(pauses).toEqual([0, 250, 500, 1_000, 2_000, 5_000, 10_000, 10_000, 10_000]);
});

it('kills and restarts a process that reports that it could not start but does not exit', async () => {
  const [first] = run(stubborn({ type: 'failed', message: 'no' })).members();
  expect(await first?.started).toEqual({ failed: 'no' });
  await clock.advance(10_500);
  await first?.ended;
  await clock.advance(0);
  expect(happened('process_restarting')).toBe(1);
  expect(happened('process_starting')).toBe(2);
});

it('kills a process that has been replaced but does not exit', async () => {
  const opened = run(stubborn({ type: 'ready' }));
  const [first] = opened.members();
  await first?.started;
  const replaced = opened.replaceAll();
  const next = new Promise<void>((resolve) => {
    cluster.once('fork', (worker) => worker.once('message', () => resolve()));
  });
  await next;
  await clock.advance(13_500);
  await replaced;
  expect(happened('process_replaced')).toBe(1);
  expect(opened.members()).toHaveLength(1);
});
