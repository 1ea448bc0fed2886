/** Which connections are closed, to make room or because the server stops: none that is owed an answer, or the rest of one. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { Type } from 'typebox';
import { describe, expect, it, vi } from 'vitest';
import { connectTo, portOf } from '../../test/support/listening.ts';
import { defineRoute } from './route.ts';
import { type SmallWorld, type SmallWorldOptions, smallWorld } from './testing/small-world.ts';

const HEALTH = 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n';
/** 8 MiB: more than the buffers of a connection hold. */
const LONG = 8 * 1024 * 1024;

const longAnswer = defineRoute({
  method: 'GET',
  path: '/long',
  operationId: 'long',
  summary: 'A long answer',
  description: 'Eight megabytes.',
  credential: 'none',
  limit: 'none',
  loadClass: 'finish',
  answers: { 200: Type.Object({ text: Type.String() }) },
  refusals: [],
  run: async (call) => call.reply(200, { text: 'x'.repeat(LONG) }),
});

/** The same in pieces, each made once the connection has taken the one before. */
const streamedAnswer = defineRoute({
  ...longAnswer,
  path: '/streamed',
  operationId: 'streamed',
  run: async () => ({
    status: 200,
    contentType: 'text/csv; charset=utf-8',
    fileName: 'long.csv',
    chunks: (async function* pieces() {
      for (let left = LONG; left > 0; left -= 65_536) yield 'x'.repeat(65_536);
    })(),
  }),
});

/** Takes a file, which is read once its sender is known. */
const upload = defineRoute({
  ...longAnswer,
  method: 'POST',
  path: '/upload',
  operationId: 'upload',
  credential: 'merchant',
  body: Type.Object({}),
  upload: { field: 'file', most: LONG },
  run: async (call) => call.reply(200, { text: 'taken' }),
});

interface Listening extends SmallWorld {
  readonly accepted: readonly Socket[];
  /** A client, once its connection has been accepted. */
  open(options?: { readonly allowHalfOpen?: boolean; readonly localAddress?: string }): Promise<Socket>;
  /** Stops the server, or waits for the `stop` given, while the clock advances. */
  close(stop?: Promise<unknown>): Promise<void>;
}

async function listening(options: SmallWorldOptions = {}): Promise<Listening> {
  const world = smallWorld({ routes: [longAnswer, streamedAnswer, upload], ...options });
  const { app, clock } = world;
  await app.listen({ port: 0, host: '127.0.0.1' });
  const accepted: Socket[] = [];
  app.server.on('connection', (socket) => accepted.push(socket));
  return {
    ...world,
    accepted,
    async open(how = {}) {
      const before = accepted.length;
      const client = connect({ port: portOf(app.server), host: '127.0.0.1', ...how });
      await vi.waitUntil(() => accepted.length > before, 60_000);
      return client;
    },
    async close(stop = app.close()) {
      let isClosed = false;
      const closed = stop.then(() => {
        isClosed = true;
      });
      while (!isClosed) {
        await clock.advance(100);
        await setImmediate();
      }
      await closed;
      expect(clock.pending()).toBe(0);
    },
  };
}

/** Asks for the long answer and reads nothing of it; resolves when the answer has been given to the connection. */
async function askedAndNotRead(world: Listening): Promise<Socket> {
  const client = await world.open();
  const asked = once(world.app.server, 'request');
  client.write('GET /api/v1/long HTTP/1.1\r\nHost: x\r\n\r\n');
  const [, response] = (await asked) as [unknown, ServerResponse];
  await vi.waitUntil(() => response.writableEnded, 60_000);
  return client;
}

/** Lets one client too many come. */
async function dropOne({ app }: Listening): Promise<void> {
  const dropped = once(app.server, 'drop');
  const late = connectTo(app.server).resume();
  late.on('error', () => undefined);
  await Promise.all([dropped, once(late, 'close')]);
}

