/**
 * Clients that are deliberately slow, or too many, over real connections: each is disconnected, and no other waits for them.
 *
 * The limits are those of production, shortened: what is tested is that each of them ends something.
 */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import type { SocketLimits } from '../../src/http/socket-limits.ts';
import { type SmallWorld, smallWorld } from '../../src/http/testing/small-world.ts';
import { connectTo } from '../support/listening.ts';

const HEALTH = 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n';

let world: SmallWorld;
let clients: Client[] = [];

afterEach(async () => {
  for (const { socket } of clients) socket.destroy();
  clients = [];
  // Nothing that a client does to a connection is an error of ours.
  expect(world.log.lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  await world.app.close();
});

async function open(sockets: Partial<SocketLimits>, trustProxy: readonly string[] = []): Promise<void> {
  world = smallWorld({ rateLimitScale: 0, trustProxy, sockets: { lookEveryMs: 10, ...sockets } });
  await world.app.listen({ port: 0, host: '127.0.0.1', backlog: 2_048 });
}

interface Client {
  readonly socket: Socket;
  /** Resolves with everything received, when the server has closed the connection. */
  readonly closed: Promise<string>;
  /** Resolves with the first data received. */
  readonly answered: Promise<string>;
}

function client(): Client {
  const socket = connectTo(world.app.server);
  let answer = '';
  socket.on('error', () => socket.destroy());
  const answered = new Promise<string>((done) => {
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1');
      done(answer);
    });
  });
  const closed = new Promise<string>((done) => void socket.once('close', () => done(answer)));
  const opened = { socket, closed, answered };
  clients.push(opened);
  return opened;
}

/** That many clients, all connected. */
async function connected(count: number): Promise<Client[]> {
  const opened = Array.from({ length: count }, client);
  await Promise.all(opened.map(({ socket }) => once(socket, 'connect')));
  return opened;
}

/** Sends `more` again each time the last piece has been sent, until the server closes the connection. */
function drip({ socket, closed }: Client, more: string): void {
  let isClosed = false;
  void closed.then(() => {
    isClosed = true;
  });
  const send = (): void => {
    if (!isClosed) socket.write(more, () => setTimeout(send, 5));
  };
  send();
}

async function isServed(): Promise<void> {
  const { socket, answered } = client();
  socket.write(HEALTH);
  expect(await answered).toMatch(/^HTTP\/1\.1 200 /);
}

test('headers that come byte by byte end with 408', async () => {
  await open({ headersMs: 1_500 });
  const slow = await connected(50);
  for (const one of slow) {
    one.socket.write('POST /api/v1/orders HTTP/1.1\r\nHost: x\r\nX-Slow: ');
    drip(one, 'a');
  }
  await isServed();
  for (const answer of await Promise.all(slow.map(({ closed }) => closed))) {
    expect(answer).toMatch(/^(HTTP\/1\.1 408 |$)/);
  }
  await isServed();
});

test('bodies that come byte by byte end with 408, whatever comes', async () => {
  await open({});
  const slow = await connected(50);
  const reached = requests(50);
  for (const one of slow) {
    one.socket.write(
      `POST /api/v1/orders HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n{`,
    );
    drip(one, ' ');
  }
  await reached;
  await isServed();
  await world.clock.advance(28_000);
  for (const answer of await Promise.all(slow.map(({ closed }) => closed))) {
    expect(answer).toMatch(/^(HTTP\/1\.1 408 |$)/);
  }
  expect(world.rows.runs).toBe(0);
});

/** Resolves when the heads of `count` requests have arrived. */
function requests(count: number): Promise<void> {
  return new Promise((done) => {
    let come = 0;
    world.app.server.on('request', () => {
      come += 1;
      if (come === count) done();
    });
  });
}

/** Resolves when the server has `count` connections; 0 means none are left. */
async function taken(count: number): Promise<void> {
  for (;;) {
    const open = await new Promise<number>((done) => world.app.server.getConnections((_error, found) => done(found)));
    if (count === 0 ? open === 0 : open >= count) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test('a client that sends request after request and reads nothing is cut off, before its answers are made', async () => {
  await open({});
  const eager = client();
  const many = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n';
  eager.socket.write(many.repeat(1_500));
  await eager.closed;
  const answered = world.log.lines.filter((line) => line.includes('/openapi.json'));
  expect(answered.length).toBeLessThanOrEqual(16);
  // As many requests as a client may send ahead are answered in order.
  const polite = client();
  polite.socket.write(`${many.repeat(15)}GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  expect([...(await polite.closed).matchAll(/HTTP\/1\.1 200 /g)]).toHaveLength(16);
});

test('a client that does not read its answers is disconnected', async () => {
  // To Node.js, a connection whose finished answers wait in our buffer is an idle kept-alive one.
  await open({ silenceMs: 1_000, keptMs: 1_000 });
  const deaf = client();
  deaf.socket.pause();
  deaf.socket.write('GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(16));
  await taken(1);
  await taken(0);
  await isServed();
});

test('a thousand idle connections do no harm, and are closed by themselves', async () => {
  await open({ keptMs: 2_000, silenceMs: 10_000 });
  const [silent, kept] = [await connected(500), await connected(500)];
  for (const { socket } of kept) socket.write(HEALTH);
  for (const answer of await Promise.all(kept.map(({ answered }) => answered))) expect(answer).toContain(' 200 ');
  await isServed();
  await Promise.all([...silent, ...kept].map(({ closed }) => closed));
  await isServed();
});

test('a storm of connections: each is answered', async () => {
  await open({});
  for (let wave = 0; wave < 3; wave += 1) {
    const storm = Array.from({ length: 500 }, client);
    for (const { socket } of storm) {
      socket.write('GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    }
    for (const answer of await Promise.all(storm.map(({ closed }) => closed))) expect(answer).toContain(' 200 ');
  }
});

test('connections above the limit are closed as they come, and counted; those that send requests are served', async () => {
  // A single client would lose connections, and make room, as soon as it has more than half of them.
  await open({ connections: 20 }, ['127.0.0.1']);
  const accepted: Socket[] = [];
  world.app.server.on('connection', (socket) => accepted.push(socket));
  const standing = await connected(20);
  // Half a request: from Node.js 24 on, a connection that has never sent a request counts as idle too.
  for (const { socket } of standing) socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\n');
  await vi.waitUntil(() => accepted.length === 20 && accepted.every(({ bytesRead }) => bytesRead > 0), 60_000);
  const more = Array.from({ length: 30 }, client);
  expect(await Promise.all(more.map(({ closed }) => closed))).toEqual(more.map(() => ''));
  standing[0]?.socket.write('Connection: close\r\n\r\n');
  expect(/connections_dropped_total \d+/.exec((await standing[0]?.closed) ?? '')?.[0]).toBe(
    'connections_dropped_total 30',
  );
  await isServed();
});

test('a client that holds all connections without requests loses them to clients with requests, again and again', async () => {
  await open({ connections: 20 });
  for (let times = 0; times < 2; times += 1) {
    const kept = await connected(20);
    for (const { socket } of kept) socket.write(HEALTH);
    for (const { answered } of kept) expect(await answered).toContain(' 200 ');
    // The first one finds no place, and makes some.
    await client().closed;
    await Promise.all(kept.map(({ closed }) => closed));
    await world.clock.advance(100);
  }
  await isServed();
});
