import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test, vi } from 'vitest';
import { connectTo } from '../../test/support/listening.ts';
import { watchdog } from './watchdog.ts';

/** Blocks this process for a while, as a pause of the machine does. */
function standStill(milliseconds: number): void {
  const until = performance.now() + milliseconds;
  while (performance.now() < until);
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test.each([40, 300])(
  'what arrives while the process stands still, up to %i ms too late, is read first',
  async (late) => {
    const act = vi.fn();
    const answers = createServer((socket) => socket.end('an answer'));
    answers.listen(0, '127.0.0.1');
    await once(answers, 'listening');
    const asking = connectTo(answers);
    await once(answers, 'connection');
    const stopWatching = watchdog(50, act);
    asking.once('data', stopWatching);
    standStill(50 + late);
    await once(asking, 'close');
    expect(act).not.toHaveBeenCalled();
    answers.close();
  },
);

test('a process that is always late does not wait for ever', async () => {
  let isCalled = false;
  watchdog(10, () => {
    isCalled = true;
  });
  while (!isCalled) {
    standStill(200);
    await turn();
  }
  expect(isCalled).toBe(true);
});

test('a call that is answered cancels it', () => {
  vi.useFakeTimers();
  try {
    const act = vi.fn();
    watchdog(50, act)();
    vi.advanceTimersByTime(60_000);
    expect(act).not.toHaveBeenCalled();
  } finally {
    vi.useRealTimers();
  }
});
