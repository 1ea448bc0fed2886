/** The hand-moved clock keeps the order of time; the machine's clock runs and cancels tasks. */
import { expect, test } from 'vitest';
import { systemClock } from './clock.ts';
import { manualClock } from './testing/manual-clock.ts';

test('a manual clock runs tasks in time order, each at its own time', async () => {
  const clock = manualClock(1000);
  const ran: [string, number][] = [];
  const note = (name: string) => () => void ran.push([name, clock.now()]);
  clock.after(30, note('late'));
  clock.after(10, note('early'));
  clock.after(10, note('early, given second'));
  clock.after(31, note('not yet'));
  await clock.advance(30);
  expect(ran).toEqual([
    ['early', 1010],
    ['early, given second', 1010],
    ['late', 1030],
  ]);
  expect(clock.now()).toBe(1030);
  expect(clock.pending()).toBe(1);
});

test('promises settle between two tasks, and tasks that they schedule in time run too', async () => {
  const clock = manualClock(0);
  const ran: string[] = [];
  clock.after(10, () => {
    void Promise.resolve()
      .then(() => Promise.resolve())
      .then(() => {
        ran.push(`continued at ${clock.now()}`);
        clock.after(5, () => void ran.push(`followed at ${clock.now()}`));
      });
  });
  clock.after(20, () => void ran.push('last'));
  await clock.advance(20);
  expect(ran).toEqual(['continued at 10', 'followed at 15', 'last']);
});

test('after a jump, what has fallen due runs in order, and what it begins sees no time pass', async () => {
  const clock = manualClock(1000);
  const ran: [string, number][] = [];
  const note = (name: string) => () => void ran.push([name, clock.now()]);
  clock.after(30, note('late'));
  clock.after(10, () => {
    note('early')();
    void Promise.resolve().then(() => {
      note('continued')();
      clock.after(0, note('followed'));
      clock.after(1, note('not yet'));
    });
  });
  await clock.jump(60);
  expect(ran).toEqual([
    ['early', 1060],
    ['continued', 1060],
    ['late', 1060],
    ['followed', 1060],
  ]);
  expect(clock.pending()).toBe(1);
});

test('a cancelled task never runs, even if another task of the same time cancels it', async () => {
  const clock = manualClock(0);
  let ran = 0;
  let cancel = (): void => undefined;
  clock.after(10, () => cancel());
  cancel = clock.after(10, () => {
    ran += 1;
  });
  await clock.advance(100);
  expect(ran).toBe(0);
  expect(clock.pending()).toBe(0);
});

test('a clock that is set back makes no task wait longer', async () => {
  const clock = manualClock(1_000);
  const ran: number[] = [];
  clock.after(10, () => void ran.push(clock.now()));
  clock.setBack(600);
  expect(clock.now()).toBe(400);
  await clock.advance(10);
  expect(ran).toEqual([410]);
});

test('two moves of the clock at once are made one after the other', async () => {
  const clock = manualClock(0);
  const times: number[] = [];
  clock.after(5, () => void times.push(clock.now()));
  clock.after(15, () => void times.push(clock.now()));
  await Promise.all([clock.advance(10), clock.advance(10)]);
  expect(times).toEqual([5, 15]);
  expect(clock.now()).toBe(20);
});

test('time never moves backward, and a task that throws does not block the clock', async () => {
  const clock = manualClock(0);
  await expect(clock.advance(-1)).rejects.toThrow('forward');
  await expect(clock.advance(Number.NaN)).rejects.toThrow('forward');
  clock.after(1, () => {
    throw new Error('of the task');
  });
  await expect(clock.advance(2)).rejects.toThrow('of the task');
  await clock.advance(1);
  expect(clock.now()).toBe(2);
});

test('the machine’s clock shows the time and runs a task, but not a cancelled one', async () => {
  const clock = systemClock();
  expect(Math.abs(clock.now() - Date.now())).toBeLessThan(60_000);
  const ran: string[] = [];
  await new Promise<void>((resolve) => {
    const cancel = clock.after(0, () => void ran.push('cancelled'));
    cancel();
    clock.after(1, () => {
      ran.push('kept');
      resolve();
    });
  });
  expect(ran).toEqual(['kept']);
});

test('a task further away than a timer can hold does not run at once', async () => {
  const clock = systemClock();
  let ran = false;
  const cancel = clock.after(60 * 86_400_000, () => {
    ran = true;
  });
  await new Promise<void>((resolve) => clock.after(5, resolve));
  cancel();
  expect(ran).toBe(false);
});

test('a task of the machine’s clock never runs early by that same clock', async () => {
  const clock = systemClock();
  const early: number[] = [];
  const one = (wait: number): Promise<void> =>
    new Promise((resolve) => {
      const due = clock.now() + wait;
      clock.after(wait, () => {
        if (clock.now() < due) early.push(due - clock.now());
        resolve();
      });
    });
  const row = async (wait: number): Promise<void> => {
    for (let times = 0; times < 40; times += 1) await one(wait);
  };
  await Promise.all(Array.from({ length: 40 }, (_, at) => row(at / 2)));
  expect(early).toEqual([]);
});
