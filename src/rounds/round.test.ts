import { describe, expect, it } from 'vitest';
import { manualClock } from '../platform/testing/manual-clock.ts';
import { memoryLog } from '../platform/testing/memory-log.ts';
import { StoreUnavailable } from '../store/errors.ts';
import { repeat } from './round.ts';

/** Work that ends when the test says so. */
function heldWork() {
  const ends: (() => void)[] = [];
  let begun = 0;
  return {
    run: () => {
      begun += 1;
      return new Promise<void>((resolve) => ends.push(resolve));
    },
    begun: () => begun,
    end: () => ends.shift()?.(),
  };
}

describe('a round', () => {
  it('runs at once, and again after the pause', async () => {
    const clock = manualClock(0);
    let runs = 0;
    const round = repeat('test', 1_000, async () => (runs += 1), { clock, log: memoryLog() });
    await clock.advance(0);
    expect(runs).toBe(1);
    await clock.advance(999);
    expect(runs).toBe(1);
    await clock.advance(2_001);
    expect(runs).toBe(4);
    await round.stop();
    await clock.advance(10_000);
    expect([runs, clock.pending()]).toEqual([4, 0]);
  });

  it('never overlaps itself, and `now` waits for its own run', async () => {
    const clock = manualClock(0);
    const work = heldWork();
    const round = repeat('test', 10, work.run, { clock, log: memoryLog() });
    await clock.advance(1_000);
    expect(work.begun()).toBe(1);
    let done = false;
    const now = round.runNow().then(() => {
      done = true;
    });
    await clock.advance(100);
    expect([work.begun(), done]).toEqual([1, false]);
    work.end();
    await clock.advance(0);
    expect([work.begun(), done]).toEqual([2, false]);
    work.end();
    await now;
    expect(done).toBe(true);
    await round.stop();
  });

  it('keeps its pace however often it is asked to run at once', async () => {
    const clock = manualClock(0);
    let runs = 0;
    const round = repeat('test', 1_000, async () => (runs += 1), { clock, log: memoryLog() });
    await clock.advance(0);
    await Promise.all([round.runNow(), round.runNow(), round.runNow()]);
    expect([runs, clock.pending()]).toEqual([4, 1]);
    await clock.advance(3_000);
    expect([runs, clock.pending()]).toEqual([7, 1]);
    await round.stop();
  });

  it('reports each time once that the database is unreachable, and once that it is back', async () => {
    const clock = manualClock(0);
    const log = memoryLog(clock);
    let isAway = true;
    const run = async (): Promise<void> => {
      if (isAway) throw new StoreUnavailable();
    };
    const round = repeat('test', 1_000, run, { clock, log });
    for (let outages = 0; outages < 2; outages += 1) {
      isAway = true;
      await clock.advance(20_000);
      isAway = false;
      await clock.advance(20_000);
    }
    await round.stop();
    const told = log.lines.map((line) => JSON.parse(line));
    const outage = [
      { level: 'warn', event: 'round_waits', round: 'test', reason: 'the database cannot be reached' },
      { level: 'info', event: 'round_goes_on', round: 'test' },
    ];
    expect(told).toMatchObject([...outage, ...outage]);
  });

  it('logs an error and goes on', async () => {
    const clock = manualClock(0);
    const log = memoryLog(clock);
    let runs = 0;
    const round = repeat(
      'test',
      1_000,
      async () => {
        runs += 1;
        if (runs === 1) throw new Error('the database is away');
      },
      { clock, log },
    );
    await clock.advance(1_000);
    await round.stop();
    expect(runs).toBe(2);
    expect(log.lines).toHaveLength(1);
    expect(log.lines[0]).toContain('"event":"round_failed"');
    expect(log.lines[0]).toContain('the database is away');
  });

  it('tells the current run that it is being stopped', async () => {
    const clock = manualClock(0);
    const work = heldWork();
    let stopping: AbortSignal | undefined;
    const run = (signal: AbortSignal) => {
      stopping = signal;
      return work.run();
    };
    const round = repeat('test', 10, run, { clock, log: memoryLog() });
    await clock.advance(0);
    expect(stopping?.aborted).toBe(false);
    const stop = round.stop();
    expect(stopping?.aborted).toBe(true);
    work.end();
    await stop;
  });

  it('begins no run that was asked for before it was stopped', async () => {
    const clock = manualClock(0);
    const work = heldWork();
    const round = repeat('test', 10, work.run, { clock, log: memoryLog() });
    await clock.advance(0);
    const asked = round.runNow();
    const stop = round.stop();
    work.end();
    await Promise.all([asked, stop]);
    expect([work.begun(), clock.pending()]).toEqual([1, 0]);
  });

  it('is stopped only when the current run has ended', async () => {
    const clock = manualClock(0);
    const work = heldWork();
    const round = repeat('test', 10, work.run, { clock, log: memoryLog() });
    await clock.advance(0);
    let stopped = false;
    const stop = round.stop().then(() => {
      stopped = true;
    });
    await clock.advance(100);
    expect(stopped).toBe(false);
    work.end();
    await stop;
    expect([work.begun(), clock.pending()]).toEqual([1, 0]);
  });
});
