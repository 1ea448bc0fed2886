import { expect, test } from 'vitest';
import { Refusal } from '../domain/refusal.ts';
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

test('a sender has two places, a merchant eight, and all together twenty-four', () => {
  const slots = createUploadSlots();
  const places = [0, 1, 2].flatMap((merchant) =>
    [0, 1, 2, 3].flatMap((sender) => [0, 1].map(() => slots.take(`ses_${merchant}${sender}`, `mch_${merchant}`))),
  );
  expect(refusalOf(slots, 'ses_00', 'mch_0')).toBe(1301);
  expect(refusalOf(slots, 'ses_new', 'mch_0')).toBe(1301);
  expect(refusalOf(slots, 'ses_new', 'mch_new')).toBe(1402);
  for (const giveBack of places.slice(0, 2)) giveBack();
  expect(refusalOf(slots, 'ses_new', 'mch_new')).toBeUndefined();
  expect(refusalOf(slots, 'ses_00', 'mch_0')).toBeUndefined();
});

test('a place is given back once, however often that is said', () => {
  const slots = createUploadSlots();
  const [first] = [slots.take('ses_a', 'mch_a'), slots.take('ses_a', 'mch_a')];
  first?.();
  first?.();
  expect(refusalOf(slots, 'ses_a', 'mch_a')).toBeUndefined();
  expect(refusalOf(slots, 'ses_a', 'mch_a')).toBe(1301);
});
