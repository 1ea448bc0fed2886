/**
 * A payment by card that the network turned away and carried out all the same, while its customer collects anew on the same
 * session: the network is not asked for the money a second time.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { collectBody, type World } from '../support/world.ts';
import { type CardPaying, collectByCard, collectCardWith, submitCard } from './card-payments.ts';
import { type FickleDesk, openFickleDesk } from './fickle-desk.ts';
import { refusal } from './fickle-network.ts';
import { expectRefusal, rowsOf, statusOf, whileTimePasses } from './flows.ts';

let desk: FickleDesk;
let world: World;
beforeAll(async () => {
  desk = await openFickleDesk();
  ({ world } = desk);
});
afterEach(() => desk.reset());
afterAll(() => desk.close());

/** The first payment of a session, whose PAY the network turned away; `taken`: and carried out. */
async function turnedAway(taken: boolean): Promise<CardPaying> {
  const { network } = desk;
  const first = await collectByCard(world, desk.merchant, { minted: { ttl_seconds: 7_200 } });
  network.issuer = 'SUCCESSFUL';
  network.instead('pay', refusal('SERVER_BUSY'));
  expectRefusal(await submitCard(world, first), 502, '1404');
  network.instead('pay', undefined);
  const [attempt] = await rowsOf<{ id: string }>(world, 'select id from attempt where payment_id = $1', [
    first.transaction_id,
  ]);
  if (taken) network.took(attempt?.id ?? '');
  return first;
}

const again = async (first: CardPaying): Promise<CardPaying> => ({
  ...first,
  ...(await collectCardWith(world, first.token)),
});

const byToken = ({ token }: CardPaying) => {
  const more = { native_pay_token: 'tok_approved', native_pay_token_type: 'google_pay' };
  return world.call('POST', '/payments/collect', { bearer: token, body: collectBody(world, 'google_pay', more) });
};

describe('if it was carried out', () => {
  test('another payment’s submit asks for nothing, and the first payment is paid', async () => {
    const first = await turnedAway(true);
    const second = await again(first);
    const pays = desk.network.count('pay');
    const submitted = await whileTimePasses(world, submitCard(world, second));
    expect(submitted.status, submitted.text).not.toBe(200);
    expect(desk.network.count('pay')).toBe(pays);
    expect(await statusOf(world, first)).toBe('approved');
    expect(await statusOf(world, second)).toBe('cancelled');
  });

  test('nor does a token of Google Pay', async () => {
    const first = await turnedAway(true);
    const pays = desk.network.count('pay');
    const collected = await byToken(first);
    await world.gateway.background.idle();
    expect(collected.status, collected.text).not.toBe(201);
    expect(desk.network.count('pay')).toBe(pays);
    expect(await statusOf(world, first)).toBe('approved');
  });
});

describe('if the network cannot say', () => {
  test('the submit may be repeated, and is told that an earlier try is open', async () => {
    const first = await turnedAway(false);
    const second = await again(first);
    const pays = desk.network.count('pay');
    desk.network.instead('inquire', refusal('SERVER_BUSY'));
    expectRefusal(await submitCard(world, second), 502, '1404', 'EARLIER_TRY_OPEN');
    expectRefusal(await byToken(first), 502, '1404', 'EARLIER_TRY_OPEN');
    expect(desk.network.count('pay')).toBe(pays);
  });
});

test('if it was not carried out, the second payment pays', async () => {
  const second = await again(await turnedAway(false));
  const submitted = await submitCard(world, second);
  expect(submitted.json.status, submitted.text).toBe('approved');
});

test('a submit that was allowed before the clock was set back does not ask for money half an hour later', async () => {
  const { network } = desk;
  const paying = await collectByCard(world, desk.merchant, { minted: { ttl_seconds: 7_200 } });
  network.issuer = 'SUCCESSFUL';
  const pays = network.count('pay');
  const slow = network.hold('form');
  const submitted = submitCard(world, paying);
  await slow.asked;
  world.clock.setBack(3_600_000);
  await world.clock.advance(1_800_000);
  slow.answer();
  expectRefusal(await submitted, 502, '1404');
  expect(network.count('pay')).toBe(pays);
});
