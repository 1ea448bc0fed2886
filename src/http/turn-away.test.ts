/**
 * Calls that are turned away before the framework sees them: answered as the framework would have, over real connections.
 * Injected requests reach the framework alone, and so tell what its answer is.
 */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { Type } from 'typebox';
import { afterEach, describe, expect, test } from 'vitest';
import { connectTo } from '../../test/support/listening.ts';
import type { Pages } from '../messages/page.ts';
import type { TraceAttributes, Traces } from '../platform/platform.ts';
import { type Limiter, LOAD_CLASSES, type LoadClass } from './overload.ts';
import { defineRoute } from './route.ts';
import { type SmallWorld, type SmallWorldOptions, smallWorld } from './testing/small-world.ts';

const closed = new Set<LoadClass>();
/** How often a request was judged. */
let judged = 0;
const limiter: Limiter = {
  commits: { follow: (work) => work, pending: () => 0 },
  reads: { follow: (work) => work, pending: () => 0 },
  admits(loadClass) {
    judged += 1;
    return !closed.has(loadClass);
  },
  level: () => LOAD_CLASSES.findLastIndex((loadClass) => closed.has(loadClass)) + 1,
};

let world: SmallWorld;
afterEach(async () => {
  closed.clear();
  await world.app.close();
});

async function open(options: SmallWorldOptions = {}): Promise<void> {
  world = smallWorld({ limiter, rateLimitScale: 0, ...options });
  for (const loadClass of LOAD_CLASSES) closed.add(loadClass);
  judged = 0;
  await world.app.listen({ port: 0, host: '127.0.0.1' });
}

/** Sends bytes, ends its side, and reads until the server closes. */
async function exchange(bytes: string): Promise<string> {
  const socket = connectTo(world.app.server);
  socket.on('error', () => socket.destroy());
  let answer = '';
  socket.on('data', (chunk) => {
    answer += chunk.toString();
  });
  socket.end(bytes);
  if (!socket.closed) await once(socket, 'close');
  return answer;
}

/** A promise that a test resolves. */
function signal(): { readonly given: Promise<void>; give(): void } {
  let give = (): void => undefined;
  const given = new Promise<void>((done) => {
    give = done;
  });
  return { given, give: () => give() };
}

interface Said {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What differs from one refusal to the next. */
const OF_EACH = /"(timestamp|request_id)":"[^"]*"|"(retry_after)":\d/g;
const HEADERS_OF_EACH = new Set(['x-request-id', 'retry-after', 'date', 'connection', 'keep-alive', 'content-length']);

function told({ status, headers, body }: Said): Said {
  const kept = Object.entries(headers).filter(([name]) => !HEADERS_OF_EACH.has(name));
  const entries = kept.toSorted(([a], [b]) => (a < b ? -1 : 1));
  return { status, headers: Object.fromEntries(entries), body: body.replace(OF_EACH, '"$1$2":?') };
}

function parse(answer: string): Said {
  const [head = '', body = ''] = answer.split('\r\n\r\n', 2);
  const [first = '', ...lines] = head.split('\r\n');
  const headers = lines.map((line) => [
    line.slice(0, line.indexOf(':')).toLowerCase(),
    line.slice(line.indexOf(':') + 2),
  ]);
  return { status: Number(first.slice(9, 12)), headers: Object.fromEntries(headers) as Said['headers'], body };
}

const CALLS = [
  ['GET', '/api/v1/payments/status/pay_0123456789?full=1'],
  ['HEAD', '/api/v1/payments/status/pay_0123456789'],
  ['POST', '/api/v1/orders'],
  ['POST', '/api/v1/payments/pay'],
  ['PUT', '/upstream/mtn'],
] as const;

