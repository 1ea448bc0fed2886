/**
 * A card payment's earlier tries, whose PAY the network turned away and may have carried out all the same: what they have
 * taken pays the payment, and while that is uncertain, no customer is told to pay again.
 */

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { bookLateMoney } from '../../src/usecases/attempt-book.ts';
import { decideAttempt } from '../../src/usecases/attempt-decide.ts';
import { inquireAttempt } from '../../src/usecases/attempt-inquire.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { type CardPaying, callbackFor, openFormOf, postCallback, submitCard } from '../support/card-payments.ts';
import { expectRefusal } from '../support/envelope.ts';
import { type FickleDesk, openFickleDesk } from '../support/fickle-desk.ts';
import { type FickleNetwork, refusal } from '../support/fickle-network.ts';
import { collect, freshKey, numberEnding, payByPhone, statusOf, untilStatus } from '../support/flows.ts';
import { givenBack } from '../support/late-verdict.ts';
import { attemptOf, onlyHook } from '../support/phone-payments.ts';
import { rowsOf } from '../support/rows.ts';
import { openTurnedAwayDesk, type TurnedAwayDesk } from '../support/turned-away.ts';
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

describe('an earlier attempt that was believed not to be sent', () => {
  test('has taken nothing: the next one pays', async () => {
    const { paying, pays } = await earlier.turnedAway();
    expect((await submitCard(world, paying)).json).toMatchObject({ status: 'approved' });
    expect(network.count('pay')).toBe(pays + 1);
  });

  test.each([
    ['the issuer knows its customer', 'initiate', undefined],
    ['the form has paid', 'initiate', refusal('INVALID_REQUEST', 'The session was used', 'session.id')],
    ['the form has ended', 'form', refusal('INVALID_REQUEST', 'Unable to find session.')],
  ] as const)('has paid, and %s: it pays the payment, and nothing is asked for again', async (_name, asked, reply) => {
    const tried = await earlier.turnedAway();
    const { paying, first } = tried;
    network.took(first);
    network.instead(asked, reply);
    const paid = await submitCard(world, paying);
    expect(paid.json, paid.text).toMatchObject({ success: true, status: 'approved' });
    await earlier.expectPaidBy(tried);
    const told = world.log.lines.find(
      (line) => line.includes('"event":"earlier_attempt_paid"') && line.includes(first),
    );
    expect(told).toContain(paying.transaction_id);
    expectRefusal(await submitCard(world, paying), 401, '1001', 'SESSION_CONSUMED');
    expect((await world.gateway.store.auditAll()).findings).toEqual([]);
  });

  test.each(['callback', 'round'] as const)(
    'has paid while the customer was at the issuer: found by the %s',
    async (by) => {
      const tried = await earlier.turnedAway();
      const { paying, first } = tried;
      network.issuer = 'PENDING';
      expect((await submitCard(world, paying)).status).toBe(202);
      network.took(first);
      network.issuer = 'SUCCESSFUL';
      if (by === 'round') await untilStatus(world, paying, 'approved', 5_000);
      else expect((await postCallback(world, callbackFor(world, paying))).json).toMatchObject({ status: 'approved' });
      await earlier.expectPaidBy(tried);
    },
  );

  test('has paid, and the round learns of it while the next one is calling: nothing goes to suspense', async () => {
    const { paying, first, pays } = await earlier.turnedAway();
    network.took(first);
    const held = network.hold('order');
    const next = submitCard(world, paying);
    await held.asked;
    await inquireAttempt(world.gateway.deps, await earlier.attempt(first), 'due');
    held.answer();
    expect((await next).json).toMatchObject({ status: 'approved' });
    expect(network.count('pay')).toBe(pays);
    expect(await earlier.attempt(first)).toMatchObject({ status: 'approved', reason: null });
    await onlyHook(world, paying);
  });

  test('has paid, and check-status learns of it while the next one begins: nothing goes to suspense', async () => {
    const { paying, first, pays } = await earlier.turnedAway();
    network.took(first);
    const heard = network.hold('inquire');
    const reading = upstreamStatusOf(paying);
    await heard.asked;
    const begun = network.hold('form');
    const next = submitCard(world, paying);
    await begun.asked;
    heard.answer();
    await reading;
    begun.answer();
    expect((await next).json).toMatchObject({ status: 'approved' });
    expect(network.count('pay')).toBe(pays);
    await onlyHook(world, paying);
  });

  test('has paid, and its money went to suspense: no merchant is told to collect again', async () => {
    const { paying, first, pays } = await earlier.turnedAway();
    network.took(first);
    // As if the session had been over when that was learned.
    await earlier.setSession(paying, 'CONSUMED');
    await inquireAttempt(world.gateway.deps, await earlier.attempt(first), 'due');
    await earlier.setSession(paying, 'ACTIVE');
    const headers = freshKey();
    expectRefusal(await submitCard(world, paying, { headers }), 400, '1110', 'PAID_BEFORE');
    expect(await statusOf(world, paying)).toBe('pending');
    // The session is free, and so is the key; that the network is unreachable now changes nothing.
    network.instead('initiate', refusal('SERVER_BUSY'));
    expectRefusal(await submitCard(world, paying, { headers }), 400, '1110', 'PAID_BEFORE');
    expect(network.count('pay')).toBe(pays);
    expect(await earlier.attempt(first)).toMatchObject({ reason: 'late_success' });
    await bookLateMoney(world.gateway.deps, first, givenBack(first));
    expectRefusal(await submitCard(world, paying, { headers }), 502, '1404', 'CARRIER_DOWN');
  });

  test.each([
    ['asks', 'inquire', undefined],
    ['finds the network away', 'initiate', refusal('SERVER_BUSY')],
  ] as const)(
    'has paid, and an operator books that while the next one %s: no merchant is told to collect again',
    async (_name, asked, reply) => {
      const { paying, first, pays } = await earlier.turnedAway();
      network.took(first);
      const heard = network.hold(asked);
      const next = submitCard(world, paying);
      await heard.asked;
      const seen = { paid: true, providerReference: `P-${first}`, by: 'amina', why: 'seen at the portal' };
      await decideAttempt(world.gateway.deps, first, seen);
      expect(await earlier.attempt(first)).toMatchObject({ status: 'approved', reason: 'late_success' });
      heard.answer(reply);
      expectRefusal(await next, 400, '1110', 'PAID_BEFORE');
      expect(network.count('pay')).toBe(pays);
      expect(await statusOf(world, paying)).toBe('pending');
      const tries = await rowsOf(world, 'select reason from attempt where payment_id = $1 order by id', [
        paying.transaction_id,
      ]);
      expect(tries).toEqual([{ reason: 'late_success' }, { reason: 'not_asked' }]);
    },
  );

  test('answers that it has paid when another try is in progress: its own customer is not told that no money moved', async () => {
    const paying = await desk.collected();
    network.issuer = 'SUCCESSFUL';
    const slow = network.hold('pay');
    const first = submitCard(world, paying);
    await slow.asked;
    const [attempt] = await rowsOf<{ id: string }>(world, 'select id from attempt where payment_id = $1', [
      paying.transaction_id,
    ]);
    // As if the process had stood still: the round has heard “not found” twice, and has given the session back.
    await untilStatus(world, paying, 'pending', 30_000);
    network.issuer = 'PENDING';
    expect((await submitCard(world, paying)).status).toBe(202);
    slow.answer();
    expect((await first).json).toMatchObject({ success: true, status: 'processing' });
    network.issuer = 'SUCCESSFUL';
    await untilStatus(world, paying, 'approved', 5_000);
    expect(await attemptOf(world, paying)).toMatchObject({ id: attempt?.id, status: 'approved' });
    await onlyHook(world, paying);
  });

  test('has paid, while a phone is paying, which inquires about no card: its money goes to suspense at once', async () => {
    // From now on the carrier's token is there.
    expect((await payByPhone(world, await collect(world, merchant), numberEnding('42'))).status).toBe(200);
    const paying = await collect(world, merchant);
    const form = await openFormOf(world, paying);
    const first = await earlier.turnAway({ ...paying, form });
    network.took(first);
    world.sandbox.faults.set('mtn', { answer_lost_rate: 1 });
    expect((await payByPhone(world, paying, numberEnding('42'))).json).toMatchObject({ status: 'processing' });
    await inquireAttempt(world.gateway.deps, await earlier.attempt(first), 'due');
    expect(await earlier.attempt(first)).toMatchObject({ status: 'approved', reason: 'late_success' });
    expect(await statusOf(world, paying)).toBe('processing');
  });

  test('may have paid when the challenge of the next one has failed: that is waited for', async () => {
    const tried = await earlier.turnedAway();
    const { paying, first } = tried;
    network.issuer = 'PENDING';
    expect((await submitCard(world, paying)).status).toBe(202);
    network.took(first);
    network.issuer = 'FAILED';
    network.instead('inquire', 'cuts');
    await postCallback(world, callbackFor(world, paying));
    expect(await statusOf(world, paying)).toBe('processing');
    network.instead('inquire', undefined);
    await untilStatus(world, paying, 'approved', 5_000);
    await earlier.expectPaidBy(tried);
  });

  test('has paid, and the customer does not come back: it is inquired about soon, and pays the payment', async () => {
    const { paying, first } = await earlier.turnedAway();
    network.instead('inquire', 'cuts');
    expectRefusal(await submitCard(world, paying), 502, '1404', 'EARLIER_TRY_OPEN');
    network.instead('inquire', undefined);
    network.took(first);
    await world.pass(5_000);
    expect(await statusOf(world, paying)).toBe('approved');
  });

  test.each(['FAILED', 'PENDING'] as const)(
    'has paid, and the challenge of the next one ends as %s',
    async (issuer) => {
      const tried = await earlier.turnedAway();
      const { paying, first } = tried;
      network.issuer = 'PENDING';
      expect((await submitCard(world, paying)).status).toBe(202);
      network.took(first);
      network.issuer = issuer;
      if (issuer === 'FAILED') await postCallback(world, callbackFor(world, paying));
      else await untilStatus(world, paying, 'approved', 60_000);
      expect(await statusOf(world, paying)).toBe('approved');
      await earlier.expectPaidBy(tried);
    },
  );

  test('may have paid, and nobody can say: 1404, and nothing is asked for', async () => {
    const { paying, pays } = await earlier.turnedAway();
    network.instead('inquire', 'cuts');
    expectRefusal(await submitCard(world, paying), 502, '1404', 'EARLIER_TRY_OPEN');
    network.instead('inquire', undefined);
    network.instead('order', 'cuts');
    expectRefusal(await submitCard(world, paying), 502, '1404', 'EARLIER_TRY_OPEN');
    expect(network.count('pay')).toBe(pays);
    expect(await statusOf(world, paying)).toBe('pending');
  });

  test('may have paid, one of two, and nobody can say of that one: 1404, and nothing is asked for', async () => {
    const { paying, pays } = await earlier.turnedAway();
    await earlier.turnAway(paying);
    const one = network.hold('inquire');
    const submitted = submitCard(world, paying);
    await one.asked.then(() => one.answer('cuts'));
    expectRefusal(await submitted, 502, '1404', 'EARLIER_TRY_OPEN');
    expect(network.count('pay')).toBe(pays + 1);
  });

  test.each([
    ['the issuer says no', 'initiate', undefined, 'FAILED'],
    [
      'the form was changed',
      'form',
      { status: 200, body: '{"session":{"id":"SESSION1"},"order":{"id":"x"}}' },
      'SUCCESSFUL',
    ],
    ['the network is away', 'initiate', refusal('SERVER_BUSY'), 'SUCCESSFUL'],
    ['the form cannot be read', 'form', 'cuts', 'SUCCESSFUL'],
  ] as const)(
    'while nobody can say, and %s: no customer is told to pay another way',
    async (_name, asked, reply, issuer) => {
      const { paying, first, pays } = await earlier.turnedAway();
      network.took(first);
      network.instead('inquire', 'cuts');
      network.instead(asked, reply);
      network.issuer = issuer;
      expectRefusal(await submitCard(world, paying), 502, '1404', 'EARLIER_TRY_OPEN');
      expect(await statusOf(world, paying)).toBe('pending');
      network.instead('inquire', undefined);
      network.instead(asked, undefined);
      network.issuer = 'SUCCESSFUL';
      expect((await submitCard(world, paying)).json).toMatchObject({ status: 'approved' });
      expect(network.count('pay')).toBe(pays);
    },
  );
});
