import { expect, test } from 'vitest';
import { attemptWith } from '../domain/testing/attempts.ts';
import { manualClock } from '../platform/testing/manual-clock.ts';
import { memoryLog } from '../platform/testing/memory-log.ts';
import { CONNECTOR_HELD, HOLD_UNREAD, TAKEN_BEFORE, TOO_LATE } from './attempt-ask.ts';
import { sendUnlessHeld } from './outgoing-start.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const SENT = { kind: 'waiting', providerReference: null } as const;

/** What comes of sending an attempt that was just written, when it is read like this whether its connector is held. */
async function sentAfter(isHeld: () => Promise<boolean>, { tookMs = 0, isTaken = false } = {}) {
  const clock = manualClock(NOW);
  const reading = async (): Promise<boolean> => {
    await clock.advance(tookMs);
    return isHeld();
  };
  const deps = { clock, log: memoryLog(), holds: { isHeld: reading } };
  const ids = { shard: 0, id: 'att_1', merchant_id: 'mch_1', payment_id: 'txn_1' };
  return sendUnlessHeld(deps, attemptWith({ ...ids, created_at: NOW }), { isTaken }, async () => SENT);
}

const no = async () => false;

test.each([
  ['that nothing keeps back', SENT, () => sentAfter(no)],
  ['that is ready just in time', SENT, () => sentAfter(no, { tookMs: 5_000 })],
  ['whose connector is held', CONNECTOR_HELD, () => sentAfter(async () => true)],
  ['of whose connector that cannot be read', HOLD_UNREAD, () => sentAfter(() => Promise.reject(new Error('away')))],
  ['for which reading that has taken too long', TOO_LATE, () => sentAfter(no, { tookMs: 5_001 })],
  ['that something else was accepted in place of', TAKEN_BEFORE, () => sentAfter(no, { isTaken: true })],
])('an attempt %s', async (_which, answer, sending) => {
  expect(await sending()).toBe(answer);
});