describe('a shed request', () => {
  test.each(
    CALLS.flatMap(([method, url]) => ['fr', 'zh', 'xx, ru;q=0.5'].map((language) => [method, url, language] as const)),
  )('%s %s in %s gets the framework’s own answer', async (method, url, language) => {
    await open();
    const head = `${method} ${url} HTTP/1.1\r\nHost: x\r\nAccept-Language: ${language}\r\n`;
    const body = method === 'POST' ? 'Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}' : '\r\n';
    const said = parse(await exchange(`${head}${body}`));
    const injected = await world.app.inject({
      method,
      url,
      headers: { 'accept-language': language, ...(method === 'POST' ? { 'content-type': 'application/json' } : {}) },
      ...(method === 'POST' ? { payload: '{}' } : {}),
    });
    const headers = Object.entries(injected.headers).map(([name, value]) => [name, String(value)]);
    const way = {
      status: injected.statusCode,
      headers: Object.fromEntries(headers) as Said['headers'],
      body: injected.body,
    };
    expect(told(said)).toEqual(told(way));
    expect(said.status).toBe(503);
    expect(said.headers['retry-after']).toMatch(/^[1-5]$/);
    expect(said.headers['x-request-id']).toMatch(/^req_\w{24}$/);
    if (method === 'HEAD') return;
    expect(said.headers['content-length']).toBe(String(Buffer.byteLength(said.body)));
    expect(said.body).toContain(`"request_id":"${said.headers['x-request-id']}"`);
    expect(said.body).toContain(`"retry_after":${said.headers['retry-after']}`);
  });

  test('is judged once, counted once and has one line in the log', async () => {
    await open();
    await exchange('POST /api/v1/orders HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n');
    expect(judged).toBe(1);
    const { body } = await world.app.inject({ url: '/metrics' });
    expect(body).toContain('mbongo_http_shed_total{class="begin"} 1\n');
    expect(body).toContain('mbongo_http_requests_total{method="POST",route="/api/v1/orders",status="5xx"} 1\n');
    expect(body).toContain('mbongo_http_request_duration_seconds_count{route="/api/v1/orders"} 1\n');
    const lines = world.log.lines.filter((line) => line.includes('/api/v1/orders'));
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ method: 'POST', status: 503, error_code: 1402 });
  });

  test('keeps its connection, or loses it if the process is about to stop', async () => {
    let draining = false;
    await open({ isDraining: () => draining });
    const post =
      'POST /api/v1/orders HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}';
    const kept = await exchange(`${post}${post}`);
    expect([...kept.matchAll(/HTTP\/1\.1 503[\s\S]*?onnection: (\S+)/g)].map(([, how]) => how)).toEqual([
      'keep-alive',
      'keep-alive',
    ]);
    draining = true;
    expect((await exchange(`${post}${post}`)).match(/HTTP\/1\.1 503/g)).toHaveLength(1);
  });

  test('has a span of its own if traces are recorded', async () => {
    const spans: [string, TraceAttributes][] = [];
    const traces: Pick<Traces, 'begin'> = {
      begin: () => ({ within: (run) => run(), end: (name, attributes) => spans.push([name, attributes]) }),
    };
    await open({ traces: traces as Traces });
    await exchange('PUT /upstream/mtn HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(spans).toHaveLength(1);
    expect(spans[0]).toMatchObject([
      'PUT /upstream/:name',
      { 'http.response.status_code': 503, 'mbongo.error_code': 1402, 'error.type': '503' },
    ]);
  });
});

test('two Host headers are refused as such, however busy the server is', async () => {
  await open();
  const answer = parse(
    await exchange('GET /api/v1/payments/status/pay_0123456789 HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n'),
  );
  expect([answer.status, answer.headers.connection, judged]).toEqual([400, 'close', 0]);
});

test('a request that is whole within a second of the stop is refused for that, however busy the server is', async () => {
  await open();
  const connected = once(world.app.server, 'connection') as Promise<[Socket]>;
  const client = connectTo(world.app.server);
  const [socket] = await connected;
  client.write('POST /api/v1/orders HTTP/1.1\r\nHost:');
  await expect.poll(() => socket.bytesRead).toBeGreaterThan(0);
  const stopped = world.app.close();
  for (let tenths = 0; tenths < 9; tenths += 1) {
    await world.clock.advance(100);
    await setImmediate();
  }
  expect(socket.destroyed).toBe(false);
  let answer = '';
  client.on('data', (chunk) => {
    answer += chunk.toString();
  });
  client.write(' x\r\nContent-Length: 0\r\n\r\n');
  await Promise.all([once(client, 'close'), stopped]);
  const { status, headers } = parse(answer);
  expect([status, headers.connection, headers['retry-after'], judged]).toEqual([503, 'close', '2', 0]);
});

test('a long body that is still to come is shed once, and its sender is told', async () => {
  await open();
  const answer = parse(
    await exchange(
      'POST /api/v1/orders HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 300000\r\n\r\n{',
    ),
  );
  expect([answer.status, answer.headers.connection, judged]).toEqual([503, 'close', 1]);
});

test.each([
  ['a call', '/api/v1/orders', 503],
  ['what nobody knows', '/nowhere', 404],
] as const)(
  '%s whose body never ends gets its answer, and keeps its connection for half a minute',
  async (_what, path, status) => {
    await open();
    const socket = connectTo(world.app.server);
    const closedAt = once(socket, 'close');
    socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(parse(answer.toString()).status).toBe(status);
    await expect.poll(() => world.log.lines.some((line) => line.includes(`"status":${status}`))).toBe(true);
    await world.clock.advance(27_999);
    expect(socket.readyState).toBe('open');
    await world.clock.advance(1);
    await closedAt;
  },
);

