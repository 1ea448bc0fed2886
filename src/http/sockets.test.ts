/**
 * What only a real connection shows: framing, repeated headers, a client that goes away, a server that stops.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { connectTo, portOf } from '../../test/support/listening.ts';
import { type SmallWorld, smallWorld } from './testing/small-world.ts';

const world: SmallWorld = smallWorld({ rateLimitScale: 0 });
const BODY = JSON.stringify({ amount: '12.50', currency: 'usd', payment_method: 'wallet' });

beforeAll(async () => {
  await world.app.listen({ port: 0, host: '127.0.0.1' });
});
afterAll(async () => {
  await world.app.close();
  // Nothing that a client does to a connection is an error of ours.
  expect(world.log.lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
});

function open(of: SmallWorld): Socket {
  return connectTo(of.app.server);
}

/** Sends bytes, ends its side, and reads until the server closes. */
async function exchange(bytes: string | Buffer): Promise<string> {
  const socket = open(world);
  socket.on('error', () => socket.destroy());
  let answer = '';
  socket.on('data', (chunk) => {
    answer += chunk.toString('latin1');
  });
  socket.end(bytes);
  if (!socket.closed) await once(socket, 'close');
  return answer;
}

const statuses = (answer: string): number[] =>
  [...answer.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
const errorCode = (answer: string): string | undefined => /"error_code":"(\d{4})"/.exec(answer)?.[1];

const request = (lines: readonly string[], body = BODY): string =>
  [
    'POST /api/v1/orders HTTP/1.1',
    'Host: x',
    `Authorization: ${world.merchantAuth}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    ...lines,
    '',
    body,
  ].join('\r\n');

describe('what HTTP itself forbids', () => {
  const head = (lines: readonly string[]) =>
    ['GET /health HTTP/1.1', 'Connection: close', ...lines, '', ''].join('\r\n');

  it.each([
    ['no Host', head([]), 400],
    ['two Hosts', head(['Host: x', 'host: y']), 400],
    ['an expectation that nobody knows', head(['Host: x', 'Expect: foo']), 417],
    ['a tunnel', 'CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n', 405],
  ])('%s: refused in the envelope, with a request id', async (_name, bytes, status) => {
    const answer = await exchange(bytes);
    expect([statuses(answer), errorCode(answer)]).toEqual([[status], '1403']);
    expect(answer).toMatch(/\r\nx-request-id: req_/i);
    expect(answer).toMatch(/\r\nconnection: close/i);
    expect(answer).toContain('"retryable":false');
  });

  it('a tunnel: says which methods there are, after the answers before it, and survives a client that resets', async () => {
    const tunnel = 'CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n';
    const socket = open(world);
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1');
    });
    socket.write(`${request([])}${tunnel}`);
    await once(socket, 'close');
    expect(statuses(answer)).toEqual([201, 405]);
    expect(answer).toMatch(/\r\nallow: GET, HEAD, POST, PUT\r\n/i);
    for (let nth = 0; nth < 20; nth += 1) {
      const rude = open(world);
      rude.on('error', () => undefined);
      await once(rude, 'connect');
      rude.write(tunnel);
      rude.resetAndDestroy();
      await once(rude, 'close');
    }
    expect(statuses(await exchange(request([])))).toEqual([201]);
  });

  it('a Host header is not required of HTTP/1.0, and 100-continue is answered', async () => {
    expect(statuses(await exchange('GET /health HTTP/1.0\r\n\r\n'))).toEqual([200]);
    expect(statuses(await exchange(request(['Expect: 100-continue'])))).toEqual([100, 201]);
  });
});

describe('headers given twice', () => {
  it('are refused, rather than one of them chosen', async () => {
    expect(statuses(await exchange(request([])))).toEqual([201]);
    const twoCredentials = await exchange(request(['authorization: Bearer other']));
    expect([statuses(twoCredentials), errorCode(twoCredentials)]).toEqual([[401], '1002']);
    // Nor once it is read again, because the body took longer than a credential counts as current.
    const slow = open(world);
    const [head, end] = [request([`authorization: ${world.merchantAuth}`]).slice(0, -1), BODY.slice(-1)];
    const reached = once(world.app.server, 'request');
    slow.write(head);
    await reached;
    await world.clock.advance(1_000);
    slow.write(end);
    expect(statuses(String(await once(slow, 'data')))).toEqual([401]);
    slow.destroy();
    const twoKeys = await exchange(request(['Idempotency-Key: a', 'idempotency-key: a']));
    expect([statuses(twoKeys), errorCode(twoKeys)]).toEqual([[400], '1110']);
    expect(twoKeys).toContain('"field":"Idempotency-Key"');
    const fingerprint = `X-Device-Fingerprint: ${'a'.repeat(64)}`;
    const twoDevices = await exchange(request([fingerprint, fingerprint]));
    expect(twoDevices).toContain('DUPLICATE_HEADER');
    const ofSession = request([fingerprint, fingerprint.replaceAll('a', 'b')])
      .replace('/orders', '/payments/pay')
      .replace(world.merchantAuth, world.sessionAuth);
    expect(await exchange(ofSession)).toContain('DUPLICATE_HEADER');
    expect(world.rows.session.device_fingerprint).toBeNull();
  });
});

describe('a transfer coding besides chunked', () => {
  const chunked = `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`;
  const sent = (codings: string) =>
    exchange(
      request([`Transfer-Encoding: ${codings}`], chunked).replace(/Content-Length: \d+\r\n/, 'Connection: close\r\n'),
    );

  it('is not undone: a body that claims one is refused, rather than read as it is', async () => {
    const before = world.rows.runs;
    const answer = await sent('gzip, chunked');
    expect([statuses(answer), errorCode(answer)]).toEqual([[415], '1403']);
    expect(answer).toContain('"field":"Transfer-Encoding"');
    expect(world.rows.runs).toBe(before);
    expect(statuses(await sent('Chunked'))).toEqual([201]);
  });
});

describe('what is not HTTP', () => {
  const head = `POST /api/v1/orders HTTP/1.1\r\nHost: x\r\nAuthorization: ${world.merchantAuth}\r\nContent-Type: application/json\r\nIdempotency-Key: framing\r\n`;
  const CHUNKED = 'Transfer-Encoding: chunked\r\n\r\n';

  it.each([
    ['two lengths', `${head}Content-Length: 5\r\nContent-Length: 6\r\n\r\n{"a":1}`],
    ['a length and chunks', `${head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['a coding after chunked', `${head}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`],
    ['an unknown coding', `${head}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
    ['a signed length', `${head}Content-Length: +5\r\n\r\n{"a":1}`],
    ['a bad chunk size', `${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n`],
    ['a blank before the colon', `${head}X-A : 1\r\n\r\n`],
    ['a folded header', `${head}X-A: 1\r\n 2\r\n\r\n`],
    ['a NUL in a header', `${head}X-A: \0\r\n\r\n`],
    ['no host', 'GET /health HTTP/1.1\r\n\r\n'],
    ['nothing of the kind', 'hello\r\n\r\n'],
    ['TLS', '\u0016\u0003\u0001\u0002'],
  ])('%s: 400, and the connection is closed', async (_name, bytes) => {
    const before = world.rows.runs;
    const answer = await exchange(`${bytes}GET /health HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect(statuses(answer)).toEqual([400]);
    expect(errorCode(answer) ?? 'none').toMatch(/^1403$|^none$/);
    expect(world.rows.runs).toBe(before);
  });

  it.each([
    ['after a request', (whole: string) => `${whole}something\r\n\r\n`, [201, 400]],
    ['after two', (whole: string) => `${whole}${whole}something\r\n\r\n`, [201, 201, 400]],
    ['after a request, in the body of the next one', (whole: string) => `${whole}${head}${CHUNKED}zz\r\n`, [201, 400]],
    [
      'after a request, in headers that are too large',
      (whole: string) => `${whole}${head}X-A: ${'a'.repeat(20_000)}`,
      [201, 431],
    ],
  ])('%s: what was asked before is answered first', async (_name, bytesAfter, expected) => {
    const socket = open(world);
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1');
    });
    socket.write(bytesAfter(request([])));
    await once(socket, 'close');
    expect(statuses(answer)).toEqual(expected);
  });

  it('headers that are too large: 431', async () => {
    const answer = await exchange(`GET /health HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(20_000)}\r\n\r\n`);
    expect([statuses(answer), errorCode(answer)]).toEqual([[431], '1403']);
    expect(answer).toMatch(/^x-request-id: req_/m);
  });

  it('a body that breaks off has no effect', async () => {
    const before = world.rows.runs;
    const socket = open(world);
    socket.write(request(['Idempotency-Key: breaks-off']).slice(0, -10));
    await once(socket, 'connect');
    socket.destroy();
    await once(socket, 'close');
    expect(statuses(await exchange(request(['Idempotency-Key: goes-on'])))).toEqual([201]);
    expect(world.rows.runs).toBe(before + 1);
  });

  it('with any bytes changed, there is never a 5xx, and the server survives', async () => {
    const good = Buffer.from(request(['Idempotency-Key: k', 'Connection: close']));
    const flips = fc.array(fc.record({ at: fc.nat(good.length - 1), bit: fc.nat(7) }), { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(flips, async (changes) => {
        const bytes = Buffer.from(good);
        for (const { at, bit } of changes) bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
        for (const status of statuses(await exchange(bytes))) expect(status).toBeLessThan(500);
      }),
      { numRuns: 300 },
    );
    expect(statuses(await exchange('GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'))).toEqual([200]);
  });
});

