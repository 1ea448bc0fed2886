/** Card payments from collect to webhook, with and without the issuer's challenge, against the network's own book. */

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openCardForm } from '../../src/usecases/card-form.ts';
import { setFee } from '../../src/usecases/fee-set.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import {
  answerChallenge,
  type CardName,
  capturesOf,
  challenged,
  collectByCard,
  collectCardWith,
  fillForm,
  readyToPay,
  submitCard,
} from '../support/card-payments.ts';
import { expectRefusal } from '../support/envelope.ts';
import { collect, collectWith, detailOf, hooksAbout, payFromWallet, statusOf, untilStatus } from '../support/flows.ts';
import { attemptOf, onlyHook } from '../support/phone-payments.ts';
import { expectNothingWritten } from '../support/rows.ts';
import { openSecond } from '../support/second-gateway.ts';
import { whileTimePasses } from '../support/waiting.ts';
import { collectBody, mint, openWorld, type World } from '../support/world.ts';

let world: World;
let merchant: MerchantCreated;

beforeAll(async () => {
  world = await openWorld();
  merchant = await world.merchant();
});
afterEach(() => world.sandbox.faults.clear());
afterAll(async () => {
  expect((await world.gateway.store.auditAll()).findings).toEqual([]);
  await world.close();
});

async function balance(): Promise<bigint> {
  const { shard, id } = merchant.merchant;
  const account = await world.gateway.store.account.get(shard, `${id}:available:usd`);
  return account?.balance ?? 0n;
}

describe('without a challenge', () => {
  test('the answer to the submit is final: approved, told by one webhook, debited once, credited to the merchant', async () => {
    const before = await balance();
    const paying = await collectByCard(world, merchant);
    expect(paying.form).toMatch(/^SESSION/);
    await fillForm(world, paying.form, 'frictionless');
    const paid = await submitCard(world, paying);
    expect(paid.status, paid.text).toBe(200);
    expect(paid.json).toMatchObject({
      success: true,
      status: 'approved',
      transaction_id: paying.transaction_id,
      payment_id: paying.payment_id,
      amount: '12.50',
      currency: 'usd',
      summary_code: 'lok000',
    });
    expect(paid.json.redirect_url).toBeUndefined();
    expect(capturesOf(world, paying)).toMatchObject([{ amount: '12.50', currency: 'usd', times: 1 }]);
    expect((await onlyHook(world, paying)).body).toMatchObject({ status: 'approved', amount: '12.50' });
    const detail = await detailOf(world, paying);
    expect(detail.payment_method).toBe('card');
    expect(detail.timeline.map((line: { status: string }) => line.status)).toEqual([
      'pending',
      'processing',
      'approved',
    ]);
    expect(await balance()).toBe(before + 12_50n);
    expect(await attemptOf(world, paying)).toMatchObject({
      status: 'approved',
      three_ds_status: 'AUTHENTICATION_SUCCESSFUL',
      eci: '02',
      challenge: null,
    });
    // The session is consumed.
    expectRefusal(await submitCard(world, paying), 401, '1001', 'SESSION_CONSUMED');
  });

  test('a card without 3-D Secure is paid as the network recommends', async () => {
    const paying = await readyToPay(world, merchant, 'not_enrolled');
    expect((await submitCard(world, paying)).json).toMatchObject({ status: 'approved' });
    expect((await attemptOf(world, paying)).three_ds_status).toBe('AUTHENTICATION_NOT_SUPPORTED');
  });

  test('the buyer’s fee is charged to the card, whether the form was opened at collect or on the page', async () => {
    const { deps } = world.gateway;
    const shop = await world.merchant('Librairie Goma');
    const fee = { rate: '2', fixed: 0n, min: undefined, max: undefined, currency: 'usd', method: 'card' } as const;
    await setFee(deps, { merchantId: shop.merchant.id, ...fee });
    const paying = await readyToPay(world, shop, 'frictionless');
    expect((await submitCard(world, paying)).json).toMatchObject({ status: 'approved', total_amount: '12.75' });
    expect(capturesOf(world, paying)).toMatchObject([{ amount: '12.75', times: 1 }]);

    const open = await collect(world, shop);
    const payment = await deps.store.payment.get(shop.merchant.shard, open.transaction_id);
    const session = await deps.store.session.caller(shop.merchant.shard, payment?.session_id ?? '');
    const merchant = await deps.store.merchant.get(shop.merchant.shard, shop.merchant.id);
    if (session === undefined || merchant === undefined) throw new Error('the rows are there');
    const caller = { kind: 'session', session, merchant, fingerprint: undefined } as const;
    const first = await openCardForm(deps, caller, open.transaction_id);
    const second = await openCardForm(deps, caller, open.transaction_id);
    await fillForm(world, second.hosted_session_id ?? '', 'frictionless');
    const form = (which: typeof first): string => which.hosted_session_id ?? '';
    expectRefusal(await submitCard(world, { ...open, form: form(first) }), 400, '1110', 'OTHER_CARD_FORM');
    const paid = await submitCard(world, { ...open, form: form(second) });
    expect(paid.json, paid.text).toMatchObject({ status: 'approved', fee_amount: '0.25', total_amount: '12.75' });
    expect(capturesOf(world, open)).toMatchObject([{ amount: '12.75', times: 1 }]);
  });

  test('the same key and body get the same bytes, and pay once', async () => {
    const paying = await readyToPay(world, merchant, 'frictionless');
    const headers = { 'idempotency-key': `card-${paying.transaction_id}` };
    const [first, second] = await Promise.all([
      submitCard(world, paying, { headers }),
      submitCard(world, paying, { headers }),
    ]);
    const third = await submitCard(world, paying, { headers });
    for (const answer of [first, second, third]) {
      expect({ status: answer.status, text: answer.text }).toEqual({ status: 200, text: first.text });
    }
    expect(capturesOf(world, paying)).toMatchObject([{ times: 1 }]);
  });

  test('twenty submits at once pay once', async () => {
    const paying = await readyToPay(world, merchant, 'frictionless');
    const answers = await whileTimePasses(
      world,
      Promise.all(Array.from({ length: 20 }, () => submitCard(world, paying))),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 200)) expectRefusal(answer, 401, '1001');
    expect(capturesOf(world, paying)).toMatchObject([{ times: 1 }]);
    await onlyHook(world, paying);
  });
});

