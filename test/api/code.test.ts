/** One-time codes: asked for from an amount on, sent, verified, sent again, and guessed in vain. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { shardOf } from '../../src/domain/ids.ts';
import { setFee } from '../../src/usecases/fee-set.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { setMerchant } from '../../src/usecases/merchant-set.ts';
import { submitPayment } from '../../src/usecases/payment-submit.ts';
import { host, stepOf, visitor } from '../support/checkout-flows.ts';
import { callerOf, meansOf, plainly, submitOf } from '../support/direct-calls.ts';
import { codeOn, collect, payFromWallet, phoneState } from '../support/flows.ts';
import { type Answer, collectBody, mint, openWorld, type World } from '../support/world.ts';

let world: World;
let merchant: MerchantCreated;
let number = 100;

beforeAll(async () => {
  world = await openWorld();
  merchant = await world.merchant();
});
afterAll(() => world.close());

interface Asked {
  readonly token: string;
  readonly payment_id: string;
  readonly transaction_id: string;
  readonly wallet: string;
  readonly phone: string;
}

interface Funded {
  readonly number: string;
  readonly pin: string;
  readonly phone: string;
}

/** A wallet with a phone of its own. */
async function fund(balance = 500_00n): Promise<Funded> {
  number += 1;
  const phone = `+243810000${number}`;
  return { ...(await world.wallet({ balance, phone })), phone };
}

/** A payment that waits for its one-time code. */
async function askCode(
  from?: Funded,
  minted: { readonly ttl_seconds?: number } = {},
  shop: MerchantCreated = merchant,
): Promise<Asked> {
  const wallet = from ?? (await fund());
  const { phone } = wallet;
  const { token } = await mint(world, shop, { amount: '150.00', ...minted });
  const made = await world.call('POST', '/payments/collect', { bearer: token, body: collectBody(world, 'none') });
  const submitted = await world.call('POST', '/payments/submit', {
    bearer: token,
    body: {
      payment_id: made.json.payment_id,
      payment_method_id: 'wallet',
      ewallet_number: wallet.number,
      ewallet_pin: wallet.pin,
    },
  });
  expect(submitted.json, submitted.text).toMatchObject({ success: true, status: 'pending_otp_verification' });
  return {
    token,
    payment_id: made.json.payment_id,
    transaction_id: made.json.transaction_id,
    wallet: wallet.number,
    phone,
  };
}

function verify(asked: Asked, otp_code: string, headers: Record<string, string> = {}): Promise<Answer> {
  return world.call('POST', '/payments/verify-otp', {
    bearer: asked.token,
    body: { payment_id: asked.payment_id, otp_code },
    headers,
  });
}

function resend(asked: Asked, headers: Record<string, string> = {}): Promise<Answer> {
  return world.call('POST', '/payments/resend-otp', {
    bearer: asked.token,
    body: { payment_id: asked.payment_id },
    headers,
  });
}

const limitOf = ({ headers }: Answer): string[] =>
  ['ratelimit-policy', 'ratelimit'].map((name) => headers.get(name) ?? 'none');

const wrongOf = (code: string): string => String((Number(code) + 1) % 1_000_000).padStart(6, '0');

test('the code on the phone pays; the answer says what was taken and what is left', async () => {
  const asked = await askCode();
  const paid = await verify(asked, await codeOn(world, asked.phone));
  expect(paid.json, paid.text).toMatchObject({
    status: 'approved',
    debit_amount: '150.00',
    wallet_balance: '350.00',
    total_amount: '150.00',
  });
  const hook = await world.receiver.about(asked.transaction_id);
  expect(hook.body.status).toBe('approved');
});

test('a code’s text names what will be taken, including a fee that the buyer covers', async () => {
  const shop = await world.merchant();
  const rule = { method: 'wallet', rate: '3', fixed: 0n, min: undefined, max: undefined } as const;
  await setFee(world.gateway.deps, { merchantId: shop.merchant.id, currency: 'usd', ...rule });
  const asked = await askCode(undefined, {}, shop);
  await codeOn(world, asked.phone);
  const resent = await resend(asked);
  expect(resent.json, resent.text).toMatchObject({ amount: '150.00', total_amount: '154.50' });
  const newest = await codeOn(world, asked.phone, 2);
  const { messages } = await phoneState(world, asked.phone);
  for (const { text } of messages) expect(text).toMatch(/ 154\.50 USD .* 10 min/);
  const paid = await verify(asked, newest);
  expect(paid.json, paid.text).toMatchObject({ status: 'approved', debit_amount: '154.50' });
});

