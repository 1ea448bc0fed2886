import { expect, test, vi } from 'vitest';
import { afterSilence } from './silence.ts';

/** Lets nothing of this process run for a while, as a pause of the machine does. */
function standStill(milliseconds: number): void {
  const until = performance.now() + milliseconds;
  while (performance.now() < until);
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('what has arrived while the process stood still is read before anybody is called silent', async () => {
  const act = vi.fn();
  const heard = afterSilence(10, act);
  standStill(200);
  // In this turn the timers come first, and then what has arrived.
  await turn();
  heard();
  expect(act).not.toHaveBeenCalled();
});

test('a process that is always late does not wait for ever', async () => {
  let isCalled = false;
  afterSilence(10, () => {
    isCalled = true;
  });
  while (!isCalled) {
    standStill(200);
    await turn();
  }
  expect(isCalled).toBe(true);
});

test('who has heard calls it off', () => {
  vi.useFakeTimers();
  try {
    const act = vi.fn();
    afterSilence(50, act)();
    vi.advanceTimersByTime(60_000);
    expect(act).not.toHaveBeenCalled();
  } finally {
    vi.useRealTimers();
  }
});
