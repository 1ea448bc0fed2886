import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Refusal } from '../domain/refusal.ts';
import { manualClock } from '../platform/testing/manual-clock.ts';
import { createUploadSlots, type UploadSlots } from './upload-slots.ts';

function refusalOf(slots: UploadSlots, sender: string, merchant: string): number | undefined {
  try {
    slots.take(sender, merchant);
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error.code;
    throw error;
  }
}

test('a sender has two slots, a merchant eight, and all together twenty-four', () => {
  const slots = createUploadSlots(manualClock(0));
  const taken = [0, 1, 2].flatMap((merchant) =>
    [0, 1, 2, 3].flatMap((sender) => [0, 1].map(() => slots.take(`ses_${merchant}${sender}`, `mch_${merchant}`))),
  );
  expect(refusalOf(slots, 'ses_00', 'mch_0')).toBe(1301);
  expect(refusalOf(slots, 'ses_new', 'mch_0')).toBe(1301);
  expect(refusalOf(slots, 'ses_new', 'mch_new')).toBe(1402);
  for (const giveBack of taken.slice(0, 2)) giveBack();
  expect(refusalOf(slots, 'ses_new', 'mch_new')).toBeUndefined();
  expect(refusalOf(slots, 'ses_00', 'mch_0')).toBeUndefined();
});

test('a place is given back once, however often it is released', () => {
  const slots = createUploadSlots(manualClock(0));
  const [first] = [slots.take('ses_a', 'mch_a'), slots.take('ses_a', 'mch_a')];
  first?.();
  first?.();
  expect(refusalOf(slots, 'ses_a', 'mch_a')).toBeUndefined();
  expect(refusalOf(slots, 'ses_a', 'mch_a')).toBe(1301);
});

test('waiting uploads get their turn in order of arrival, and are refused after ten seconds', async () => {
  const clock = manualClock(0);
  const slots = createUploadSlots(clock);
  const held = [slots.take('ses_a', 'mch_a'), slots.take('ses_a', 'mch_a')];
  const admitted: number[] = [];
  const waiting = [0, 1, 2].map(async (n) => {
    const giveBack = await slots.waitFor('ses_a', 'mch_a');
    admitted.push(n);
    return giveBack;
  });
  const stranger = await slots.waitFor('ses_b', 'mch_a');
  stranger();
  expect(admitted).toEqual([]);
  held[0]?.();
  (await waiting[0])?.();
  const second = await waiting[1];
  expect(admitted).toEqual([0, 1]);
  let refused = false;
  const late = expect(waiting[2]?.finally(() => (refused = true))).rejects.toMatchObject({ code: 1301 });
  await clock.advance(9_999);
  expect(refused).toBe(false);
  await clock.advance(1);
  await late;
  // Nobody waits any more: both places are for the next two, and not for the one that was refused.
  second?.();
  held[1]?.();
  expect([0, 1, 2].map(() => refusalOf(slots, 'ses_a', 'mch_a'))).toEqual([undefined, undefined, 1301]);
});

test('one that waits for its own sender’s slot does not keep back those who came after it', async () => {
  const slots = createUploadSlots(manualClock(0));
  const senders = Array.from({ length: 12 }, (_, n) => n);
  const taken = senders.flatMap((n) => [0, 1].map(() => slots.take(`ses_${n}`, `mch_${n}`)));
  const admitted: string[] = [];
  for (const sender of ['ses_0', 'ses_new']) void slots.waitFor(sender, 'mch_new').then(() => admitted.push(sender));
  taken.at(-1)?.();
  await nextTurn();
  expect(admitted).toEqual(['ses_new']);
  taken[0]?.();
  await nextTurn();
  expect(admitted).toEqual(['ses_new', 'ses_0']);
});

test('a limited number waits, and one more is refused at once', async () => {
  const clock = manualClock(0);
  const slots = createUploadSlots(clock);
  for (const _ of [0, 1]) slots.take('ses_a', 'mch_a');
  const refused: number[] = [];
  const waiting = Array.from({ length: 129 }, (_, n) => slots.waitFor('ses_a', 'mch_a').catch(() => refused.push(n)));
  await waiting[128];
  expect(refused).toEqual([128]);
  await clock.advance(10_000);
  await Promise.all(waiting);
  expect(refused).toHaveLength(129);
});

test('a thousand wait in all: a sender more is refused at once, and waits once others have given up', async () => {
  const clock = manualClock(0);
  const slots = createUploadSlots(clock);
  const senders = Array.from({ length: 9 }, (_, n) => ({ sender: `ses_${n}`, merchant: `mch_${n}` }));
  for (const { sender, merchant } of senders) for (const _ of [0, 1]) slots.take(sender, merchant);
  const [last, ...others] = senders;
  let refused = 0;
  const waitFor = (of: typeof last) =>
    slots.waitFor(of?.sender ?? '', of?.merchant ?? '').catch((error: Refusal) => {
      refused += 1;
      return error.code;
    });
  const waiting = others.flatMap((of) => Array.from({ length: 128 }, () => waitFor(of)));
  expect(await waitFor(last)).toBe(1301);
  expect(refused).toBe(1);
  await clock.advance(10_000);
  expect(new Set(await Promise.all(waiting))).toEqual(new Set([1301]));
  let over = false;
  const again = waitFor(last).finally(() => (over = true));
  await clock.advance(9_999);
  expect(over).toBe(false);
  await clock.advance(1);
  expect(await again).toBe(1301);
});

test('of the files that have arrived four are stored at once, and the others in their order', async () => {
  const slots = createUploadSlots(manualClock(0));
  const held = await Promise.all([0, 1, 2, 3].map(() => slots.finish()));
  const begun: number[] = [];
  const waiting = [0, 1].map(async (n) => {
    const done = await slots.finish();
    begun.push(n);
    return done;
  });
  const [first, second] = held;
  await nextTurn();
  expect(begun).toEqual([]);
  first?.();
  first?.();
  await waiting[0];
  expect(begun).toEqual([0]);
  second?.();
  await waiting[1];
  expect(begun).toEqual([0, 1]);
  const last = [...held.slice(2), ...(await Promise.all(waiting))];
  for (const done of last) done();
  await Promise.all([0, 1, 2, 3].map(() => slots.finish()));
  // All have been let go by: there is room for four again, and not for a fifth.
  let isFifth = false;
  void slots.finish().then(() => (isFifth = true));
  await nextTurn();
  expect(isFifth).toBe(false);
});
