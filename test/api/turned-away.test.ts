/**
 * A payment by phone whose carrier turned an attempt away, and may have taken it all the same: before another order is sent, for
 * that payment or for another of its session, the carrier is inquired at.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { setMerchantStatus } from '../../src/usecases/merchant-status.ts';
import { fillForm, openFormOf, submitCard } from '../support/card-payments.ts';
import { expectRefusal } from '../support/envelope.ts';
import { collect, collectWith, freshKey, numberEnding, payByPhone, payFromWallet, statusOf } from '../support/flows.ts';
import { rowsOf } from '../support/rows.ts';
import { openSecond, type Second, submitAt } from '../support/second-gateway.ts';
import { whileTimePasses } from '../support/waiting.ts';
import { type Said, TURNED_AWAY, type WaveringCarrier } from '../support/wavering-carrier.ts';
import { openWaveringDesk, type WaveringDesk } from '../support/wavering-desk.ts';
import type { World } from '../support/world.ts';

let desk: WaveringDesk;
let world: World;
let carrier: WaveringCarrier;
/** Another process of the same gateway. */
let elsewhere: Second;
beforeAll(async () => {
  desk = await openWaveringDesk();
  ({ world, carrier } = desk);
  elsewhere = await openSecond(world, world.clock, world.databaseUrl, { env: desk.env });
});
afterAll(async () => {
  await elsewhere.close();
  await desk.close();
});

test.each<[Said, string, string]>([
  ['SUCCESSFUL', 'processing', 'approved'],
  ['PENDING', 'pending_mobile_money_verification', 'pending_mobile_money_verification'],
])(
  'a turned-away attempt that the carrier reports as %s is not asked for again: the next submit is answered %s',
  async (said, answered, status) => {
    const { paying, first } = await desk.turnedAway();
    carrier.say(first.reference, said);
    const again = await payByPhone(world, paying, numberEnding('42'));
    expect(again.status, again.text).toBe(200);
    expect(again.json).toMatchObject({ status: answered, transaction_id: paying.transaction_id });
    expect(await statusOf(world, paying)).toBe(status);
    expect(await desk.attemptsOf(paying.transaction_id)).toHaveLength(1);
  },
);

test('a turned-away attempt is not asked for again while its carrier cannot tell, for the life of a prompt', async () => {
  const { paying, first } = await desk.turnedAway();
  carrier.say(first.reference, 'cannot_tell');
  const again = () => payByPhone(world, paying, numberEnding('42'));
  expectRefusal(await again(), 502, '1404', 'EARLIER_PROMPT_OPEN');
  expect(await statusOf(world, paying)).toBe('pending');
  await world.clock.advance(4 * 60_000);
  expectRefusal(await again(), 502, '1404', 'EARLIER_PROMPT_OPEN');
  expect(await desk.attemptsOf(paying.transaction_id)).toHaveLength(1);
  await world.clock.advance(60_000);
  expect((await again()).status).toBe(200);
  await desk.untilAttempt(paying.transaction_id, 1, 'waiting');
});

test('the life of a prompt is counted from when its call ended: a clock may have been set right while that was on its way', async () => {
  const { paying, first } = await desk.turnedAway();
  carrier.say(first.reference, 'cannot_tell');
  const slow = "update attempt set created_at = created_at - interval '6 minutes' where id = $1";
  await rowsOf(world, slow, [first.id]);
  expectRefusal(await payByPhone(world, paying, numberEnding('42')), 502, '1404', 'EARLIER_PROMPT_OPEN');
  expect(await desk.attemptsOf(paying.transaction_id)).toHaveLength(1);
});

test('a turned-away attempt is asked for again once its carrier says that it was not taken', async () => {
  const { paying, first } = await desk.turnedAway();
  carrier.say(first.reference, 'cannot_tell');
  expectRefusal(await payByPhone(world, paying, numberEnding('42')), 502, '1404', 'EARLIER_PROMPT_OPEN');
  carrier.say(first.reference, 'not_found');
  expect((await payByPhone(world, paying, numberEnding('42'))).status).toBe(200);
  await desk.untilAttempt(paying.transaction_id, 1, 'waiting');
  expect((await desk.attemptOf(paying.transaction_id, 0)).status).toBe('not_sent');
});