describe('a body that is too large', () => {
  it.each([
    ['by its length', `Content-Length: 300000\r\n\r\n${'x'.repeat(300_000)}`],
    ['in chunks', `Transfer-Encoding: chunked\r\n\r\n${`ffff\r\n${'x'.repeat(0xffff)}\r\n`.repeat(5)}0\r\n\r\n`],
  ])('%s: 413, whoever the sender is', async (_name, rest) => {
    const answer = await exchange(
      `POST /api/v1/orders HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${rest}`,
    );
    expect([statuses(answer), errorCode(answer)]).toEqual([[413], '1403']);
  });
});

describe('a body that is not needed', () => {
  const bytes = (socket: Socket): Promise<string> => {
    let answer = '';
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1');
    });
    return new Promise((done) => socket.once('close', () => done(answer)));
  };

  it('is not received for as long as it comes', async () => {
    const socket = open(world);
    const answer = bytes(socket);
    socket.write('POST /nowhere HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    let sent = 0;
    // 200 MiB, each piece once the one before has left.
    while (!socket.destroyed && sent < 200 * 1024 * 1024) {
      const failed = await new Promise<unknown>((done) => socket.write(chunk, done));
      if (failed !== undefined && failed !== null) break;
      sent += chunk.length;
    }
    expect(sent).toBeLessThan(32 * 1024 * 1024);
    expect(await answer).toMatch(/^(HTTP\/1\.1 404 |$)/);
  });

  it('is answered at once, and its connection closed a second later', async () => {
    const socket = open(world);
    const answer = bytes(socket);
    socket.write('POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 5000000\r\n\r\nx');
    const [first] = (await once(socket, 'data')) as [Buffer];
    expect([statuses(first.toString()), errorCode(first.toString())]).toEqual([[404], '1403']);
    expect(first.toString()).toMatch(/\r\nconnection: close/i);
    await world.clock.advance(1_000);
    expect(statuses(await answer)).toEqual([404]);
  });

  it('is discarded if it is short, and the connection is kept', async () => {
    const answer = await exchange(
      `POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n${'x'.repeat(200_000)}` +
        'GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    );
    expect(statuses(answer)).toEqual([404, 200]);
  });

  it('needs no timer if it comes with its head', async () => {
    const timers = vi.spyOn(world.clock, 'after');
    expect(statuses(await exchange(request(['Idempotency-Key: one-piece'])))).toEqual([201]);
    expect(timers).not.toHaveBeenCalled();
    timers.mockRestore();
  });

  it('is awaited for 28 seconds by a route that does need it', async () => {
    const socket = open(world);
    const answer = bytes(socket);
    const reached = once(world.app.server, 'request');
    socket.write(request(['Accept-Language: es']).slice(0, -1));
    await reached;
    await world.clock.advance(27_999);
    expect(socket.destroyed).toBe(false);
    await world.clock.advance(1);
    expect([statuses(await answer), errorCode(await answer)]).toEqual([[408], '1403']);
    expect(await answer).toContain('La solicitud no lleg');
  });
});

