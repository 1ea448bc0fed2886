/** The door over real sockets: the outcome of a request is never reported wrongly, and its limits hold. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import net, { type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { portOf } from '../../test/support/listening.ts';
import { createOutbound } from './outbound.ts';
import type { Clock, Outbound, OutboundAnswer, OutboundRequest } from './platform.ts';
import { type ManualClock, manualClock } from './testing/manual-clock.ts';
import { VERSION } from './version.ts';

let clock: ManualClock;
let outbound: Outbound;
const servers: { server: Server; sockets: Set<Socket> }[] = [];

beforeEach(() => {
  clock = manualClock(0);
  outbound = createOutbound({ allowLoopback: true, requireHttps: false, clock });
});
afterEach(async () => {
  await outbound.close();
  for (const { server, sockets } of servers.splice(0)) {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  }
});

async function listen(server: Server): Promise<string> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
  });
  servers.push({ server, sockets });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `127.0.0.1:${portOf(server)}`;
}

const http = (listener: RequestListener): Promise<string> => listen(createServer(listener));
const raw = (onSocket: (socket: Socket) => void): Promise<string> => listen(net.createServer(onSocket));

/** A listener that counts connections. */
async function openCanary(): Promise<{ host: string; visits: number }> {
  const canary = { host: '', visits: 0 };
  canary.host = await raw(() => {
    canary.visits += 1;
  });
  return canary;
}

function send(url: string, change: Partial<OutboundRequest> = {}): Promise<OutboundAnswer> {
  const base = { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'hello', timeout: 10_000 } as const;
  return outbound.request({ ...base, url, trust: 'merchant', answerLimit: 1024, ...change });
}

/** A promise that a test resolves. */
function signal(): { promise: Promise<void>; give: () => void } {
  let give = (): void => undefined;
  const promise = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { promise, give };
}

/** A clock whose one task runs when the test says so. */
function byHand(): Clock & { timeIsUp: () => void } {
  let run = (): void => undefined;
  const after: Clock['after'] = (_, task) => {
    run = task;
    return () => undefined;
  };
  return { ...clock, after, timeIsUp: () => run() };
}

describe('answered', () => {
  test('in time is what had arrived when the time was up, even if the process stood still until then', async () => {
    const hand = byHand();
    await outbound.close();
    outbound = createOutbound({ allowLoopback: true, requireHttps: false, clock: hand });
    const host = await raw((socket) =>
      socket.on('data', () => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
        // After a stall, timers run before sockets: nothing of the answer has been read.
        setTimeout(hand.timeIsUp, 1);
        for (const begun = performance.now(); performance.now() < begun + 10; );
      }),
    );
    expect(await send(`http://${host}/`)).toMatchObject({ kind: 'answered', body: 'ok' });
  });

  test('method, path, headers and body arrive, the whole answer comes back', async () => {
    const host = await http(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += String(chunk);
      response.writeHead(201, { 'x-a': ['1', '2'], 'content-type': 'text/plain' });
      const { 'user-agent': agent, 'x-own': own } = request.headers;
      response.end(`${request.method} ${request.url} ${agent} ${own} ${body} é`);
    });
    const answer = await send(`http://${host}/a?b=c`, { headers: { 'x-own': 'yes' } });
    expect(answer).toMatchObject({ kind: 'answered', status: 201, body: `POST /a?b=c Mbongo/${VERSION} yes hello é` });
    expect(answer).toHaveProperty(['headers', 'x-a'], '1, 2');
    expect(clock.pending()).toBe(0);
    const put = await send(`http://${host}/`, { method: 'PUT', trust: 'upstream' });
    expect(put).toMatchObject({ body: `PUT / Mbongo/${VERSION} undefined hello é` });
    const { body: _, ...get } = { method: 'GET', url: `http://${host}/`, headers: {}, timeout: 1, body: '' } as const;
    expect(await outbound.request({ ...get, trust: 'merchant', answerLimit: 99 })).toMatchObject({
      body: `GET / Mbongo/${VERSION} undefined  é`,
    });
  });

  test('successive requests share connections', async () => {
    const ports = new Set<number | undefined>();
    const host = await http((request, response) => {
      ports.add(request.socket.remotePort);
      request.resume().on('end', () => response.end('ok'));
    });
    for (let i = 0; i < 20; i += 1) expect(await send(`http://${host}/`)).toMatchObject({ status: 200 });
    // At most a second one: the first is not free yet at the moment its answer is handed over.
    expect(ports.size).toBeLessThanOrEqual(2);
  });

  test.each([301, 302, 303, 307, 308])('%i is an answer, and a redirect is not followed', async (status) => {
    const canary = await openCanary();
    const host = await http((_, response) => response.writeHead(status, { location: `http://${canary.host}/` }).end());
    expect(await send(`http://${host}/`)).toMatchObject({ kind: 'answered', status });
    expect(canary.visits).toBe(0);
  });

  test('an endless body is cut at the limit, and its connection closed', async () => {
    const closed = signal();
    const host = await http((_, response) => {
      response.on('close', closed.give).writeHead(200);
      const more = (): void => {
        while (response.write('x'.repeat(10_000)));
        response.once('drain', more);
      };
      more();
    });
    const answer = await send(`http://${host}/`, { answerLimit: 1000 });
    expect(answer).toMatchObject({ kind: 'answered', status: 200, body: 'x'.repeat(1000) });
    await closed.promise;
  });

  test('interim responses before the answer are not the answer', async () => {
    const host = await raw((socket) =>
      socket.once('data', () =>
        socket.write('HTTP/1.1 103 Early\r\nlink: x\r\n\r\nHTTP/1.1 202 OK\r\ncontent-length: 2\r\n\r\nok'),
      ),
    );
    expect(await send(`http://${host}/`)).toEqual({
      kind: 'answered',
      status: 202,
      headers: { 'content-length': '2' },
      body: 'ok',
    });
  });

  test('no proxy is used', async () => {
    const canary = await openCanary();
    const host = await http((_, response) => response.end('direct'));
    for (const name of ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY']) vi.stubEnv(name, `http://${canary.host}`);
    const proxied = createOutbound({ allowLoopback: true, requireHttps: false });
    expect(
      await proxied.request({
        method: 'GET',
        url: `http://${host}/`,
        headers: {},
        timeout: 9999,
        trust: 'upstream',
        answerLimit: 9,
      }),
    ).toMatchObject({ body: 'direct' });
    await proxied.close();
    vi.unstubAllEnvs();
    expect(canary.visits).toBe(0);
  });
});

