/** Credentials and sessions that may not call: every route, and each way in which one can have ended. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { issueCredential } from '../../src/usecases/credential-issue.ts';
import { revokeCredential } from '../../src/usecases/credential-revoke.ts';
import { rotateCredential } from '../../src/usecases/credential-rotate.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { setMerchantStatus } from '../../src/usecases/merchant-status.ts';
import { expectRefusal, withoutIds } from '../support/envelope.ts';
import {
  bearerOf,
  codeOn,
  collect,
  collectWith,
  type Fields,
  neighbourOf,
  payFromWallet,
  statusOf,
} from '../support/flows.ts';
import { MINT } from '../support/mints.ts';
import { askCode, credentialRoutes, named, requireWorks, sampleOf, send } from '../support/route-samples.ts';
import { type Answer, collectBody, mint, openWorld, type World } from '../support/world.ts';

// The table is walked at collection, so that each route's tests carry its name.
const world: World = await openWorld({ env: { TRUST_PROXY: '127.0.0.1' } });
const routes = credentialRoutes(world);
let merchant: MerchantCreated;

beforeAll(async () => {
  merchant = await world.merchant();
});
// Wrong credentials are counted by address and minute; each test has its own minute.
beforeEach(() => world.clock.advance(120_000));
afterAll(() => world.close());

function mintAs(bearer: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  return world.call('POST', '/internal/sessions/create', { bearer, body: MINT, headers });
}

/** A sample's credential shows which kind of caller its route is for. */
describe.each(named(routes))('%s is refused', (_name, route) => {
  test('with a wrong secret, an unknown one, and text that only looks like one (1001), all alike', async () => {
    const sample = await sampleOf(route, world, merchant);
    const { bearer } = sample;
    const swapped = `${bearer.slice(0, -1)}${bearer.endsWith('A') ? 'B' : 'A'}`;
    const wrong = [
      swapped,
      `${bearer}A`,
      bearer.slice(0, -1),
      bearer.slice(0, 5) + bearer.slice(5).toUpperCase(),
      'sess_',
      'sess_01m7we2g0ge1frrwvmq1z69dvv',
      `key_01m7we2g0ge1frrwvmq1z69dvv:sk_test_${'A'.repeat(43)}`,
      `${merchant.key_id}:`,
      ':',
    ];
    const answers = [];
    for (const one of wrong) answers.push(await send(world, route, { ...sample, bearer: one }));
    for (const answer of answers) {
      expectRefusal(answer, 401, '1001');
      expect(withoutIds(answer)).toEqual(withoutIds(answers[0] ?? answer));
    }
    await requireWorks(world, route, sample);
  });

  test('if the credential is revoked (1001): it, and every session it minted', async () => {
    const shop = await world.merchant('Librairie Goma');
    const sample = await sampleOf(route, world, shop);
    await revokeCredential(world.gateway.deps, shop.key_id);
    expectRefusal(await send(world, route, sample), 401, '1001');
  });

  test('while the merchant is suspended (1004), and works again afterwards', async () => {
    const shop = await world.merchant('Librairie Goma');
    const sample = await sampleOf(route, world, shop);
    await setMerchantStatus(world.gateway.deps, shop.merchant.id, 'SUSPENDED');
    expectRefusal(await send(world, route, sample), 403, '1004');
    await setMerchantStatus(world.gateway.deps, shop.merchant.id, 'ALLOWED');
    await requireWorks(world, route, sample);
  });

  test('after it has expired (1005)', async () => {
    const shop = await world.merchant('Librairie Goma');
    const sample = await sampleOf(route, world, shop);
    if (route.credential === 'merchant') await expireCredential(shop);
    else await world.clock.advance(86_400_000);
    expectRefusal(await send(world, route, sample), 401, '1005');
  });
});

describe.each(named(routes.filter(({ credential }) => credential === 'session')))('%s is refused', (_name, route) => {
  test('by a consumed session only if it would start something', async () => {
    const sample = await sampleOf(route, world, merchant);
    await sample.consume?.();
    if (route.allowConsumed === true) await requireWorks(world, route, sample);
    else expectRefusal(await send(world, route, sample), 401, '1001', 'SESSION_CONSUMED');
  });
});

/** No command of this release sets an expiry; the column exists, and counts. */
async function expireCredential({ key_id, merchant: { shard } }: MerchantCreated): Promise<void> {
  const { store, clock } = world.gateway.deps;
  const row = await store.credential.caller(shard, key_id);
  if (row === undefined) throw new Error('no such credential');
  const { id, version } = row;
  const update = { table: 'credential' as const, shard, id, version, row: { expires_at: clock.now() } };
  expect(await store.commit({ updates: [update] })).toBe('won');
}