describe('methods', () => {
  it.each(['PROPFIND', 'TRACE', 'QUERY', 'MKCOL'])('%s on a known path is refused in the envelope', async (method) => {
    const answer = await exchange(`${method} /api/v1/orders HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect(statuses(answer)).toEqual([405]);
    expect(errorCode(answer)).toBe('1403');
  });
});

describe('a server that stops', () => {
  it('finishes what is in flight, and sheds what comes on open connections', async () => {
    let release: (() => void) | undefined;
    const held = new Promise<void>((done) => {
      release = done;
    });
    let reached: (() => void) | undefined;
    const working = new Promise<void>((done) => {
      reached = done;
    });
    const ready = async () => {
      reached?.();
      await held;
      return { ok: true, checks: {} };
    };
    const stopping = smallWorld({ ready });
    await stopping.app.listen({ port: 0, host: '127.0.0.1' });
    const accepted: Socket[] = [];
    stopping.app.server.on('connection', (socket) => accepted.push(socket));
    const [busy, idle] = [open(stopping), open(stopping)];
    busy.write('GET /health/ready HTTP/1.1\r\nHost: x\r\n\r\n');
    // The second connection has sent half a request: it is not an idle one that may be closed at once.
    idle.write('GET /health HTTP/1.1\r\nHost: x\r\n');
    await working;
    await vi.waitUntil(() => accepted.length === 2 && accepted.every(({ bytesRead }) => bytesRead > 0), 60_000);
    const closed = stopping.app.close();
    idle.write('\r\n');
    const [refused] = (await once(idle, 'data')) as [Buffer];
    expect(refused.toString()).toMatch(/^HTTP\/1\.1 503 /);
    expect(refused.toString()).toMatch(/connection: close/i);
    expect(refused.toString()).toMatch(/retry-after: \d/i);
    expect(errorCode(refused.toString())).toBe('1402');
    release?.();
    const [finished] = (await once(busy, 'data')) as [Buffer];
    expect(finished.toString()).toMatch(/^HTTP\/1\.1 200 /);
    busy.destroy();
    idle.destroy();
    await closed;
  });

  it('takes the rest of a short body before it closes a connection that it has answered', async () => {
    const draining = smallWorld({ isDraining: () => true });
    await draining.app.listen({ port: 0, host: '127.0.0.1' });
    const [sender, other] = [open(draining), open(draining)];
    const ended = vi.fn();
    sender.on('end', ended);
    sender.write('POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n');
    const [answer] = (await once(sender, 'data')) as [Buffer];
    expect(statuses(answer.toString())).toEqual([404]);
    expect(answer.toString()).toMatch(/\r\nconnection: close/i);
    // Closed at once, it would be reset by the rest, and the answer might be lost: another call goes there and back meanwhile.
    other.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(other, 'data');
    expect(ended).not.toHaveBeenCalled();
    sender.write('12345');
    await once(sender, 'close');
    expect(draining.clock.pending()).toBe(0);
    await draining.app.close();
  });

  it('does not wait for the rest of a body whose connection has ended with its answer', async () => {
    const stopping = smallWorld();
    await stopping.app.listen({ port: 0, host: '127.0.0.1' });
    const sender = open(stopping);
    sender.write('POST /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 5\r\n\r\n');
    const [answer] = (await once(sender, 'data')) as [Buffer];
    expect(statuses(answer.toString())).toEqual([404]);
    await once(sender.resume(), 'close');
    await stopping.app.close();
    expect(stopping.clock.pending()).toBe(0);
  });
});

it('disconnects a client that is answered before its request is complete, and that goes on sending', async () => {
  const port = portOf(world.app.server);
  const left = new Promise((resolve) =>
    world.app.server.once('connection', (socket: Socket) => socket.once('close', resolve)),
  );
  const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  client.on('error', () => undefined);
  client.write('GET / HTTP/9.9\r\n');
  const [answer] = await once(client, 'data');
  expect(statuses(String(answer))).toEqual([400]);
  // The client does not end its side.
  await left;
  client.destroy();
});
