import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createCircuitBreaker } from './circuit-breaker.ts';

/** A breaker opened by `calls` concurrent calls without an answer. */
function openBreaker(calls = 8) {
  const breaker = createCircuitBreaker();
  const news = Array.from({ length: calls }, () => breaker.admits(0) && breaker.record('silent', 0));
  expect(news.at(7)).toEqual({ kind: 'opened', pauseMs: 1_000 });
  return breaker;
}

test('a few unanswered calls, with answers between them, leave it open', () => {
  const breaker = createCircuitBreaker();
  for (let call = 0; call < 50; call += 1) {
    expect(breaker.admits(call)).toBe(true);
    expect(breaker.record(call % 8 === 7 ? 'answered' : 'silent', call)).toBeUndefined();
  }
});

test('closed, it lets one call through at a time, later each time', () => {
  const breaker = openBreaker(64);
  let now = 0;
  for (const [pause, next] of [
    [1_000, 2_000],
    [2_000, 5_000],
    [5_000, 10_000],
    [10_000, 15_000],
    [15_000, 15_000],
  ] as const) {
    expect(breaker.admits(now + pause - 1)).toBe(false);
    now += pause;
    expect([breaker.admits(now), breaker.admits(now)]).toEqual([true, false]);
    expect(breaker.record('silent', now)).toEqual({ kind: 'opened', pauseMs: next });
  }
});

test('an answer opens it for all', () => {
  const breaker = openBreaker();
  expect(breaker.admits(1_000)).toBe(true);
  expect(breaker.record('answered', 1_000)).toEqual({ kind: 'closed' });
  expect([breaker.admits(1_000), breaker.admits(1_000)]).toEqual([true, true]);
});

test('a probe that did not call after all leaves room for another', () => {
  const breaker = openBreaker();
  expect([breaker.admits(1_000), breaker.wouldAdmit(1_000)]).toEqual([true, false]);
  expect(breaker.record('not_called', 1_000)).toBeUndefined();
  expect(breaker.wouldAdmit(1_000)).toBe(true);
});

test('whatever happens, it never stays closed for longer than a quarter of a minute after the last call has ended', () => {
  const step = fc.record({
    later: fc.nat({ max: 20_000 }),
    outcome: fc.constantFrom('answered', 'silent', 'silent', 'not_called'),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
      const breaker = createCircuitBreaker();
      let now = 0;
      for (const { later, outcome } of steps) {
        now += later;
        if (breaker.admits(now)) breaker.record(outcome, now);
      }
      expect(breaker.wouldAdmit(now + 15_000)).toBe(true);
    }),
  );
});

test('a clock that is set back while a probe is in flight leaves room for the next one', () => {
  const breaker = openBreaker();
  expect(breaker.admits(1_000)).toBe(true);
  expect(breaker.record('silent', 500)).toEqual({ kind: 'opened', pauseMs: 2_000 });
  expect([breaker.admits(2_499), breaker.admits(2_500)]).toEqual([false, true]);
});

test('whenever the clock is moved, before or after a call ends, a call is admitted then or a quarter of a minute later', () => {
  const jump = fc.constantFrom(0, 0, 0, 0, 1_000, 20_000, -500, -3_600_000, 3_600_000);
  const step = fc.record({
    before: jump,
    after: jump,
    outcome: fc.constantFrom('answered', 'silent', 'silent', 'not_called'),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
      const breaker = openBreaker();
      let now = 1_000;
      for (const { before, after, outcome } of steps) {
        now += before;
        if (breaker.admits(now)) breaker.record(outcome, now + after);
        now += after;
      }
      expect([breaker.wouldAdmit(now), breaker.wouldAdmit(now + 15_000)]).toContain(true);
    }),
  );
});
