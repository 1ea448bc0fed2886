/**
 * Payments by phone, payouts and refunds between two gateways that die, hear nothing, or are cut off from their database, and a
 * carrier whose requests and answers are lost or late: what happens when is drawn from a seed. `RACES=300` runs that many instead
 * of a few, `SEED=7` begins with that one.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { decideAttempt } from '../../src/usecases/attempt-decide.ts';
import { creditBalance } from '../../src/usecases/balance-credit.ts';
import { cancelPayout } from '../../src/usecases/payout-cancel.ts';
import { rowsOf } from '../support/rows.ts';
import { whileTimePasses } from '../support/waiting.ts';
import { openWorld, type World } from '../support/world.ts';
import { chanceOf } from './chance.ts';
import { openPair, type Pair } from './gateway-pair.ts';
import { skewsByChance } from './pair-clocks.ts';
import { isOfCarrier, PHONE_NETWORK } from './phone-network.ts';
import { openPayers, unlessTold } from './phone-payers.ts';
import { judgePhones } from './phone-verdict.ts';
import { openCalls } from './race-calls.ts';
import { type Course, MINUTE_MS, openCourse, SEEDS } from './race-course.ts';
import { TROUBLES } from './race-troubles.ts';
import { openWay, type Way } from './unruly-way.ts';

/** How many steps chance takes in a race. */
const ACTS = 50;
/** So little that some payouts have to wait, or are refused. */
const OPENING_MINOR = 20_00n;

let world: World;
let pair: Pair;
let way: Way;
let course: Course;
beforeAll(async () => {
  // The world itself only watches.
  world = await openWorld({ role: 'api', env: { RATE_LIMIT_SCALE: '0' } });
  pair = await openPair(world, (outbound, request) =>
    isOfCarrier(request) ? way.request(outbound, request) : outbound.request(request),
  );
  course = openCourse(world, pair);
});
afterAll(async () => {
  await whileTimePasses(world, pair.close(), 1_000);
  await world.close();
});

test.each(SEEDS)('race %i: all money moves once, and is booked', async (seed) => {
  const diary: string[] = [`seed ${seed}`];
  const note = (line: string): void => void diary.push(`${new Date(world.clock.now()).toISOString()} ${line}`);
  const chance = chanceOf(`${seed}: deeds`);
  way = openWay(world.gateway.deps.clock, PHONE_NETWORK, chanceOf(`${seed}: way`), note);
  way.trouble = chance.pick(TROUBLES);
  pair.clocks.set(skewsByChance(chanceOf(`${seed}: clocks`)));
  note(`the clocks are ${pair.clocks.skews.join(' and ')} ms off`);
  const merchant = await world.merchant();
  const opening = OPENING_MINOR;
  await creditBalance(world.gateway.deps, merchant.merchant.id, 'usd', opening);
  const place = { world, pair, way, chance, note, pass: course.pass };
  const calls = openCalls(place, merchant);
  const payers = await openPayers(place, merchant, calls);
  for (let acts = ACTS; acts > 0; acts -= 1) await payers.act();
  await calls.finish();
  note('the race is over');
  await course.finish();
  await closeUnknown(merchant.merchant.id);
  await callOff(merchant.merchant.id);
  await course.pass(10 * MINUTE_MS, 30_000);
  const { heard, wrongs } = calls;
  const { asked, inquired, lied } = way;
  const found = [...wrongs, ...(await judgePhones(world, { merchant, opening, heard, asked, inquired, lied }))];
  expect(found, diary.join('\n')).toEqual([]);
});

/** An operator closes what the carrier itself calls open for ever, by its book. */
async function closeUnknown(merchantId: string): Promise<void> {
  const open =
    "select id, reference from attempt where merchant_id = $1 and settled_at is null and purpose = 'payment'";
  for (const { id, reference } of await rowsOf<{ id: string; reference: string }>(world, open, [merchantId])) {
    const paid = world.sandbox.book.lines({ reference }).length > 0;
    expect(paid, `${id} has paid, and the gateway does not know it`).toBe(false);
    await decideAttempt(world.gateway.deps, id, { paid, providerReference: null, by: 'amina', why: 'statement' });
  }
}

/** An operator calls off what is paused, or waits for a carrier that stays away. */
async function callOff(merchantId: string): Promise<void> {
  const open =
    "select distinct batch_id as id from payout_line where merchant_id = $1 and status in ('pending', 'processing')";
  for (const { id } of await rowsOf<{ id: string }>(world, open, [merchantId]))
    await cancelPayout(world.gateway.deps, id, { by: 'amina', why: null }).catch(unlessTold);
}
