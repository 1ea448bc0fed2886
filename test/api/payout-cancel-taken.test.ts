/** A batch that is cancelled while a carrier may have taken one of its lines: that line is inquired about, and continues. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { cancelPayout } from '../../src/usecases/payout-cancel.ts';
import { startLine } from '../../src/usecases/payout-start.ts';
import { numberEnding } from '../support/flows.ts';
import { type OutDesk, openOutDesk } from '../support/late-out-desk.ts';
import { availableOf, commitBatch, lineNow, openPayer } from '../support/payout-lines.ts';
import { until } from '../support/waiting.ts';
import { TURNED_AWAY } from '../support/wavering-carrier.ts';
import type { World } from '../support/world.ts';

let desk: OutDesk;
let world: World;
beforeAll(async () => {
  desk = await openOutDesk();
  ({ world } = desk);
});
afterAll(() => desk.close());

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

test('a line that was leased to be sent again before its batch was cancelled is no longer sent', async () => {
  const payer = await openPayer(world, 10_10n);
  desk.carrier.answer(TURNED_AWAY);
  const [line] = await commitBatch(world, payer, [{ msisdn: numberEnding('42') }]);
  await desk.lastAttempt(line.id, 'not_sent');
  const { deps } = world.gateway;
  const [leased] = await until(async () => {
    const now = deps.clock.now() + 10 * 60_000;
    const claimed = await deps.store.payoutLine.leaseDue(now, now + 3_600_000, 10);
    return claimed.length > 0 ? claimed : undefined;
  });
  // Long enough for the carrier to have noticed an attempt that it took.
  await desk.passMinutes(2);
  await cancelPayout(deps, line.batch_id, SAY);
  await startLine(deps, leased ?? line, payer.merchant);
  expect((await desk.attemptsOf(line.id)).map(({ status }) => status)).toEqual(['not_sent']);
  await desk.passMinutes(5);
  expect((await lineNow(world, line)).status).toBe('failed');
});
