import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { manualClock } from '../platform/testing/manual-clock.ts';
import { slidingWindow } from './sliding-window.ts';

const START = Date.parse('2026-11-20T12:00:00Z');

/** How many of these instants lie in one window at most, wherever the window begins. */
function mostWithin(instants: readonly number[], length: number): number {
  return Math.max(0, ...instants.map((end) => instants.filter((at) => at > end - length && at <= end).length));
}

describe('a sliding window', () => {
  it('admits exactly its number at once, and says when the next may come', async () => {
    const clock = manualClock(START);
    const window = slidingWindow(clock, { calls: 20, seconds: 60 });
    for (let call = 1; call <= 20; call += 1) {
      expect(window.take('a')).toMatchObject({ allowed: true, remaining: 20 - call });
    }
    const refused = window.take('a');
    expect(refused).toMatchObject({ allowed: false, remaining: 0, calls: 20, seconds: 60, reset: 60 });
    expect(window.take('b').allowed).toBe(true);
    await clock.advance(refused.retryAfter * 1000);
    expect(window.take('a').allowed).toBe(true);
  });

  it('counts a heavy call as several, and says when there is room for all of it', async () => {
    const clock = manualClock(START);
    const window = slidingWindow(clock, { calls: 20, seconds: 60 });
    window.take('a');
    await clock.advance(1_000);
    expect(window.take('a', 20, 16)).toMatchObject({ allowed: true, remaining: 3 });
    await clock.advance(1_000);
    const refused = window.take('a', 20, 16);
    expect(refused).toMatchObject({ allowed: false, remaining: 3, retryAfter: 59 });
    expect(window.take('a', 20, 3)).toMatchObject({ allowed: true, remaining: 0 });
    await clock.advance(refused.retryAfter * 1_000);
    expect(window.take('a', 20, 16)).toMatchObject({ allowed: true, remaining: 1 });
  });

  it('lets a call pass that weighs more than the whole limit, alone', async () => {
    const clock = manualClock(START);
    const window = slidingWindow(clock, { calls: 5, seconds: 60 });
    expect(window.take('a', 5, 16)).toMatchObject({ allowed: true, remaining: 0 });
    expect(window.take('a')).toMatchObject({ allowed: false, retryAfter: 60 });
  });

  it('does not forget a burst at the border of two windows', async () => {
    const clock = manualClock(START + 59_900);
    const window = slidingWindow(clock, { calls: 20, seconds: 60 });
    for (let call = 0; call < 20; call += 1) window.take('a');
    await clock.advance(200);
    expect(window.take('a').allowed).toBe(false);
    await clock.advance(60_000);
    expect(window.take('a').allowed).toBe(true);
  });

  it('counts the calls of a tenth of a second as long as the last of them', async () => {
    const clock = manualClock(START);
    const window = slidingWindow(clock, { calls: 2, seconds: 60 });
    window.take('a');
    await clock.advance(50);
    window.take('a');
    await clock.advance(59_950);
    expect(window.take('a')).toMatchObject({ allowed: false, retryAfter: 1 });
    await clock.advance(50);
    expect(window.take('a')).toMatchObject({ allowed: true, remaining: 1 });
  });

  it('admits no more where two minutes meet, nor while a caller asks again and again', () => {
    let now = START + 59_000;
    const window = slidingWindow({ now: () => now }, { calls: 30, seconds: 60 });
    const passed: number[] = [];
    for (let call = 0; call < 30; call += 1) if (window.take('a').allowed) passed.push(now);
    for (; now < START + 59_000 + 60_300; now += 100) if (window.take('a').allowed) passed.push(now);
    expect(mostWithin(passed, 60_000)).toBe(30);
    expect(passed.filter((at) => at < START + 59_000 + 60_000)).toHaveLength(30);
    expect(passed.length).toBe(33);
  });

  it('keeps its promise whatever comes: never more than its number in any window, and retry_after suffices', () => {
    // Short waits fall into one bucket and its neighbours, long ones beyond the window.
    const wait = fc.oneof(fc.nat(5), fc.nat(300), fc.nat(40_000), fc.nat(200_000));
    const step = fc.record({ wait, burst: fc.integer({ min: 1, max: 15 }) });
    const rule = fc.record({ calls: fc.integer({ min: 1, max: 40 }), seconds: fc.constantFrom(1, 60, 300) });
    const start = fc.integer({ min: START, max: START + 300_000 });
    const history = fc.array(step, { minLength: 1, maxLength: 60, size: 'max' });
    fc.assert(
      fc.property(start, rule, history, (first, { calls, seconds }, steps) => {
        let now = first;
        const window = slidingWindow({ now: () => now }, { calls, seconds });
        const length = seconds * 1_000;
        const passed: number[] = [];
        let retryAt = 0;
        for (const { wait: pause, burst } of steps) {
          now += pause;
          for (let call = 0; call < burst; call += 1) {
            const standing = window.take('a');
            if (retryAt > 0 && now >= retryAt) expect(standing.allowed).toBe(true);
            retryAt = standing.allowed ? 0 : now + standing.retryAfter * 1_000;
            if (standing.allowed) passed.push(now);
            // No call is refused, or told to wait, for more than one bucket longer than the law requires.
            const bucket = length / 600;
            const longer = passed.filter((at) => at > now - length - bucket);
            if (!standing.allowed) expect(longer.length).toBeGreaterThanOrEqual(calls);
            const freed = (longer.at(-calls) ?? now) + length + bucket;
            if (!standing.allowed) expect(standing.retryAfter).toBeLessThanOrEqual(Math.ceil((freed - now) / 1_000));
            expect(standing.remaining).toBeGreaterThanOrEqual(calls - longer.length);
            expect(standing.reset).toBeLessThanOrEqual(Math.ceil((length + bucket) / 1_000));
          }
        }
        expect(mostWithin(passed, length)).toBeLessThanOrEqual(calls);
      }),
      { numRuns: 50 },
    );
  });

  it('says to the second when the oldest call leaves, and when there is room', () => {
    let now = START;
    const window = slidingWindow({ now: () => now }, { calls: 3, seconds: 60 });
    const standings = [0, 10_000, 20_500, 30_000].map((at) => {
      now = START + at;
      const { allowed, remaining, reset, retryAfter } = window.take('a');
      return { allowed, remaining, reset, retryAfter };
    });
    expect(standings).toEqual([
      { allowed: true, remaining: 2, reset: 60, retryAfter: 0 },
      { allowed: true, remaining: 1, reset: 50, retryAfter: 0 },
      { allowed: true, remaining: 0, reset: 40, retryAfter: 0 },
      { allowed: false, remaining: 0, reset: 30, retryAfter: 30 },
    ]);
    // After the limit was lowered there is room only when enough calls have left.
    expect(window.take('a', 1)).toMatchObject({ allowed: false, remaining: 0, retryAfter: 51 });
    now = START + 81_000;
    expect(window.take('a', 1)).toMatchObject({ allowed: true, remaining: 0 });
  });

  it('keeps no more keys than it may', () => {
    const clock = manualClock(START);
    const window = slidingWindow(clock, { calls: 1, seconds: 60 }, 3);
    for (const key of ['a', 'b', 'c', 'd']) window.take(key);
    expect(window.take('d').allowed).toBe(false);
    expect(window.take('a').allowed).toBe(true);
  });

  it('when there are too many keys and a minute ends, keeps counting the recent ones', async () => {
    const clock = manualClock(START + 59_000);
    const window = slidingWindow(clock, { calls: 1, seconds: 60 }, 6);
    for (const key of ['a', 'b', 'c', 'd']) window.take(key);
    await clock.advance(1_000);
    for (const key of ['a', 'b', 'c', 'd']) expect(window.take(key).allowed).toBe(false);
    await clock.advance(58_999);
    expect(window.take('d').allowed).toBe(false);
    await clock.advance(1);
    expect(window.take('d').allowed).toBe(true);
  });

  it('survives a clock that is set back', () => {
    let now = START + 60_000;
    const window = slidingWindow({ now: () => now }, { calls: 1, seconds: 60 });
    window.take('a');
    now -= 1_000;
    expect(window.take('a')).toMatchObject({ allowed: false, retryAfter: 61 });
    now += 60_999;
    expect(window.take('a')).toMatchObject({ allowed: false, retryAfter: 1 });
    now += 1;
    expect(window.take('a').allowed).toBe(true);
    now -= 24 * 60 * 60_000;
    expect(window.take('a').allowed).toBe(true);
  });
});
