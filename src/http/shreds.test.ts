/** Bodies in chunks of a byte each, and headers without number: senders who want to keep the process busy, or something unseen. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectTo } from '../../test/support/listening.ts';
import { defineRoute } from './route.ts';
import { type SmallWorld, smallWorld } from './testing/small-world.ts';

const world: SmallWorld = smallWorld({ rateLimitScale: 0 });
const ORDER = JSON.stringify({ amount: '12.50', currency: 'usd', payment_method: 'wallet' });

beforeAll(async () => {
  await world.app.listen({ port: 0, host: '127.0.0.1' });
});
afterAll(() => world.app.close());

/** Sends the bytes, and reads until the server closes. */
async function answerTo(bytes: string): Promise<string> {
  const socket = connectTo(world.app.server);
  socket.on('error', () => undefined);
  let answer = '';
  socket.on('data', (chunk) => {
    answer += chunk.toString();
  });
  socket.write(bytes);
  await once(socket, 'close');
  return answer;
}

const head = (lines: readonly string[]): string =>
  ['POST /api/v1/orders HTTP/1.1', 'Host: x', 'Connection: close', 'Content-Type: application/json', ...lines].join(
    '\r\n',
  );

/** A body in chunks of so many bytes. */
function inChunks(body: string, size: number): string {
  const chunks = body.match(new RegExp(`.{1,${size}}`, 'g')) ?? [];
  return [...chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`), '0\r\n\r\n'].join('');
}

const sent = (body: string, size: number, ...lines: readonly string[]): Promise<string> =>
  answerTo(
    `${head([`Authorization: ${world.merchantAuth}`, 'Transfer-Encoding: chunked', ...lines])}\r\n\r\n${inChunks(body, size)}`,
  );

/** A world in which `GET /slow` is answered only when the test says so. */
async function waiting() {
  let [begin, goOn] = [(): void => undefined, (): void => undefined];
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const going = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const slow = defineRoute({
    method: 'GET',
    path: '/slow',
    operationId: 'slow',
    summary: 'Slow',
    description: 'Waits.',
    credential: 'none',
    limit: 'none',
    loadClass: 'read',
    answers: { 200: Type.Object({}) },
    refusals: [],
    run: async (call) => {
      begin();
      await going;
      return call.reply(200, {});
    },
  });
  const small = smallWorld({ routes: [slow] });
  await small.app.listen({ port: 0, host: '127.0.0.1' });
  return { ...small, begun, goOn };
}

const keyed = (nth: number): string => `Idempotency-Key: key-${nth}`;

describe('a body in chunks', () => {
  // The last chunk of the first two comes in one read with the others: the body is whole when the refusal has been written.
  it.each([4_600, 9_000, 20_000])('of a byte each is refused, and nothing is done (%i bytes)', async (size) => {
    const { runs } = world.rows;
    const answer = await sent(ORDER.padEnd(size), 1, 'Accept-Language: en', keyed(size));
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('"error_code":"1403"');
    expect(answer).toContain('"field":"body","message":"The body comes in too many small chunks.');
    expect(answer).toMatch(/\r\nconnection: close\r\n/i);
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
    expect(world.rows.runs).toBe(runs);
    expect(await sent(ORDER, 16, keyed(size))).toMatch(/^HTTP\/1\.1 201 /);
    expect(world.rows.runs).toBeGreaterThan(runs);
  });

  it('is refused in its turn, and the connection is closed, if others came before it and behind it', async () => {
    const order = (body: string, ...lines: readonly string[]) =>
      `${head([`Authorization: ${world.merchantAuth}`, ...lines]).replace('Connection: close\r\n', '')}\r\n\r\n${body}`;
    const whole = (nth: number) => order(ORDER, `Content-Length: ${ORDER.length}`, keyed(nth));
    const shredded = order(inChunks(ORDER.padEnd(4_600), 1), 'Transfer-Encoding: chunked', keyed(2));
    const answer = await answerTo(`${whole(1)}${shredded}${whole(3)}`);
    expect([...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['201', '400']);
    // It is carried out now, and not answered as one that has been.
    const { runs } = world.rows;
    const again = order(ORDER, 'Connection: close', `Content-Length: ${ORDER.length}`, keyed(2));
    expect(await answerTo(again)).toMatch(/^HTTP\/1\.1 201 /);
    expect(world.rows.runs).toBeGreaterThan(runs);
  });

  it('that nobody reads does not flow while its request is worked at', async () => {
    const { app, begun, goOn } = await waiting();
    const asked = once(app.server, 'request') as Promise<[IncomingMessage]>;
    const socket = connectTo(app.server);
    socket.write('GET /api/v1/slow HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n');
    const [request] = await asked;
    await begun;
    expect(request.readableFlowing).not.toBe(true);
    goOn();
    socket.destroy();
    await app.close();
  });

  it.each([
    ['a small one, however it is cut', ORDER, 1],
    ['a large one in lines', ORDER.padEnd(200_000), 16],
  ])('is taken: %s', async (_name, body, size) => {
    expect(await sent(body, size)).toMatch(/^HTTP\/1\.1 201 /);
  });
});

describe('a body that was refused as late', () => {
  it('is not carried out if its rest comes while that still waits to be said', async () => {
    const { app, clock, rows, merchantAuth, begun, goOn } = await waiting();
    const requests: IncomingMessage[] = [];
    const both = new Promise<void>((resolve) => {
      app.server.on('request', (request) => requests.push(request) === 2 && resolve());
    });
    const socket = connectTo(app.server);
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk.toString();
    });
    const order = `${head([`Authorization: ${merchantAuth}`, `Content-Length: ${ORDER.length}`, keyed(1)])}\r\n\r\n${ORDER}`;
    socket.write(`GET /api/v1/slow HTTP/1.1\r\nHost: x\r\n\r\n${order.slice(0, -1)}`);
    await Promise.all([both, begun]);
    const whole = once(requests[1] as IncomingMessage, 'end');
    await clock.advance(28_000);
    socket.write(ORDER.slice(-1));
    await whole;
    goOn();
    await once(socket, 'close');
    expect([...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['200', '408']);
    expect(rows.runs).toBe(0);
    await app.close();
  });
});

describe('a thousand headers', () => {
  const many = Array.from({ length: 1_500 }, (_, nth) => `x${nth}:`);
  const order = (lines: readonly string[]) =>
    `${head([...many, `Content-Length: ${ORDER.length}`, ...lines])}\r\n\r\n${ORDER}`;

  it('hide none that comes after them', async () => {
    expect(await answerTo(order([`Authorization: ${world.merchantAuth}`]))).toMatch(/^HTTP\/1\.1 201 /);
    expect(await answerTo(order([`Authorization: ${world.merchantAuth}`, 'Host: other']))).toMatch(/^HTTP\/1\.1 400 /);
  });
});
