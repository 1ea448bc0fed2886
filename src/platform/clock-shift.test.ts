/** A clock that is set forward runs each task exactly once, in time order, and never early. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shiftableClock } from './clock.ts';
import { manualClock } from './testing/manual-clock.ts';

type Step =
  | { readonly kind: 'after'; readonly wait: number }
  | { readonly kind: 'cancel'; readonly which: number }
  | { readonly kind: 'pass'; readonly by: number }
  | { readonly kind: 'leap'; readonly by: number };

const wait = fc.integer({ min: 0, max: 50 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('after' as const), wait }),
  fc.record({ kind: fc.constant('cancel' as const), which: fc.nat({ max: 20 }) }),
  fc.record({ kind: fc.constant('pass' as const), by: wait }),
  fc.record({ kind: fc.constant('leap' as const), by: wait }),
);

test('whatever passes and leaps, it runs what a clock that was simply moved runs', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30, size: 'max' }), async (steps) => {
      const base = manualClock(1_000);
      const shifted = shiftableClock(base);
      const plain = manualClock(1_000);
      const ran: { shifted: number[]; plain: number[] } = { shifted: [], plain: [] };
      const early: number[] = [];
      const cancels: (() => void)[] = [];
      for (const one of steps) {
        switch (one.kind) {
          case 'after': {
            const name = cancels.length;
            const due = shifted.now() + one.wait;
            const offs = [
              shifted.after(one.wait, () => {
                ran.shifted.push(name);
                if (shifted.now() < due) early.push(name);
              }),
              plain.after(one.wait, () => void ran.plain.push(name)),
            ];
            cancels.push(() => {
              for (const off of offs) off();
            });
            break;
          }
          case 'cancel':
            cancels[one.which]?.();
            break;
          case 'pass':
            await base.advance(one.by);
            await plain.advance(one.by);
            break;
          case 'leap':
            shifted.shiftTo(shifted.shift() + one.by);
            await base.advance(0);
            await plain.advance(one.by);
            break;
        }
        expect(shifted.now()).toBe(plain.now());
        // A task that is due at once waits for the next turn on one clock, and runs with the next step on the other.
        if (one.kind === 'pass' || one.kind === 'leap') expect(ran.shifted).toEqual(ran.plain);
      }
      expect(early).toEqual([]);
      expect(base.pending()).toBe(plain.pending());
    }),
    { numRuns: 300 },
  );
});

test('a task that is not due after a leap keeps the rest of its time', async () => {
  const base = manualClock(0);
  const clock = shiftableClock(base);
  const ran: [string, number][] = [];
  const note = (name: string) => () => void ran.push([name, clock.now()]);
  clock.after(100, note('later'));
  clock.after(30, note('second'));
  clock.after(10, note('first'));
  clock.shiftTo(40);
  await base.advance(0);
  expect(ran).toEqual([
    ['first', 40],
    ['second', 40],
  ]);
  await base.advance(59);
  expect(ran).toHaveLength(2);
  await base.advance(1);
  expect(ran.at(-1)).toEqual(['later', 100]);
  expect(base.pending()).toBe(0);
});

test('a task that a leap makes due can still be cancelled, and one that it schedules runs after the leap', async () => {
  const base = manualClock(0);
  const clock = shiftableClock(base);
  const ran: string[] = [];
  const cancel = clock.after(10, () => void ran.push('cancelled'));
  clock.after(10, () => {
    ran.push('runs');
    clock.after(10, () => void ran.push('follows'));
  });
  clock.shiftTo(1_000);
  cancel();
  await base.advance(9);
  expect(ran).toEqual(['runs']);
  await base.advance(1);
  expect(ran).toEqual(['runs', 'follows']);
});

test('a shifted clock moves forward only; the wall clock is unaffected, and the clock says when it leapt', () => {
  const base = manualClock(500);
  const clock = shiftableClock(base);
  expect([clock.now(), clock.wall(), clock.leaptAt()]).toEqual([500, 500, undefined]);
  clock.shiftTo(100);
  expect([clock.now(), clock.wall(), clock.shift(), clock.leaptAt()]).toEqual([600, 500, 100, 500]);
  clock.shiftTo(100);
  clock.shiftTo(200, 450);
  expect(clock.leaptAt()).toBe(450);
  expect(() => clock.shiftTo(199)).toThrow('forward');
  expect(() => clock.shiftTo(Number.NaN)).toThrow('forward');
});
