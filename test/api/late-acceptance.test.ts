/**
 * A carrier turns a call away (503), and has taken it all the same, as it says later. Whatever is under way by then: nobody
 * is asked for money, or sent any, a second time where that can be known.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Reply } from '../../src/connectors/scripted-upstream.ts';
import type { Attempt } from '../../src/domain/records.ts';
import { bookLateMoney } from '../../src/usecases/attempt-book.ts';
import { callbackUrl } from '../../src/usecases/callback-url.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { setMerchantStatus } from '../../src/usecases/merchant-status.ts';
import { OperatorError } from '../../src/usecases/operator.ts';
import { cancelPayout } from '../../src/usecases/payout-cancel.ts';
import { openWorld, type World } from '../support/world.ts';
import { archive, growOld } from './archive-scenes.ts';
import { fillForm, openFormOf, submitCard } from './card-payments.ts';
import {
  bearerOf,
  collect,
  collectWith,
  expectRefusal,
  freshKey,
  numberEnding,
  payByPhone,
  payFromWallet,
  rowsOf,
  statusOf,
  until,
  whileTimePasses,
} from './flows.ts';
import { availableOf, commitBatch, lineNow, openPayer } from './payout-lines.ts';
import { attemptOf, callBack } from './phone-payments.ts';
import { minted, readBack, refund, refunded } from './refund-flows.ts';
import { openSecond, type Second, submitAt } from './second-gateway.ts';
import { openWaveringCarrier, type Said, type WaveringCarrier } from './wavering-carrier.ts';

const TURNED_AWAY: Reply = { status: 503, body: '' };
const NO_ANSWER: Reply = { status: 500, body: '' };

let carrier: WaveringCarrier;
let world: World;
/** Another process of the same gateway. */
let elsewhere: Second;
beforeAll(async () => {
  carrier = await openWaveringCarrier();
  const env = { MTN_MOMO_BASE_URL: carrier.url, RATE_LIMIT_SCALE: '0' };
  world = await openWorld({ env });
  elsewhere = await openSecond(world, world.clock, world.databaseUrl, env);
});
afterAll(async () => {
  await elsewhere.close();
  await world.close();
  await carrier.close();
});

type Tried = Pick<Attempt, 'shard' | 'id' | 'status' | 'reference' | 'connector'>;

function triesOf(order: string): Promise<Tried[]> {
  return rowsOf(
    world,
    'select shard, id, status, reference, connector from attempt where payment_id = $1 order by created_at, id',
    [order],
  );
}

async function tryOf(order: string, at: number): Promise<Tried> {
  const tried = (await triesOf(order))[at];
  if (tried === undefined) throw new Error(`no try ${at} has been made`);
  return tried;
}

/** Resolves when that try of the order stands so, while time passes. */
function untilTried(order: string, at: number, status: string): Promise<true> {
  return until(async () => {
    if ((await triesOf(order))[at]?.status === status) return true;
    await world.pass(5_000);
    return undefined;
  });
}

async function hearOf({ reference, ...tried }: Tried, said: Said): Promise<void> {
  carrier.say(reference, said);
  expect(await callBack(callbackUrl(world.gateway.deps, { ...tried, reference } as Attempt), {})).toBe(200);
}

/** Of an order's two tries the first was turned away, and accepted as we know by now; the second got no answer. */
async function acceptedBefore(order: string): Promise<{ readonly first: Tried; readonly second: Tried }> {
  await untilTried(order, 1, 'unknown');
  const [first, second] = [await tryOf(order, 0), await tryOf(order, 1)];
  carrier.say(second.reference, 'cannot_tell');
  await hearOf(first, 'PENDING');
  expect((await tryOf(order, 0)).status).toBe('waiting');
  return { first, second };
}

const passMinutes = async (count: number): Promise<void> => {
  for (let minutes = 0; minutes < count; minutes += 1) await world.pass(60_000);
};