describe('not sent', () => {
  test('a port at which nothing listens', async () => {
    const server = net.createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const port = portOf(server);
    server.close();
    await once(server, 'close');
    for (const trust of ['merchant', 'upstream'] as const) {
      expect(await send(`http://127.0.0.1:${port}/`, { trust })).toEqual({
        kind: 'not_sent',
        reason: 'the connection was refused',
      });
    }
    expect(clock.pending()).toBe(0);
  });

  test('a connection that is cut, or answers nonsense, during the TLS handshake', async () => {
    const cut = await raw((socket) => socket.once('data', () => socket.resetAndDestroy()));
    const nonsense = await raw((socket) => socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\n\r\n')));
    for (const host of [cut, nonsense]) {
      for (const trust of ['merchant', 'upstream'] as const) {
        expect(await send(`https://${host}/`, { trust })).toMatchObject({ kind: 'not_sent' });
      }
    }
  });

  test('a TLS handshake that never ends, at the deadline', async () => {
    const greeted = signal();
    const host = await raw((socket) => socket.once('data', greeted.give));
    const answer = send(`https://${host}/`);
    await greeted.promise;
    await clock.advance(9999);
    expect(clock.pending()).toBe(1);
    await clock.advance(1);
    expect(await answer).toEqual({ kind: 'not_sent', reason: 'no connection in time' });
  });

  test('what comes after the deadline is no longer written, once the connection is finally open', async () => {
    const asked = signal();
    let resolveName: (addresses: readonly string[]) => void = () => undefined;
    const connected = signal();
    let bytes = 0;
    const host = await raw((socket) => {
      socket.on('data', (chunk) => {
        bytes += chunk.length;
      });
      socket.on('close', connected.give);
    });
    const late = createOutbound({
      allowLoopback: true,
      requireHttps: false,
      clock,
      resolve: () => {
        asked.give();
        return new Promise((resolve) => {
          resolveName = resolve;
        });
      },
    });
    const url = `http://late.example.com:${host.split(':')[1]}/`;
    const answer = late.request({
      method: 'POST',
      url,
      headers: {},
      body: 'x',
      timeout: 50,
      trust: 'merchant',
      answerLimit: 9,
    });
    await asked.promise;
    await clock.advance(50);
    expect(await answer).toEqual({ kind: 'not_sent', reason: 'no connection in time' });
    resolveName(['127.0.0.1']);
    await connected.promise;
    expect(bytes).toBe(0);
    await late.close();
  });

  test('what is not under way when its time is up is never sent, even if the process stood still until then', async () => {
    let bytes = 0;
    const connected = signal();
    const host = await raw((socket) => {
      socket.on('data', (data) => {
        bytes += data.length;
      });
      socket.on('close', connected.give);
    });
    const hand = byHand();
    const asked = signal();
    let resolveName = (_: string[]): void => undefined;
    const resolve = (): Promise<string[]> => {
      asked.give();
      return new Promise((done) => {
        resolveName = done;
      });
    };
    await outbound.close();
    outbound = createOutbound({ allowLoopback: true, requireHttps: false, clock: hand, resolve });
    const answer = send(`http://slow.example.com:${host.split(':')[1]}/`);
    await asked.promise;
    await new Promise((turn) => setImmediate(turn));
    // After a stall, timers run before sockets: it connects, and its first byte would be written once time is up.
    setTimeout(hand.timeIsUp, 1);
    for (const begun = performance.now(); performance.now() < begun + 10; );
    resolveName(['127.0.0.1']);
    expect(await answer).toEqual({ kind: 'not_sent', reason: 'no connection in time' });
    await connected.promise;
    expect(bytes).toBe(0);
  });

  test('the request that waits behind 256 others to the same origin, while other origins do not wait', async () => {
    let running = 0;
    let most = 0;
    const full = signal();
    const host = await http(() => {
      running += 1;
      most = Math.max(most, running);
      if (running === 256) full.give();
    });
    const first = Array.from({ length: 256 }, () => send(`http://${host}/`, { timeout: 20_000 }));
    const waiting = Array.from({ length: 10 }, () => send(`http://${host}/`, { timeout: 5000 }));
    await full.promise;
    const other = await http((_, response) => response.end('ok'));
    expect(await send(`http://${other}/`)).toMatchObject({ kind: 'answered' });
    await clock.advance(5000);
    for (const answer of await Promise.all(waiting)) expect(answer).toMatchObject({ kind: 'not_sent' });
    await clock.advance(15_000);
    for (const answer of await Promise.all(first)) expect(answer).toMatchObject({ kind: 'lost' });
    expect(most).toBe(256);
  });

  test('a header that cannot be written, a closed door', async () => {
    const canary = await openCanary();
    expect(await send(`http://${canary.host}/`, { headers: { x: 'a\r\nb: c' } })).toMatchObject({ kind: 'not_sent' });
    await outbound.close();
    expect(await send(`http://${canary.host}/`)).toMatchObject({ kind: 'not_sent' });
    expect(canary.visits).toBe(0);
    expect(clock.pending()).toBe(0);
  });
});

describe('lost', () => {
  test('the connection is cut after the request, or in the middle of the answer', async () => {
    const before = await raw((socket) => socket.once('data', () => socket.resetAndDestroy()));
    const during = await raw((socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhal')),
    );
    const ended = await raw((socket) => socket.once('data', () => socket.end()));
    for (const host of [before, during, ended]) {
      expect(await send(`http://${host}/`)).toEqual({ kind: 'lost', reason: 'the connection was cut' });
    }
    expect(clock.pending()).toBe(0);
  });

  test('an answer that is not HTTP', async () => {
    const host = await raw((socket) => socket.once('data', () => socket.end('\u0000 nonsense\r\n\r\n')));
    expect(await send(`http://${host}/`)).toMatchObject({ kind: 'lost' });
    const upgrade = await raw((socket) =>
      socket.once('data', () => socket.write('HTTP/1.1 101 Switch\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n')),
    );
    expect(await send(`http://${upgrade}/`)).toMatchObject({ kind: 'lost' });
  });

  test('a cut request is never sent a second time', async () => {
    let requests = 0;
    const host = await http((request, response) => {
      requests += 1;
      if (requests > 1) request.socket.resetAndDestroy();
      else response.end('kept alive');
    });
    expect(await send(`http://${host}/`)).toMatchObject({ kind: 'answered' });
    expect(await send(`http://${host}/`, { method: 'GET' })).toMatchObject({ kind: 'lost' });
    expect(requests).toBe(2);
  });

  test('no answer until the deadline; then the connection is closed', async () => {
    const arrived = signal();
    const closed = signal();
    const host = await http((request) => {
      request.socket.on('close', closed.give);
      arrived.give();
    });
    const answer = send(`http://${host}/`);
    await arrived.promise;
    await clock.advance(10_000);
    expect(await answer).toEqual({ kind: 'lost', reason: 'no answer in time' });
    await closed.promise;
  });

  test('a receiver that drips one byte a second is cut by the same deadline', async () => {
    const bytes = [signal(), signal(), signal()];
    const closed = signal();
    const host = await http((_, response) => {
      response.on('close', closed.give).writeHead(200);
      const drip = (): void => {
        if (response.destroyed) return;
        response.write('.');
        bytes.shift()?.give();
        clock.after(1000, drip);
      };
      drip();
    });
    const [first] = bytes;
    const answer = send(`http://${host}/`);
    await first?.promise;
    await clock.advance(10_000);
    expect(await answer).toEqual({ kind: 'lost', reason: 'no answer in time' });
    await closed.promise;
  });

  test('the outbound part is closed while it is under way', async () => {
    const arrived = signal();
    const host = await http(() => arrived.give());
    const answer = send(`http://${host}/`);
    await arrived.promise;
    await outbound.close();
    expect(await answer).toMatchObject({ kind: 'lost' });
  });
});