test('an attempt that another process had turned away is not asked for again either', async () => {
  const paying = await collect(world, await world.merchant(), { method: 'mobile_money' });
  carrier.answer(TURNED_AWAY);
  expect((await submitAt(elsewhere.url, paying, numberEnding('42'))).status).toBe(502);
  carrier.say((await desk.attemptOf(paying.transaction_id, 0)).reference, 'PENDING');
  expect((await whileTimePasses(world, payByPhone(world, paying, numberEnding('42')), 50)).status).toBe(200);
  expect(await desk.attemptsOf(paying.transaction_id)).toHaveLength(1);
});

test.each<[Said, number, string, string]>([
  ['PENDING', 200, 'pending_mobile_money_verification', 'waiting'],
  ['SUCCESSFUL', 400, '1110', 'approved'],
])(
  'if %s is heard of the first attempt while the next is turned away too, there is no third',
  async (said, http, answered, first) => {
    const { paying, first: attempt } = await desk.turnedAway();
    await world.clock.advance(1);
    carrier.answer(async () => {
      await desk.hearOf(attempt, said);
      return TURNED_AWAY;
    });
    expectRefusal(await payByPhone(world, paying, numberEnding('42')), 502, '1404');
    await world.clock.advance(1);
    const third = await payByPhone(world, paying, numberEnding('42'));
    expect([third.status, third.json.status ?? third.json.error_code], third.text).toEqual([http, answered]);
    expect((await desk.attemptsOf(paying.transaction_id)).map(({ status }) => status)).toEqual([first, 'not_sent']);
  },
);

test('a turned-away attempt that the carrier has taken is not asked for under another payment of its session', async () => {
  const { paying, first } = await desk.turnedAway();
  carrier.say(first.reference, 'PENDING');
  const other = { ...paying, ...(await collectWith(world, paying.token, 'mobile_money')) };
  const refused = await whileTimePasses(world, payByPhone(world, other, numberEnding('42')), 50);
  expectRefusal(refused, 401, '1001', 'SESSION_CONSUMED');
  expect(await desk.attemptsOf(other.transaction_id)).toEqual([]);
  expect(await statusOf(world, paying)).toBe('pending_mobile_money_verification');
  expect(await statusOf(world, other)).toBe('cancelled');
});

test('a payment whose sibling is paid while its carrier is inquired at is refused, and not answered as paid', async () => {
  const { paying, first } = await desk.turnedAway();
  const other = { ...paying, ...(await collectWith(world, paying.token, 'none')) };
  const wallet = await world.wallet();
  carrier.say(first.reference, 'PENDING');
  carrier.beforeWordOf(first.reference, async () => void (await payFromWallet(world, other, wallet)));
  const refused = await whileTimePasses(world, payByPhone(world, paying, numberEnding('42'), freshKey()), 50);
  expectRefusal(refused, 401, '1001', 'SESSION_CONSUMED');
  expect(await statusOf(world, other)).toBe('approved');
});

test('a payment whose merchant is suspended while its carrier is inquired at is not asked for', async () => {
  const merchant = await world.merchant();
  const { paying, first } = await desk.turnedAway(merchant);
  carrier.beforeWordOf(
    first.reference,
    async () => void (await setMerchantStatus(world.gateway.deps, merchant.merchant.id, 'SUSPENDED')),
  );
  expectRefusal(await payByPhone(world, paying, numberEnding('42')), 403, '1004');
  expect(await desk.attemptsOf(paying.transaction_id)).toHaveLength(1);
});

test('a payment is not asked for if another of its session is tried and taken during the inquiry', async () => {
  const { paying, first } = await desk.turnedAway();
  const other = { ...paying, ...(await collectWith(world, paying.token, 'mobile_money')) };
  carrier.beforeWordOf(first.reference, async () => {
    carrier.answer(TURNED_AWAY);
    await payByPhone(world, other, numberEnding('42'));
    carrier.say((await desk.attemptOf(other.transaction_id, 0)).reference, 'PENDING');
  });
  const refused = await whileTimePasses(world, payByPhone(world, paying, numberEnding('42')), 50);
  expectRefusal(refused, 401, '1001', 'SESSION_CONSUMED');
  expect(await desk.attemptsOf(paying.transaction_id)).toHaveLength(1);
  expect(await statusOf(world, other)).toBe('pending_mobile_money_verification');
});