describe('a payout line', () => {
  async function sentTwice() {
    const payer = await openPayer(world, 100_00n);
    carrier.answer(TURNED_AWAY, NO_ANSWER);
    const [line] = await commitBatch(world, payer, [{ msisdn: numberEnding('42') }]);
    return { payer, line, ...(await acceptedBefore(line.id)) };
  }

  test('that the second try has not brought waits for the first, and is neither sent nor called off', async () => {
    const { payer, line, first, second } = await sentTwice();
    // For ten minutes the carrier cannot say; then it has never heard of it.
    await passMinutes(10);
    carrier.say(second.reference, 'not_found');
    await untilTried(line.id, 1, 'not_sent');
    expect(await lineNow(world, line)).toMatchObject({ status: 'processing', attempt_id: first.id });
    await cancelPayout(world.gateway.deps, line.batch_id, { by: 'amina', why: 'a test' });
    await passMinutes(5);
    expect(await triesOf(line.id)).toHaveLength(2);
    carrier.say(first.reference, 'SUCCESSFUL');
    await until(async () => {
      await world.pass(60_000);
      return (await lineNow(world, line)).status === 'completed' ? true : undefined;
    });
    expect(await availableOf(world, payer)).toBe(89_90n);
  });

  test('that the second try was refused for waits for the first, and cannot be retried', async () => {
    const { payer, line, first, second } = await sentTwice();
    carrier.say(second.reference, 'FAILED');
    await untilTried(line.id, 1, 'declined');
    expect(await lineNow(world, line)).toMatchObject({ status: 'processing', attempt_id: first.id });
    const retry = () =>
      world.call('POST', `/internal/payouts/${line.batch_id}/retry`, { bearer: bearerOf(payer), body: {} });
    expectRefusal(await retry(), 409, '1205', 'NOT_RETRYABLE');
    // Neither has paid: now it has failed, and its money is back.
    carrier.say(first.reference, 'FAILED');
    await untilTried(line.id, 0, 'declined');
    expect((await lineNow(world, line)).status).toBe('failed');
    expect(await availableOf(world, payer)).toBe(100_00n);
    expect((await retry()).status).toBe(200);
  });
});

test('a refund whose second try was refused waits for the first: no more is given back than was paid', async () => {
  const merchant = await world.merchant();
  const paying = await collect(world, merchant, { method: 'mobile_money', minted });
  await payByPhone(world, paying, numberEnding('42'));
  await hearOf(await attemptOf(world, paying), 'SUCCESSFUL');
  expect(await statusOf(world, paying)).toBe('approved');
  carrier.answer(TURNED_AWAY, NO_ANSWER);
  const { refund_id } = await refunded(world, merchant, paying);
  const { first, second } = await acceptedBefore(refund_id);
  carrier.say(second.reference, 'FAILED');
  await untilTried(refund_id, 1, 'declined');
  expect((await readBack(world, merchant, refund_id)).status).toBe('processing');
  const again = await refund(world, merchant, { transaction_id: paying.transaction_id });
  expect(again.status, again.text).not.toBe(201);
  carrier.say(first.reference, 'SUCCESSFUL');
  await untilTried(refund_id, 0, 'approved');
  expect((await readBack(world, merchant, refund_id)).status).toBe('completed');
});

test('a payment that was declined, and paid by a carrier that calls nobody and was away for two days, is found', async () => {
  const paying = await collect(world, await world.merchant(), { method: 'mobile_money' });
  await payByPhone(world, paying, numberEnding('42'));
  const tried = await tryOf(paying.transaction_id, 0);
  await hearOf(tried, 'FAILED');
  expect(await statusOf(world, paying)).toBe('failed');
  carrier.say(tried.reference, 'cannot_tell');
  const passDay = async (): Promise<void> => {
    for (let hours = 0; hours < 24; hours += 3) await world.pass(3 * 60 * 60_000);
  };
  await passDay();
  await passDay();
  expect((await tryOf(paying.transaction_id, 0)).status).toBe('declined');
  carrier.say(tried.reference, 'SUCCESSFUL');
  await passDay();
  await passDay();
  expect((await attemptOf(world, paying)).reason).toBe('late_success');
});

