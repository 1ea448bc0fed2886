/**
 * A card payment's earlier tries, and what the network says of the order as a whole: captured, unknown, or of one try only.
 */

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { bookLateMoney } from '../../src/usecases/attempt-book.ts';
import { inquireAttempt } from '../../src/usecases/attempt-inquire.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { type CardPaying, collectCardWith, openFormOf, submitCard } from '../support/card-payments.ts';
import { expectRefusal } from '../support/envelope.ts';
import { type FickleDesk, openFickleDesk } from '../support/fickle-desk.ts';
import { type FickleNetwork, refusal } from '../support/fickle-network.ts';
import { collect, statusOf, untilStatus } from '../support/flows.ts';
import { givenBack } from '../support/late-verdict.ts';
import { attemptOf, onlyHook } from '../support/phone-payments.ts';
import { rowsOf } from '../support/rows.ts';
import { openTurnedAwayDesk, type TurnedAwayDesk } from '../support/turned-away.ts';
import { whileTimePasses } from '../support/waiting.ts';
import type { World } from '../support/world.ts';

let desk: FickleDesk;
let earlier: TurnedAwayDesk;
let network: FickleNetwork;
let world: World;
let merchant: MerchantCreated;

beforeAll(async () => {
  desk = await openFickleDesk();
  earlier = openTurnedAwayDesk(desk);
  ({ network, world, merchant } = desk);
});
afterEach(() => desk.reset());
afterAll(() => desk.close());

/** The order's status at the network. */
async function upstreamStatusOf({ token, transaction_id }: CardPaying): Promise<string | null> {
  return (await world.call('GET', `/payments/check-status/${transaction_id}`, { bearer: token })).json.upstream_status;
}

describe('what the network says of the order', () => {
  test('the order was captured, and nobody can say yet by which try: no merchant is told to collect again', async () => {
    const { paying, first, pays } = await earlier.turnedAway();
    network.took(first);
    network.status = 'CAPTURED';
    network.instead('inquire', 'cuts');
    expectRefusal(await submitCard(world, paying), 502, '1404', 'EARLIER_TRY_OPEN');
    network.instead('inquire', undefined);
    expect((await submitCard(world, paying)).json).toMatchObject({ status: 'approved' });
    expect(network.count('pay')).toBe(pays);
    expect(await attemptOf(world, paying)).toMatchObject({ id: first, status: 'approved' });
  });

  test('the order was captured by none of our tries: 1404, and a person is called', async () => {
    const { paying, pays } = await earlier.turnedAway();
    network.status = 'CAPTURED';
    expectRefusal(await submitCard(world, paying), 502, '1404', 'EARLIER_TRY_OPEN');
    expect(network.count('pay')).toBe(pays);
    const alarms = world.log.lines.filter(
      (line) => line.includes('attempt_alarm') && line.includes(paying.transaction_id),
    );
    expect(alarms.map((line) => JSON.parse(line).alarm)).toEqual(['contradiction']);
    expect(await upstreamStatusOf(paying)).toBe('CAPTURED');
  });

  test('the network does not know the order for which it has just taken a try: 1404', async () => {
    const { paying, pays } = await earlier.turnedAway();
    network.instead('order', refusal('INVALID_REQUEST', 'Unable to find order.'));
    expectRefusal(await submitCard(world, paying), 502, '1404', 'EARLIER_TRY_OPEN');
    expect(network.count('pay')).toBe(pays);
  });

  test('an order of which a try was given back still says that it was captured: the next try pays', async () => {
    const { paying, first, pays } = await earlier.turnedAway();
    network.took(first);
    // As if the session had been over when that was learned.
    await earlier.setSession(paying, 'CONSUMED');
    await inquireAttempt(world.gateway.deps, await earlier.attempt(first), 'due');
    await earlier.setSession(paying, 'ACTIVE');
    await bookLateMoney(world.gateway.deps, first, givenBack(first));
    network.status = 'CAPTURED';
    await earlier.turnAway(paying);
    expect((await submitCard(world, paying)).json).toMatchObject({ status: 'approved' });
    expect(network.count('pay')).toBe(pays + 2);
  });
});

