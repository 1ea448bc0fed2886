import { afterEach, describe, expect, it } from 'vitest';
import { Refusal } from '../domain/refusal.ts';
import { StoreBusy } from '../store/errors.ts';
import { type SmallWorld, type SmallWorldOptions, smallWorld } from './testing/small-world.ts';

const BODY = { amount: '12.50', currency: 'usd', payment_method: 'wallet' };
const worlds: SmallWorld[] = [];

function open(options?: SmallWorldOptions): SmallWorld {
  const world = smallWorld(options);
  worlds.push(world);
  return world;
}

afterEach(async () => {
  await Promise.all(worlds.splice(0).map(({ app }) => app.close()));
});

type Payload = string | object | Buffer;

function post(world: SmallWorld, payload: Payload, headers: Record<string, string> = {}, url = '/api/v1/orders') {
  const all = { authorization: world.merchantAuth, 'content-type': 'application/json', ...headers };
  return world.app.inject({ method: 'POST', url, headers: all, payload });
}

/** `400 1110 body INVALID_JSON`: status, code, and each detail. */
function faults(answer: { statusCode: number; json(): unknown }): string {
  const { error_code, details } = answer.json() as {
    error_code?: string;
    details?: { field: string; code: string }[] | null;
  };
  const named = (details ?? []).flatMap(({ field, code }) => [field, code]);
  return [answer.statusCode, error_code, ...named].join(' ');
}

it('gives each client the time and the connections that docs/overload.md promises', () => {
  const { server } = open().app;
  expect(server.headersTimeout).toBe(10_000);
  expect(server.requestTimeout).toBe(120_000);
  expect(server.timeout).toBe(60_000);
  // Longer than the 60 s of common load balancers: a connection that we closed under a request of theirs would be a 502.
  expect(server.keepAliveTimeout).toBe(65_000);
  expect(server.maxConnections).toBe(10_000);
});

describe('every answer', () => {
  it('has its headers, and none that reveals the software', async () => {
    const world = open();
    const answers = [
      await post(world, BODY),
      await post(world, '{'),
      await world.app.inject('/nowhere'),
      await world.app.inject('/health'),
      await world.app.inject('/%zz'),
      await world.app.inject({ method: 'DELETE', url: '/health' }),
    ];
    for (const { headers } of answers) {
      expect(headers).toMatchObject({
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      });
      expect(headers['x-request-id']).toMatch(/^req_[0-9a-z]{24}$/);
      expect(headers.server ?? headers['x-powered-by']).toBeUndefined();
    }
    expect(new Set(answers.map(({ headers }) => headers['x-request-id'])).size).toBe(answers.length);
  });

  it('leaves one line in the log, of harmless fields', async () => {
    const world = open();
    const answer = await post(world, { ...BODY, note: 'private' }, { 'idempotency-key': 'hidden' });
    await world.app.inject('/nowhere?phone=%2B243810000042');
    expect(world.log.lines.map((line) => JSON.parse(line) as object)).toEqual([
      {
        level: 'info',
        time: expect.any(String),
        event: 'request',
        request_id: answer.headers['x-request-id'],
        method: 'POST',
        route: '/api/v1/orders',
        status: 201,
        ms: 0,
        merchant_id: world.rows.merchant.id,
        transaction_id: 'txn_example',
      },
      expect.objectContaining({ method: 'GET', route: 'unknown', status: 404, error_code: 1403 }),
    ]);
    expect(world.log.lines.join()).not.toMatch(/private|hidden|243/);
  });

  it('logs little about probes, which come every few seconds, as long as all is well', async () => {
    const ready = { ok: true, checks: { database: true } };
    const world = smallWorld({ ready: async () => ready });
    const levels = async (urls: readonly string[]) => {
      const before = world.log.lines.length;
      for (const url of urls) await world.app.inject(url);
      return world.log.lines.slice(before).map((line) => (JSON.parse(line) as { level: string }).level);
    };
    expect(await levels(['/health', '/api/v1/health', '/health/ready', '/metrics'])).toEqual(Array(4).fill('debug'));
    expect(await levels(['/openapi.json', '/health/ready?x=1'])).toEqual(['info', 'debug']);
    ready.ok = false;
    expect(await levels(['/health/ready', '/metrics'])).toEqual(['info', 'debug']);
  });
});

