/**
 * Payments by card between two gateways that die, hear nothing, or are cut off from their database, and a card network whose
 * requests and answers are lost or late: what happens when is drawn from a seed. `RACES=300` runs that many instead of a few,
 * `SEED=7` begins with that one.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { decideAttempt } from '../../src/usecases/attempt-decide.ts';
import { rowsOf } from '../support/rows.ts';
import { whileTimePasses } from '../support/waiting.ts';
import { openWorld, type World } from '../support/world.ts';
import { openCardCalls } from './card-calls.ts';
import { type CardNetwork, openCardNetwork } from './card-network.ts';
import { type Scene, scenesOf } from './card-scenes.ts';
import { openShoppers } from './card-shoppers.ts';
import { judgeCards } from './card-verdict.ts';
import { chanceOf } from './chance.ts';
import { openPair, type Pair } from './gateway-pair.ts';
import { skewsByChance } from './pair-clocks.ts';
import { type Course, MINUTE_MS, openCourse, SEEDS } from './race-course.ts';
import { TROUBLES } from './race-troubles.ts';
import { openWay, type Way } from './unruly-way.ts';

/** Those who come in each race, in that order. */
const SCENES: readonly Scene[] = [
  'turned_away_form',
  'arrives_last',
  'turned_away_payment',
  'returns',
  'arrives_last',
  'turned_away_token',
  'returns',
  'turned_away_form',
  'returns',
];
/** How many steps chance takes after each of them. */
const ACTS_BETWEEN = 5;

let world: World;
let pair: Pair;
let way: Way;
let course: Course;
let network: CardNetwork;
beforeAll(async () => {
  // The world itself only watches.
  world = await openWorld({ role: 'api', env: { RATE_LIMIT_SCALE: '0' } });
  pair = await openPair(world, (outbound, request) => {
    if (!request.url.includes('/cardnet/')) return outbound.request(request);
    network.hear(request);
    return way.request(outbound, request);
  });
  course = openCourse(world, pair);
});
afterAll(async () => {
  await whileTimePasses(world, pair.close(), 1_000);
  await world.close();
});

test.each(SEEDS)('race %i: each order is charged once, and booked', async (seed) => {
  const diary: string[] = [`seed ${seed}`];
  const note = (line: string): void => void diary.push(`${new Date(world.clock.now()).toISOString()} ${line}`);
  const chance = chanceOf(`${seed}: deeds`);
  network = openCardNetwork();
  way = openWay(world.gateway.deps.clock, network, chanceOf(`${seed}: way`), note);
  way.trouble = chance.pick(TROUBLES);
  pair.clocks.set(skewsByChance(chanceOf(`${seed}: clocks`)));
  note(`the clocks are ${pair.clocks.skews.join(' and ')} ms off`);
  const merchant = await world.merchant();
  const { id: merchantId } = merchant.merchant;
  const place = { world, pair, way, network, chance, note, pass: course.pass };
  const calls = openCardCalls(place, merchant);
  const shoppers = await openShoppers(place, merchant, calls);
  for (const [index, scene] of SCENES.entries()) {
    note(`somebody comes: ${scene}`);
    // With choices of its own: whatever else happens, the customer of this race goes on in the same way.
    const scenes = scenesOf({ ...place, chance: chanceOf(`${seed}: scene ${index}`) }, calls);
    calls.begin(scenes[scene]());
    for (let acts = ACTS_BETWEEN; acts > 0; acts -= 1) await shoppers.act();
  }
  await calls.finish();
  note('the race is over');
  await course.finish();
  await closeUnknown(merchantId);
  await course.pass(MINUTE_MS, 10_000);
  const { heard, wrongs } = calls;
  const { asked, inquired, lied } = way;
  const found = [...wrongs, ...(await judgeCards(world, { merchantId, heard, asked, inquired, lied }))];
  expect(found, diary.join('\n')).toEqual([]);
});

/** An operator closes what the network itself calls unknown, by its book. */
async function closeUnknown(merchantId: string): Promise<void> {
  const open = "select id from attempt where merchant_id = $1 and settled_at is null and purpose = 'payment'";
  for (const { id } of await rowsOf<{ id: string }>(world, open, [merchantId])) {
    const paid = world.sandbox.book.lines({}).some(({ external_id }) => external_id === id);
    expect(paid, `${id} has paid, and the gateway does not know it`).toBe(false);
    await decideAttempt(world.gateway.deps, id, { paid, providerReference: null, by: 'amina', why: 'statement' });
  }
}