test('codes of one wallet that are verified at once report what each of them left in it', async () => {
  const wallet = await fund(1_000_00n);
  const ready: { readonly asked: Asked; readonly code: string }[] = [];
  for (const count of [1, 2, 3, 4, 5, 6]) {
    const asked = await askCode(wallet);
    ready.push({ asked, code: await codeOn(world, wallet.phone, count) });
  }
  const verified = await Promise.all(
    ready.map(({ asked, code }) => verify(asked, code, { 'idempotency-key': 'once' })),
  );
  const left = verified.map(({ json }) => json.wallet_balance);
  expect(left.sort()).toEqual(['100.00', '250.00', '400.00', '550.00', '700.00', '850.00']);
  const again = await Promise.all(ready.map(({ asked, code }) => verify(asked, code, { 'idempotency-key': 'once' })));
  expect(again.map(({ json }) => json.wallet_balance).sort()).toEqual(left);
});

test('an amount that reaches the threshold needs a code; the last cent of the account pays it, and nothing another one', async () => {
  const shop = await world.merchant();
  await setMerchant(world.gateway.deps, shop.merchant.id, { code_thresholds: new Map([['usd', 150_00n]]) });
  const wallet = await fund(150_00n);
  const first = { asked: await askCode(wallet, {}, shop), code: await codeOn(world, wallet.phone) };
  const second = { asked: await askCode(wallet, {}, shop), code: await codeOn(world, wallet.phone, 2) };
  const paid = await verify(first.asked, first.code);
  expect(paid.json, paid.text).toMatchObject({ status: 'approved', wallet_balance: '0.00' });
  const refused = await verify(second.asked, second.code);
  expect(refused.json, refused.text).toMatchObject({ error_code: '1201' });
  // The right code was judged, and so it counts, in every process.
  const judged = await world.gateway.store.code.get(shop.merchant.shard, second.asked.transaction_id);
  expect(judged?.tries).toHaveLength(1);
  expect((await verify(second.asked, wrongOf(second.code))).json.details[0].message).toContain('3 attempts');
});

test('where no texts can be sent, an amount that needs a code is refused, and the session stays for another method', async () => {
  const wallet = await fund();
  const paying = await collect(world, merchant, { minted: { amount: '150.00' } });
  const { deps } = world.gateway;
  const silent = { ...deps, connectors: { ...deps.connectors, texts: undefined } };
  const caller = await callerOf(world, merchant, paying);
  const submitted = submitPayment(silent, caller, submitOf(paying, meansOf(wallet)), plainly);
  await expect(submitted).rejects.toMatchObject({ code: 1402, more: { transactionId: paying.transaction_id } });
  expect((await payFromWallet(world, paying, wallet)).json).toMatchObject({ status: 'pending_otp_verification' });
});

test('a text that cannot be sent is logged, and fails no submit: another code can be asked for, and pays', async () => {
  world.sandbox.faults.set('sms', { refuse_rate: 1 });
  const asked = await askCode().finally(async () => {
    await world.gateway.background.idle();
    world.sandbox.faults.clear();
  });
  expect((await phoneState(world, asked.phone)).messages).toEqual([]);
  const isLogged = (line: string) => line.includes('code_not_sent') && line.includes(asked.transaction_id);
  expect(world.log.lines.filter(isLogged)).toHaveLength(1);
  expect((await resend(asked)).json).toMatchObject({ resend_count: 1 });
  expect((await verify(asked, await codeOn(world, asked.phone))).json).toMatchObject({ status: 'approved' });
});