describe('a request that no route takes', () => {
  it('is refused by path and method', async () => {
    const { app } = open();
    const unknown = await app.inject('/api/v1/orders/more');
    expect(faults(unknown)).toBe('404 1403 path UNKNOWN_PATH');
    expect(faults(await app.inject('/api/v1/%zz'))).toBe('404 1403 path UNKNOWN_PATH');
    expect(faults(await app.inject({ method: 'POST', url: '/api/v1/orders/' }))).toBe('404 1403 path UNKNOWN_PATH');
    const wrong = await app.inject({ method: 'PATCH', url: '/api/v1/orders?x=1' });
    expect([faults(wrong), wrong.headers.allow]).toEqual(['405 1403 method WRONG_METHOD', 'POST']);
    const reading = await app.inject({ method: 'POST', url: '/api/v1/payments/status/0123456789' });
    expect([faults(reading), reading.headers.allow]).toEqual(['405 1403 method WRONG_METHOD', 'GET, HEAD']);
    expect((await app.inject({ method: 'DELETE', url: '/health' })).headers.allow).toBe('GET, HEAD');
    expect((await app.inject({ method: 'OPTIONS', url: '/api/v1/orders' })).statusCode).toBe(405);
  });

  it.each([
    ['/api/v1/%6frders', 'POST'],
    ['/upstream/', 'PUT'],
    ['/api/v1/payments/status/a%2Fb?x=1', 'GET, HEAD'],
    ['/upstream/%zz', undefined],
    ['/api/v1/orders%2F', undefined],
  ])('has its URL read as a route would read it: DELETE %s', async (url, allow) => {
    const { app } = open();
    const refused = await app.inject({ method: 'DELETE', url });
    expect([refused.statusCode, refused.headers.allow]).toEqual([allow === undefined ? 404 : 405, allow]);
  });

  it('redirects a browser that opens it to the documentation, and no other client', async () => {
    const { app } = open();
    const html = { accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' };
    for (const url of ['/', '/?from=mail']) {
      const led = await app.inject({ url, headers: html });
      expect([led.statusCode, led.headers.location, led.headers.vary]).toEqual([302, '/docs', 'Accept']);
    }
    // Every refusal is in the envelope (contract §2), for browsers too.
    const asked = [
      { url: '/' },
      { url: '/', headers: { accept: 'application/json, text/html' } },
      { url: '/', headers: html, method: 'POST' },
      { url: '/nothing', headers: html },
    ] as const;
    for (const one of asked) expect(faults(await app.inject(one))).toBe('404 1403 path UNKNOWN_PATH');
  });

  it('is refused by its content type', async () => {
    const world = open();
    const types = [
      'text/plain',
      'application/json; charset=utf-16',
      'application/json;x',
      'application/jsonx',
      'application/json, text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      '',
      'x',
    ];
    for (const type of types) {
      expect([type, faults(await post(world, '{}', { 'content-type': type }))]).toEqual([
        type,
        '415 1403 Content-Type NOT_JSON',
      ]);
    }
    for (const coding of ['gzip', 'deflate', 'br', 'identity, gzip']) {
      const coded = await post(world, '{}', { 'content-encoding': coding });
      expect(faults(coded)).toBe('415 1403 Content-Encoding BODY_ENCODED');
    }
    expect((await post(world, BODY, { 'content-encoding': 'Identity' })).statusCode).toBe(201);
    for (const type of ['application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"']) {
      expect((await post(world, BODY, { 'content-type': type })).statusCode).toBe(201);
    }
  });

  it('is refused by its size', async () => {
    const world = open();
    const sized = (bytes: number) => JSON.stringify({ ...BODY, other: 'x'.repeat(bytes) });
    expect((await post(world, sized(200_000))).statusCode).toBe(201);
    expect(faults(await post(world, sized(263_000)))).toBe('413 1403 body BODY_TOO_LARGE');
  });
});

describe('the order of checks', () => {
  it('is authentication, limit, idempotency, schema', async () => {
    const world = open();
    world.rows.merchant = { ...world.rows.merchant, settings: { rate_limits: { sessions_create: 3 } } };
    const broken = '{"amount":';
    expect(faults(await post(world, broken, { authorization: 'Bearer nobody' }))).toBe(
      '401 1001 Authorization CREDENTIAL_FORM',
    );
    expect(faults(await post(world, broken))).toBe('400 1110 body INVALID_JSON');
    expect((await post(world, BODY, { 'idempotency-key': 'k' })).statusCode).toBe(201);
    expect(faults(await post(world, { amount: 5 }, { 'idempotency-key': 'k' }))).toBe(
      '409 1203 Idempotency-Key IDEMPOTENCY_BODY',
    );
    const limited = await post(world, broken, { 'idempotency-key': 'k k' });
    expect(faults(limited)).toBe('429 1301');
    expect(Number(limited.headers['retry-after'])).toBe(limited.json<{ retry_after: number }>().retry_after);
    expect(limited.headers).toMatchObject({
      ratelimit: '"sessions_create";r=0;t=60',
      'ratelimit-policy': '"sessions_create";q=3;w=60',
    });
  });

  it('tells an unauthenticated caller nothing about its body', async () => {
    const world = open();
    const bodies: Payload[] = ['', '{', '[]', '{"a":1,"a":2}', '{"card_number":"4111111111111111"}', BODY];
    for (const body of bodies) {
      const answer = await post(world, body, { authorization: '' });
      expect(faults(answer)).toBe('401 1002 Authorization CREDENTIAL_FORM');
    }
  });
});

describe('a body', () => {
  it('is one JSON object, or refused with what is wrong', async () => {
    const world = open();
    expect(faults(await post(world, '[1]'))).toBe('400 1110 body INVALID_JSON');
    expect(faults(await post(world, '{"lines":[{"amount":"1","amount":"2"}]}'))).toBe(
      '400 1110 lines[0].amount DUPLICATE_KEY',
    );
    expect(faults(await post(world, { ...BODY, note: '4111 1111 1111 1111' }))).toBe('400 1110 note CARD_DATA');
    const empty = await world.app.inject({
      method: 'POST',
      url: '/api/v1/orders',
      headers: { authorization: world.merchantAuth },
    });
    const missing = '400 1109 amount REQUIRED currency REQUIRED payment_method REQUIRED';
    expect([faults(empty), faults(await post(world, ''))]).toEqual([missing, missing]);
    expect(world.log.lines.join()).not.toMatch(/4111.?1111/);
  });

  it('has every bad field named, in the caller’s language', async () => {
    const world = open();
    const answer = await post(
      world,
      { amount: 12.5, currency: null, email: 'x', count: 77 },
      { 'accept-language': 'en' },
    );
    expect(faults(answer)).toBe(
      '400 1109 currency REQUIRED payment_method REQUIRED amount INVALID_AMOUNT email INVALID_EMAIL count OUT_OF_RANGE',
    );
    expect(answer.json()).toMatchObject({
      message: 'A required field is missing. Add the fields that are named in the details.',
    });
    const french = await post(world, {}, { 'accept-language': 'fr' });
    expect(french.json<{ message: string }>().message).not.toBe(answer.json<{ message: string }>().message);
  });

  it('may contain null in optional fields, and unknown fields', async () => {
    const world = open();
    const answer = await post(world, {
      ...BODY,
      email: null,
      lines: [{ amount: '1', phone_number: null }],
      merchant: { x: 1 },
    });
    expect(answer.statusCode).toBe(201);
    expect(answer.json()).toMatchObject({ lines: [{ amount: '1' }] });
    expect(answer.json()).not.toHaveProperty('email');
  });

  it('of a GET is not read', async () => {
    const world = open();
    const headers = { authorization: world.sessionAuth, 'content-type': 'text/plain' };
    const answer = await world.app.inject({
      method: 'GET',
      url: '/api/v1/payments/status/0123456789',
      headers,
      payload: '{',
    });
    expect(answer.statusCode).toBe(200);
  });

  it('of a raw route is passed on unchanged', async () => {
    const { app } = open();
    const send = (type: string, payload: string) =>
      app.inject({ method: 'PUT', url: '/upstream/momo', headers: { 'content-type': type }, payload });
    expect((await send('text/xml', '<x/>')).json()).toEqual({ got: '<x/>', type: 'text/xml' });
    expect((await send('application/json', '{"a":1,')).json()).toEqual({ got: '{"a":1,', type: 'application/json' });
    expect((await app.inject({ method: 'PUT', url: '/upstream/momo' })).json()).toEqual({ got: '', type: null });
  });
});

describe('an id in a path', () => {
  it('is 1110 if too short, and otherwise looked up', async () => {
    const world = open();
    const read = async (id: string) => {
      const headers = { authorization: world.sessionAuth };
      return faults(await world.app.inject({ method: 'GET', url: `/api/v1/payments/status/${id}`, headers }));
    };
    expect(await read('0123456789')).toBe('200 ');
    expect(await read('short')).toBe('400 1110 payment_id TOO_SHORT');
    for (const id of ['unknown-000', 'x'.repeat(513), 'x'.repeat(9_000), '0123456789%00', '0123456789%0A']) {
      expect([id, await read(id)]).toEqual([id, '404 1204']);
    }
  });
});

describe('an Idempotency-Key', () => {
  const key = { 'idempotency-key': '"order-1"' };

  it('gives the first answer again, byte for byte', async () => {
    const world = open();
    const first = await post(world, BODY, key);
    await world.clock.advance(1_000);
    const again = await post(
      world,
      { currency: 'usd', payment_method: 'wallet', amount: '12.50' },
      { 'idempotency-key': 'order-1' },
    );
    expect([again.statusCode, again.body]).toEqual([201, first.body]);
    expect([first.headers['idempotent-replayed'], again.headers['idempotent-replayed']]).toEqual([undefined, 'true']);
    expect(again.headers['x-request-id']).not.toBe(first.headers['x-request-id']);
  });

  it('gives racing callers one run and one answer', async () => {
    const world = open();
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(world, BODY, key)));
    expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
    expect(answers.filter(({ headers }) => headers['idempotent-replayed'] === undefined)).toHaveLength(1);
    expect(world.rows.runs).toBe(1);
  });

  it('remembers a refusal that rests on state with its bytes, and no other', async () => {
    const world = open();
    world.rows.trouble = new Refusal(1201, { transactionId: 'txn_1', retryAfter: 7 });
    const refused = await post(world, BODY, key);
    await world.clock.advance(5_000);
    world.rows.trouble = undefined;
    const again = await post(world, BODY, key);
    expect([refused.statusCode, again.statusCode, again.body]).toEqual([402, 402, refused.body]);
    // The headers say what the body says (contract §2).
    expect([refused, again].map(({ headers }) => headers['retry-after'])).toEqual(['7', '7']);
    const ids = [refused, again].map(({ headers }) => headers['x-request-id']);
    expect(ids).toEqual([again.json().request_id, again.json().request_id]);
    world.rows.trouble = new Refusal(1302);
    expect((await post(world, BODY, { 'idempotency-key': 'k2' })).statusCode).toBe(400);
    world.rows.trouble = undefined;
    expect((await post(world, BODY, { 'idempotency-key': 'k2' })).statusCode).toBe(201);
  });

  it('is separate for each route and owner, and must be well-formed', async () => {
    const world = open();
    await post(world, BODY, key);
    const elsewhere = await post(world, BODY, { ...key, authorization: world.sessionAuth }, '/api/v1/payments/pay');
    expect(elsewhere.headers['idempotent-replayed']).toBeUndefined();
    for (const wrong of ['', '""', 'a b', 'a'.repeat(256)]) {
      expect(faults(await post(world, BODY, { 'idempotency-key': wrong }))).toBe(
        '400 1110 Idempotency-Key INVALID_IDEMPOTENCY_KEY',
      );
    }
  });
});

describe('a failure', () => {
  it('that was not foreseen is logged with its cause and says nothing', async () => {
    const world = open();
    world.rows.trouble = new Error('relation "payment" does not exist');
    const answer = await post(world, BODY);
    expect(faults(answer)).toBe('500 1401');
    expect(answer.body).not.toContain('relation');
    const [line = ''] = world.log.lines;
    expect(JSON.parse(line)).toMatchObject({
      level: 'error',
      request_id: answer.headers['x-request-id'],
      error: expect.stringContaining('relation'),
    });
  });

  it('of a busy store asks the caller to retry', async () => {
    const world = open();
    world.rows.trouble = new StoreBusy();
    const answer = await post(world, BODY);
    expect([faults(answer), answer.headers['retry-after']]).toEqual(['503 1402', '1']);
    expect(answer.json()).toMatchObject({ retryable: true, retry_after: 1 });
  });
});
