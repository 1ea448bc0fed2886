import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createGate } from './carrier-gate.ts';

/** A gate closed by `calls` concurrent calls without an answer. */
function closedGate(calls = 8) {
  const gate = createGate();
  const news = Array.from({ length: calls }, () => gate.admits(0) && gate.heard(false, 0));
  expect(news.at(7)).toEqual({ kind: 'closed', pauseMs: 1_000 });
  return gate;
}

test('a few unanswered calls, with answers between them, leave it open', () => {
  const gate = createGate();
  for (let call = 0; call < 50; call += 1) {
    expect(gate.admits(call)).toBe(true);
    expect(gate.heard(call % 8 === 7, call)).toBeUndefined();
  }
});

test('closed, it lets one call through at a time, later each time', () => {
  const gate = closedGate(64);
  let now = 0;
  for (const [pause, next] of [
    [1_000, 2_000],
    [2_000, 5_000],
    [5_000, 10_000],
    [10_000, 15_000],
    [15_000, 15_000],
  ] as const) {
    expect(gate.admits(now + pause - 1)).toBe(false);
    now += pause;
    expect([gate.admits(now), gate.admits(now)]).toEqual([true, false]);
    expect(gate.heard(false, now)).toEqual({ kind: 'closed', pauseMs: next });
  }
});

test('an answer opens it for all', () => {
  const gate = closedGate();
  expect(gate.admits(1_000)).toBe(true);
  expect(gate.heard(true, 1_000)).toEqual({ kind: 'back' });
  expect([gate.admits(1_000), gate.admits(1_000)]).toEqual([true, true]);
});

test('a probe that did not call after all leaves room for another', () => {
  const gate = closedGate();
  expect([gate.admits(1_000), gate.isOpen(1_000)]).toEqual([true, false]);
  expect(gate.heard(undefined, 1_000)).toBeUndefined();
  expect(gate.isOpen(1_000)).toBe(true);
});

test('whatever happens, it never stays closed for longer than a quarter of a minute after the last call has ended', () => {
  const step = fc.record({ later: fc.nat({ max: 20_000 }), answered: fc.constantFrom(true, false, false, undefined) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const gate = createGate();
      let now = 0;
      for (const { later, answered } of steps) {
        now += later;
        if (gate.admits(now)) gate.heard(answered, now);
      }
      expect(gate.isOpen(now + 15_000)).toBe(true);
    }),
  );
});

test('a clock that is set back while a probe is in flight leaves room for the next one', () => {
  const gate = closedGate();
  expect(gate.admits(1_000)).toBe(true);
  expect(gate.heard(false, 500)).toEqual({ kind: 'closed', pauseMs: 2_000 });
  expect([gate.admits(2_499), gate.admits(2_500)]).toEqual([false, true]);
});

test('whenever the clock is moved, before or after a call ends, the gate is open then or a quarter of a minute later', () => {
  const jump = fc.constantFrom(0, 0, 0, 0, 1_000, 20_000, -500, -3_600_000, 3_600_000);
  const step = fc.record({ before: jump, after: jump, answered: fc.constantFrom(true, false, false, undefined) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const gate = closedGate();
      let now = 1_000;
      for (const { before, after, answered } of steps) {
        now += before;
        if (gate.admits(now)) gate.heard(answered, now + after);
        now += after;
      }
      expect([gate.isOpen(now), gate.isOpen(now + 15_000)]).toContain(true);
    }),
  );
});