/** How many connections have been closed to make room, as counted. */
async function closedToMakeRoom({ app }: Listening): Promise<{ readonly [reason: string]: number }> {
  const { body } = await app.inject('/metrics');
  const counted = body.matchAll(/^mbongo_http_connections_closed_total\{reason="(\w+)"\} (\d+)$/gm);
  return Object.fromEntries([...counted].map(([, reason, count]) => [reason, Number(count)]));
}

/** How many bytes arrive until the connection ends. */
async function lengthUntilEnd(client: Socket): Promise<number> {
  let length = 0;
  client.on('data', (chunk) => {
    length += chunk.length;
  });
  await once(client, 'close');
  return length;
}

describe('a server that stops', () => {
  it('closes connections that are idle, silent or have sent half a head', async () => {
    const world = await listening();
    const [silent, resting, halfway] = [await world.open(), await world.open(), await world.open()];
    resting.write(HEALTH);
    await once(resting, 'data');
    halfway.write('GET /health HTTP/1.1\r\nHost:');
    await vi.waitUntil(() => (world.accepted[2]?.bytesRead ?? 0) > 0, 60_000);
    const ends = [silent, resting, halfway].map((client) => once(client.resume(), 'close'));
    await Promise.all([world.close(), ...ends]);
  });

  it('closes a connection whose client does not read', async () => {
    const world = await listening();
    const client = await askedAndNotRead(world);
    const begun = world.clock.now();
    await world.close();
    expect(world.clock.now() - begun).toBeGreaterThanOrEqual(5_000);
    client.destroy();
  });

  it('waits for an answer that takes longer than a client may take to read one', async () => {
    let go: ((right: boolean) => void) | undefined;
    const right = new Promise<boolean>((resolve) => {
      go = resolve;
    });
    const isClockRight = vi.fn(() => right);
    const world = await listening({ isClockRight });
    const client = await world.open();
    client.write(
      `POST /api/v1/orders HTTP/1.1\r\nHost: x\r\nAuthorization: ${world.merchantAuth}\r\nContent-Length: 0\r\n\r\n`,
    );
    await vi.waitUntil(() => isClockRight.mock.calls.length > 0, 60_000);
    const stop = world.app.close();
    for (let tenths = 0; tenths < 60; tenths += 1) {
      await world.clock.advance(100);
      await setImmediate();
    }
    go?.(true);
    const [told] = (await once(client, 'data')) as [Buffer];
    expect(told.toString()).toMatch(/^HTTP\/1\.1 400 /);
    await world.close(stop);
  });

  it('closes a connection that has sent something other than HTTP after a request, and tells it so', async () => {
    let answer: (() => void) | undefined;
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const ready = vi.fn(async () => {
      await held;
      return { ok: true, checks: {} };
    });
    const world = await listening({ ready });
    const client = await world.open({ allowHalfOpen: true });
    client.write('GET /health/ready HTTP/1.1\r\nHost: x\r\n\r\n');
    await vi.waitUntil(() => ready.mock.calls.length > 0, 60_000);
    const { bytesRead: before = 0 } = world.accepted[0] ?? {};
    client.write('something\r\n\r\n');
    await vi.waitUntil(() => (world.accepted[0]?.bytesRead ?? 0) > before, 60_000);
    let told = '';
    client.on('data', (chunk) => {
      told += chunk.toString();
    });
    const ended = once(client, 'end');
    const stop = world.app.close();
    answer?.();
    await ended;
    expect(told.match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
    await world.close(stop);
    client.destroy();
  });

  it('lets an answer that it has begun be sent in full', async () => {
    const world = await listening();
    const client = await askedAndNotRead(world);
    const stop = world.app.close();
    const whole = lengthUntilEnd(client);
    await vi.waitUntil(() => client.bytesRead > LONG, 60_000);
    await world.close(stop);
    expect(await whole).toBeGreaterThan(LONG);
  });
});

describe('a server with too many connections', () => {
  it('closes idle connections to make room, and none whose answer is being sent', async () => {
    const world = await listening({ sockets: { connections: 2 } });
    const [client, resting] = [await askedAndNotRead(world), await world.open()];
    resting.write(HEALTH);
    await once(resting, 'data');
    // An empty line before a request (RFC 9112 §2.2) does not begin one.
    resting.write('\r\n');
    await vi.waitUntil(() => (world.accepted[1]?.bytesRead ?? 0) > HEALTH.length, 60_000);
    const dropped = once(world.app.server, 'drop');
    const late = connectTo(world.app.server).resume();
    late.on('error', () => undefined);
    await Promise.all([dropped, once(late, 'close'), once(resting.resume(), 'close')]);
    const whole = lengthUntilEnd(client);
    await vi.waitUntil(() => client.bytesRead > LONG, 60_000);
    await world.close();
    expect(await whole).toBeGreaterThan(LONG);
  });

  describe('of which one address has more than half', () => {
    /** Half a head: from Node.js 24 on, a connection that has sent nothing counts as idle. */
    const BEGUN = 'GET /health HTTP/1.1\r\nHost:';

    /** Clients that have begun a request, each at one of these addresses, once the server has read of it. */
    async function begun(world: Listening, ...addresses: readonly string[]): Promise<Socket[]> {
      const clients: Socket[] = [];
      for (const localAddress of addresses) {
        const client = await world.open({ localAddress });
        client.on('error', () => undefined).write(BEGUN);
        clients.push(client);
      }
      await vi.waitUntil(() => world.accepted.every(({ bytesRead }) => bytesRead > 0), 60_000);
      return clients;
    }

    /** Seven of one address, of which one is owed an answer, and one of another; then one too many comes. */
    async function crowded(options: SmallWorldOptions = {}) {
      const world = await listening({ ...options, sockets: { connections: 8 } });
      const owed = await askedAndNotRead(world);
      const unfinished: Socket[] = [];
      for (let count = 0; count < 6; count += 1) unfinished.push(await world.open());
      unfinished.push(await world.open({ localAddress: '127.0.0.2' }));
      const order = `POST /api/v1/orders HTTP/1.1\r\nHost: x\r\nAuthorization: ${world.merchantAuth}\r\nContent-Type: application/json`;
      const half = [BEGUN, `${order}\r\nContent-Length: 5\r\n\r\n{`];
      for (const [i, client] of unfinished.entries()) {
        client.on('error', () => undefined).write(half[i % half.length] ?? '');
      }
      await vi.waitUntil(() => world.accepted.every(({ bytesRead }) => bytesRead > 0), 60_000);
      await dropOne(world);
      const isOpen = world.accepted.map(({ destroyed }) => !destroyed);
      return { world, owed, isOpen, clients: [owed, ...unfinished] };
    }

    it('closes what it has too many, of those that have not sent a whole request, the oldest first', async () => {
      const { world, owed, isOpen, clients } = await crowded();
      expect(isOpen).toEqual([true, false, false, false, true, true, true, true]);
      expect(await closedToMakeRoom(world)).toEqual({ idle: 0, over_share: 3 });
      const whole = lengthUntilEnd(owed);
      await vi.waitUntil(() => owed.bytesRead > LONG, 60_000);
      await world.close();
      expect(await whole).toBeGreaterThan(LONG);
      for (const client of clients) client.destroy();
    });

    it('closes none that has begun a request if its address’s idle ones have made the room', async () => {
      const world = await listening({ sockets: { connections: 6 } });
      const unfinished = await begun(world, '127.0.0.1', '127.0.0.2', '127.0.0.2');
      const resting = [await world.open(), await world.open(), await world.open()];
      for (const client of resting) {
        client.write(HEALTH);
        await once(client, 'data');
      }
      await dropOne(world);
      expect(world.accepted.map(({ destroyed }) => !destroyed)).toEqual([true, true, true, false, false, false]);
      expect(await closedToMakeRoom(world)).toEqual({ idle: 3, over_share: 0 });
      for (const client of [...resting, ...unfinished]) client.destroy();
      await world.close();
    });

    it('closes none whose file it has yet to read', async () => {
      let say: ((right: boolean) => void) | undefined;
      const right = new Promise<boolean>((resolve) => {
        say = resolve;
      });
      const isClockRight = vi.fn(() => right);
      const world = await listening({ isClockRight, sockets: { connections: 4 } });
      const sender = await world.open();
      const form = 'Content-Type: multipart/form-data; boundary=b';
      sender.write(`POST /api/v1/upload HTTP/1.1\r\nHost: x\r\n${form}\r\nContent-Length: ${LONG}\r\n\r\n`);
      sender.write('x'.repeat(LONG));
      await vi.waitUntil(() => isClockRight.mock.calls.length > 0, 60_000);
      const others = await begun(world, '127.0.0.1', '127.0.0.1', '127.0.0.2');
      await dropOne(world);
      expect(world.accepted.map(({ destroyed }) => !destroyed)).toEqual([true, false, true, true]);
      say?.(false);
      for (const client of [sender, ...others]) client.destroy();
      await world.close();
    });

    it('closes none of a trusted proxy, which brings everybody’s', async () => {
      const { world, isOpen, clients } = await crowded({ trustProxy: ['127.0.0.1'] });
      expect(isOpen).toEqual(Array(8).fill(true));
      for (const client of clients) client.destroy();
      await world.close();
    });
  });

  it('waits for the rest of a head that came behind another request', async () => {
    const world = await listening();
    const client = await world.open();
    client.write(`${HEALTH}GET /health HTTP/1.1\r\nHo`);
    await once(client, 'data');
    world.app.server.closeIdleConnections();
    client.write('st: x\r\n\r\n');
    const [second] = (await once(client, 'data')) as [Buffer];
    expect(second.toString()).toMatch(/^HTTP\/1\.1 200 /);
    await world.close();
  });
});

describe('a connection that has sent something other than a request, while answers are owed', () => {
  const TUNNEL = 'CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n';

  it.each([
    ['a tunnel', TUNNEL],
    ['what is not HTTP', 'something\r\n\r\n'],
  ])('%s: is closed after a minute if its client does not read, even if it goes on sending', async (_name, bytes) => {
    const world = await listening();
    const client = await askedAndNotRead(world);
    const [accepted] = world.accepted;
    client.on('error', () => undefined);
    for (const more of [bytes, 'x']) {
      const before = accepted?.bytesRead ?? 0;
      client.write(more);
      // Of a tunnel nothing more is read.
      if (more === bytes) await vi.waitUntil(() => (accepted?.bytesRead ?? 0) > before, 60_000);
    }
    await world.clock.advance(59_000);
    expect(accepted?.destroyed).toBe(false);
    await world.clock.advance(1_000);
    expect(accepted?.destroyed).toBe(true);
    client.destroy();
    await world.close();
  });

  it('a tunnel: an answer that is made while it is read is finished', async () => {
    const world = await listening();
    const client = await world.open();
    const asked = once(world.app.server, 'connect');
    client.write(`GET /api/v1/streamed HTTP/1.1\r\nHost: x\r\n\r\n${TUNNEL}`);
    await asked;
    expect(await lengthUntilEnd(client)).toBeGreaterThan(LONG);
    await world.close();
  });

  it('a client that goes away is told nothing, and nothing is logged as told', async () => {
    let answer: (() => void) | undefined;
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const world = await listening({ ready: () => held.then(() => ({ ok: true, checks: {} })) });
    const client = await world.open();
    client.write('GET /health/ready HTTP/1.1\r\nHost: x\r\n\r\nsomething\r\n\r\n');
    const [accepted] = world.accepted;
    await vi.waitUntil(() => (accepted?.bytesRead ?? 0) > 0, 60_000);
    client.resetAndDestroy();
    await vi.waitUntil(() => accepted?.closed, 60_000);
    answer?.();
    await world.close();
    expect(world.log.lines.filter((line) => line.includes('"status":400'))).toEqual([]);
  });

  it('a client whose last answer closes the connection is told nothing, and nothing is logged as told', async () => {
    const world = await listening();
    const client = await world.open();
    client.write('GET /health/ready HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\nsomething\r\n\r\n');
    expect(await lengthUntilEnd(client)).toBeGreaterThan(0);
    await world.close();
    expect(world.log.lines.filter((line) => line.includes('"status":400'))).toEqual([]);
  });
});