describe('declined at once', () => {
  test.each<[CardName, string, string]>([
    ['declined', 'CARD_DECLINED', 'card_declined'],
    ['no_funds', 'CARD_FUNDS', 'card_funds'],
    ['expired', 'CARD_EXPIRED', 'card_expired'],
    ['rejected', 'AUTHENTICATION_FAILED', 'authentication_failed'],
  ])('%s: 1502, final, told, and the session can pay another payment', async (card, code, reason) => {
    const paying = await readyToPay(world, merchant, card);
    const headers = { 'idempotency-key': `declined-${paying.transaction_id}` };
    const refused = await submitCard(world, paying, { headers });
    expectRefusal(refused, 402, '1502', code);
    expect(refused.json).toMatchObject({ transaction_id: paying.transaction_id, retryable: false });
    expect((await submitCard(world, paying, { headers })).text).toBe(refused.text);
    expect(await statusOf(world, paying)).toBe('declined');
    expect((await onlyHook(world, paying)).body.status).toBe('declined');
    const { timeline } = await detailOf(world, paying);
    expect(timeline.at(-1)).toMatchObject({ status: 'declined', reason });
    expect(capturesOf(world, paying)).toEqual([]);
    // The payment is over; its session is not.
    expectRefusal(await submitCard(world, paying), 409, '1205', 'STATE');
    const next = await collectCardWith(world, paying.token);
    await fillForm(world, next.form, 'frictionless');
    const paid = await submitCard(world, { ...next, token: paying.token });
    expect(paid.json).toMatchObject({ status: 'approved' });
    expect(await statusOf(world, paying)).toBe('declined');
  });

  test('and another method can pay on the same session, too', async () => {
    const paying = await readyToPay(world, merchant, 'declined');
    expectRefusal(await submitCard(world, paying), 402, '1502');
    const next = await collectWith(world, paying.token);
    const wallet = await world.wallet();
    const paid = await payFromWallet(world, { token: paying.token, ...next }, wallet);
    expect(paid.json, paid.text).toMatchObject({ status: 'approved' });
  });
});