test.each(['/api/v1/payments/status/pay_0123456789', '/nowhere', '/%zz'])(
  'a client that asks for %s again and again without reading is cut off',
  async (path) => {
    await open();
    const answers = await exchange(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(1_000));
    expect(answers.match(/HTTP\/1\.1/g)?.length ?? 0).toBeLessThanOrEqual(16);
    expect(judged).toBeLessThanOrEqual(16);
  },
);

describe('behind a request that is still being answered', () => {
  const slow = 'PUT /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n';
  const post = (length: number) =>
    `POST /api/v1/orders HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

  /** The statuses of the requests in the log. */
  const statuses = () =>
    world.log.lines
      .map((line) => JSON.parse(line) as { event: string; status: number })
      .flatMap(({ event, status }) => (event === 'request' ? [status] : []));

  /** A world that admits callbacks, and a callback that is answered when the test says so. */
  async function openSlow(): Promise<{ readonly begun: Promise<void>; end(): void }> {
    const begun = signal();
    const end = signal();
    const route = defineRoute({
      method: 'PUT',
      path: '/slow',
      outside: true,
      operationId: 'slow',
      summary: 'Slow',
      description: 'Answers when it is told to.',
      credential: 'none',
      limit: 'none',
      loadClass: 'callback',
      rawBody: true,
      answers: { 200: Type.Object({}) },
      refusals: [],
      run: async (call) => {
        begun.give();
        await end.given;
        return call.reply(200, {});
      },
    });
    await open({ routes: [route] });
    closed.delete('callback');
    return { begun: begun.given, end: end.give };
  }

  test('a refusal is counted and logged when it is sent', async () => {
    const { begun, end } = await openSlow();
    const answers = exchange(`${slow}${post(2)}{}`);
    await begun;
    await expect.poll(() => judged).toBe(2);
    // The refusal waits for the preceding answer.
    expect(statuses()).toEqual([]);
    end();
    expect([...(await answers).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['200', '503']);
    expect(statuses()).toEqual([200, 503]);
  });

  test('a body is accepted all the same, and a disconnected client is noticed', async () => {
    const { begun, end } = await openSlow();
    const connected = once(world.app.server, 'connection') as Promise<[Socket]>;
    const client = connectTo(world.app.server);
    const [socket] = await connected;
    client.write(`${slow}${post(250_000)}`);
    await new Promise((done) => client.write('x'.repeat(250_000), done));
    await begun;
    await expect.poll(() => judged).toBe(2);
    const gone = once(socket, 'close');
    client.destroy();
    await gone;
    end();
  });
});

test('an error while shedding is logged, and the request is served', async () => {
  const broken: Limiter = {
    ...limiter,
    admits() {
      throw new Error('broken');
    },
  };
  await open({ limiter: broken });
  const answer = parse(await exchange('PUT /upstream/mtn HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n'));
  expect(answer.status).toBe(200);
  expect(world.log.lines.map((line) => (JSON.parse(line) as { event: string }).event)).toEqual([
    'turn_away_failed',
    'request',
  ]);
});

test('health and metrics are answered, and a fixed path is not mistaken for a pattern that matches it', async () => {
  const route = defineRoute({
    method: 'GET',
    path: '/:anything',
    outside: true,
    operationId: 'anything',
    summary: 'Anything',
    description: 'Fits what stands at the root.',
    credential: 'none',
    limit: 'none',
    loadClass: 'read',
    answers: { 200: Type.Object({}) },
    refusals: [],
    run: async (call) => call.reply(200, {}),
  });
  await open({ routes: [route] });
  for (const [path, status] of [
    ['/health', 200],
    ['/metrics', 200],
    ['/else', 503],
  ] as const) {
    expect(parse(await exchange(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)).status, path).toBe(status);
  }
});

test('a page for people is shed in words, and the same page for a script in the envelope', async () => {
  const pages: Pages = {
    root: '/pay/',
    list: [{ method: 'GET', path: '/pay/:link', show: () => Promise.reject(new Error('nobody comes so far')) }],
    failed: ({ http }) => ({ status: http, type: 'text/html; charset=utf-8', body: `<p>${http}` }),
  };
  await open({ pages });
  const get = (accept: string) =>
    exchange(`GET /pay/me HTTP/1.1\r\nHost: x\r\nAccept: ${accept}\r\nConnection: close\r\n\r\n`);
  const words = parse(await get('text/html'));
  expect([words.status, words.headers['content-type'], words.body]).toEqual([
    503,
    'text/html; charset=utf-8',
    '<p>503',
  ]);
  expect(words.headers['retry-after']).toMatch(/^[1-5]$/);
  const envelope = parse(await get('application/json'));
  expect([envelope.status, envelope.body]).toEqual([503, expect.stringContaining('"error_code":"1402"')]);
  expect(judged).toBe(2);
});