test('a submit that is refused leaves its key to the run of another process that has begun meanwhile', async () => {
  const { paying, first } = await desk.turnedAway();
  const [key, msisdn] = [freshKey(), numberEnding('42')];
  let answer = (): void => undefined;
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  let running: ReturnType<typeof submitAt> | undefined;
  carrier.beforeWordOf(first.reference, async () => {
    const asked = new Promise<void>((resolve) => {
      carrier.answer(async () => {
        resolve();
        await answered;
        return { status: 202, body: '' };
      });
    });
    // The other process hears that nothing was taken, and asks for the money.
    running = submitAt(elsewhere.url, paying, msisdn, key);
    await asked;
    carrier.say(first.reference, 'cannot_tell');
  });
  try {
    expectRefusal(await payByPhone(world, paying, msisdn, key), 502, '1404', 'EARLIER_PROMPT_OPEN');
    expectRefusal(await payByPhone(world, paying, numberEnding('42'), key), 409, '1203', 'IDEMPOTENCY_BODY');
    await desk.hearOf(await desk.attemptOf(paying.transaction_id, 1), 'SUCCESSFUL');
    const again = await payByPhone(world, paying, msisdn, key);
    expect(again.status, again.text).toBe(200);
  } finally {
    answer();
  }
  const again = await payByPhone(world, paying, msisdn, key);
  expect(await running).toEqual({ status: 200, text: again.text });
});

test('of two turned-away attempts, the payment continues with the one that has paid', async () => {
  const { paying, first } = await desk.turnedAway();
  await world.clock.advance(1);
  carrier.answer(TURNED_AWAY);
  expectRefusal(await payByPhone(world, paying, numberEnding('42')), 502, '1404');
  carrier.say(first.reference, 'PENDING');
  carrier.say((await desk.attemptOf(paying.transaction_id, 1)).reference, 'SUCCESSFUL');
  expect((await payByPhone(world, paying, numberEnding('42'))).status).toBe(200);
  expect(await statusOf(world, paying)).toBe('approved');
});

test('an attempt that is known to be pending is inquired about, however many newer ones there are', async () => {
  const { paying, first } = await desk.turnedAway();
  for (let more = 0; more < 4; more += 1) {
    await world.clock.advance(1);
    carrier.answer(async () => {
      if (more === 3) await desk.hearOf(first, 'PENDING');
      return TURNED_AWAY;
    });
    expectRefusal(await payByPhone(world, paying, numberEnding('42')), 502, '1404', 'CARRIER_DOWN');
  }
  await world.clock.advance(1);
  expect((await payByPhone(world, paying, numberEnding('42'))).json.status).toBe('pending_mobile_money_verification');
  expect(await desk.attemptsOf(paying.transaction_id)).toHaveLength(5);
});

test('an attempt whose payment a card has ended holds up the session’s next payment, and is inquired about once', async () => {
  carrier.answer(TURNED_AWAY);
  const paying = await collect(world, await world.merchant(), { method: 'none' });
  expectRefusal(await payByPhone(world, paying, numberEnding('42')), 502, '1404', 'CARRIER_DOWN');
  const form = await openFormOf(world, paying);
  await fillForm(world, form, 'declined');
  expectRefusal(await submitCard(world, { ...paying, form }), 402, '1502');
  const other = { ...paying, ...(await collectWith(world, paying.token, 'mobile_money')) };
  const { reference } = await desk.attemptOf(paying.transaction_id, 0);
  carrier.say(reference, 'PENDING');
  const asked = carrier.asked([reference]);
  expectRefusal(await payByPhone(world, other, numberEnding('42')), 502, '1404', 'EARLIER_PROMPT_OPEN');
  expect(carrier.asked([reference]) - asked).toBe(1);
});

test('a submit makes four inquiries at most, however many attempts were turned away', async () => {
  const { paying } = await desk.turnedAway();
  for (let more = 0; more < 10; more += 1) {
    await world.clock.advance(1);
    carrier.answer(TURNED_AWAY);
    const references = (await desk.attemptsOf(paying.transaction_id)).map(({ reference }) => reference);
    const asked = carrier.asked(references);
    expectRefusal(await payByPhone(world, paying, numberEnding('42')), 502, '1404', 'CARRIER_DOWN');
    expect(carrier.asked(references) - asked).toBe(Math.min(4, more + 1));
  }
});
