/** Load shedding, over real connections: what a refusal looks like, and what is never refused. */
import { once } from 'node:events';
import { afterEach, expect, test } from 'vitest';
import { connectTo } from '../../test/support/listening.ts';
import { type Limiter, LOAD_CLASSES, type LoadClass } from './overload.ts';
import { type SmallWorld, smallWorld } from './testing/small-world.ts';

/** Classes that a test turns away; the real limiter has a test of its own. */
const closed = new Set<LoadClass>();
const limiter: Limiter = {
  commits: { follow: (work) => work, pending: () => 0 },
  reads: { follow: (work) => work, pending: () => 0 },
  admits: (loadClass) => !closed.has(loadClass),
  level: () => LOAD_CLASSES.findLastIndex((loadClass) => closed.has(loadClass)) + 1,
};
const BODY = { amount: '12.50', currency: 'usd', payment_method: 'wallet' } as const;

let world: SmallWorld;
afterEach(async () => {
  closed.clear();
  await world.app.close();
});

async function open(): Promise<void> {
  world = smallWorld({ limiter, rateLimitScale: 0 });
}

test('a refusal is 1402 with a random Retry-After, in the caller’s language, before the sender is authenticated', async () => {
  await open();
  closed.add('begin');
  const seconds = new Set<string>();
  for (let tries = 0; tries < 60; tries += 1) {
    const answer = await world.app.inject({
      method: 'POST',
      url: '/api/v1/orders',
      // An unknown credential: a client that is turned away does not learn that.
      headers: { authorization: 'Bearer nobody', 'accept-language': 'es' },
      payload: BODY,
    });
    expect(answer.statusCode).toBe(503);
    expect(answer.headers.connection).not.toBe('close');
    const said = answer.json<{ error_code: string; retryable: boolean; retry_after: number; message: string }>();
    expect(said).toMatchObject({ error_code: '1402', retryable: true });
    expect(String(said.retry_after)).toBe(answer.headers['retry-after']);
    expect(said.message).toMatch(/servicio/);
    seconds.add(String(answer.headers['retry-after']));
  }
  expect([...seconds].sort()).toEqual(['1', '2', '3', '4', '5']);
  expect(world.rows.runs).toBe(0);
});

test('each class is separate: calls that finish a payment go on while reads and new payments are shed', async () => {
  await open();
  closed.add('read').add('begin');
  const post = (url: string, authorization: string) =>
    world.app.inject({ method: 'POST', url, headers: { authorization }, payload: BODY });
  const read = (method: 'GET' | 'HEAD') =>
    world.app.inject({
      method,
      url: '/api/v1/payments/status/pay_0123456789',
      headers: { authorization: world.sessionAuth },
    });
  expect((await post('/api/v1/orders', world.merchantAuth)).statusCode).toBe(503);
  expect((await read('GET')).statusCode).toBe(503);
  expect((await read('HEAD')).statusCode).toBe(503);
  expect((await post('/api/v1/payments/pay', world.sessionAuth)).statusCode).toBe(201);
  expect((await world.app.inject({ method: 'PUT', url: '/upstream/mtn', payload: 'x' })).statusCode).toBe(200);
});

test('health, metrics and documents are never shed; the metrics show the shedding, and the log reports it once', async () => {
  await open();
  for (const loadClass of LOAD_CLASSES) closed.add(loadClass);
  for (let tries = 0; tries < 3; tries += 1) {
    await world.app.inject({ method: 'POST', url: '/api/v1/orders', payload: BODY });
  }
  for (const url of ['/health', '/health/ready', '/openapi.json', '/docs/errors/1402']) {
    expect((await world.app.inject({ url })).statusCode, url).toBe(200);
  }
  const page = await world.app.inject({ url: '/metrics' });
  expect(page.body).toContain('mbongo_http_shed_total{class="begin"} 3');
  expect(page.body).toContain('mbongo_overload_level 5');
  expect(page.body).toContain('route="/api/v1/orders",status="5xx"} 3');
  closed.clear();
  // Neither is an admitted request counted as shed, nor is the end of the overload logged at each look.
  await world.app.inject({ method: 'POST', url: '/api/v1/orders', payload: BODY });
  for (const _ of [1, 2]) {
    const { body } = await world.app.inject({ url: '/metrics' });
    expect(body).toContain('mbongo_http_shed_total{class="begin"} 3');
    expect(body).toContain('mbongo_overload_level 0');
  }
  const lines = world.log.lines.filter((line) => line.includes('overload'));
  expect(lines.map((line) => /"event":"(\w+)"|"msg":"(\w+)"/.exec(line)?.slice(1).join('') ?? line)).toHaveLength(2);
});

test('the log tells when overload begins, when it gets worse and when it is over, even if nobody reads the metrics', async () => {
  await open();
  const call = () =>
    world.app.inject({
      method: 'POST',
      url: '/api/v1/orders',
      headers: { authorization: world.merchantAuth },
      payload: BODY,
    });
  // It gets worse, then better, and as bad as before.
  for (const classes of [['begin'], ['begin', 'finish'], ['begin'], ['begin', 'finish'], []] as const) {
    closed.clear();
    for (const loadClass of classes) closed.add(loadClass);
    for (let calls = 0; calls < 2; calls += 1) await call();
  }
  const lines = world.log.lines.map((line) => JSON.parse(line)).filter(({ event }) => event.includes('overload'));
  expect(
    lines.map(({ level, event, overload_level, turned_away }) => [level, event, overload_level, turned_away]),
  ).toEqual([
    ['warn', 'overloaded', 2, 'read, begin'],
    ['warn', 'overloaded', 4, 'read, begin, collect, finish'],
    ['info', 'overload_over', 4, undefined],
  ]);
});

test('a connection is kept when its request is shed, whatever its body', async () => {
  await open();
  closed.add('begin');
  await world.app.listen({ port: 0, host: '127.0.0.1' });
  const socket = connectTo(world.app.server);
  const body = JSON.stringify(BODY);
  const post = `POST /api/v1/orders HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  let answers = '';
  socket.on('data', (chunk) => {
    answers += chunk.toString();
  });
  socket.write(`${post}${post}GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  await once(socket, 'close');
  expect([...answers.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status)).toEqual(['503', '503', '200']);
});