describe('with a challenge', () => {
  test('the submit answers 202 with the address; the session is consumed, siblings end, and nothing is taken yet', async () => {
    const paying = await readyToPay(world, merchant, 'challenge');
    const sibling = await collectWith(world, paying.token);
    const headers = { 'idempotency-key': `challenge-${paying.transaction_id}` };
    const asked = await submitCard(world, paying, { headers });
    expect(asked.status, asked.text).toBe(202);
    expect(asked.json).toMatchObject({ success: true, status: 'processing', transaction_id: paying.transaction_id });
    const attempt = await attemptOf(world, paying);
    expect(asked.json.redirect_url).toContain(`${world.url}/checkout/challenge/${attempt.id}.`);
    expect((await submitCard(world, paying, { headers })).text).toBe(asked.text);
    expectRefusal(await submitCard(world, paying), 401, '1001', 'SESSION_CONSUMED');
    expect(await statusOf(world, { ...paying, ...sibling })).toBe('cancelled');
    expect(attempt).toMatchObject({ status: 'challenged', three_ds_status: 'AUTHENTICATION_PENDING' });
    // The way to the issuer is sealed where it is kept.
    expect(attempt.challenge).not.toContain('creq');
    expect(attempt.challenge).not.toContain('acs');
    expect(capturesOf(world, paying)).toEqual([]);
    expect(hooksAbout(world, paying.transaction_id)).toEqual([]);
  });

  test('passed, and the browser never comes back: the round finds it, and the money is taken once', async () => {
    const paying = await challenged(world, merchant);
    await world.pass(6_000);
    expect(await statusOf(world, paying)).toBe('processing');
    await answerChallenge(world, paying, 'pass');
    await untilStatus(world, paying, 'approved', 6_000);
    expect(capturesOf(world, paying)).toMatchObject([{ times: 1 }]);
    expect((await onlyHook(world, paying)).body.status).toBe('approved');
    expect(await attemptOf(world, paying)).toMatchObject({ three_ds_status: 'AUTHENTICATION_SUCCESSFUL', eci: '05' });
  });

  test.each(['fail', 'cancel'] as const)('%s: declined, told, and nothing is taken', async (result) => {
    const paying = await challenged(world, merchant);
    await answerChallenge(world, paying, result);
    await untilStatus(world, paying, 'declined', 6_000);
    expect((await onlyHook(world, paying)).body.status).toBe('declined');
    const { timeline } = await detailOf(world, paying);
    expect(timeline.at(-1)).toMatchObject({ status: 'declined', reason: 'authentication_failed' });
    expect(capturesOf(world, paying)).toEqual([]);
  });

  test('abandoned: it waits ten minutes, then it has expired, and stays so', async () => {
    const paying = await challenged(world, merchant, 'challenge', { minted: { ttl_seconds: 7_200 } });
    await world.pass(50_000, 10);
    expect(await statusOf(world, paying)).toBe('processing');
    await world.pass(101_000);
    await untilStatus(world, paying, 'expired', 2_000);
    expect((await onlyHook(world, paying)).body.status).toBe('expired');
    const { timeline } = await detailOf(world, paying);
    expect(timeline.at(-1)).toMatchObject({ status: 'expired', reason: 'challenge_expired' });
    await world.pass(60_000, 20);
    expect(await statusOf(world, paying)).toBe('expired');
    expect(capturesOf(world, paying)).toEqual([]);
  });

  test('abandoned while the network is unreachable: it ends by time alone', async () => {
    const paying = await challenged(world, merchant, 'challenge', { minted: { ttl_seconds: 7_200 } });
    world.sandbox.faults.set('cardnet', { refuse_rate: 1 });
    await world.pass(11 * 60_000);
    await untilStatus(world, paying, 'expired', 2_000);
    world.sandbox.faults.clear();
    expect(capturesOf(world, paying)).toEqual([]);
  });

  test('PAY’s answer is lost after the challenge: found by inquiry, taken once', async () => {
    const paying = await challenged(world, merchant, 'lost');
    await answerChallenge(world, paying, 'pass');
    await world.pass(6_000);
    expect(await statusOf(world, paying)).toBe('processing');
    expect((await attemptOf(world, paying)).status).toBe('unknown');
    expect(capturesOf(world, paying)).toMatchObject([{ times: 1 }]);
    await untilStatus(world, paying, 'approved', 10_000);
    expect(capturesOf(world, paying)).toMatchObject([{ times: 1 }]);
    expect((await onlyHook(world, paying)).body.status).toBe('approved');
  });
});

