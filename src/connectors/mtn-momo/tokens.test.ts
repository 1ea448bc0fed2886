import { expect, test } from 'vitest';
import { manualClock } from '../../platform/testing/manual-clock.ts';
import { createTokens, type FetchedToken } from './tokens.ts';

const HOUR = 3_600_000;

/** A source of tokens that answers when the test says so. */
function source() {
  const asked: ((token: FetchedToken | undefined) => void)[] = [];
  return {
    asked,
    fetch: () =>
      new Promise<FetchedToken | undefined>((resolve) => {
        asked.push(resolve);
      }),
  };
}

test('many callers who ask at once cause one fetch', async () => {
  const { asked, fetch } = source();
  const tokens = createTokens(manualClock(0), fetch);
  const all = Promise.all([tokens.current(), tokens.current(), tokens.insteadOf('older')]);
  expect(asked).toHaveLength(1);
  asked[0]?.({ value: 'one', life: HOUR });
  expect(await all).toEqual(['one', 'one', 'one']);
});

test('a token is renewed in the last fifth of its life without any caller waiting', async () => {
  const clock = manualClock(0);
  const { asked, fetch } = source();
  const tokens = createTokens(clock, fetch);
  const first = tokens.current();
  asked[0]?.({ value: 'one', life: HOUR });
  await first;
  await clock.advance(HOUR * 0.8 - 1);
  expect(await tokens.current()).toBe('one');
  expect(asked).toHaveLength(1);
  await clock.advance(1);
  expect(await tokens.current()).toBe('one');
  expect(await tokens.current()).toBe('one');
  expect(asked).toHaveLength(2);
  asked[1]?.({ value: 'two', life: HOUR });
  await clock.advance(0);
  expect(await tokens.current()).toBe('two');
});

test('a token’s life is counted from before it was asked for, however late it comes', async () => {
  const clock = manualClock(0);
  const { asked, fetch } = source();
  const tokens = createTokens(clock, fetch);
  const first = tokens.current();
  await clock.advance(HOUR * 0.5);
  asked[0]?.({ value: 'one', life: HOUR });
  await first;
  await clock.advance(HOUR * 0.5);
  const next = tokens.current();
  asked[1]?.({ value: 'two', life: HOUR });
  expect(await next).toBe('two');
});

test('an expired token is not handed out, even if no other can be had', async () => {
  const clock = manualClock(0);
  const { asked, fetch } = source();
  const tokens = createTokens(clock, fetch);
  const first = tokens.current();
  asked[0]?.({ value: 'one', life: HOUR });
  await first;
  await clock.advance(HOUR);
  const none = tokens.current();
  asked[1]?.(undefined);
  expect(await none).toBeUndefined();
  const again = tokens.current();
  asked[2]?.({ value: 'two', life: HOUR });
  expect(await again).toBe('two');
});

test('a refused token is replaced once, for all callers that were refused with it', async () => {
  const { asked, fetch } = source();
  const tokens = createTokens(manualClock(0), fetch);
  const first = tokens.current();
  asked[0]?.({ value: 'one', life: HOUR });
  await first;
  const both = Promise.all([tokens.insteadOf('one'), tokens.insteadOf('one')]);
  asked[1]?.({ value: 'two', life: HOUR });
  expect(await both).toEqual(['two', 'two']);
  expect(await tokens.insteadOf('one')).toBe('two');
  expect(asked).toHaveLength(2);
});

test('a source that issues the refused token again counts as issuing none', async () => {
  const { asked, fetch } = source();
  const tokens = createTokens(manualClock(0), fetch);
  const other = tokens.insteadOf('one');
  asked[0]?.({ value: 'one', life: HOUR });
  expect(await other).toBeUndefined();
  // Nor is it handed to the next caller: that one waits for a new fetch.
  const next = tokens.current();
  expect(asked).toHaveLength(2);
  asked[1]?.({ value: 'two', life: HOUR });
  expect(await next).toBe('two');
});

test('if a renewal fails while the token still works, not every call tries again', async () => {
  const clock = manualClock(0);
  const { asked, fetch } = source();
  const tokens = createTokens(clock, fetch);
  const first = tokens.current();
  asked[0]?.({ value: 'one', life: HOUR });
  await first;
  await clock.advance(HOUR * 0.8);
  for (let call = 0; call < 50; call += 1) {
    expect(await tokens.current()).toBe('one');
    asked.at(-1)?.(undefined);
    await clock.advance(100);
  }
  expect(asked).toHaveLength(2);
  await clock.advance(5_000);
  expect(await tokens.current()).toBe('one');
  expect(asked).toHaveLength(3);
});
