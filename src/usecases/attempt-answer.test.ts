import { expect, test } from 'vitest';
import type { Alarm } from '../domain/attempt-settlement.ts';
import { Refusal } from '../domain/refusal.ts';
import type { Settlement } from '../domain/settlement.ts';
import { manualClock } from '../platform/testing/manual-clock.ts';
import { memoryLog } from '../platform/testing/memory-log.ts';
import { CommitUnknown, StoreRefused, StoreUnavailable } from '../store/errors.ts';
import { writeCallAnswer, writeInquiryAnswer } from './attempt-answer.ts';

const settled = (alarm?: Alarm) =>
  ({ attempt: {}, payment: {}, ...(alarm === undefined ? {} : { alarm }) }) as Settlement;

function begin() {
  const counted: Alarm[] = [];
  const clock = manualClock(0);
  return { counted, clock, log: memoryLog(clock), alarmed: (alarm: Alarm) => void counted.push(alarm) };
}

test('of decisions that lost, only the last one is reported, and once', async () => {
  const deps = begin();
  const answer = await writeInquiryAnswer(deps, async (settling) => {
    settling(settled('late_success'));
    settling(settled('late_success'));
    return settling(settled('late_acceptance')).alarm;
  });
  expect([answer, deps.counted]).toEqual(['late_acceptance', ['late_acceptance']]);
});

test('a decision without an alarm withdraws the alarm of one that lost; a refusal does not', async () => {
  const deps = begin();
  await writeInquiryAnswer(deps, async (settling) => {
    settling(settled('contradiction'));
    settling(settled());
  });
  expect(deps.counted).toEqual([]);
  const refused = writeInquiryAnswer(deps, async (settling) => {
    settling(settled('late_success'));
    throw new Refusal(1201);
  });
  await expect(refused).rejects.toThrow(Refusal);
  expect(deps.counted).toEqual(['late_success']);
});

test('an alarm whose commit is in doubt is reported once; that of a commit that certainly failed is not', async () => {
  const deps = begin();
  const tries = [new StoreUnavailable(), new StoreRefused('23514', undefined), new CommitUnknown(), undefined];
  for (const error of tries) {
    const ran = writeInquiryAnswer(deps, async (settling) => {
      settling(settled(error === undefined ? undefined : 'late_success'));
      if (error !== undefined) throw error;
    });
    await (error === undefined ? ran : expect(ran).rejects.toBe(error));
  }
  expect(deps.counted).toEqual(['late_success']);
});

test('an answer to our own call that may have been written raises its alarm, though the next try finds nothing to do', async () => {
  const deps = begin();
  const { clock } = deps;
  let tries = 0;
  const written = writeCallAnswer(deps, async (settling) => {
    tries += 1;
    settling(settled(tries === 2 ? 'late_success' : undefined));
    if (tries === 1) throw new StoreUnavailable();
    if (tries === 2) throw new CommitUnknown();
    return 'written';
  });
  await clock.advance(250);
  expect([await written, tries, deps.counted]).toEqual(['written', 3, ['late_success']]);
  expect(clock.pending()).toBe(0);
});

test('the answer to an inquiry is written in one try', async () => {
  let tries = 0;
  const written = writeInquiryAnswer(begin(), async () => {
    tries += 1;
    throw new StoreUnavailable();
  });
  await expect(written).rejects.toThrow(StoreUnavailable);
  expect(tries).toBe(1);
});
