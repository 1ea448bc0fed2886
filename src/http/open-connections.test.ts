/** Who loses a connection, to make room or because the server stops: nobody who is owed an answer, or the rest of one. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { Type } from 'typebox';
import { describe, expect, it, vi } from 'vitest';
import { defineRoute } from './route.ts';
import { type SmallWorld, type SmallWorldOptions, smallWorld } from './testing/small-world.ts';

/** More than the buffers of a connection hold. */
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
  allowConsumed: true,
  answers: { 200: Type.Object({ text: Type.String() }) },
  refusals: [],
  run: async (call) => call.reply(200, { text: 'x'.repeat(LONG) }),
});

interface Listening extends SmallWorld {
  readonly accepted: readonly Socket[];
  /** A client, once its connection has been accepted. */
  open(): Promise<Socket>;
  /** Stops the server, while its time passes. */
  close(): Promise<void>;
}

async function listening(options: SmallWorldOptions = {}): Promise<Listening> {
  const world = smallWorld({ routes: [longAnswer], ...options });
  const { app, clock } = world;
  await app.listen({ port: 0, host: '127.0.0.1' });
  const accepted: Socket[] = [];
  app.server.on('connection', (socket) => accepted.push(socket));
  return {
    ...world,
    accepted,
    async open() {
      const before = accepted.length;
      const client = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
      await vi.waitUntil(() => accepted.length > before, 60_000);
      return client;
    },
    async close() {
      let isClosed = false;
      const closed = app.close().then(() => {
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

/** Asks for the long answer, and reads nothing of it; it has been given to the connection. */
async function askedAndNotRead(world: Listening): Promise<Socket> {
  const client = await world.open();
  const asked = once(world.app.server, 'request');
  client.write('GET /api/v1/long HTTP/1.1\r\nHost: x\r\n\r\n');
  const [, response] = (await asked) as [unknown, ServerResponse];
  await vi.waitUntil(() => response.writableEnded, 60_000);
  return client;
}

/** How many bytes come until the connection ends. */
async function lengthUntilEnd(client: Socket): Promise<number> {
  let length = 0;
  client.on('data', (chunk) => {
    length += chunk.length;
  });
  await once(client, 'close');
  return length;
}

describe('a server that stops', () => {
  it('ends who rests, who says nothing and who has sent half a head', async () => {
    const world = await listening();
    const [silent, resting, halfway] = [await world.open(), await world.open(), await world.open()];
    resting.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(resting, 'data');
    halfway.write('GET /health HTTP/1.1\r\nHost:');
    await vi.waitUntil(() => (world.accepted[2]?.bytesRead ?? 0) > 0, 60_000);
    const ends = [silent, resting, halfway].map((client) => once(client.resume(), 'close'));
    await Promise.all([world.close(), ...ends]);
  });

  it('lets an answer leave that it has given, whole', async () => {
    const world = await listening();
    const client = await askedAndNotRead(world);
    const closed = world.close();
    expect(await lengthUntilEnd(client)).toBeGreaterThan(LONG);
    await closed;
  });
});

describe('a server with too many connections', () => {
  it('takes the place of who rests, and of nobody whose answer is leaving', async () => {
    const world = await listening({ sockets: { connections: 2 } });
    const [client, resting] = [await askedAndNotRead(world), await world.open()];
    resting.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(resting, 'data');
    const dropped = once(world.app.server, 'drop');
    const late = connect((world.app.server.address() as AddressInfo).port, '127.0.0.1').resume();
    late.on('error', () => undefined);
    await Promise.all([dropped, once(late, 'close'), once(resting.resume(), 'close')]);
    const whole = lengthUntilEnd(client);
    await vi.waitUntil(() => client.bytesRead > LONG, 60_000);
    await world.close();
    expect(await whole).toBeGreaterThan(LONG);
  });
});