test('a hundred parallel guesses: exactly five are evaluated, and the right one after them is refused too', async () => {
  const asked = await askCode();
  const code = await codeOn(world, asked.phone);
  const guesses = await Promise.all(Array.from({ length: 100 }, () => verify(asked, wrongOf(code))));
  expect(guesses.filter((guess) => guess.json.error_code === '1302')).toHaveLength(5);
  expect(guesses.filter((guess) => guess.json.error_code === '1301')).toHaveLength(95);
  const right = await verify(asked, code);
  expect(right.status).toBe(429);
  expect(right.headers.get('ratelimit-policy')).toBe('"codes";q=5;w=300');
  expect(right.headers.get('ratelimit')).toBe(`"codes";r=0;t=${right.headers.get('retry-after')}`);
  expect(Number(right.headers.get('retry-after'))).toBeGreaterThan(0);
  await world.clock.advance(5 * 60_000);
  expect((await verify(asked, code)).json).toMatchObject({ status: 'approved' });
});

test('a wrong code says how many tries are left', async () => {
  const asked = await askCode();
  const wrong = await verify(asked, wrongOf(await codeOn(world, asked.phone)));
  expect(wrong.json).toMatchObject({ error_code: '1302', details: [{ field: 'otp_code', code: 'INVALID_OTP' }] });
  expect(wrong.json.details[0].message).toContain('4');
});

test('a code that came before it was asked for uses up a try, and the next wrong one says so', async () => {
  const wallet = await fund();
  const { token } = await mint(world, merchant, { amount: '150.00' });
  const made = await world.call('POST', '/payments/collect', { bearer: token, body: collectBody(world, 'none') });
  const { payment_id, transaction_id } = made.json;
  const asked: Asked = { token, payment_id, transaction_id, wallet: wallet.number, phone: wallet.phone };
  for (const _ of [1, 2]) expect((await verify(asked, '123456')).json).toMatchObject({ error_code: '1205' });
  const means = { payment_method_id: 'wallet', ewallet_number: wallet.number, ewallet_pin: wallet.pin };
  await world.call('POST', '/payments/submit', { bearer: token, body: { payment_id, ...means } });
  const wrong = await verify(asked, wrongOf(await codeOn(world, asked.phone)));
  expect(wrong.json.details[0].message).toBe('The code is not right. 2 attempts are left.');
  expect(limitOf(wrong)).toEqual(['"codes";q=5;w=300', '"codes";r=2;t=300']);
});

test('every answer to a code says how many tries are left, and until when', async () => {
  const asked = await askCode();
  const code = await codeOn(world, asked.phone);
  const policy = '"codes";q=5;w=300';
  expect(limitOf(await verify(asked, wrongOf(code)))).toEqual([policy, '"codes";r=4;t=300']);
  await world.clock.advance(60_000);
  expect(limitOf(await verify(asked, wrongOf(code)))).toEqual([policy, '"codes";r=3;t=240']);
  const headers = { 'idempotency-key': 'tries-left' };
  const paid = await verify(asked, code, headers);
  expect(paid.json, paid.text).toMatchObject({ status: 'approved' });
  expect(limitOf(paid)).toEqual([policy, '"codes";r=2;t=240']);
  expect(limitOf(await verify(asked, code, headers))).toEqual([policy, '"codes";r=2;t=240']);
  // A call that is refused for the payment’s state is not evaluated, and counts as a call all the same.
  await world.clock.advance(4 * 60_000);
  const again = await verify(asked, code);
  expect(again.json, again.text).toMatchObject({ error_code: '1205' });
  expect(limitOf(again)).toEqual([policy, '"codes";r=2;t=60']);
});

test('every answer to a resend says how many are left, of five calls in five minutes and of three in total', async () => {
  const asked = await askCode();
  const policy = '"resends";q=5;w=300';
  for (const left of [2, 1, 0]) expect(limitOf(await resend(asked))).toEqual([policy, `"resends";r=${left};t=300`]);
  for (let calls = 4; calls <= 5; calls += 1) {
    const used = await resend(asked);
    const until = { retryable: false, retry_after: 1_800 };
    expect(used.json, used.text).toMatchObject({ error_code: '1301', ...until, details: [{ code: 'RESENDS_USED' }] });
    expect(limitOf(used)).toEqual([policy, '"resends";r=0;t=300']);
  }
  await world.clock.advance(60_000);
  const refused = await resend(asked);
  expect(refused.json, refused.text).toMatchObject({ error_code: '1301', retryable: true, retry_after: 240 });
  expect(limitOf(refused)).toEqual([policy, '"resends";r=0;t=240']);
});

