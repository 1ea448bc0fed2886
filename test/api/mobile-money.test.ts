/** Payments by phone from collect to webhook, for each ending of a number, against the carrier's own book (contract §11). */

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { callbackUrl } from '../../src/usecases/callback-url.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { expectRefusal } from '../support/envelope.ts';
import {
  answerPrompt,
  collect,
  collectWith,
  debitsOf,
  detailOf,
  hooksAbout,
  mobileStatusOf,
  numberEnding,
  payByPhone,
  phoneState,
  statusOf,
  untilStatus,
} from '../support/flows.ts';
import { attemptOf, callBack, expectBooksAgree, onlyHook, pushed } from '../support/phone-payments.ts';
import { openSecond, submitAt } from '../support/second-gateway.ts';
import { until } from '../support/waiting.ts';
import { mint, openWorld, type World } from '../support/world.ts';

let world: World;
let merchant: MerchantCreated;

beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
  merchant = await world.merchant();
});
afterEach(() => world.sandbox.faults.clear());
afterAll(() => world.close());

describe('numbers that decide by themselves', () => {
  test('01 pays after a second: shown, told by one webhook, debited once', async () => {
    const paying = await pushed(world, merchant, '01');
    const before = await mobileStatusOf(world, paying);
    expect(before).toMatchObject({
      status_code: 200,
      data: { status: 'processing', payment_info: null },
    });
    expect(before.data.progress).toBeGreaterThan(0);
    expect(before.data.progress).toBeLessThan(100);
    expect(Date.parse(before.data.estimated_completion)).toBeGreaterThan(world.clock.now());

    await untilStatus(world, paying, 'approved');
    const hook = await onlyHook(world, paying);
    const detail = await detailOf(world, paying);
    expect(hook.body).toEqual({
      transaction_id: paying.transaction_id,
      customer_reference: paying.reference,
      status: 'approved',
      amount: '12.50',
      currency: 'usd',
      completed_at: detail.completed_at,
    });
    expect(detail.timeline.map((line: { status: string }) => line.status)).toEqual([
      'pending',
      'processing',
      'pending_mobile_money_verification',
      'approved',
    ]);
    const after = await mobileStatusOf(world, paying);
    expect(after.data).toMatchObject({
      status: 'completed',
      progress: 100,
      payment_info: {
        carrier: 'Vodacom M-Pesa',
        amount: '12.50',
        currency: 'usd',
        completed_at: detail.completed_at,
        reason: null,
      },
    });
    expect(after.data.payment_info.provider_reference).toBe(after.data.provider_reference);
    expect(after.data.provider_reference).toMatch(/\S/);
    const shown = after.data.payment_info.phone_number;
    expect(shown).toMatch(/^\+243 81.*01$/);
    expect(shown.replaceAll(/\D/g, '')).not.toBe(paying.msisdn.slice(1));
    expect(debitsOf(world, paying.msisdn)).toMatchObject([{ amount: '12.50', currency: 'usd', times: 1 }]);
  });

  test.each([
    ['02', 'failed', { reason: 'insufficient_funds' }],
    ['03', 'cancelled', null],
  ])('%s ends as %s, and nothing is taken', async (ending, status, payment_info) => {
    const paying = await pushed(world, merchant, ending);
    await untilStatus(world, paying, status);
    expect((await onlyHook(world, paying)).body.status).toBe(status);
    const { data } = await mobileStatusOf(world, paying);
    expect(data).toMatchObject({ status, progress: 100, payment_info });
    expect(debitsOf(world, paying.msisdn)).toEqual([]);
  });

  test('04 never answers: the payment waits for the life of the prompt, and has then expired', async () => {
    const paying = await pushed(world, merchant, '04');
    await world.pass(20_000, 10);
    expect(await statusOf(world, paying)).toBe('pending_mobile_money_verification');
    await untilStatus(world, paying, 'expired', 20_000);
    expect((await onlyHook(world, paying)).body.status).toBe('expired');
    expect((await mobileStatusOf(world, paying)).data).toMatchObject({
      status: 'failed',
      payment_info: { reason: 'prompt_expired' },
    });
    expect(debitsOf(world, paying.msisdn)).toEqual([]);
  });

  test('05: the answer is lost. The payment stays processing until the carrier says otherwise; it is debited once', async () => {
    // No callback arrives by itself: one payment is found by inquiry, the other one's callback is sent by hand. The
    // gateway that calls the carrier uses the world's clock, so that the test need not wait.
    const second = await openSecond(world, world.clock);
    world.sandbox.faults.set('mtn', { lose_callback_rate: 1 });
    const [asked, called] = await Promise.all([collect(world, merchant), collect(world, merchant)]);
    const numbers = [numberEnding('05'), numberEnding('05')] as const;
    const submits = [submitAt(second.url, asked, numbers[0]), submitAt(second.url, called, numbers[1])] as const;
    for (const msisdn of numbers) {
      await until(async () => ((await phoneState(world, msisdn)).prompts.length > 0 ? true : undefined));
    }
    await world.pass(1_000);
    for (const msisdn of numbers) expect(debitsOf(world, msisdn)).toHaveLength(1);

    // The carrier calls back before our own call has ended.
    const url = callbackUrl(world.gateway.deps, await attemptOf(world, called));
    expect(await callBack(url, { status: 'SUCCESSFUL' })).toBe(200);
    expect(await statusOf(world, called)).toBe('approved');

    await world.pass(10_000);
    const [first, last] = (await Promise.all(submits)).map(({ text }) => JSON.parse(text));
    expect(first).toMatchObject({ success: true, status: 'processing' });
    // Paid already, as status and webhook show: a submit by phone still answers that it is in progress.
    expect(last).toMatchObject({ success: true, status: 'processing' });
    expect(await statusOf(world, called)).toBe('approved');
    await second.close();
    expectRefusal(await payByPhone(world, asked, numberEnding('01')), 401, '1001', 'SESSION_CONSUMED');
    expect((await mobileStatusOf(world, asked)).data.status).toBe('processing');

    await untilStatus(world, asked, 'approved');
    for (const [at, paying] of [asked, called].entries()) {
      expect((await onlyHook(world, paying)).body.status).toBe('approved');
      expect(debitsOf(world, numbers[at] ?? '')).toMatchObject([{ times: 1 }]);
    }
  });

  test('06: the carrier is down. 1404, the session stays ACTIVE, the payment pending; another number pays', async () => {
    const paying = await collect(world, merchant, { method: 'mobile_money' });
    const refused = await payByPhone(world, paying, numberEnding('06'));
    expectRefusal(refused, 502, '1404', 'CARRIER_DOWN');
    expect(refused.json).toMatchObject({ retryable: true, transaction_id: paying.transaction_id });
    expect(await statusOf(world, paying)).toBe('pending');
    expect(hooksAbout(world, paying.transaction_id)).toEqual([]);
    // The session may still collect, too.
    await collectWith(world, paying.token);

    const other = numberEnding('01');
    const submitted = await payByPhone(world, paying, other);
    expect(submitted.json, submitted.text).toMatchObject({ status: 'pending_mobile_money_verification' });
    await untilStatus(world, paying, 'approved');
    expect((await onlyHook(world, paying)).body.status).toBe('approved');
    expect(debitsOf(world, other)).toMatchObject([{ times: 1 }]);
  });

  test.each([
    [404, 'PAYER_NOT_FOUND', 400, '1103', 'PAYER_UNKNOWN', 'payer_unknown'],
    [500, 'PAYER_NOT_FOUND', 400, '1103', 'PAYER_UNKNOWN', 'payer_unknown'],
    [400, 'BAD_REQUEST', 502, '1404', 'CARRIER_REFUSES', 'not_sent'],
    [400, 'INVALID_CURRENCY', 502, '1404', 'CARRIER_REFUSES', 'not_sent'],
    [500, 'NOT_ALLOWED_TARGET_ENVIRONMENT', 502, '1404', 'CARRIER_REFUSES', 'not_sent'],
  ])(
    'a carrier that refuses for good (%i %s) is not called down, and sending it again is not advised',
    async (status, code, http, error, detail, reason) => {
      const paying = await collect(world, merchant, { method: 'mobile_money' });
      const msisdn = numberEnding('01');
      world.sandbox.faults.set('mtn', { refusal: { status, code } });
      const refused = await payByPhone(world, paying, msisdn);
      expectRefusal(refused, http, error, detail);
      expect(refused.json).toMatchObject({ retryable: false, retry_after: null });
      expect(refused.json.message).toContain('Vodacom M-Pesa');
      expect(operatorCalled(code)).toBe(detail === 'CARRIER_REFUSES');
      const { timeline, ...detailed } = await detailOf(world, paying);
      expect(detailed.status).toBe('pending');
      expect(timeline.at(-1)).toMatchObject({ status: 'pending', reason });

      // Nothing was taken: another submit of the same payment pays, once.
      world.sandbox.faults.clear();
      expect((await payByPhone(world, paying, msisdn)).status).toBe(200);
      await untilStatus(world, paying, 'approved');
      expect(debitsOf(world, msisdn)).toMatchObject([{ times: 1 }]);
    },
  );

  test('07: three callbacks, out of order, are one event', async () => {
    const before = callbacksLogged();
    const paying = await pushed(world, merchant, '07');
    await untilStatus(world, paying, 'approved');
    await until(async () => ((await statusOf(world, paying)) && callbacksLogged() >= before + 3 ? true : undefined));
    expect((await onlyHook(world, paying)).body.status).toBe('approved');
    expect(debitsOf(world, paying.msisdn)).toMatchObject([{ times: 1 }]);
  });

  test('08: no callback comes, an inquiry finds the result', async () => {
    const before = callbacksLogged();
    const paying = await pushed(world, merchant, '08');
    await untilStatus(world, paying, 'approved');
    expect((await onlyHook(world, paying)).body.status).toBe('approved');
    expect(callbacksLogged()).toBe(before);
    expect(debitsOf(world, paying.msisdn)).toMatchObject([{ times: 1 }]);
  });

  test('05 by a cut connection: the same, without the wait', async () => {
    // Fetches a token first, so that only the request to pay loses its answer.
    await pushed(world, merchant, '01');
    world.sandbox.faults.set('mtn', { answer_lost_rate: 1, lose_callback_rate: 1 });
    const paying = await collect(world, merchant);
    const msisdn = numberEnding('01');
    expect((await payByPhone(world, paying, msisdn)).json).toMatchObject({ status: 'processing' });
    world.sandbox.faults.clear();
    await untilStatus(world, paying, 'approved');
    expect(debitsOf(world, msisdn)).toMatchObject([{ times: 1 }]);
  });
});

