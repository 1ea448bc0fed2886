/**
 * Answers that are made while their client reads them: never far ahead of it, and ended when it is gone.
 */
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { portOf } from '../../test/support/listening.ts';
import { defineRoute } from './route.ts';
import { type SmallWorld, smallWorld } from './testing/small-world.ts';

const CHUNK = 'x'.repeat(64 * 1024);

/** A source of chunks that tells how many were taken, and how it ended. */
function source(most: number, failAt = Number.POSITIVE_INFINITY) {
  let taken = 0;
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  async function* chunks(): AsyncGenerator<string, void, undefined> {
    try {
      for (; taken < most; taken += 1) {
        if (taken === failAt) throw new Error('the database is away');
        yield CHUNK;
      }
    } finally {
      end();
    }
  }
  return { chunks, taken: () => taken, ended };
}

type Source = ReturnType<typeof source>;

let opened: SmallWorld | undefined;
afterEach(async () => {
  const closing = opened?.app.close();
  await opened?.clock.advance(5_000);
  await closing;
  opened = undefined;
});

/** A gateway whose `/long` answers from the source. Returns a function that requests it. */
async function serve(from: () => Source): Promise<{ world: SmallWorld; ask(): Promise<IncomingMessage>; url: string }> {
  const world = smallWorld({
    routes: [
      defineRoute({
        method: 'GET',
        path: '/long',
        operationId: 'readLong',
        summary: 'Long',
        description: 'Long.',
        credential: 'merchant',
        limit: 'none',
        loadClass: 'read',
        answers: {},
        refusals: [],
        run: () =>
          Promise.resolve({ status: 200, contentType: 'text/csv', fileName: 'long.csv', chunks: from().chunks() }),
      }),
    ],
  });
  opened = world;
  await world.app.listen({ host: '127.0.0.1', port: 0 });
  const url = `http://127.0.0.1:${portOf(world.app.server)}/api/v1/long`;
  const ask = async (): Promise<IncomingMessage> => {
    const request = get(url, { headers: { authorization: world.merchantAuth }, agent: false });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return response;
  };
  return { world, ask, url };
}

describe('a streamed answer', () => {
  test('arrives whole, as a file', async () => {
    const { ask } = await serve(() => source(20));
    const response = await ask();
    let bytes = 0;
    for await (const chunk of response) bytes += (chunk as Buffer).length;
    expect([response.statusCode, bytes]).toEqual([200, 20 * CHUNK.length]);
    expect(response.headers['content-disposition']).toBe('attachment; filename="long.csv"');
    expect(response.headers['x-request-id']).toMatch(/^req_/);
  });

  test('is never generated far ahead of a client that reads slowly', async () => {
    // A gigabyte, if all of it were generated.
    const long = source(16_384);
    const { ask } = await serve(() => long);
    const response = await ask();
    let bytes = 0;
    for await (const chunk of response) {
      bytes += (chunk as Buffer).length;
      if (bytes > 24 * 1024 * 1024) break;
      // What lies in the kernel's buffers, on both sides of the connection, does not take our memory.
      expect(long.taken() * CHUNK.length - bytes).toBeLessThan(12 * 1024 * 1024);
    }
    await long.ended;
    expect(long.taken()).toBeLessThan(1_000);
  });

  test('ends when its client has disconnected', async () => {
    const long = source(100_000);
    const { ask, world } = await serve(() => long);
    (await ask()).destroy();
    await long.ended;
    expect(world.log.lines.filter((line) => line.includes('answer_broken'))).toEqual([]);
  });

  test('that fails in the middle breaks off, and is not a complete answer', async () => {
    const { ask, world } = await serve(() => source(100, 10));
    const response = await ask();
    const read = async (): Promise<void> => {
      for await (const chunk of response) expect((chunk as Buffer).length).toBeGreaterThan(0);
    };
    await expect(read()).rejects.toThrow('aborted');
    expect(world.log.lines.filter((line) => line.includes('answer_broken'))).toHaveLength(1);
  });

  test('does not hold up a stop for longer than some seconds', async () => {
    const long = source(100_000);
    const { ask, world } = await serve(() => long);
    const response = await ask();
    response.on('error', () => undefined);
    let closed = false;
    const closing = world.app.close().then(() => {
      closed = true;
    });
    await world.clock.advance(4_999);
    expect(closed).toBe(false);
    await world.clock.advance(1);
    await closing;
    await long.ended;
    expect(closed).toBe(true);
  });

  test('that has ended, or was never requested, does not hold up a stop', async () => {
    const { ask, world } = await serve(() => source(3));
    (await ask()).resume();
    await world.app.close();
    expect(world.clock.pending()).toBe(0);
  });

  test('is not generated if only its head is requested', async () => {
    const long = source(100_000);
    const { url, world } = await serve(() => long);
    const head = await fetch(url, { method: 'HEAD', headers: { authorization: world.merchantAuth } });
    expect([head.status, head.headers.get('content-type'), long.taken()]).toEqual([200, 'text/csv', 0]);
  });

  test('takes one of its merchant’s four places, and gives it back', async () => {
    const sources: Source[] = [];
    const { ask } = await serve(() => {
      const made = source(100_000);
      sources.push(made);
      return made;
    });
    const responses = await Promise.all([ask(), ask(), ask(), ask()]);
    expect(responses.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200]);
    const refused = await ask();
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '5']);
    expect([refused.headers['ratelimit-policy'], refused.headers.ratelimit]).toEqual([
      '"streams";q=4;qu="concurrent-requests"',
      '"streams";r=0;t=5',
    ]);
    responses[0]?.destroy();
    await Promise.race(sources.map(({ ended }) => ended));
    await expect.poll(async () => (await ask()).statusCode).toBe(200);
    for (const response of responses) response.destroy();
  });
});
