/** If a status is enough, no body delays or spoils it, and ordinary answers leave their connections to the next request. */
import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { portOf } from '../../test/support/listening.ts';
import { createOutbound } from './outbound.ts';
import type { Outbound, OutboundAnswer } from './platform.ts';
import { type ManualClock, manualClock } from './testing/manual-clock.ts';

let clock: ManualClock;
let outbound: Outbound;
let server: Server | undefined;
let sockets: Socket[];

beforeEach(() => {
  clock = manualClock(0);
  outbound = createOutbound({ allowLoopback: true, requireHttps: false, clock });
  sockets = [];
});
afterEach(async () => {
  await outbound.close();
  for (const socket of sockets) socket.destroy();
  server?.close();
});

async function listen(listener: RequestListener): Promise<string> {
  server = createServer((request, response) => request.resume().on('end', () => listener(request, response)));
  server.on('connection', (socket: Socket) => {
    sockets.push(socket.on('error', () => undefined));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${portOf(server)}/`;
}

function send(url: string): Promise<OutboundAnswer> {
  const base = { method: 'POST', headers: {}, body: 'hello', timeout: 10_000, trust: 'merchant' } as const;
  return outbound.request({ ...base, url, answerLimit: 1_024, enough: 'status' });
}

/** Connections that are open and have carried data. */
const open = (): number => sockets.filter((socket) => !socket.destroyed && socket.bytesRead > 0).length;
const closed = (socket: Socket | undefined): Promise<void> =>
  new Promise((resolve) => {
    if (socket === undefined || socket.destroyed) resolve();
    else socket.once('close', () => resolve());
  });

test('a body that never ends is not waited for, and its connection is closed at the deadline', async () => {
  const url = await listen((_, response) => {
    response.writeHead(200, { 'retry-after': '7' }).write('more follows');
  });
  expect(await send(url)).toMatchObject({ kind: 'answered', status: 200, headers: { 'retry-after': '7' }, body: '' });
  expect(open()).toBe(1);
  await clock.advance(10_000);
  await closed(sockets[0]);
  expect(clock.pending()).toBe(0);
});

test('a body that is cut spoils nothing', async () => {
  const url = await listen((_, response) => {
    response.writeHead(200, { 'content-length': '99' }).write('half', () => response.destroy());
  });
  expect(await send(url)).toMatchObject({ kind: 'answered', status: 200 });
  await closed(sockets[0]);
});

test('an endless body is read up to the limit', async () => {
  const url = await listen((_, response) => {
    const more = (): void => {
      while (response.write('x'.repeat(10_000)));
      response.once('drain', more);
    };
    more();
  });
  expect(await send(url)).toMatchObject({ kind: 'answered', status: 200 });
  await closed(sockets[0]);
  expect(clock.pending()).toBe(0);
});

test('an interim response is neither a status nor an answer', async () => {
  let announce = (): void => undefined;
  const announced = new Promise<void>((resolve) => {
    announce = resolve;
  });
  const url = await listen((_, response) => response.writeEarlyHints({ link: '</a>; rel=preload' }, announce));
  const answer = send(url);
  await announced;
  await clock.advance(10_000);
  expect(await answer).toEqual({ kind: 'lost', reason: 'no answer in time' });
});

test('ordinary answers leave their connections to later requests, even if head and body arrive separately', async () => {
  const url = await listen((_, response) => {
    if (sockets.length % 2 === 0) response.end('ok');
    else response.writeHead(200).write('o', () => setImmediate(() => response.end('k')));
  });
  for (let i = 0; i < 50; i += 1) expect(await send(url)).toMatchObject({ status: 200 });
  expect(sockets.length).toBeLessThanOrEqual(4);
});

test('many endless bodies take no places from others: the oldest are closed', async () => {
  let isEndless = true;
  const held: ServerResponse[] = [];
  const url = await listen((_, response) => {
    if (!isEndless) return void response.end('ok');
    held.push(response.writeHead(200));
    response.flushHeaders();
  });
  for (let i = 0; i < 300; i += 1) expect(await send(url)).toMatchObject({ status: 200 });
  expect(held).toHaveLength(300);
  await Promise.all(sockets.slice(0, 236).map(closed));
  expect(open()).toBe(64);
  isEndless = false;
  expect(await send(url)).toMatchObject({ status: 200 });
});