describe('an earlier try that has paid', () => {
  test('has paid a payment whose method is still open: check-status finds that, too', async () => {
    const paying = await collect(world, merchant);
    const tried = { ...paying, form: await openFormOf(world, paying) };
    network.took(await earlier.turnAway(tried));
    await upstreamStatusOf(tried);
    expect(await statusOf(world, paying)).toBe('approved');
  });

  test('has paid another payment of the session, while nobody can say of a third: the session is over', async () => {
    const { paying: first } = await earlier.turnedAway();
    const collected = async () => ({ ...first, ...(await collectCardWith(world, first.token)) });
    const second = await collected();
    network.took(await earlier.turnAway(second));
    const third = await collected();
    const pays = network.count('pay');
    network.instead('order', 'cuts');
    const said = await whileTimePasses(world, submitCard(world, third));
    expectRefusal(said, 401, '1001', 'SESSION_CONSUMED');
    // It names the payment that has consumed the session, not the one that was submitted.
    expect(said.json.transaction_id).toBe(second.transaction_id);
    expect(await statusOf(world, second)).toBe('approved');
    expect(network.count('pay')).toBe(pays);
  });

  test('has paid its payment of the session, as another one has: the first is approved, and a person is told of the other at once', async () => {
    const { paying: first, first: firstTry } = await earlier.turnedAway();
    const collected = async () => ({ ...first, ...(await collectCardWith(world, first.token)) });
    // Ids made at the same instant have no order.
    await world.clock.advance(1);
    const second = await collected();
    const secondTry = await earlier.turnAway(second);
    const third = await collected();
    network.took(firstTry);
    network.took(secondTry);
    const pays = network.count('pay');
    expectRefusal(await whileTimePasses(world, submitCard(world, third)), 401, '1001', 'SESSION_CONSUMED');
    const paid = [await earlier.attempt(firstTry), await earlier.attempt(secondTry)];
    expect(paid.map(({ status, reason }) => [status, reason])).toEqual([
      ['approved', null],
      ['approved', 'late_success'],
    ]);
    expect([await statusOf(world, first), await statusOf(world, second)]).toEqual(['approved', 'cancelled']);
    const alarms = world.log.lines.filter((line) => line.includes('attempt_alarm') && line.includes(secondTry));
    expect(alarms.map((line) => JSON.parse(line).alarm)).toEqual(['late_success']);
    expect(network.count('pay')).toBe(pays);
  });

  test('has paid, as another try of the same payment has: it is approved once, and a person is soon told of the other', async () => {
    const { paying, first, pays } = await earlier.turnedAway();
    // Ids made at the same instant have no order.
    await world.clock.advance(1);
    await earlier.turnAway(paying);
    const of = 'select id from attempt where payment_id = $1 order by id';
    const ids = (await rowsOf<{ id: string }>(world, of, [paying.transaction_id])).map(({ id }) => id);
    for (const id of ids) network.took(id);
    expect((await submitCard(world, paying)).json).toMatchObject({ status: 'approved' });
    expect(network.count('pay')).toBe(pays + 1);
    const other = ids.find((id) => id !== first) ?? '';
    await world.pass(5_000);
    expect([await earlier.attempt(first), await earlier.attempt(other)]).toMatchObject([
      { status: 'approved', reason: null },
      { status: 'approved', reason: 'late_success' },
    ]);
  });

  test('is one of many: check-status inquires about the newest four', async () => {
    const { paying } = await earlier.turnedAway();
    for (let tries = 1; tries < 6; tries += 1) {
      // Ids made at the same instant have no order.
      await world.clock.advance(1);
      await earlier.turnAway(paying);
    }
    const of = 'select id from attempt where payment_id = $1 order by id';
    const tries = await rowsOf<{ id: string }>(world, of, [paying.transaction_id]);
    network.took(tries.at(-1)?.id ?? '');
    const before = network.count('inquire');
    await upstreamStatusOf(paying);
    expect([tries.length, network.count('inquire') - before]).toEqual([6, 4]);
    expect(await statusOf(world, paying)).toBe('approved');
  });

  test.each(['check-status', 'the round'] as const)('has paid, and %s finds it: it pays the payment', async (by) => {
    const { paying, first, pays } = await earlier.turnedAway();
    network.took(first);
    network.status = 'CAPTURED';
    if (by === 'check-status') expect(await upstreamStatusOf(paying)).toBe('CAPTURED');
    else await untilStatus(world, paying, 'approved', 60_000);
    expect(await statusOf(world, paying)).toBe('approved');
    expect(await attemptOf(world, paying)).toMatchObject({ id: first, status: 'approved' });
    expect((await onlyHook(world, paying)).body.status).toBe('approved');
    expectRefusal(await submitCard(world, paying), 401, '1001', 'SESSION_CONSUMED');
    expect(network.count('pay')).toBe(pays);
    expect((await world.gateway.store.auditAll()).findings).toEqual([]);
  });
});
