import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { manualClock } from '../platform/clock.ts';
import { createLimits, limitHeaders, slidingWindow } from './limits.ts';

const START = Date.parse('2026-11-20T12:00:00Z');

describe('a sliding window', () => {
  it('lets exactly its number through at once, and says when the next may come', async () => {
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

  it('does not forget a burst at the border of two windows', async () => {
    const clock = manualClock(START + 59_900);
    const window = slidingWindow(clock, { calls: 20, seconds: 60 });
    for (let call = 0; call < 20; call += 1) window.take('a');
    await clock.advance(200);
    expect(window.take('a').allowed).toBe(false);
    await clock.advance(60_000);
    expect(window.take('a').allowed).toBe(true);
  });

  it('holds its law whatever comes: never much more than its number in any minute, and retry_after is enough', async () => {
    const step = fc.record({ wait: fc.nat(40_000), burst: fc.integer({ min: 1, max: 15 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), async (steps) => {
        const clock = manualClock(START);
        const window = slidingWindow(clock, { calls: 10, seconds: 60 });
        const passed: number[] = [];
        let retryAt = 0;
        for (const { wait, burst } of steps) {
          await clock.advance(wait);
          for (let call = 0; call < burst; call += 1) {
            const standing = window.take('a');
            if (clock.now() >= retryAt && retryAt > 0) expect(standing.allowed).toBe(true);
            retryAt = standing.allowed ? 0 : clock.now() + standing.retryAfter * 1000;
            if (standing.allowed) passed.push(clock.now());
          }
        }
        for (const end of passed) {
          // Two fixed windows guess how the last one was spread; at worst all of it came at its end.
          expect(passed.filter((at) => at > end - 60_000 && at <= end).length).toBeLessThanOrEqual(20);
        }
      }),
    );
  });

  it('keeps no more keys than it may', () => {
    const clock = manualClock(START);
    const window = slidingWindow(clock, { calls: 1, seconds: 60 }, 3);
    for (const key of ['a', 'b', 'c', 'd']) window.take(key);
    expect(window.take('d').allowed).toBe(false);
    expect(window.take('a').allowed).toBe(true);
  });

  it('survives a clock that steps back', () => {
    let now = START + 60_000;
    const window = slidingWindow({ now: () => now }, { calls: 1, seconds: 60 });
    window.take('a');
    now -= 1_000;
    expect(window.take('a').allowed).toBe(false);
    now -= 24 * 60 * 60_000;
    expect(window.take('a').allowed).toBe(true);
  });
});

describe('the traffic limits', () => {
  const clock = manualClock(START);
  const callsOf = (scale: number, own?: number) => createLimits(clock, scale).take('payments', 'ses_1', own)?.calls;

  it('are those of the contract, scaled, or the merchant’s own', () => {
    expect([callsOf(1), callsOf(2), callsOf(0.001), callsOf(1, 7), callsOf(2, 7)]).toEqual([120, 240, 1, 7, 14]);
    expect(createLimits(clock, 1).take('sessions_create', 'k', undefined)?.calls).toBe(6_000);
    expect(createLimits(clock, 1).take('mobile_money_status', 'k', undefined)?.calls).toBe(30);
  });

  it('are off at scale 0', () => {
    expect(callsOf(0)).toBeUndefined();
  });

  it('are told in the form of the IETF draft', () => {
    const standing = { allowed: true, calls: 30, seconds: 60, remaining: 29, reset: 12, retryAfter: 0 };
    expect(limitHeaders('mobile_money_status', standing)).toEqual({
      policy: '"mobile_money_status";q=30;w=60',
      state: '"mobile_money_status";r=29;t=12',
    });
  });
});
