/** What bodies may cost that come from nobody we know. */
import { afterEach, expect, it, vi } from 'vitest';
import { type SmallWorld, smallWorld } from './testing/small-world.ts';

const worlds: SmallWorld[] = [];

function open(): SmallWorld {
  const world = smallWorld();
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