describe('a process that dies', () => {
  test('between the issuer’s yes and PAY: inquired about, never repeated; it has failed and nothing is taken', async () => {
    const paying = await challenged(world, merchant, 'challenge', { minted: { ttl_seconds: 7_200 } });
    await answerChallenge(world, paying, 'pass');
    const { store, clock } = world.gateway.deps;
    const attempt = await attemptOf(world, paying);
    // What the commit before PAY writes, and then nothing more.
    const row = { status: 'authenticated', challenge: null, next_inquiry_at: clock.now() + 45_000 } as const;
    const { shard, id, version } = attempt;
    expect(await store.commit({ updates: [{ table: 'attempt', shard, id, version, row }] })).toBe('won');
    await world.pass(46_000);
    expect(await statusOf(world, paying)).toBe('processing');
    await untilStatus(world, paying, 'failed', 20_000);
    expect((await onlyHook(world, paying)).body.status).toBe('failed');
    expect(capturesOf(world, paying)).toEqual([]);
  });

  test('during the authentication at the submit: the session is given back, and the next submit pays', async () => {
    const paying = await readyToPay(world, merchant, 'frictionless', { minted: { ttl_seconds: 7_200 } });
    world.sandbox.faults.set('cardnet', { answer_lost_rate: 1 });
    const second = await openSecond(world, world.clock);
    const submitting = fetch(`${second.url}/api/v1/payments/submit`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${paying.token}` },
      body: JSON.stringify({
        payment_id: paying.payment_id,
        payment_method_id: 'card',
        cardnet_payment_method: 'HOSTED_SESSION',
        session_id: paying.form,
      }),
    });
    const answer = await submitting;
    expect(answer.status).toBe(502);
    world.sandbox.faults.clear();
    await second.close();
    expect((await submitCard(world, paying)).json).toMatchObject({ status: 'approved' });
    expect(capturesOf(world, paying)).toMatchObject([{ times: 1 }]);
  });
});

describe('the network is unreachable', () => {
  test('at collect: 1404, and nothing is written', async () => {
    const { token } = await mint(world, merchant);
    world.sandbox.faults.set('cardnet', { refuse_rate: 1 });
    const body = collectBody(world, 'card', { cardnet_payment_method: 'HOSTED_SESSION' });
    await expectNothingWritten(world, async () => {
      const refused = await world.call('POST', '/payments/collect', { bearer: token, body });
      expectRefusal(refused, 502, '1404', 'CARRIER_DOWN');
      expect(refused.json.retryable).toBe(true);
    });
    world.sandbox.faults.clear();
    expect((await world.call('POST', '/payments/collect', { bearer: token, body })).status).toBe(200);
  });

  test('at submit: 1404, the payment is pending again, and the same submit pays later', async () => {
    const paying = await readyToPay(world, merchant, 'frictionless');
    world.sandbox.faults.set('cardnet', { refuse_rate: 1 });
    const headers = { 'idempotency-key': `away-${paying.transaction_id}` };
    expectRefusal(await submitCard(world, paying, { headers }), 502, '1404', 'CARRIER_DOWN');
    expect(await statusOf(world, paying)).toBe('pending');
    world.sandbox.faults.clear();
    expect((await submitCard(world, paying, { headers })).json).toMatchObject({ status: 'approved' });
    expect(capturesOf(world, paying)).toMatchObject([{ times: 1 }]);
  });
});

describe('a slow issuer', () => {
  test('is waited for, and after too long nothing is asked for any more', async () => {
    const slow = await readyToPay(world, merchant, 'frictionless');
    const paying = await readyToPay(world, merchant, 'frictionless');
    // Three calls before PAY: of two seconds each, and of ten. In long steps: the calls themselves take real time.
    world.sandbox.faults.set('cardnet', { delay_ms: 2_000 });
    expect((await whileTimePasses(world, submitCard(world, paying), 100)).json).toMatchObject({ status: 'approved' });
    world.sandbox.faults.set('cardnet', { delay_ms: 10_000 });
    const refused = await whileTimePasses(world, submitCard(world, slow), 1_000);
    expectRefusal(refused, 502, '1404', 'CARRIER_DOWN');
    expect(await statusOf(world, slow)).toBe('pending');
    expect([paying, slow].map((one) => capturesOf(world, one).length)).toEqual([1, 0]);
  });
});
