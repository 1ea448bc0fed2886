/** Up to which millisecond tries and texts count, and until when a payment waits for its code. */
import { expect, test } from 'vitest';
import { afterText, CODE_WINDOW_MS, expiryWithCode, TEXTS_SPAN_MS, textsLeft, triesLeft } from './one-time-code.ts';

const BEGUN = 1_000;

test('a try counts for five minutes, and not a millisecond longer', () => {
  const code = { tries: [BEGUN, BEGUN + 1] };
  const at = (elapsed: number) => triesLeft(code, BEGUN + elapsed, 5);
  expect([CODE_WINDOW_MS - 1, CODE_WINDOW_MS, CODE_WINDOW_MS + 1].map((elapsed) => at(elapsed).count)).toEqual([
    3, 4, 5,
  ]);
  expect(at(CODE_WINDOW_MS - 1).seconds).toBe(1);
});

test('of more tries than a lower limit allows, the newest say when there is another', () => {
  expect(triesLeft({ tries: [1, 2, 60_001] }, 60_001, 2)).toEqual({ count: 0, seconds: 241 });
});

test('texts count for an hour from the first of them, and then from the next', () => {
  const two = afterText(afterText(undefined, BEGUN), BEGUN + TEXTS_SPAN_MS - 1);
  expect(two).toEqual({ pin_failures: 2, pin_failed_at: BEGUN, locked_until: null });
  expect(textsLeft(two, BEGUN + TEXTS_SPAN_MS - 1, 2)).toEqual({ count: 0, seconds: 1 });
  expect(textsLeft(two, BEGUN + TEXTS_SPAN_MS - 1, 1).count).toBe(0);
  expect(textsLeft(two, BEGUN + TEXTS_SPAN_MS, 2).count).toBe(2);
  expect(afterText(two, BEGUN + TEXTS_SPAN_MS)).toMatchObject({
    pin_failures: 1,
    pin_failed_at: BEGUN + TEXTS_SPAN_MS,
  });
});

test('a payment waits for its code to expire, and never expires sooner than it would without one', () => {
  expect(expiryWithCode({ expires_at: 5 }, { expires_at: 9 })).toBe(9);
  expect(expiryWithCode({ expires_at: 9 }, { expires_at: 5 })).toBe(9);
});
