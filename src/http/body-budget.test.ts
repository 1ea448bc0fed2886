/** Large bodies share one budget over all connections; small ones pass whatever other clients send. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Type } from 'typebox';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectTo, portOf } from '../../test/support/listening.ts';
import { defineRoute } from './route.ts';
import { type SmallWorld, smallWorld } from './testing/small-world.ts';

/** Pieces of 256 KiB that fit into 32 MiB, and into the quarter of one address. */
const FITTING = 128;
const OF_ADDRESS = FITTING / 4;
const LARGE = 256 * 1024;
/** The largest body that needs no room. */
const SMALL = 16 * 1024;

const world: SmallWorld = smallWorld({ rateLimitScale: 0 });
const sockets: Socket[] = [];

beforeAll(async () => {
  await world.app.listen({ port: 0, host: '127.0.0.1' });
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await world.app.close();
});

function open(from = '127.0.0.1'): Socket {
  const port = portOf(world.app.server);
  const socket = connect({ port, host: '127.0.0.1', localAddress: from });
  socket.on('error', () => undefined);
  sockets.push(socket);
  return socket;
}

/** Sends the head of a request, without its body. Resolves when the server has received it. */
async function promise(length: string, from?: string, socket = open(from)): Promise<Socket> {
  const reached = once(world.app.server, 'request');
  socket.write(`POST /api/v1/orders HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${length}\r\n\r\n`);
  await reached;
  return socket;
}

async function statusOf(socket: Socket): Promise<number> {
  const [first] = (await once(socket, 'data')) as [Buffer];
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(first.toString())?.[1]);
}

test('announced bodies that do not come fill the budget, and further ones are refused before they are read', async () => {
  for (let count = 0; count < OF_ADDRESS; count += 1) await promise(`Content-Length: ${LARGE}`);
  // One address gets no more than its share; others do not notice.
  expect(await statusOf(await promise(`Content-Length: ${LARGE}`))).toBe(503);
  for (let count = OF_ADDRESS; count < FITTING; count += 1) {
    await promise(`Content-Length: ${LARGE}`, `127.0.0.${1 + Math.floor(count / OF_ADDRESS)}`);
  }
  const refused = await promise(`Content-Length: ${LARGE}`, '127.0.0.9');
  const [answer] = (await once(refused, 'data')) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 503 /);
  expect(answer.toString()).toContain('"error_code":"1402"');
  expect(answer.toString()).toMatch(/\r\nretry-after: 2\r\n/i);
  expect(await statusOf(await promise('Transfer-Encoding: chunked'))).toBe(503);
  expect(await statusOf(await promise(`Content-Length: ${SMALL + 1}`))).toBe(503);
  // A body that no route takes is not to be sent again.
  expect(await statusOf(await promise(`Content-Length: ${LARGE + 1}`))).toBe(413);
  // Most requests are small, and take nothing of the budget.
  const body = JSON.stringify({ amount: '12.50', currency: 'usd', payment_method: 'wallet' }).padEnd(SMALL);
  const small = open();
  small.write(
    `POST /api/v1/orders HTTP/1.1\r\nHost: x\r\nAuthorization: ${world.merchantAuth}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  expect(await statusOf(small)).toBe(201);
  // A client that goes away gives back what it had.
  const before = await connections();
  sockets[0]?.destroy();
  while ((await connections()) >= before) await new Promise((resolve) => setImmediate(resolve));
  const taken = await promise(`Content-Length: ${LARGE}`);
  taken.end('x'.repeat(LARGE));
  // It was read to its end: now its sender is looked up.
  expect(await statusOf(taken)).toBe(401);
});

/** How many connections the server has. */
function connections(): Promise<number> {
  return new Promise((done) => world.app.server.getConnections((_error, count) => done(count)));
}

test('bodies whose senders have been answered, and have disconnected, give their share back', async () => {
  for (const socket of sockets.splice(0)) if (!socket.closed) await once(socket.destroy(), 'close');
  for (let count = 0; count <= OF_ADDRESS; count += 1) {
    const closed = new Promise((resolve) =>
      world.app.server.once('connection', (server: Socket) => server.once('close', resolve)),
    );
    const socket = open();
    socket.write(`POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: ${LARGE}\r\n\r\n`);
    expect(await statusOf(socket)).toBe(404);
    socket.destroy();
    await closed;
  }
});

test('a body that has arrived gives its share back once, and leaves nothing on its connection', async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  while ((await connections()) > 0) await new Promise((resolve) => setImmediate(resolve));
  const accepted = once(world.app.server, 'connection') as Promise<[Socket]>;
  const kept = open();
  const [server] = await accepted;
  const listeners: number[] = [];
  for (let count = 0; count < 12; count += 1) {
    await promise(`Content-Length: ${LARGE}`, undefined, kept);
    kept.write('x'.repeat(LARGE));
    expect(await statusOf(kept)).toBe(401);
    listeners.push(server.listenerCount('close'));
  }
  expect(new Set(listeners).size).toBe(1);
  for (let count = 0; count < OF_ADDRESS; count += 1) await promise(`Content-Length: ${LARGE}`);
  const beyond = await promise(`Content-Length: ${LARGE}`);
  beyond.write('x'.repeat(LARGE));
  expect(await statusOf(beyond)).toBe(503);
});

/** A route that takes a file. */
const filed = defineRoute({
  method: 'POST',
  path: '/filed',
  operationId: 'filed',
  summary: 'Filed',
  description: 'Takes a file.',
  credential: 'merchant',
  limit: 'none',
  loadClass: 'finish',
  upload: { field: 'file', most: LARGE },
  answers: { 200: Type.Object({}) },
  refusals: [],
  run: async (call) => call.reply(200, {}),
});

/** Sends the head of a request to that world, as a proxy does for the client at `address`. */
async function promiseFor(proxied: SmallWorld, address: string, path = '/orders', type = 'application/json') {
  const reached = once(proxied.app.server, 'request');
  const socket = connectTo(proxied.app.server);
  socket.on('error', () => undefined);
  sockets.push(socket);
  const lines = ['Host: x', `X-Forwarded-For: ${address}`, `Content-Type: ${type}`, `Content-Length: ${LARGE}`];
  socket.write(`POST /api/v1${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  await reached;
  return socket;
}

test('all addresses of one IPv6 network have one share; a file needs none, and what is no file does on its route', async () => {
  const proxied = smallWorld({ rateLimitScale: 0, trustProxy: ['127.0.0.1/32'], routes: [filed] });
  await proxied.app.listen({ port: 0, host: '127.0.0.1' });
  // Whoever has one address of such a network has as many as they like.
  for (let count = 0; count < OF_ADDRESS; count += 1) await promiseFor(proxied, `2001:db8::${count}`, '/filed');
  expect(await statusOf(await promiseFor(proxied, '2001:db8::ffff'))).toBe(503);
  expect(await statusOf(await promiseFor(proxied, '2001:db8::ffff', '/filed'))).toBe(503);
  // Its sender is looked up before it is read.
  const form = 'multipart/form-data; boundary=x';
  expect(await statusOf(await promiseFor(proxied, '2001:db8::ffff', '/filed', form))).toBe(401);
  const neighbour = await promiseFor(proxied, '2001:db8:0:1::1');
  neighbour.write('x'.repeat(LARGE));
  expect(await statusOf(neighbour)).toBe(401);
  for (const socket of sockets) socket.destroy();
  await proxied.app.close();
});
