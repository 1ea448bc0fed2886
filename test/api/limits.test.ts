/** Traffic limits over HTTP: what each counts, and what it answers (contract §8). */

import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { setMerchant } from '../../src/usecases/merchant-set.ts';
import { expectRefusal } from '../support/envelope.ts';
import { bearerOf, codeOn, collect, freshKey } from '../support/flows.ts';
import { MINT } from '../support/mints.ts';
import { askCode } from '../support/route-samples.ts';
import { type Answer, collectBody, mint, openWorld, type World } from '../support/world.ts';

let opened: World | undefined;

async function worldAt(scale: string, env: { readonly [name: string]: string } = {}): Promise<World> {
  opened = await openWorld({ env: { RATE_LIMIT_SCALE: scale, TRUST_PROXY: '127.0.0.1', ...env } });
  return opened;
}

afterEach(async () => {
  await opened?.close();
  opened = undefined;
});
afterAll(() => opened?.close());

/** Calls until the first 1301; returns how many passed. */
async function passing(call: () => Promise<Answer>, most: number): Promise<{ passed: number; refused: Answer }> {
  for (let passed = 0; passed <= most; passed += 1) {
    const answer = await call();
    if (answer.status === 429) return { passed, refused: answer };
    expect(answer.status, answer.text).toBeLessThan(300);
  }
  throw new Error(`${most} calls passed`);
}

/** The values of the two headers, parsed as their draft defines them. */
function standing({ headers }: Answer): { name: string; quota: number; window: number; rest: number; reset: number } {
  const policy = /^"(\w+)";q=(\d+);w=(\d+)$/.exec(headers.get('ratelimit-policy') ?? '');
  const state = /^"(\w+)";r=(\d+);t=(\d+)$/.exec(headers.get('ratelimit') ?? '');
  if (policy === null || state === null) throw new Error(`no limit in ${JSON.stringify([...headers])}`);
  expect(state[1]).toBe(policy[1]);
  const [quota, window, rest, reset] = [policy[2], policy[3], state[2], state[3]].map(Number);
  return { name: policy[1] ?? '', quota: quota ?? 0, window: window ?? 0, rest: rest ?? 0, reset: reset ?? 0 };
}