test('five resend calls are accepted per five minutes and payment, whatever their outcome', async () => {
  const [asked, other] = [await askCode(), await askCode()];
  expect((await verify(asked, await codeOn(world, asked.phone))).json).toMatchObject({ status: 'approved' });
  const states = [];
  for (let calls = 0; calls < 5; calls += 1) states.push(limitOf(await resend(asked))[1]);
  expect(states).toEqual([3, 3, 2, 1, 0].map((left) => `"resends";r=${left};t=300`));
  const refused = await resend(asked);
  expect(refused.json, refused.text).toMatchObject({ error_code: '1301', retry_after: 300 });
  expect((await resend(other)).json).toMatchObject({ resend_count: 1 });
  await world.clock.advance(300_000);
  expect((await resend(asked)).json).toMatchObject({ error_code: '1205' });
});

test('a resend that is repeated with its key is answered however often it comes', async () => {
  const asked = await askCode();
  const headers = { 'idempotency-key': 'resend-1' };
  const first = await resend(asked, headers);
  for (let calls = 1; calls < 8; calls += 1) expect((await resend(asked, headers)).text).toBe(first.text);
  // Nor does it use up what is left.
  expect((await resend(asked)).json).toMatchObject({ resend_count: 2 });
});

test('five verifications are accepted per five minutes and payment, whatever their outcome', async () => {
  const asked = await askCode();
  const code = await codeOn(world, asked.phone);
  expect((await verify(asked, code)).json).toMatchObject({ status: 'approved' });
  for (let calls = 2; calls <= 5; calls += 1) {
    expect((await verify(asked, code, { 'idempotency-key': `late-${calls}` })).json.error_code).toBe('1205');
  }
  const refused = await verify(asked, code, { 'idempotency-key': 'late-6' });
  expect(refused.json, refused.text).toMatchObject({ error_code: '1301', retry_after: 300 });
  expect(limitOf(refused)).toEqual(['"codes";q=5;w=300', '"codes";r=0;t=300']);
});

test('after ten minutes the code is dead; a resent one pays, a fourth resend is refused', async () => {
  const asked = await askCode();
  const first = await codeOn(world, asked.phone);
  await world.clock.advance(10 * 60_000);
  const late = await verify(asked, first);
  expect(late.json).toMatchObject({ error_code: '1302', details: [{ code: 'OTP_EXPIRED' }] });
  // It counts, and says so.
  expect(late.json.details[0].message).toContain('Ask for a new one: 3 can be sent. 4 attempts are left');
  for (const count of [1, 2, 3]) {
    const resent = await resend(asked);
    expect(resent.json, resent.text).toMatchObject({ resend_count: count, max_resends: 3 });
    expect(resent.json.otp_sent_to).not.toContain(asked.phone.slice(4, -2));
    await codeOn(world, asked.phone, count + 1);
  }
  expect((await resend(asked)).json).toMatchObject({ error_code: '1301' });
  expect((await verify(asked, await codeOn(world, asked.phone, 4))).json).toMatchObject({ status: 'approved' });
});

test('a customer who has let the last code expire is not told to ask for another', async () => {
  const asked = await askCode();
  for (const count of [1, 2, 3]) expect((await resend(asked)).json).toMatchObject({ resend_count: count });
  const last = await codeOn(world, asked.phone, 4);
  await world.clock.advance(10 * 60_000 + 1);
  const late = await verify(asked, last);
  expect(late.json).toMatchObject({ error_code: '1302', details: [{ code: 'OTP_EXPIRED' }] });
  expect(late.json.details[0].message).toBe(
    'The code has expired. No further code can be sent: start a new payment. 4 attempts are left.',
  );
});

