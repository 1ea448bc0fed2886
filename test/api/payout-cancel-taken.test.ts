/** A batch that is cancelled while a carrier may have taken one of its lines: that line is inquired about, and continues. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { PayoutBatch, PayoutLine } from '../../src/domain/outgoing-records.ts';
import { cancelBatch } from '../../src/domain/payout-batch.ts';
import { StoreUnavailable } from '../../src/store/errors.ts';
import { setMerchantStatus } from '../../src/usecases/merchant-status.ts';
import { cancelPayout } from '../../src/usecases/payout-cancel.ts';
import { startLine } from '../../src/usecases/payout-start.ts';
import { numberEnding } from '../support/flows.ts';
import { type OutDesk, openOutDesk } from '../support/late-out-desk.ts';
import { availableOf, commitBatch, lineNow, openPayer } from '../support/payout-lines.ts';
import { until, whileTimePasses } from '../support/waiting.ts';
import { TURNED_AWAY } from '../support/wavering-carrier.ts';
import { NO_ANSWER } from '../support/wavering-desk.ts';
import type { World } from '../support/world.ts';

let desk: OutDesk;
let world: World;
beforeAll(async () => {
  desk = await openOutDesk();
  ({ world } = desk);
});
afterAll(() => desk.close());
/** The carrier answers once. After eight calls in a row that it turned away it would get probes only. */
beforeEach(async () => {
  const [line] = await commitBatch(world, await openPayer(world), [{ msisdn: numberEnding('42') }]);
  await desk.lastAttempt(line.id, 'waiting');
});

const SAY = { by: 'amina', why: 'a mistake' };

test('a line whose last attempt was turned away but taken all the same is not called off with its batch', async () => {
  const payer = await openPayer(world, 10_10n);
  desk.carrier.answer(TURNED_AWAY);
  const [line] = await commitBatch(world, payer, [{ msisdn: numberEnding('42') }]);
  const attempt = await desk.lastAttempt(line.id, 'not_sent');
  // The carrier has taken it, and says so in answer to inquiries.
  desk.carrier.say(attempt.reference, 'SUCCESSFUL');
  await cancelPayout(world.gateway.deps, line.batch_id, SAY);
  await desk.passMinutes(2);
  const { status } = await lineNow(world, line);
  const available = await availableOf(world, payer);
  expect([status, available]).toEqual(['completed', 0n]);
});

test('lines of which their carrier cannot tell do not keep the rest of their batch from being called off', async () => {
  const payer = await openPayer(world);
  const payees = Array.from({ length: 5 }, () => ({ msisdn: numberEnding('42') }));
  desk.carrier.answer(...payees.map(() => TURNED_AWAY));
  const lines = await commitBatch(world, payer, payees);
  const attempts = await Promise.all(lines.map(({ id }) => desk.lastAttempt(id, 'not_sent')));
  for (const { reference } of attempts.slice(0, 4)) desk.carrier.say(reference, 'cannot_tell');
  await cancelPayout(world.gateway.deps, lines[0].batch_id, SAY);
  await desk.passMinutes(10);
  const statuses = (await Promise.all(lines.map((line) => lineNow(world, line)))).map(({ status }) => status);
  expect(statuses).toEqual(['pending', 'pending', 'pending', 'pending', 'failed']);
});

test('a line in flight that comes back to wait is called off, also after the others of its batch have been', async () => {
  const payer = await openPayer(world);
  desk.carrier.answer(NO_ANSWER, TURNED_AWAY);
  const lines = await commitBatch(world, payer, [{ msisdn: numberEnding('42') }, { msisdn: numberEnding('42') }]);
  const ended = async (status: PayoutLine['status']) =>
    (await Promise.all(lines.map((line) => lineNow(world, line)))).filter((line) => line.status === status);
  const [flying] = await until(async () => {
    const open = await Promise.all(lines.map(({ id }) => desk.attemptsOf(id)));
    const unknown = open.flat().filter(({ status }) => status === 'unknown');
    return unknown.length === 1 && open.flat().length === 2 ? unknown : undefined;
  });
  desk.carrier.say(flying?.reference ?? '', 'cannot_tell');
  await cancelPayout(world.gateway.deps, lines[0].batch_id, SAY);
  await desk.passMinutes(5);
  expect([(await ended('failed')).length, (await ended('processing')).length]).toEqual([1, 1]);
  desk.carrier.say(flying?.reference ?? '', 'not_found');
  await desk.passMinutes(30);
  expect(await ended('failed')).toHaveLength(2);
});