/** Whether the log calls the operator about that refusal of the carrier. */
function operatorCalled(code: string): boolean {
  return world.log.lines.some((line) => line.includes('mtn_momo_operator_needed') && line.includes(code));
}

/** How many of the carriers' callbacks the gateway has answered. */
function callbacksLogged(): number {
  return world.log.lines.filter((line) => line.includes('/upstream/:connector/:segment')).length;
}

describe('a number that waits for its owner', () => {
  test('approved on the phone', async () => {
    const paying = await pushed(world, merchant, '42');
    expect((await phoneState(world, paying.msisdn)).prompts).toMatchObject([
      { amount: '12.50', currency: 'usd', status: 'pending' },
    ]);
    expect(await answerPrompt(world, paying.msisdn, 'approve')).toBe(200);
    await untilStatus(world, paying, 'approved');
    expect((await onlyHook(world, paying)).body.status).toBe('approved');
    expect(debitsOf(world, paying.msisdn)).toMatchObject([{ times: 1 }]);
  });

  test('rejected on the phone', async () => {
    const paying = await pushed(world, merchant, '42');
    expect(await answerPrompt(world, paying.msisdn, 'reject')).toBe(200);
    await untilStatus(world, paying, 'cancelled');
    expect((await mobileStatusOf(world, paying)).data).toMatchObject({ status: 'cancelled', payment_info: null });
    expect((await detailOf(world, paying)).timeline.at(-1)).toMatchObject({ reason: 'customer_rejected' });
    expect(debitsOf(world, paying.msisdn)).toEqual([]);
  });

  test('a wrong PIN leaves the prompt open, three end it', async () => {
    const paying = await pushed(world, merchant, '42');
    expect(await answerPrompt(world, paying.msisdn, 'approve', '1111')).toBe(400);
    await world.pass(10_000);
    expect(await statusOf(world, paying)).toBe('pending_mobile_money_verification');
    for (const pin of ['2222', '3333']) await answerPrompt(world, paying.msisdn, 'approve', pin);
    await untilStatus(world, paying, 'failed');
    expect((await mobileStatusOf(world, paying)).data).toMatchObject({ payment_info: { reason: 'wrong_pin' } });
    expect(debitsOf(world, paying.msisdn)).toEqual([]);
  });

  test('nobody answers: it expires when the prompt does, and is told once', async () => {
    const paying = await pushed(world, merchant, '42');
    await untilStatus(world, paying, 'expired', 60_000);
    expect((await onlyHook(world, paying)).body.status).toBe('expired');
    expect(await answerPrompt(world, paying.msisdn, 'approve')).toBe(409);
    expect(debitsOf(world, paying.msisdn)).toEqual([]);
  });

  test('a prompt that outlives its session can still be answered, and pays', async () => {
    const paying = await pushed(world, merchant, '42', { ttl_seconds: 60 });
    const { token } = await mint(world, merchant);
    await world.pass(120_000);
    expect(await answerPrompt(world, paying.msisdn, 'approve')).toBe(200);
    await untilStatus(world, { ...paying, token }, 'approved');
  });
});

