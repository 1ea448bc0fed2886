/**
 * Numbers that a carrier never takes, while it takes all others: their lines are tried again and again, and hold up no healthy
 * line, of whichever merchant.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PayoutLine } from '../../src/domain/outgoing-records.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { numberEnding } from '../support/flows.ts';
import { commitBatch, expectPayoutBooksAgree, lineNow, openPayer } from '../support/payout-lines.ts';
import { openWorld, type World } from '../support/world.ts';

/** The longest pause of a carrier's circuit breaker, and a second for the round. */
const PROBED_WITHIN = 16;

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

function pay(merchant: MerchantCreated, ending: string, count: number) {
  return commitBatch(
    world,
    merchant,
    Array.from({ length: count }, () => ({ msisdn: numberEnding(ending), amount: '1.00' })),
  );
}

async function second(): Promise<void> {
  await world.pass(1_000);
  await world.gateway.dispatcher.idle();
}

/** After how many seconds the carrier has taken the line; infinitely many: not in a minute. */
async function takenAfter(line: PayoutLine): Promise<number> {
  for (let seconds = 0; seconds < 60; seconds += 1) {
    if ((await lineNow(world, line)).status !== 'pending') return seconds;
    await second();
  }
  return Number.POSITIVE_INFINITY;
}

test('sixty numbers that fail again and again hold up nobody', async () => {
  const [unlucky, other] = [await openPayer(world), await openPayer(world)];
  const failing = await pay(unlucky, '06', 60);
  await world.gateway.dispatcher.idle();
  for (let turn = 0; turn < 8; turn += 1) {
    const [line] = await pay(turn % 2 === 0 ? other : unlucky, '01', 1);
    expect(await takenAfter(line), `line ${turn}`).toBeLessThanOrEqual(PROBED_WITHIN);
    for (let seconds = 0; seconds < 20; seconds += 1) await second();
  }
  // They have not been given up: each was tried several times.
  const tries = await Promise.all(failing.map(async (line) => (await lineNow(world, line)).tries));
  expect(Math.min(...tries)).toBeGreaterThan(1);
  for (const merchant of [unlucky, other]) await expectPayoutBooksAgree(world, merchant);
});