describe('a payment whose submit was turned away', () => {
  async function turnedAway(merchant?: MerchantCreated) {
    carrier.answer(TURNED_AWAY);
    const paying = await collect(world, merchant ?? (await world.merchant()), { method: 'mobile_money' });
    const refused = await payByPhone(world, paying, numberEnding('42'));
    expectRefusal(refused, 502, '1404', 'CARRIER_DOWN');
    expect(await statusOf(world, paying)).toBe('pending');
    return { paying, first: await tryOf(paying.transaction_id, 0) };
  }

  test.each<[Said, string]>([
    ['SUCCESSFUL', 'approved'],
    ['PENDING', 'pending_mobile_money_verification'],
  ])('and that the carrier calls %s is %s, and is not submitted again', async (said, status) => {
    const { paying, first } = await turnedAway();
    await hearOf(first, said);
    expect(await statusOf(world, paying)).toBe(status);
    expectRefusal(await payByPhone(world, paying, numberEnding('42')), 401, '1001', 'SESSION_CONSUMED');
    expect(await triesOf(paying.transaction_id)).toHaveLength(1);
  });

  test.each<[Said, string, string]>([
    ['SUCCESSFUL', 'processing', 'approved'],
    ['PENDING', 'pending_mobile_money_verification', 'pending_mobile_money_verification'],
  ])(
    'and that the carrier would call %s is not asked for again: its next submit is answered %s',
    async (said, answered, status) => {
      const { paying, first } = await turnedAway();
      carrier.say(first.reference, said);
      const again = await payByPhone(world, paying, numberEnding('42'));
      expect(again.status, again.text).toBe(200);
      expect(again.json).toMatchObject({ status: answered, transaction_id: paying.transaction_id });
      expect(await statusOf(world, paying)).toBe(status);
      expect(await triesOf(paying.transaction_id)).toHaveLength(1);
    },
  );

  test('is not asked for again while its carrier cannot say, as long as a prompt lives', async () => {
    const { paying, first } = await turnedAway();
    carrier.say(first.reference, 'cannot_tell');
    const again = () => payByPhone(world, paying, numberEnding('42'));
    expectRefusal(await again(), 502, '1404', 'EARLIER_PROMPT_OPEN');
    expect(await statusOf(world, paying)).toBe('pending');
    await world.clock.advance(4 * 60_000);
    expectRefusal(await again(), 502, '1404', 'EARLIER_PROMPT_OPEN');
    expect(await triesOf(paying.transaction_id)).toHaveLength(1);
    await world.clock.advance(60_000);
    expect((await again()).status).toBe(200);
    await untilTried(paying.transaction_id, 1, 'waiting');
  });

  test('is asked for again once its carrier says that it was not taken', async () => {
    const { paying, first } = await turnedAway();
    carrier.say(first.reference, 'cannot_tell');
    expectRefusal(await payByPhone(world, paying, numberEnding('42')), 502, '1404', 'EARLIER_PROMPT_OPEN');
    carrier.say(first.reference, 'not_found');
    expect((await payByPhone(world, paying, numberEnding('42'))).status).toBe(200);
    await untilTried(paying.transaction_id, 1, 'waiting');
    expect((await tryOf(paying.transaction_id, 0)).status).toBe('not_sent');
  });

  test('by another process is not asked for again either', async () => {
    const paying = await collect(world, await world.merchant(), { method: 'mobile_money' });
    carrier.answer(TURNED_AWAY);
    expect((await submitAt(elsewhere.url, paying, numberEnding('42'))).status).toBe(502);
    carrier.say((await tryOf(paying.transaction_id, 0)).reference, 'PENDING');
    expect((await whileTimePasses(world, payByPhone(world, paying, numberEnding('42')), 50)).status).toBe(200);
    expect(await triesOf(paying.transaction_id)).toHaveLength(1);
  });

  test.each<[Said, number, string, string]>([
    ['PENDING', 200, 'pending_mobile_money_verification', 'waiting'],
    ['SUCCESSFUL', 400, '1110', 'approved'],
  ])(
    'and of which %s is heard while the next try is turned away too is not asked for a third time',
    async (said, http, answered, first) => {
      const { paying, first: tried } = await turnedAway();
      await world.clock.advance(1);
      carrier.answer(async () => {
        await hearOf(tried, said);
        return TURNED_AWAY;
      });
      expectRefusal(await payByPhone(world, paying, numberEnding('42')), 502, '1404');
      await world.clock.advance(1);
      const third = await payByPhone(world, paying, numberEnding('42'));
      expect([third.status, third.json.status ?? third.json.error_code], third.text).toEqual([http, answered]);
      expect((await triesOf(paying.transaction_id)).map(({ status }) => status)).toEqual([first, 'not_sent']);
    },
  );

  test('and that the carrier has taken is not asked for under another payment of its session', async () => {
    const { paying, first } = await turnedAway();
    carrier.say(first.reference, 'PENDING');
    const other = { ...paying, ...(await collectWith(world, paying.token, 'mobile_money')) };
    const refused = await whileTimePasses(world, payByPhone(world, other, numberEnding('42')), 50);
    expectRefusal(refused, 401, '1001', 'SESSION_CONSUMED');
    expect(await triesOf(other.transaction_id)).toEqual([]);
    expect(await statusOf(world, paying)).toBe('pending_mobile_money_verification');
    expect(await statusOf(world, other)).toBe('cancelled');
  });

  test('and whose session a sibling pays while its carrier is asked is refused, and not answered as paid', async () => {
    const { paying, first } = await turnedAway();
    const other = { ...paying, ...(await collectWith(world, paying.token, 'none')) };
    const wallet = await world.wallet();
    carrier.say(first.reference, 'PENDING');
    carrier.beforeWordOf(first.reference, async () => void (await payFromWallet(world, other, wallet)));
    const refused = await whileTimePasses(world, payByPhone(world, paying, numberEnding('42'), freshKey()), 50);
    expectRefusal(refused, 401, '1001', 'SESSION_CONSUMED');
    expect(await statusOf(world, other)).toBe('approved');
  });

  test('and whose merchant is suspended while its carrier is asked is not asked for', async () => {
    const merchant = await world.merchant();
    const { paying, first } = await turnedAway(merchant);
    carrier.beforeWordOf(
      first.reference,
      async () => void (await setMerchantStatus(world.gateway.deps, merchant.merchant.id, 'SUSPENDED')),
    );
    expectRefusal(await payByPhone(world, paying, numberEnding('42')), 403, '1004');
    expect(await triesOf(paying.transaction_id)).toHaveLength(1);
  });

  test('while another payment of its session is tried, and taken, is not asked for beside that', async () => {
    const { paying, first } = await turnedAway();
    const other = { ...paying, ...(await collectWith(world, paying.token, 'mobile_money')) };
    carrier.beforeWordOf(first.reference, async () => {
      carrier.answer(TURNED_AWAY);
      await payByPhone(world, other, numberEnding('42'));
      carrier.say((await tryOf(other.transaction_id, 0)).reference, 'PENDING');
    });
    const refused = await whileTimePasses(world, payByPhone(world, paying, numberEnding('42')), 50);
    expectRefusal(refused, 401, '1001', 'SESSION_CONSUMED');
    expect(await triesOf(paying.transaction_id)).toHaveLength(1);
    expect(await statusOf(world, other)).toBe('pending_mobile_money_verification');
  });

  test('goes on with that of two tries which has paid', async () => {
    const { paying, first } = await turnedAway();
    await world.clock.advance(1);
    carrier.answer(TURNED_AWAY);
    expectRefusal(await payByPhone(world, paying, numberEnding('42')), 502, '1404');
    carrier.say(first.reference, 'PENDING');
    carrier.say((await tryOf(paying.transaction_id, 1)).reference, 'SUCCESSFUL');
    expect((await payByPhone(world, paying, numberEnding('42'))).status).toBe(200);
    expect(await statusOf(world, paying)).toBe('approved');
  });

  test('and is known to wait is asked about behind however many newer ones', async () => {
    const { paying, first } = await turnedAway();
    for (let more = 0; more < 4; more += 1) {
      await world.clock.advance(1);
      carrier.answer(async () => {
        if (more === 3) await hearOf(first, 'PENDING');
        return TURNED_AWAY;
      });
      expectRefusal(await payByPhone(world, paying, numberEnding('42')), 502, '1404', 'CARRIER_DOWN');
    }
    await world.clock.advance(1);
    expect((await payByPhone(world, paying, numberEnding('42'))).json.status).toBe('pending_mobile_money_verification');
    expect(await triesOf(paying.transaction_id)).toHaveLength(5);
  });

  test('and whose payment a card has ended holds up the session’s next one, and its carrier is asked once', async () => {
    carrier.answer(TURNED_AWAY);
    const paying = await collect(world, await world.merchant(), { method: 'none' });
    expectRefusal(await payByPhone(world, paying, numberEnding('42')), 502, '1404', 'CARRIER_DOWN');
    const form = await openFormOf(world, paying);
    await fillForm(world, form, 'declined');
    expectRefusal(await submitCard(world, { ...paying, form }), 402, '1502');
    const other = { ...paying, ...(await collectWith(world, paying.token, 'mobile_money')) };
    const { reference } = await tryOf(paying.transaction_id, 0);
    carrier.say(reference, 'PENDING');
    const asked = carrier.asked([reference]);
    expectRefusal(await payByPhone(world, other, numberEnding('42')), 502, '1404', 'EARLIER_PROMPT_OPEN');
    expect(carrier.asked([reference]) - asked).toBe(1);
  });

  test('costs its carrier no more than four questions a try, however often that is turned away', async () => {
    const { paying } = await turnedAway();
    for (let more = 0; more < 10; more += 1) {
      await world.clock.advance(1);
      carrier.answer(TURNED_AWAY);
      const references = (await triesOf(paying.transaction_id)).map(({ reference }) => reference);
      const asked = carrier.asked(references);
      expectRefusal(await payByPhone(world, paying, numberEnding('42')), 502, '1404', 'CARRIER_DOWN');
      expect(carrier.asked(references) - asked).toBe(Math.min(4, more + 1));
    }
  });

  const bookToMerchant = ({ id }: Tried) =>
    bookLateMoney(world.gateway.deps, id, { to: 'merchant', by: 'amina', why: 'a test' });

  /** Submitted again, refused, and then paid by both tries: too late. */
  async function paidLateTwice() {
    const { paying, first } = await turnedAway();
    await world.clock.advance(1);
    expect((await payByPhone(world, paying, numberEnding('42'))).status).toBe(200);
    const second = await tryOf(paying.transaction_id, 1);
    await hearOf(second, 'FAILED');
    expect(await statusOf(world, paying)).toBe('failed');
    for (const tried of [first, second]) await hearOf(tried, 'SUCCESSFUL');
    return { first, second };
  }

  /** Its session was paid from a wallet, and then it was paid too. */
  async function paidOtherwise() {
    const { paying, first } = await turnedAway();
    const other = { ...paying, ...(await collectWith(world, paying.token, 'none')) };
    expect((await payFromWallet(world, other, await world.wallet())).json.status).toBe('approved');
    expect(await statusOf(world, paying)).toBe('cancelled');
    await hearOf(first, 'SUCCESSFUL');
    return first;
  }

  test('and that has failed is its merchant’s once, whichever of its tries paid late', async () => {
    const { first, second } = await paidLateTwice();
    const booked = await Promise.allSettled([first, second].map(bookToMerchant));
    expect(booked.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    for (const tried of [first, second]) await expect(bookToMerchant(tried)).rejects.toThrow(OperatorError);
  });

  test('and whose session has paid otherwise is not its merchant’s a second time', async () => {
    await expect(bookToMerchant(await paidOtherwise())).rejects.toThrow('was paid by');
  });

  test('and that has failed is its merchant’s once, also when years have passed', async () => {
    const { first, second } = await paidLateTwice();
    await bookToMerchant(first);
    await growOld(world);
    await archive(world);
    await expect(bookToMerchant(second)).rejects.toThrow(`was paid by ${first.id}`);
  });

  test('and whose session paid otherwise years ago is not its merchant’s, nor is one that left as its money came', async () => {
    const first = await paidOtherwise();
    await world.gateway.courier.idle();
    await growOld(world);
    await archive(world);
    await expect(bookToMerchant(first)).rejects.toThrow('was paid by');
    await rowsOf(
      world,
      `with gone as (delete from payment where id = (select payment_id from attempt where id = $1) returning *)
       insert into archive.payment select * from gone`,
      [first.id],
    );
    await expect(bookToMerchant(first)).rejects.toThrow('has been archived: give it back');
    await bookLateMoney(world.gateway.deps, first.id, { to: 'payer', by: 'amina', why: 'a test' });
  });
});
