import { describe, expect, it } from 'vitest';
import { makeId } from '../domain/ids.ts';
import { Refusal } from '../domain/refusal.ts';
import { makeSessionToken } from '../domain/session-token.ts';
import { SHARD, type SmallWorld, smallWorld } from './testing/small-world.ts';

const BODY = { amount: '12.50', currency: 'usd', payment_method: 'wallet' };
const FINGERPRINT = 'a'.repeat(64);
const HOUR = 60 * 60_000;

type Headers = { readonly [name: string]: string };

/** Status, code and detail of the answer to a call: `401 1001 SESSION_CONSUMED`, or the status alone. */
async function call(
  world: SmallWorld,
  url: string,
  headers: Headers,
  method: 'GET' | 'POST' = 'POST',
  remoteAddress = '192.0.2.1',
) {
  const payload = method === 'POST' ? { payload: BODY } : {};
  const answer = await world.app.inject({ method, url: `/api/v1${url}`, headers, remoteAddress, ...payload });
  const body = answer.json<{ error_code?: string; details?: { code: string }[] | null }>();
  return [answer.statusCode, body.error_code, body.details?.[0]?.code].filter((part) => part !== undefined).join(' ');
}

const mint = (world: SmallWorld, authorization = world.merchantAuth, address?: string) =>
  call(world, '/orders', { authorization }, 'POST', address);
const pay = (world: SmallWorld, headers: Headers = {}) =>
  call(world, '/payments/pay', { authorization: world.sessionAuth, ...headers });
const read = (world: SmallWorld, headers: Headers = {}) =>
  call(world, '/payments/status/0123456789', { authorization: world.sessionAuth, ...headers }, 'GET');

describe('the Authorization header', () => {
  it('is one Bearer value, the scheme in any case', async () => {
    const world = smallWorld();
    expect(await mint(world)).toBe('201');
    expect(await mint(world, world.merchantAuth.replace('Bearer', 'bEaReR'))).toBe('201');
    const value = world.merchantAuth.slice('Bearer '.length);
    for (const wrong of [
      '',
      'Bearer',
      'Bearer ',
      value,
      `Basic ${value}`,
      `Bearer  ${value}`,
      `Bearer\t${value}`,
      `${world.merchantAuth} x`,
    ]) {
      expect(await mint(world, wrong)).toBe('401 1002 CREDENTIAL_FORM');
    }
    const none = await world.app.inject({ method: 'POST', url: '/api/v1/orders', payload: BODY });
    expect(none.json()).toMatchObject({ error_code: '1002', error_name: 'MISSING_CREDENTIAL' });
  });

  it('that came twice counts as none, even when the call has taken so long that its credential is read again', async () => {
    const world = smallWorld({ isClockRight: () => world.clock.advance(HOUR / 60).then(() => true) });
    const send = (Authorization: string | string[]) =>
      world.app.inject({ method: 'POST', url: '/api/v1/orders', headers: { Authorization }, payload: BODY });
    expect((await send(world.merchantAuth)).statusCode).toBe(201);
    const twice = await send([world.merchantAuth, world.merchantAuth]);
    expect(twice.json()).toMatchObject({ error_code: '1002' });
  });

  it('gives an unknown key, an unknown session and a wrong secret the same answer', async () => {
    const world = smallWorld();
    const keyId = makeId('key', 1, Buffer.alloc(16, 9), SHARD);
    const token = makeSessionToken(makeId('ses', 1, Buffer.alloc(16, 9), SHARD), 'x'.repeat(43));
    const wrong = [
      `${world.merchantAuth}x`,
      `Bearer ${keyId}:${world.merchantAuth.split(':')[1]}`,
      `Bearer ${token}`,
      `${world.sessionAuth.slice(0, -1)}u`,
      'Bearer :',
      'Bearer key_x:y',
      'Bearer sess_x',
    ];
    for (const authorization of wrong) {
      expect([authorization, await mint(world, authorization)]).toEqual([authorization, '401 1001']);
    }
    expect(await call(world, '/payments/pay', { authorization: `Bearer ${token}` })).toBe('401 1001');
  });

  it('of no known form is told what the forms are', async () => {
    const world = smallWorld();
    const [keyId, secret] = world.merchantAuth.slice('Bearer '.length).split(':');
    const half = [`Bearer ${keyId}`, `Bearer ${secret}`];
    for (const authorization of [...half, `Bearer ${world.rows.session.id}`, 'Bearer x'])
      expect([authorization, await mint(world, authorization)]).toEqual([authorization, '401 1001 CREDENTIAL_FORM']);
  });

  it('of the other kind is refused only once it is known to be right', async () => {
    const world = smallWorld();
    expect(await mint(world, world.sessionAuth)).toBe('403 1003 WRONG_CREDENTIAL_KIND');
    expect(await call(world, '/payments/pay', { authorization: world.merchantAuth })).toBe(
      '403 1003 WRONG_CREDENTIAL_KIND',
    );
    expect(await mint(world, `${world.sessionAuth.slice(0, -1)}u`)).toBe('401 1001');
  });

  it('may be wrong twenty times a minute from one address; a right one passes all the same', async () => {
    const world = smallWorld({ rateLimitScale: 0 });
    for (let attempt = 0; attempt < 20; attempt += 1)
      expect(await mint(world, `${world.merchantAuth}x`)).toBe('401 1001');
    expect(await mint(world, `${world.merchantAuth}x`)).toBe('429 1301');
    const refused = await world.app.inject({
      method: 'GET',
      url: '/api/v1/payments/status/0123456789',
      headers: { authorization: `${world.sessionAuth.slice(0, -1)}u` },
      remoteAddress: '192.0.2.1',
    });
    expect(refused.headers).toMatchObject({
      'ratelimit-policy': '"failed_authentications";q=20;w=60',
      ratelimit: `"failed_authentications";r=0;t=${refused.headers['retry-after']}`,
    });
    expect(await mint(world, `${world.merchantAuth}x`, '192.0.2.2')).toBe('401 1001');
    expect(await mint(world)).toBe('201');
    await world.clock.advance(2 * 60_000);
    expect(await mint(world, `${world.merchantAuth}x`)).toBe('401 1001');
  });
});

