import { expect, test } from 'vitest';
import { manualClock } from '../platform/testing/manual-clock.ts';
import { createSessionTurns, LOOK_AGAIN_MS, TURN_PATIENCE_MS } from './session-turns.ts';

const SESSION = 'ses_1';

function begin() {
  const clock = manualClock(0);
  return { clock, turns: createSessionTurns(clock) };
}

/** Work that says when it begins, and ends when the test says so. */
function openWork() {
  const gate = { begin: (): void => undefined, end: (): void => undefined, fail: (_: Error): void => undefined };
  const begun = new Promise<void>((resolve) => Object.assign(gate, { begin: resolve }));
  const ended = new Promise<void>((end, fail) => Object.assign(gate, { end, fail }));
  const work = (): Promise<void> => {
    gate.begin();
    return ended;
  };
  return { begun, work, end: () => gate.end(), fail: () => gate.fail(new Error('the database is away')) };
}

test('works in turn run one at a time, however the one before ended, and leave nothing behind', async () => {
  const { turns } = begin();
  const order: string[] = [];
  const [submit, first, second] = [openWork(), openWork(), openWork()];
  void first.begun.then(() => order.push('first'));
  void second.begun.then(() => order.push('second'));
  const submitted = turns.take(SESSION, submit.work);
  const looks = [first, second].map(({ work }) => turns.inTurn(SESSION, work));
  expect(await turns.inTurn('ses_2', async () => 'not held up')).toBe('not held up');
  expect(order).toEqual([]);
  submit.fail();
  await expect(submitted).rejects.toThrow('the database is away');
  await first.begun;
  expect(order).toEqual(['first']);
  first.end();
  await looks[0];
  await second.begun;
  expect([order, turns.isTaken(SESSION)]).toEqual([['first', 'second'], true]);
  second.end();
  await looks[1];
  expect([turns.isTaken(SESSION), turns.isTaken('ses_2')]).toEqual([false, false]);
});

test('a turn that other work has taken over does not end with the earlier work', async () => {
  const { turns } = begin();
  const [look, submit] = [openWork(), openWork()];
  const looked = turns.inTurn(SESSION, look.work);
  await look.begun;
  const submitted = turns.take(SESSION, submit.work);
  look.end();
  await looked;
  expect(turns.isTaken(SESSION)).toBe(true);
  submit.end();
  await submitted;
  expect(turns.isTaken(SESSION)).toBe(false);
});

test('a wait ends with the turn, and leaves no timer behind', async () => {
  for (const end of ['end', 'fail'] as const) {
    const { clock, turns } = begin();
    const submit = openWork();
    const submitted = turns.take(SESSION, submit.work).catch(() => undefined);
    const waited = turns.waitFor(SESSION, clock.now());
    expect(clock.pending()).toBe(1);
    submit[end]();
    await Promise.all([submitted, waited]);
    expect(clock.pending()).toBe(0);
  }
});

/** Whether the wait is over once that much time has passed, and not a millisecond before. */
async function isOverAfter(clock: ReturnType<typeof manualClock>, wait: Promise<void>, milliseconds: number) {
  let isOver = false;
  void wait.then(() => {
    isOver = true;
  });
  await clock.advance(milliseconds - 1);
  const early = isOver;
  await clock.advance(1);
  return !early && isOver;
}

test('a wait ends ten seconds after its caller began to wait, also by a clock that was set back since', async () => {
  const { clock, turns } = begin();
  void turns.take(SESSION, openWork().work);
  const begunAt = clock.now();
  await clock.advance(4_000);
  expect(await isOverAfter(clock, turns.waitFor(SESSION, begunAt), TURN_PATIENCE_MS - 4_000)).toBe(true);
  const begunAgain = clock.now();
  clock.setBack(3_600_000);
  expect(await isOverAfter(clock, turns.waitFor(SESSION, begunAgain), TURN_PATIENCE_MS)).toBe(true);
});

test('a session whose turn no work of this process has is looked at again a moment later', async () => {
  const { clock, turns } = begin();
  expect(await isOverAfter(clock, turns.waitFor(SESSION, clock.now()), LOOK_AGAIN_MS)).toBe(true);
});