test('exactly collect and submit (and whatever else starts something) are closed to a consumed session', () => {
  const closed = routes.filter((route) => route.credential === 'session' && route.allowConsumed !== true);
  expect(closed.map(({ path }) => path)).toEqual([
    '/payments/collect',
    '/payments/submit',
    '/payments/send',
    '/payments/collect-redirect',
  ]);
});

describe('rotation', () => {
  test('both credentials are valid until the grace period is over; then the old one and its sessions are dead', async () => {
    const shop = await world.merchant('Pharmacie Bukavu');
    const old = await mint(world, shop, { ttl_seconds: 86_400 });
    const rotated = await rotateCredential(world.gateway.deps, shop.key_id, 60_000);
    const fresh = { ...shop, ...rotated };
    const kept = await mint(world, fresh, { ttl_seconds: 86_400 });
    await collectWith(world, old.token);
    await world.clock.advance(59_999);
    expect((await mintAs(bearerOf(shop))).status).toBe(201);
    await world.clock.advance(1);
    expectRefusal(await mintAs(bearerOf(shop)), 401, '1005');
    const collectAs = (bearer: string) =>
      world.call('POST', '/payments/collect', { bearer, body: collectBody(world, 'none') });
    expectRefusal(await collectAs(old.token), 401, '1005');
    expect((await mintAs(bearerOf(fresh))).status).toBe(201);
    expect((await collectAs(kept.token)).status).toBe(200);
  });

  test('without a grace period the old one ends at once', async () => {
    const shop = await world.merchant('Pharmacie Bukavu');
    const rotated = await rotateCredential(world.gateway.deps, shop.key_id, 0);
    expectRefusal(await mintAs(bearerOf(shop)), 401, '1001');
    expect((await mintAs(bearerOf(rotated))).status).toBe(201);
  });

  test('a second credential is independent of the first; it can read what the first one’s sessions paid', async () => {
    const shop = await world.merchant('Pharmacie Bukavu');
    const second = { ...shop, ...(await issueCredential(world.gateway.deps, shop.merchant.id, null)) };
    const paying = await collect(world, shop);
    const { token } = await mint(world, second);
    await revokeCredential(world.gateway.deps, shop.key_id);
    expect(await statusOf(world, { ...paying, token })).toBe('pending');
  });
});

describe('allow-list', () => {
  test.each([
    [['127.0.0.1'], undefined, true],
    [['127.0.0.0/8'], undefined, true],
    [['10.0.0.0/8', '2001:db8::/32'], undefined, false],
    [['10.0.0.0/8'], '10.1.2.3', true],
    [['10.0.0.0/8'], '203.0.113.9, 10.1.2.3', true],
    [['10.0.0.0/8'], '10.1.2.3, 203.0.113.9', false],
    [['2001:db8::/32'], '2001:db8::7', true],
    [['127.0.0.1'], '203.0.113.9', false],
  ])('%j, forwarded for %s: %s', async (addresses, forwarded, allowed) => {
    const issued = await issueCredential(world.gateway.deps, merchant.merchant.id, addresses);
    const answer = await mintAs(bearerOf(issued), forwarded === undefined ? {} : { 'x-forwarded-for': forwarded });
    if (allowed) expect(answer.status, answer.text).toBe(201);
    else expectRefusal(answer, 403, '1003', 'ADDRESS_NOT_ALLOWED');
  });

  test('applies to the credential, not to the sessions that go to phones', async () => {
    const issued = await issueCredential(world.gateway.deps, merchant.merchant.id, ['127.0.0.1']);
    const { token } = await mint(world, { ...merchant, ...issued });
    const body = collectBody(world, 'none');
    const headers = { 'x-forwarded-for': '203.0.113.9' };
    expect((await world.call('POST', '/payments/collect', { bearer: token, body, headers })).status).toBe(200);
  });
});

