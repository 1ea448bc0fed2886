import { expect, test } from 'vitest';
import type { AttemptAnswer } from './answer.ts';
import { type Inquired, judgeAnswer } from './attempt-settlement.ts';
import { makeId } from './ids.ts';
import type { Attempt } from './records.ts';
import { attemptWith } from './testing/attempts.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const SHARD = 5;
const CLOSED_AT = 10;

const closed = attemptWith({
  shard: SHARD,
  id: 'att_1',
  merchant_id: makeId('mch', 1, new Uint8Array(16), SHARD),
  payment_id: makeId('txn', 1, new Uint8Array(16), SHARD),
  status: 'not_sent',
  next_inquiry_at: CLOSED_AT + 15 * MINUTE,
  settled_at: CLOSED_AT,
});

const UNKNOWN_THERE: AttemptAnswer = { kind: 'not_found' };
const NO_ANSWER: AttemptAnswer = { kind: 'unknown', reason: 'timeout' };
const WAITING: AttemptAnswer = { kind: 'waiting', providerReference: 'p9' };
const REFUSED: AttemptAnswer = { kind: 'declined', reason: 'insufficient_funds', providerReference: 'p9' };

/** A closed attempt after this was said of it. */
function hear(attempt: Attempt, answer: AttemptAnswer, now: number, inquiry: Inquired = 'due'): Attempt {
  const context = { now, askedAt: now, settleDelayMs: MINUTE, newId: () => 'id', inquiry };
  const heard = judgeAnswer(attempt, false, answer, 'silent', context);
  if (heard.kind !== 'noted') throw new Error(`nothing was written of ${answer.kind}`);
  expect(heard.alarm).toBeUndefined();
  return { ...attempt, ...heard.row };
}

/** The hours after its end at which the attempt is inquired about, if every inquiry gets this answer. */
function hoursAskedAt(attempt: Attempt, answer: AttemptAnswer): number[] {
  const hours: number[] = [];
  for (let one = attempt; one.next_inquiry_at !== null; one = hear(one, answer, one.next_inquiry_at)) {
    hours.push((one.next_inquiry_at - CLOSED_AT) / HOUR);
  }
  return hours;
}

test.each<[Attempt['status'], AttemptAnswer]>([
  ['not_sent', UNKNOWN_THERE],
  ['declined', REFUSED],
])(
  'a closed attempt (%s) is inquired about after a quarter of an hour and after a day, and then never',
  (status, answer) => {
    expect(hoursAskedAt({ ...closed, status }, answer)).toEqual([0.25, 24]);
  },
);

test.each<[string, Partial<Attempt>, AttemptAnswer]>([
  ['is away', {}, NO_ANSWER],
  ['is away', { status: 'declined' }, NO_ANSWER],
  ['calls it waiting', { status: 'declined' }, WAITING],
])(
  'a closed attempt whose upstream %s (%o) is inquired about at growing intervals, for a week',
  (_, columns, answer) => {
    expect(hoursAskedAt({ ...closed, ...columns }, answer)).toEqual([0.25, 0.5, 1, 2, 4, 8, 16, 24, 48, 96, 168]);
  },
);

test('a closed attempt whose upstream is back is inquired about at the same times, like every other one', () => {
  const missed = hear(closed, NO_ANSWER, CLOSED_AT + 15 * MINUTE);
  const answered = hear(missed, UNKNOWN_THERE, CLOSED_AT + 30 * MINUTE);
  expect(answered.next_inquiry_at).toBe(CLOSED_AT + 24 * HOUR);
  const missedAgain = hear(answered, NO_ANSWER, CLOSED_AT + 25 * HOUR);
  expect(missedAgain.next_inquiry_at).toBe(CLOSED_AT + 50 * HOUR);
  expect(hear(missedAgain, UNKNOWN_THERE, CLOSED_AT + 50 * HOUR).next_inquiry_at).toBeNull();
});

test('an inquiry that is made weeks late, because its upstream was unreachable, is the last', () => {
  expect(hear(closed, NO_ANSWER, CLOSED_AT + 1_000 * HOUR).next_inquiry_at).toBeNull();
});

test('a closed attempt that a callback names while its upstream is unreachable is inquired about soon', () => {
  const asked = { ...closed, next_inquiry_at: null };
  const hinted = hear(asked, NO_ANSWER, CLOSED_AT + 30 * HOUR, 'hint');
  expect(hinted.next_inquiry_at).toBe(CLOSED_AT + 30 * HOUR + 5_000);
  expect(hinted.inquiries).toBe(asked.inquiries);
  expect(hear(closed, NO_ANSWER, CLOSED_AT + MINUTE, 'hint').next_inquiry_at).toBe(CLOSED_AT + MINUTE + 5_000);
});

test('a closed attempt that never asked for money is not inquired about, whatever a callback says', () => {
  const unasked: Attempt = { ...closed, reason: 'not_asked', next_inquiry_at: null };
  expect(() => hear(unasked, NO_ANSWER, CLOSED_AT + MINUTE, 'hint')).toThrow('nothing was written');
});
