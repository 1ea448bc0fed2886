/** What bodies may cost that come from nobody we know. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import { connectTo } from '../../test/support/listening.ts';
import { defineRoute } from './route.ts';
import { type SmallWorld, type SmallWorldOptions, smallWorld } from './testing/small-world.ts';

const worlds: SmallWorld[] = [];

function open(options?: SmallWorldOptions): SmallWorld {
  const world = smallWorld(options);
  worlds.push(world);
  return world;
}

afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(worlds.splice(0).map(({ app }) => app.close()));
});

/** The texts that were parsed as JSON while a body was sent with that credential. */
async function parsedFor(world: SmallWorld, authorization: string | undefined, body: string): Promise<unknown[]> {
  const parse = vi.spyOn(JSON, 'parse');
  const headers = { 'content-type': 'application/json', ...(authorization !== undefined && { authorization }) };
  await world.app.inject({ method: 'POST', url: '/api/v1/orders', headers, payload: body });
  return parse.mock.calls.map(([text]) => text);
}

it('a body is parsed only once its sender is known', async () => {
  const world = open();
  const body = JSON.stringify({ note: 'x'.repeat(200_000) });
  const { merchantAuth, sessionAuth } = world;
  for (const stranger of [undefined, 'Bearer nonsense', `${merchantAuth.slice(0, -1)}x`, sessionAuth]) {
    expect(await parsedFor(world, stranger, body)).not.toContain(body);
    vi.restoreAllMocks();
  }
  expect(await parsedFor(world, merchantAuth, body)).toContain(body);
});

/** A route that reads a body before it knows the sender. */
const hook = defineRoute({
  method: 'POST',
  path: '/hook',
  operationId: 'hook',
  summary: '',
  description: '',
  credential: 'none',
  limit: 'none',
  loadClass: 'callback',
  bodyMost: 16 * 1024,
  answers: {},
  refusals: [],
  run: async (call) => call.reply(200, {}),
});

it('a route that reads a body before it knows the sender takes a short one only, and says how short', async () => {
  const world = open({ routes: [hook] });
  const post = (bytes: number) =>
    world.app.inject({
      method: 'POST',
      url: '/api/v1/hook',
      headers: { 'content-type': 'application/json', 'accept-language': 'en' },
      payload: JSON.stringify({ a: 'x'.repeat(bytes) }),
    });
  expect((await post(16_000)).statusCode).toBe(200);
  const refused = await post(16_400);
  expect(refused.statusCode).toBe(413);
  expect(refused.json()).toMatchObject({ message: 'The body is too large. Send at most 16 KiB.' });
});

it.each([
  ['longer than its route takes', 'application/json', 413, false],
  ['of another type, to a gateway that is about to stop', 'text/plain', 415, true],
])('the rest of a body %s is read before its connection closes: no reset takes the answer', async (...of) => {
  const [, type, status, isDraining] = of;
  const world = open({ routes: [hook], isDraining: () => isDraining });
  await world.app.listen({ port: 0, host: '127.0.0.1' });
  const accepted = once(world.app.server, 'connection') as Promise<[Socket]>;
  const client = connectTo(world.app.server);
  const [server] = await accepted;
  const closed = once(server, 'close');
  const head = `POST /api/v1/hook HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nContent-Length: 60000\r\n\r\n`;
  client.write(head + 'x'.repeat(20_000));
  const [answer] = (await once(client, 'data')) as [Buffer];
  expect(answer.toString()).toMatch(new RegExp(`^HTTP/1.1 ${status} .*\r\nconnection: close\r\n`, 'is'));
  client.end('x'.repeat(40_000));
  await closed;
  expect(server.bytesRead).toBe(head.length + 60_000);
});