describe('traffic', () => {
  test('payments: 120 per minute and session; 1301 says when to come again, and then it passes', async () => {
    const world = await worldAt('1');
    const merchant = await world.merchant();
    const paying = await collect(world, merchant);
    const read = (token = paying.token) =>
      world.call('GET', `/payments/status/${paying.transaction_id}`, { bearer: token });
    expect(standing(await read())).toMatchObject({ name: 'payments', quota: 120, window: 60, rest: 118 });

    const { passed, refused } = await passing(read, 200);
    // The first two were the collect and a read.
    expect(passed).toBe(118);
    expectRefusal(refused, 429, '1301');
    expect(refused.json.retryable).toBe(true);
    expect(standing(refused)).toMatchObject({ rest: 0 });
    const wait = Number(refused.headers.get('retry-after'));
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(61);

    // A refused call does not make the wait longer, and does not affect others.
    expectRefusal(await read(), 429, '1301');
    expect((await read((await mint(world, merchant)).token)).status).toBe(200);
    await world.clock.advance(wait * 1_000);
    expect((await read()).status).toBe(200);
    await world.clock.advance(120_000);
    expect(standing(await read()).rest).toBe(119);
  });

  test('a customer’s long body counts as a call for each 32 KiB of it, a merchant’s as one', async () => {
    const world = await worldAt('1');
    const merchant = await world.merchant();
    const { token } = await mint(world, merchant);
    const note = '7 '.repeat(50_000);
    const long = { ...collectBody(world, 'none'), note };
    const asked = await world.call('POST', '/payments/collect', { bearer: token, body: long });
    expect(asked.status, asked.text).toBe(200);
    expect(standing(asked)).toMatchObject({ name: 'payments', quota: 120, rest: 120 - 4 });
    const body = { ...MINT, note };
    const minted = await world.call('POST', '/internal/sessions/create', { bearer: bearerOf(merchant), body });
    expect(standing(minted)).toMatchObject({ name: 'sessions_create', rest: 6_000 - 2 });
  });

  test('mobile-money status: 30 per minute and session, counted separately', async () => {
    const world = await worldAt('1');
    const paying = await collect(world, await world.merchant());
    const poll = () =>
      world.call('GET', `/payments/mobile-money/status/${paying.payment_id}`, { bearer: paying.token });
    const { passed, refused } = await passing(poll, 60);
    expect(passed).toBe(30);
    expect(standing(refused)).toMatchObject({ name: 'mobile_money_status', quota: 30, window: 60 });
    const read = await world.call('GET', `/payments/status/${paying.transaction_id}`, { bearer: paying.token });
    expect(standing(read)).toMatchObject({ name: 'payments', rest: 118 });
  });

  test('mints: by credential, with the merchant’s own number', async () => {
    const world = await worldAt('1');
    const [merchant, other] = [await world.merchant(), await world.merchant('Librairie Goma')];
    const mintAs = (of: typeof merchant) =>
      world.call('POST', '/internal/sessions/create', { bearer: bearerOf(of), body: MINT });
    expect(standing(await mintAs(other))).toMatchObject({ name: 'sessions_create', quota: 6_000, window: 60 });
    await setMerchant(world.gateway.deps, merchant.merchant.id, { rate_limits: new Map([['sessions_create', 5]]) });
    const { passed, refused } = await passing(() => mintAs(merchant), 10);
    expect(passed).toBe(5);
    expect(standing(refused).quota).toBe(5);
    expect((await mintAs(other)).status).toBe(201);
  });

  test('refused calls count too, so that bad bodies cannot be tried for ever', async () => {
    const world = await worldAt('0.1');
    const { token } = await mint(world, await world.merchant());
    const bad = () => world.call('POST', '/payments/collect', { bearer: token, body: {} });
    const statuses = [];
    for (let calls = 0; calls < 13; calls += 1) statuses.push((await bad()).status);
    expect(statuses).toEqual([...Array.from({ length: 12 }, () => 400), 429]);
  });

  test('a replay is a call: it is counted, and answers once there is room', async () => {
    const world = await worldAt('0.1');
    const { token } = await mint(world, await world.merchant());
    const headers = { 'idempotency-key': 'once' };
    const one = () =>
      world.call('POST', '/payments/collect', { bearer: token, body: collectBody(world, 'none'), headers });
    const first = await one();
    const { passed } = await passing(one, 20);
    expect(passed).toBe(11);
    await world.clock.advance(120_000);
    expect((await one()).text).toBe(first.text);
  });

  test('does not affect codes: neither reads nor a small scale keep the right one from paying', async () => {
    // 120 per minute, scaled down to what the payment itself needs.
    const world = await worldAt('0.02');
    const asked = await askCode(world, await world.merchant());
    const code = await codeOn(world, asked.phone);
    const read = await world.call('GET', `/payments/status/${asked.transaction_id}`, { bearer: asked.token });
    expectRefusal(read, 429, '1301');
    const call = (path: string, body: object) => world.call('POST', path, { bearer: asked.token, body });
    const { payment_id } = asked;
    const wrong = await call('/payments/verify-otp', { payment_id, otp_code: code === '123456' ? '654321' : '123456' });
    expectRefusal(wrong, 400, '1302');
    expect(standing(wrong)).toMatchObject({ name: 'codes', quota: 5, window: 300, rest: 4 });
    const paid = await call('/payments/verify-otp', { payment_id, otp_code: code });
    expect(paid.json, paid.text).toMatchObject({ status: 'approved' });
    const late = await call('/payments/resend-otp', { payment_id });
    expectRefusal(late, 409, '1205');
    expect(standing(late)).toMatchObject({ name: 'resends', quota: 5, window: 300, rest: 3 });
  });

  test('also limits calls about codes that find no payment', async () => {
    const world = await worldAt('0.02');
    const { token, payment_id } = await collect(world, await world.merchant());
    const forged = payment_id.slice(0, -2) + (payment_id.endsWith('AA') ? 'BB' : 'AA');
    for (const path of ['/payments/verify-otp', '/payments/resend-otp']) {
      const call = () =>
        world.call('POST', path, {
          bearer: token,
          body: { payment_id: forged, otp_code: '123456' },
          headers: freshKey(),
        });
      for (let rest = 119; rest >= 0; rest -= 1) {
        const unknown = await call();
        expectRefusal(unknown, 404, '1204');
        expect(standing(unknown)).toMatchObject({ name: 'calls', quota: 120, rest });
      }
      const refused = await call();
      expectRefusal(refused, 429, '1301');
      expect(standing(refused)).toMatchObject({ name: 'calls', quota: 120, window: 60, rest: 0 });
    }
  });
});

