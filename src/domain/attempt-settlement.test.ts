import { expect, test } from 'vitest';
import type { AttemptAnswer } from './answer.ts';
import { type AttemptFact, isBeingAsked } from './attempt.ts';
import { attemptColumns, type Inquired, judgeAnswer, type SettlementContext } from './attempt-settlement.ts';
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
const PAID: AttemptAnswer = { kind: 'approved', providerReference: 'p9' };
const WAITING: AttemptAnswer = { kind: 'waiting', providerReference: 'p9' };
const REFUSED: AttemptAnswer = { kind: 'declined', reason: 'insufficient_funds', providerReference: 'p9' };

/** A closed attempt after this was said of it. */
function hear(attempt: Attempt, answer: AttemptAnswer, now: number, inquiry: Inquired = 'due'): Attempt {
  const context = { now, askedAt: now, settleDelayMs: MINUTE, newId: () => 'id', inquiry };
  const heard = judgeAnswer({ attempt, isItsOwn: false }, answer, 'silent', context);
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

/** An open attempt; its own call began at `CLOSED_AT`, and the inquiry round leaves it alone for half a minute. */
const open: Attempt = { ...closed, status: 'intended', next_inquiry_at: CLOSED_AT + 30_000, settled_at: null };
const contextAt = (now: number, inquiry: SettlementContext['inquiry']): SettlementContext => {
  return { now, askedAt: now, settleDelayMs: MINUTE, newId: () => 'id', inquiry };
};

test.each<[string, Partial<Attempt>, number, boolean]>([
  ['its call may be under way', {}, 0, true],
  ['its money is being asked for', { status: 'authenticated' }, 0, true],
  ['the call was answered', { status: 'unknown' }, 0, false],
  ['the call was answered: the customer is waited for', { status: 'waiting' }, 0, false],
  ['the time for the call is over', {}, 30_000, false],
  ['the round has inquired', { inquiries: 1 }, 0, false],
  ['nobody inquires any more', { next_inquiry_at: null }, 0, false],
])('an attempt of which it is true that %s may be in flight or not', (_, columns, later, expected) => {
  expect(isBeingAsked({ ...open, ...columns }, CLOSED_AT + later)).toBe(expected);
});

test('“not found” counts for a due inquiry, and for a hint only once the own call is over', () => {
  const counted = (columns: Partial<Attempt>, inquiry: Inquired) => {
    const heard = judgeAnswer(
      { attempt: { ...open, ...columns }, isItsOwn: true },
      UNKNOWN_THERE,
      'never_arrived',
      contextAt(CLOSED_AT, inquiry),
    );
    return heard.kind === 'noted' ? heard.row.not_found_at : heard.kind;
  };
  // The round has leased it: the time of its next inquiry is still to come, as it was during the call.
  expect(counted({}, 'due')).toBe(CLOSED_AT);
  expect(counted({}, 'hint')).toBe('nothing');
  expect(counted({ status: 'unknown' }, 'hint')).toBe(CLOSED_AT);
});

test('between two “not found” the settle delay counts from question to question, however long the answers take', () => {
  const judged = (askedAt: number, not_found_at: number | null) =>
    judgeAnswer(
      { attempt: { ...open, status: 'unknown', not_found_at }, isItsOwn: true },
      UNKNOWN_THERE,
      'never_arrived',
      { ...contextAt(askedAt + MINUTE, 'due'), askedAt },
    );
  expect(judged(CLOSED_AT, null)).toMatchObject({ kind: 'noted', row: { not_found_at: CLOSED_AT } });
  expect(judged(CLOSED_AT + MINUTE - 1, CLOSED_AT).kind).toBe('noted');
  expect(judged(CLOSED_AT + MINUTE, CLOSED_AT).kind).toBe('moves');
});

test('a hint whose inquiry is not answered brings the next one forward only once the own call is over', () => {
  const look = (columns: Partial<Attempt>) =>
    judgeAnswer(
      { attempt: { ...open, ...columns }, isItsOwn: true },
      NO_ANSWER,
      'silent',
      contextAt(CLOSED_AT, 'hint'),
    );
  expect(look({})).toEqual({ kind: 'nothing' });
  expect(look({ status: 'unknown' })).toEqual({ kind: 'noted', row: { next_inquiry_at: CLOSED_AT + 5_000 } });
  expect(look({ status: 'unknown', next_inquiry_at: CLOSED_AT + 5_000 })).toEqual({ kind: 'nothing' });
});

test('an open attempt that its order no longer waits for ends by a refusal alone', () => {
  const left: Attempt = { ...open, status: 'waiting', next_inquiry_at: CLOSED_AT };
  for (const answer of [NO_ANSWER, UNKNOWN_THERE, WAITING]) {
    expect(hear(left, answer, CLOSED_AT)).toMatchObject({ status: 'waiting', inquiries: 1, settled_at: null });
  }
  expect(hear(left, REFUSED, CLOSED_AT)).toMatchObject({ status: 'declined', reason: 'insufficient_funds' });
});

test('an answer that contradicts what is known calls a person, and one that repeats it does not', () => {
  const alarmOf = (status: Attempt['status'], answer: AttemptAnswer, fact: AttemptFact, isItsOwn = false) => {
    const attempt = { ...closed, status };
    const heard = judgeAnswer({ attempt, isItsOwn }, answer, fact, contextAt(CLOSED_AT, 'hint'));
    return heard.kind === 'moves' ? heard.kind : heard.alarm;
  };
  expect(alarmOf('challenged', PAID, 'confirmed', true)).toBe('contradiction');
  expect(alarmOf('approved', REFUSED, 'refused')).toBe('contradiction');
  expect(alarmOf('declined', REFUSED, 'refused')).toBeUndefined();
  expect(alarmOf('not_sent', REFUSED, 'refused')).toBeUndefined();
  expect(alarmOf('approved', WAITING, 'accepted')).toBeUndefined();
});

test('a hint whose answer repeats what is known of a closed attempt changes nothing', () => {
  const refused: Attempt = { ...closed, status: 'declined' };
  const repeated = judgeAnswer(
    { attempt: refused, isItsOwn: false },
    REFUSED,
    'refused',
    contextAt(CLOSED_AT + MINUTE, 'hint'),
  );
  expect(repeated).toEqual({ kind: 'nothing' });
});

test('an attempt that moves keeps its reference, counts a due inquiry, and is inquired about at the time of its new state', () => {
  const waiting: Attempt = { ...open, status: 'waiting', provider_reference: 'p1', inquiries: 3, not_found_at: 5 };
  const moved = (status: Attempt['status'], reference: string | null, inquiry: SettlementContext['inquiry']) =>
    attemptColumns(waiting, status, null, reference, contextAt(CLOSED_AT, inquiry));
  const soon = { inquiries: 4, next_inquiry_at: CLOSED_AT + 30_000, settled_at: null, not_found_at: null };
  expect(moved('waiting', null, 'due')).toMatchObject({ provider_reference: 'p1', ...soon });
  expect(moved('waiting', 'p2', 'hint')).toMatchObject({
    provider_reference: 'p2',
    inquiries: 3,
    next_inquiry_at: CLOSED_AT + 5_000,
  });
  const closing = { inquiries: 3, next_inquiry_at: CLOSED_AT + 15 * MINUTE, settled_at: CLOSED_AT };
  expect(moved('declined', null, false)).toMatchObject(closing);
  expect(moved('approved', null, false)).toMatchObject({ ...closing, next_inquiry_at: null });
});