describe('pairings that cannot work (1103)', () => {
  test('a carrier that does not take the currency: the message names the currencies that it takes', async () => {
    const paying = await collect(world, merchant, { minted: { amount: '500.00', currency: 'kes' } });
    const refused = await payByPhone(world, paying, '+243810000042');
    expectRefusal(refused, 400, '1103', 'CARRIER_CURRENCY');
    expect(refused.json.details[0].field).toBe('mobile_money_phone_number');
    expect(refused.json.message).toContain('Vodacom M-Pesa');
    expect(refused.json.message.toLowerCase()).toContain('usd, cdf');
    expect(await statusOf(world, paying)).toBe('pending');
  });

  test('a number of no carrier: the message names carriers and countries that take the currency', async () => {
    const paying = await collect(world, merchant);
    const refused = await payByPhone(world, paying, '+33612345678');
    expectRefusal(refused, 400, '1103', 'NO_CARRIER');
    expect(refused.json.message).toContain('Vodacom M-Pesa (CD)');
    expect(refused.text).not.toContain('612345678');
  });

  test('another country’s currency is paid by that country’s carriers', async () => {
    for (const [currency, amount, msisdn] of [
      ['ugx', '5000', '+256772123401'],
      ['xof', '1500', '+2250505123401'],
      ['cdf', '25000.00', '+243971234501'],
    ] as const) {
      const paying = await collect(world, merchant, { minted: { amount, currency } });
      expect((await payByPhone(world, paying, msisdn)).json).toMatchObject({ amount, currency });
      await untilStatus(world, paying, 'approved');
      expect(debitsOf(world, msisdn)).toMatchObject([{ amount, currency, times: 1 }]);
    }
  });

  test('a missing number is 1109, an impossible one 1110; no request is sent', async () => {
    const paying = await collect(world, merchant, { method: 'mobile_money' });
    const submit = (more: Record<string, unknown>) =>
      world.call('POST', '/payments/submit', {
        bearer: paying.token,
        body: { payment_id: paying.payment_id, payment_method_id: 'mobile_money', ...more },
      });
    expectRefusal(await submit({}), 400, '1109', 'REQUIRED');
    for (const mobile_money_phone_number of ['0810000042', '+243', '+24399', 'abc', '+999123456789']) {
      expectRefusal(await submit({ mobile_money_phone_number }), 400, '1110', 'INVALID_PHONE_NUMBER');
    }
    expect(await statusOf(world, paying)).toBe('pending');
  });
});

test('the books balance after all of this: ours, and ours against the carrier’s', async () => {
  await expectBooksAgree(world, merchant);
});