test('a verify that is repeated with its key gets the same bytes', async () => {
  const asked = await askCode();
  const code = await codeOn(world, asked.phone);
  const headers = { 'idempotency-key': 'verify-1' };
  const [first, again] = [await verify(asked, code, headers), await verify(asked, code, headers)];
  expect(first.json).toMatchObject({ status: 'approved' });
  expect(again.text).toBe(first.text);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
});

/** Another live session of the merchant, for a payment whose own has ended. */
async function onAnotherSession(asked: Asked): Promise<Asked> {
  return { ...asked, token: (await mint(world, merchant)).token };
}

test('a payment outlives its session until its code expires: another session of the merchant can finish it', async () => {
  const asked = await askCode(undefined, { ttl_seconds: 60 });
  const code = await codeOn(world, asked.phone);
  await world.pass(9 * 60_000);
  expect((await verify(asked, code)).json).toMatchObject({ error_code: '1005' });
  const other = await onAnotherSession(asked);
  expect((await verify(other, code)).json).toMatchObject({ status: 'approved', wallet_balance: '350.00' });
});

test('another code keeps the payment for ten minutes more; when that has expired too, so has the payment', async () => {
  const asked = await askCode(undefined, { ttl_seconds: 60 });
  await codeOn(world, asked.phone);
  await world.pass(9 * 60_000);
  expect((await resend(await onAnotherSession(asked))).json).toMatchObject({ resend_count: 1 });
  const code = await codeOn(world, asked.phone, 2);
  await world.pass(9 * 60_000);
  const other = await onAnotherSession(asked);
  expect((await verify(other, wrongOf(code))).json).toMatchObject({ error_code: '1302' });
  await world.pass(60_000);
  expect((await verify(other, code)).json).toMatchObject({ error_code: '1205' });
  expect((await world.receiver.about(asked.transaction_id)).body.status).toBe('expired');
  expect((await world.gateway.store.auditAll()).findings).toEqual([]);
});

test('a payment that nobody verifies expires with its session; no money has moved', async () => {
  const asked = await askCode();
  await world.pass(31 * 60_000);
  expect((await world.receiver.about(asked.transaction_id)).body.status).toBe('expired');
  expect((await world.gateway.store.auditAll()).findings).toEqual([]);
});

test('an overdue payment is reported as expired, even before the round has ended it', async () => {
  const asked = await askCode();
  const code = await codeOn(world, asked.phone);
  const { store } = world.gateway;
  const shard = shardOf(asked.transaction_id);
  const payment = await store.payment.get(shard, asked.transaction_id);
  const row = { expires_at: world.clock.now() };
  const update = { table: 'payment', shard, id: asked.transaction_id, version: payment?.version ?? 0, row } as const;
  expect(await store.commit({ updates: [update] })).toBe('won');
  for (const late of [await verify(asked, code), await resend(asked)]) {
    expect(late.json, late.text).toMatchObject({ error_code: '1205' });
    expect(late.json.message).toMatch(/\bexpired\b/);
  }
});

test('an undocumented field of the call does not choose the code’s language', async () => {
  const { token, payment_id, phone } = await askCode();
  const body = { payment_id, language: 'ru' };
  expect((await world.call('POST', '/payments/resend-otp', { bearer: token, body })).status).toBe(200);
  await codeOn(world, phone, 2);
  for (const { text } of (await phoneState(world, phone)).messages) expect(text).not.toMatch(/\p{Script=Cyrillic}/u);
});

test('a code comes in the language in which its page is read, whatever the shop’s language', async () => {
  const phone = '+243810000978';
  const wallet = await world.wallet({ balance: 500_00n, phone });
  const { url } = await host(world, merchant, { minted: { amount: '150.00' } });
  const me = visitor(world, 'es');
  const page = await me.open(url);
  const asked = await me.send(stepOf(page, 'pay'), { method: 'wallet', number: wallet.number, pin: wallet.pin });
  await codeOn(world, phone);
  await me.send(stepOf(asked, 'resend'), {});
  await codeOn(world, phone, 2);
  const texts = (await phoneState(world, phone)).messages.map(({ text }) => text);
  expect(texts).toEqual([
    expect.stringMatching(/^Use \d{6} para pagar/),
    expect.stringMatching(/^Use \d{6} para pagar/),
  ]);
});