describe('device', () => {
  const [first, second] = ['a'.repeat(64), 'b'.repeat(64)];
  const on = (device: string | undefined) => (device === undefined ? {} : { 'x-device-fingerprint': device });

  test('the first one that a session shows is bound to it', async () => {
    const { token } = await mint(world, merchant);
    const body = collectBody(world, 'none');
    const post = (device?: string) =>
      world.call('POST', '/payments/collect', { bearer: token, body, headers: on(device) });
    expect((await post()).status).toBe(200);
    const made = await post(first);
    expect(made.status).toBe(200);
    expect((await post(first.toUpperCase())).status).toBe(200);
    expectRefusal(await post(second), 403, '1305');
    expectRefusal(await post(), 403, '1305');
    const read = (device?: string) =>
      world.call('GET', `/payments/status/${made.json.transaction_id}`, { bearer: token, headers: on(device) });
    expect((await read()).status).toBe(200);
    expect((await read(first)).status).toBe(200);
    expectRefusal(await read(second), 403, '1305');
    const wallet = await world.wallet();
    const paying = { token, payment_id: made.json.payment_id };
    expectRefusal(await payFromWallet(world, paying, wallet, on(second)), 403, '1305');
    expect((await payFromWallet(world, paying, wallet, on(first))).json).toMatchObject({ status: 'approved' });
  });

  test('a submit binds it too: the verification must come from the same device', async () => {
    const wallet = await world.wallet({ balance: 500_00n, phone: '+243820000555' });
    const paying = await collect(world, merchant, { minted: { amount: '150.00' } });
    const asked = await payFromWallet(world, paying, wallet, on(first));
    expect(asked.json).toMatchObject({ status: 'pending_otp_verification' });
    const body = { payment_id: paying.payment_id, otp_code: await codeOn(world, '+243820000555') };
    const verify = (device?: string) =>
      world.call('POST', '/payments/verify-otp', { bearer: paying.token, body, headers: on(device) });
    expectRefusal(await verify(second), 403, '1305');
    expectRefusal(await verify(), 403, '1305');
    expect((await verify(first)).json).toMatchObject({ status: 'approved' });
  });

  test('a read binds it, and so does a refused call', async () => {
    const { transaction_id, token } = await collect(world, merchant);
    const path = `/payments/status/${transaction_id}`;
    expect((await world.call('GET', path, { bearer: token, headers: on(first) })).status).toBe(200);
    expectRefusal(await world.call('GET', path, { bearer: token, headers: on(second) }), 403, '1305');
    const other = await mint(world, merchant);
    const post = (device: string) =>
      world.call('POST', '/payments/collect', { bearer: other.token, body: {}, headers: on(device) });
    expectRefusal(await post(first), 400, '1109');
    expectRefusal(await post(second), 403, '1305');
  });

  test('of two devices that race for a session, one is bound', async () => {
    const { token } = await mint(world, merchant);
    const body = collectBody(world, 'none');
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, at) =>
        world.call('POST', '/payments/collect', { bearer: token, body, headers: on(at % 2 === 0 ? first : second) }),
      ),
    );
    const taken = [0, 1].map((side) => answers.filter(({ status }, at) => at % 2 === side && status === 200).length);
    expect(taken.filter((count) => count > 0)).toHaveLength(1);
  });

  test.each(['', 'abc', 'g'.repeat(64), 'a'.repeat(63), 'a'.repeat(65), `${'a'.repeat(63)} `])(
    '%j is not a fingerprint (1110), even on a session that another device is bound to',
    async (device) => {
      const { token } = await mint(world, merchant);
      const refused = await world.call('POST', '/payments/collect', {
        bearer: token,
        body: collectBody(world, 'none'),
        headers: { 'x-device-fingerprint': device },
      });
      expectRefusal(refused, 400, '1110', 'INVALID_DEVICE_FINGERPRINT');
      const { token: bearer, transaction_id } = await collect(world, merchant);
      const path = `/payments/status/${transaction_id}`;
      expect((await world.call('GET', path, { bearer, headers: on(first) })).status).toBe(200);
      const onBound = [
        await world.call('GET', path, { bearer, headers: on(device) }),
        await world.call('POST', '/payments/collect', {
          bearer,
          body: collectBody(world, 'none'),
          headers: on(device),
        }),
      ];
      for (const answer of onBound) expectRefusal(answer, 400, '1110', 'INVALID_DEVICE_FINGERPRINT');
    },
  );
});