describe('a credential', () => {
  it('is valid while it is active, and in its grace period', async () => {
    const world = smallWorld();
    const set = (row: Partial<typeof world.rows.credential>) => {
      world.rows.credential = {
        ...world.rows.credential,
        retires_at: null,
        expires_at: null,
        status: 'ALLOWED',
        ...row,
      };
    };
    const now = world.clock.now();
    const both = async () => [await mint(world), await read(world)];
    set({ status: 'RETIRING', retires_at: now + 1 });
    expect(await both()).toEqual(['201', '200']);
    set({ status: 'RETIRING', retires_at: now });
    expect(await both()).toEqual(['401 1005', '401 1005']);
    set({ status: 'REVOKED' });
    expect(await both()).toEqual(['401 1001', '401 1001']);
    set({ expires_at: now });
    expect(await both()).toEqual(['401 1005', '401 1005']);
    set({ expires_at: now + 1 });
    expect(await both()).toEqual(['201', '200']);
  });

  it('of the other mode is a wrong one', async () => {
    const production = smallWorld({ mode: 'production' });
    expect(await mint(production)).toBe('401 1001');
    const world = smallWorld();
    const secret = `sk_live_${'l'.repeat(43)}`;
    world.rows.credential = { ...world.rows.credential, secret_hash: world.secrets.digest(secret) };
    expect(await mint(world, `Bearer ${world.rows.credential.id}:${secret}`)).toBe('401 1001');
    production.rows.credential = { ...production.rows.credential, secret_hash: production.secrets.digest(secret) };
    expect(await mint(production, `Bearer ${production.rows.credential.id}:${secret}`)).toBe('201');
  });

  it('of a suspended merchant is not valid', async () => {
    const world = smallWorld();
    world.rows.merchant = { ...world.rows.merchant, status: 'SUSPENDED' };
    expect([await mint(world), await pay(world)]).toEqual(['403 1004', '403 1004']);
  });

  it('is restricted to its addresses; its sessions are not', async () => {
    const world = smallWorld({ trustProxy: ['10.0.0.0/8'] });
    world.rows.credential = { ...world.rows.credential, allowed_addresses: ['192.0.2.0/24'] };
    expect(await mint(world)).toBe('201');
    expect(await mint(world, world.merchantAuth, '203.0.113.1')).toBe('403 1003 ADDRESS_NOT_ALLOWED');
    const through = (forwarded: string) =>
      call(world, '/orders', { authorization: world.merchantAuth, 'x-forwarded-for': forwarded }, 'POST', '10.0.0.1');
    expect(await through('192.0.2.77')).toBe('201');
    expect(await through('192.0.2.77, 203.0.113.1')).toBe('403 1003 ADDRESS_NOT_ALLOWED');
    expect(await pay(world)).toBe('201');
  });
});

