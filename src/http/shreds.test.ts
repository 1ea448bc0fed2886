/** Bodies in chunks of a byte each, and headers without number: senders who want to keep the process busy, or something unseen. */
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectTo } from '../../test/support/listening.ts';
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

describe('a body in chunks', () => {
  it('of a byte each is refused without being read to its end, and nothing is done', async () => {
    const before = world.rows.runs;
    const answer = await sent(ORDER.padEnd(20_000), 1, 'Accept-Language: en');
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('"error_code":"1403"');
    expect(answer).toContain('"field":"body","message":"The body comes in too many small chunks.');
    expect(answer).toMatch(/\r\nconnection: close\r\n/i);
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
    expect(world.rows.runs).toBe(before);
  });

  it.each([
    ['a small one, however it is cut', ORDER, 1],
    ['a large one in lines', ORDER.padEnd(200_000), 16],
  ])('is taken: %s', async (_name, body, size) => {
    expect(await sent(body, size)).toMatch(/^HTTP\/1\.1 201 /);
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