describe('sessions of one merchant', () => {
  test('can read and finish each other’s payments; another merchant’s can do neither', async () => {
    const asked = await askCode(world, merchant);
    const { token } = await mint(world, merchant);
    const stranger = await mint(world, await neighbourOf(world, merchant));
    expect(await statusOf(world, { ...asked, token })).toBe('pending_otp_verification');
    const body = { payment_id: asked.payment_id, otp_code: await codeOn(world, asked.phone) };
    const verify = (bearer: string) => world.call('POST', '/payments/verify-otp', { bearer, body });
    expectRefusal(await verify(stranger.token), 404, '1204');
    expect((await verify(token)).json).toMatchObject({ status: 'approved' });
    // A verification by another session does not consume that session.
    expect((await collectWith(world, token)).payment_id).toMatch(/^pay_/);
  });

  test('cannot submit each other’s payments, and are told so; another merchant’s learns nothing', async () => {
    const paying = await collect(world, merchant);
    const { token } = await mint(world, merchant);
    const stranger = await mint(world, await neighbourOf(world, merchant));
    const wallet = await world.wallet();
    const refused = await payFromWallet(world, { ...paying, token }, wallet);
    expectRefusal(refused, 404, '1204', 'OTHER_SESSION');
    expect(refused.json).toMatchObject({
      transaction_id: paying.transaction_id,
      message: refused.json.details[0].message,
    });
    const strange = await payFromWallet(world, { ...paying, token: stranger.token }, wallet);
    expectRefusal(strange, 404, '1204');
    const unknown = await payFromWallet(world, { ...paying, payment_id: 'pay_0123456789', token }, wallet);
    expect(withoutIds(strange)).toEqual(withoutIds(unknown));
  });

  test('are told when they name a payment by its other name, whoever’s it is', async () => {
    const { token, transaction_id, payment_id } = await collect(world, merchant);
    const stranger = await mint(world, await neighbourOf(world, merchant));
    const get = (path: string, bearer = token) => world.call('GET', path, { bearer });
    const post = (path: string, body: Fields, bearer = token) => world.call('POST', path, { bearer, body });
    const merchants = bearerOf(merchant);
    const wallet = await world.wallet();
    const of = {
      transaction: [`/payments/status/${payment_id}`, `/payments/cardnet/status/${payment_id}`],
      payment: `/payments/mobile-money/status/${transaction_id}`,
    };
    const wrong = [
      ...(await Promise.all(of.transaction.map((path) => get(path)))),
      await get(of.payment),
      await payFromWallet(world, { token, payment_id: transaction_id }, wallet),
      await post('/payments/verify-otp', { payment_id: transaction_id, otp_code: '000000' }),
      await post('/payments/resend-otp', { payment_id: transaction_id }),
      await post('/internal/refunds', { transaction_id: payment_id }, merchants),
      await post(`/internal/deliveries/${payment_id}/release`, {}, merchants),
    ];
    for (const answer of wrong) expectRefusal(answer, 404, '1204', 'OTHER_ID');
    expect(wrong[2]?.json.message).toBe(
      'This is a transaction_id (txn_), and this call takes the payment_id (pay_) of the payment. Send that.',
    );
    expectRefusal(await get(`/payments/check-status/${payment_id}`), 404, '1204', 'OTHER_ID');
    const strange = await get(of.payment, stranger.token);
    expect(withoutIds(strange)).toEqual(withoutIds(wrong[2] ?? strange));
  });

  test('are not sent to collect a second time for a payment that has been paid', async () => {
    const paying = await collect(world, merchant);
    const wallet = await world.wallet();
    expect((await payFromWallet(world, paying, wallet)).json).toMatchObject({ status: 'approved' });
    const { token } = await mint(world, merchant);
    const { json } = await payFromWallet(world, { ...paying, token }, wallet);
    expect(json.details).toMatchObject([{ code: 'OTHER_SESSION' }]);
    expect(json.message).toMatch(/collect again once this payment has ended unpaid/);
  });
});

test('checks come in a fixed order: credential, limit, key, schema', async () => {
  const { token } = await mint(world, merchant);
  const bad = { raw: '{"payment_method":', headers: { 'idempotency-key': '' } };
  const post = (bearer: string, more: { raw: string; headers?: Record<string, string> }) =>
    world.call('POST', '/payments/collect', { bearer, ...more });
  expectRefusal(await post(`${token}x`, bad), 401, '1001');
  expectRefusal(await post(bearerOf(merchant), bad), 403, '1003');
  expectRefusal(
    await post(token, { raw: '{}', headers: { 'idempotency-key': '' } }),
    400,
    '1110',
    'INVALID_IDEMPOTENCY_KEY',
  );
  expectRefusal(await post(token, { raw: '{}' }), 400, '1109');
  const spent = [];
  for (let calls = 0; calls < 125; calls += 1) spent.push(await post(token, bad));
  expectRefusal(spent.at(-1) ?? (await post(token, bad)), 429, '1301');
});

test('the books balance after all of this', async () => {
  expect((await world.gateway.store.auditAll()).findings).toEqual([]);
});