describe('a session', () => {
  it('ends with its time to live', async () => {
    const world = smallWorld();
    await world.clock.advance(HOUR / 2 - 1);
    expect(await read(world)).toBe('200');
    await world.clock.advance(1);
    expect([await read(world), await pay(world)]).toEqual(['401 1005 SESSION_EXPIRED', '401 1005 SESSION_EXPIRED']);
  });

  it('that is consumed can read, and starts nothing', async () => {
    const world = smallWorld();
    world.rows.session = { ...world.rows.session, status: 'CONSUMED' };
    expect([await read(world), await pay(world)]).toEqual(['200', '401 1001 SESSION_CONSUMED']);
    expect(await pay(world, { 'idempotency-key': 'new' })).toBe('401 1001 SESSION_CONSUMED');
  });

  it('that has expired after it was consumed is not told to be minted anew', async () => {
    const world = smallWorld();
    const paid = makeId('txn', 1, Buffer.alloc(16, 9), SHARD);
    world.rows.session = { ...world.rows.session, status: 'CONSUMED', submitting_payment_id: paid };
    await world.clock.advance(HOUR / 2);
    for (const said of [await read(world), await pay(world)]) expect(said).toBe('401 1005 EXPIRED_AFTER_SUBMIT');
    const { app, sessionAuth: authorization } = world;
    const answer = await app.inject({ url: '/api/v1/payments/status/0123456789', headers: { authorization } });
    expect(answer.json()).toMatchObject({ transaction_id: paid });
  });

  it('that is consumed still gives a repeated call its stored answer', async () => {
    const world = smallWorld();
    const send = (body: object) =>
      world.app.inject({
        method: 'POST',
        url: '/api/v1/payments/pay',
        headers: { authorization: world.sessionAuth, 'idempotency-key': 'k' },
        payload: body,
      });
    const first = await send(BODY);
    world.rows.session = { ...world.rows.session, status: 'CONSUMED' };
    const again = await send(BODY);
    expect([again.statusCode, again.body, again.headers['idempotent-replayed']]).toEqual([201, first.body, 'true']);
    expect((await send({ ...BODY, amount: '1.00' })).json()).toMatchObject({ error_code: '1203' });
    expect(world.rows.runs).toBe(1);
  });
});

describe('a device', () => {
  it('has a fingerprint of 64 hexadecimal characters', async () => {
    const world = smallWorld();
    for (const wrong of ['', 'a'.repeat(63), 'a'.repeat(65), 'g'.repeat(64), `${FINGERPRINT} x`]) {
      expect(await pay(world, { 'x-device-fingerprint': wrong })).toBe('400 1110 INVALID_DEVICE_FINGERPRINT');
    }
    expect(await pay(world, { 'x-device-fingerprint': FINGERPRINT.toUpperCase() })).toBe('201');
    const wrongSecret = { authorization: `${world.sessionAuth.slice(0, -1)}u`, 'x-device-fingerprint': 'short' };
    expect(await call(world, '/payments/pay', wrongSecret)).toBe('401 1001');
  });

  it('is bound by the first call that shows one, even a read or a call that fails', async () => {
    const other = { 'x-device-fingerprint': 'b'.repeat(64) };
    const reading = smallWorld();
    expect(await read(reading, { 'x-device-fingerprint': FINGERPRINT })).toBe('200');
    expect(await pay(reading, other)).toBe('403 1305 OTHER_DEVICE');
    const failing = smallWorld();
    failing.rows.trouble = new Refusal(1201);
    expect(await pay(failing, { 'x-device-fingerprint': FINGERPRINT })).toBe('402 1201');
    expect(await read(failing, other)).toBe('403 1305 OTHER_DEVICE');
    const wrong = smallWorld();
    const token = `${wrong.sessionAuth.slice(0, -1)}u`;
    expect(await read(wrong, { authorization: token, 'x-device-fingerprint': FINGERPRINT })).toBe('401 1001');
    expect(await pay(wrong, other)).toBe('201');
  });

  it.each(['REVOKED', 'SUSPENDED'] as const)(
    'pays nothing if its session’s credential or merchant is %s while the session is bound to it',
    async (how) => {
      const world = smallWorld({
        whileBinding: ({ rows, clock }) => {
          if (how === 'REVOKED') rows.credential = { ...rows.credential, status: how };
          else rows.merchant = { ...rows.merchant, status: how };
          return clock.advance(1_000);
        },
      });
      expect(await pay(world, { 'x-device-fingerprint': FINGERPRINT })).toBe(
        how === 'REVOKED' ? '401 1001' : '403 1004',
      );
      expect(world.rows.runs).toBe(0);
    },
  );

  it('goes on when binding its session has taken a second', async () => {
    const world = smallWorld({ whileBinding: ({ clock }) => clock.advance(1_000) });
    expect(await pay(world, { 'x-device-fingerprint': FINGERPRINT })).toBe('201');
  });

  it('that is bound is the only one; reads without a fingerprint pass', async () => {
    const world = smallWorld();
    world.rows.session = { ...world.rows.session, device_fingerprint: FINGERPRINT };
    const other = { 'x-device-fingerprint': 'b'.repeat(64) };
    expect([await pay(world), await pay(world, other), await read(world, other)]).toEqual([
      '403 1305 REQUIRED',
      '403 1305 OTHER_DEVICE',
      '403 1305 OTHER_DEVICE',
    ]);
    expect([await pay(world, { 'x-device-fingerprint': FINGERPRINT.toUpperCase() }), await read(world)]).toEqual([
      '201',
      '200',
    ]);
  });
});

describe('no secret', () => {
  it('reaches the log', async () => {
    const world = smallWorld();
    await mint(world);
    await pay(world, { 'x-device-fingerprint': FINGERPRINT });
    await mint(world, `${world.merchantAuth}x`);
    const log = world.log.lines.join('\n');
    expect(log).toContain(world.rows.merchant.id);
    expect(log).not.toMatch(/sk_test_s|sess_|ssss|tttt|aaaaaaaa|12\.50/);
  });
});