/** A line that its carrier turned away, and that another process has leased to send it again. */
async function leasedAgain() {
  const payer = await openPayer(world, 10_10n);
  desk.carrier.answer(TURNED_AWAY);
  const [line] = await commitBatch(world, payer, [{ msisdn: numberEnding('42') }]);
  await desk.lastAttempt(line.id, 'not_sent');
  const { clock, store } = world.gateway.deps;
  const [leased] = await until(async () => {
    const now = clock.now() + 10 * 60_000;
    const claimed = await store.payoutLine.leaseDue(now, now + 3_600_000, 10);
    return claimed.length > 0 ? claimed : undefined;
  });
  // Long enough for the carrier to have noticed an attempt that it took.
  await desk.passMinutes(2);
  return { payer, line, leased: leased ?? line };
}

test('a line that was leased to be sent again before its batch was cancelled is no longer sent', async () => {
  const { payer, line, leased } = await leasedAgain();
  const { deps } = world.gateway;
  await cancelPayout(deps, line.batch_id, SAY);
  await startLine(deps, leased, payer.merchant);
  expect((await desk.attemptsOf(line.id)).map(({ status }) => status)).toEqual(['not_sent']);
  await desk.passMinutes(5);
  expect((await lineNow(world, line)).status).toBe('failed');
});

test('a line that was leased is not sent if its batch was cancelled by a process that died before it recalled the line', async () => {
  const { payer, line, leased } = await leasedAgain();
  const { deps } = world.gateway;
  const batch = await deps.store.payoutBatch.get(line.shard, line.batch_id);
  expect(await deps.store.commit(cancelBatch(batch as PayoutBatch, deps.clock.now()))).toBe('won');
  await startLine(deps, leased, payer.merchant);
  expect((await desk.attemptsOf(line.id)).map(({ status }) => status)).toEqual(['not_sent']);
});

test('a line that was leased is not sent again if its merchant has been suspended since it was looked up', async () => {
  const { payer, line, leased } = await leasedAgain();
  const { deps } = world.gateway;
  await setMerchantStatus(deps, payer.merchant.id, 'SUSPENDED');
  await startLine(deps, leased, payer.merchant);
  expect((await desk.attemptsOf(line.id)).map(({ status }) => status)).toEqual(['not_sent']);
});

test('a line that was leased is not sent if its batch was cancelled after the last look at that', async () => {
  const { payer, line, leased } = await leasedAgain();
  const { deps } = world.gateway;
  // The hold is read after that look, and before the attempt is written.
  const isHeld: typeof deps.holds.isHeld = async (name) => {
    await cancelPayout(deps, line.batch_id, SAY);
    return deps.holds.isHeld(name);
  };
  await startLine({ ...deps, holds: { ...deps.holds, isHeld } }, leased, payer.merchant);
  expect((await desk.attemptsOf(line.id)).map(({ status }) => status)).toEqual(['not_sent']);
  await desk.passMinutes(5);
  expect((await lineNow(world, line)).status).toBe('failed');
});

describe('a database that goes away once the cancellation is committed', () => {
  /** A batch that is cancelled on a database that fails at the first lines that are read after that, as often as said. */
  async function cancelledWhileAway(times: number, failure: Error = new StoreUnavailable()) {
    const payer = await openPayer(world, 10_10n);
    desk.carrier.answer(TURNED_AWAY);
    const [line] = await commitBatch(world, payer, [{ msisdn: numberEnding('42') }]);
    await desk.lastAttempt(line.id, 'not_sent');
    const { deps } = world.gateway;
    const { payoutBatch } = deps.store;
    let left = times;
    const recallTried: typeof payoutBatch.recallTried = (...about) => {
      left -= 1;
      return left < 0 ? payoutBatch.recallTried(...about) : Promise.reject(failure);
    };
    const store = { ...deps.store, payoutBatch: { ...payoutBatch, recallTried } };
    const cancelling = cancelPayout({ ...deps, store }, line.batch_id, { ...SAY, notTaken: true });
    return { line, cancelling: whileTimePasses(world, cancelling, 100) };
  }

  test('is waited for', async () => {
    const { line, cancelling } = await cancelledWhileAway(2);
    expect(await cancelling).toMatchObject({ cancelled_at: expect.any(Number) });
    expect((await lineNow(world, line)).status).toBe('failed');
  });

  test('is not blamed for a fault of ours', async () => {
    const { cancelling } = await cancelledWhileAway(1, new TypeError('no such field'));
    await expect(cancelling).rejects.toThrow('no such field');
  });

  test('is no reason to say that nothing was done', async () => {
    const { line, cancelling } = await cancelledWhileAway(100);
    await expect(cancelling).rejects.toThrow(/but the command has taken effect, once: give it again/);
    expect((await lineNow(world, line)).status).toBe('pending');
    expect(await cancelPayout(world.gateway.deps, line.batch_id, { ...SAY, notTaken: true })).toBeDefined();
    expect((await lineNow(world, line)).status).toBe('failed');
  });
});