describe('scale 0', () => {
  test('switches traffic limits off, and their headers', async () => {
    const world = await worldAt('0');
    const paying = await collect(world, await world.merchant());
    const read = () =>
      world.call('GET', `/payments/mobile-money/status/${paying.payment_id}`, { bearer: paying.token });
    // Thirty per minute if limits are on; of more than 128 at once a machine short of CPU time sheds some.
    const answers = await Promise.all(Array.from({ length: 100 }, read));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(answers[0]?.headers.get('ratelimit')).toBeNull();
    expect(answers[0]?.headers.get('ratelimit-policy')).toBeNull();
  });

  test('does not affect the protection of secrets: 20 wrong credentials per minute and address', async () => {
    const world = await worldAt('0');
    const merchant = await world.merchant();
    const from = (address: string, secret: string) =>
      world.call('POST', '/internal/sessions/create', {
        bearer: `${merchant.key_id}:${secret}`,
        body: MINT,
        headers: { 'x-forwarded-for': address },
      });
    const wrong = (address: string) => from(address, `sk_test_${'A'.repeat(43)}`);
    for (let tries = 0; tries < 20; tries += 1) expectRefusal(await wrong('203.0.113.9'), 401, '1001');
    const refused = await wrong('203.0.113.9');
    expectRefusal(refused, 429, '1301');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    // Neither another address nor the right secret from this one has to wait.
    expectRefusal(await wrong('203.0.113.10'), 401, '1001');
    expect((await from('203.0.113.9', merchant.secret)).status).toBe(201);
    // One IPv6 customer has a whole /64.
    for (let tries = 0; tries < 20; tries += 1) await wrong(`2001:db8::${tries + 1}`);
    expectRefusal(await wrong('2001:db8::ffff'), 429, '1301');
    await world.clock.advance(120_000);
    expectRefusal(await wrong('203.0.113.9'), 401, '1001');
  });

  test('does not affect a limit of wrong credentials that the operator has set', async () => {
    const world = await worldAt('0', { FAILED_AUTHENTICATIONS: '3' });
    const wrong = () => world.call('GET', '/payments/status/txn_x', { bearer: `sess_${'A'.repeat(60)}` });
    for (let tries = 0; tries < 3; tries += 1) expectRefusal(await wrong(), 401, '1001');
    const refused = await wrong();
    expectRefusal(refused, 429, '1301');
    expect(standing(refused)).toMatchObject({ name: 'failed_authentications', quota: 3, window: 60, rest: 0 });
  });

  test('does not affect the tries of a code, right or wrong', async () => {
    const world = await worldAt('0');
    const asked = await askCode(world, await world.merchant());
    const guess = (otp_code: string) =>
      world.call('POST', '/payments/verify-otp', {
        bearer: asked.token,
        body: { payment_id: asked.payment_id, otp_code },
      });
    const codes = [];
    for (let tries = 0; tries < 6; tries += 1) codes.push((await guess(String(100_000 + tries))).json.error_code);
    // One guess in 200 000 is right; then this test would fail.
    expect(codes).toEqual(['1302', '1302', '1302', '1302', '1302', '1301']);
  });

  test('and a merchant may have fewer: then that many are evaluated, and the headers say so', async () => {
    const world = await worldAt('0');
    const merchant = await world.merchant();
    await setMerchant(world.gateway.deps, merchant.merchant.id, {
      rate_limits: new Map([
        ['codes', 2],
        ['resends', 1],
      ]),
    });
    const { token, payment_id, phone } = await askCode(world, merchant);
    const code = await codeOn(world, phone);
    const call = (path: string, body: object = {}) =>
      world.call('POST', path, { bearer: token, body: { payment_id, ...body } });
    const guess = (otp_code: string) => call('/payments/verify-otp', { otp_code });

    const wrong = await guess(code === '123456' ? '654321' : '123456');
    expectRefusal(wrong, 400, '1302');
    expect(wrong.json.details).toMatchObject([{ field: 'otp_code', code: 'INVALID_OTP' }]);
    expect(standing(wrong)).toMatchObject({ name: 'codes', quota: 2, window: 300, rest: 1 });
    expect(standing(await guess(code === '123456' ? '654321' : '123456'))).toMatchObject({ quota: 2, rest: 0 });
    const late = await guess(code);
    expectRefusal(late, 429, '1301');
    expect(standing(late)).toMatchObject({ name: 'codes', quota: 2, rest: 0 });

    const resent = await call('/payments/resend-otp');
    expect(resent.json, resent.text).toMatchObject({ resend_count: 1, max_resends: 1 });
    expect(standing(resent)).toMatchObject({ name: 'resends', quota: 1, window: 300, rest: 0 });
    // No wait brings another resend, and the answers never say that one would.
    const used = await call('/payments/resend-otp');
    expectRefusal(used, 429, '1301', 'RESENDS_USED');
    expect(used.json).toMatchObject({ retryable: false });
    expect(standing(used)).toMatchObject({ name: 'resends', quota: 1, rest: 0 });

    // Another code brings no more tries; time does.
    const second = await codeOn(world, phone, 2);
    expectRefusal(await guess(second), 429, '1301');
    await world.clock.advance(Number(late.headers.get('retry-after')) * 1_000);
    const paid = await guess(second);
    expect(paid.json, paid.text).toMatchObject({ status: 'approved' });
  });

  test('and fewer calls that evaluate none: they count against that number, too', async () => {
    const world = await worldAt('0');
    const merchant = await world.merchant();
    await setMerchant(world.gateway.deps, merchant.merchant.id, { rate_limits: new Map([['codes', 2]]) });
    const { token, payment_id } = await collect(world, merchant);
    const body = { payment_id, otp_code: '123456' };
    const verify = () => world.call('POST', '/payments/verify-otp', { bearer: token, body });
    for (const rest of [1, 0]) {
      const early = await verify();
      expectRefusal(early, 409, '1205');
      expect(standing(early)).toMatchObject({ name: 'codes', quota: 2, rest });
    }
    expectRefusal(await verify(), 429, '1301');
  });

  test('even if the merchant’s setting changes while a code is valid', async () => {
    const world = await worldAt('0');
    const merchant = await world.merchant();
    const { token, payment_id, phone } = await askCode(world, merchant);
    const code = await codeOn(world, phone);
    const guess = (otp_code: string) =>
      world.call('POST', '/payments/verify-otp', { bearer: token, body: { payment_id, otp_code } });
    const bad = code === '123456' ? '654321' : '123456';
    for (let tries = 0; tries < 3; tries += 1) expectRefusal(await guess(bad), 400, '1302');
    const most = (codes: number | null) =>
      setMerchant(world.gateway.deps, merchant.merchant.id, { rate_limits: new Map([['codes', codes]]) });
    await most(2);
    const refused = await guess(code);
    expectRefusal(refused, 429, '1301');
    expect(standing(refused)).toMatchObject({ quota: 2, rest: 0 });
    await most(null);
    expect((await guess(code)).json).toMatchObject({ status: 'approved' });
  });
});

test('health, the API’s document and the pages on errors have no limit and need no credential', async () => {
  const world = await worldAt('0.01');
  const paths = [
    '/health',
    '/health/ready',
    '/api/v1/health',
    '/openapi.json',
    '/openapi.yaml',
    '/docs/errors',
    '/docs/errors/1301',
  ];
  for (const path of paths) {
    for (let calls = 0; calls < 5; calls += 1) {
      const response = await fetch(world.url + path);
      await response.text();
      expect(response.status, path).toBe(200);
      expect(response.headers.get('ratelimit')).toBeNull();
    }
  }
});
