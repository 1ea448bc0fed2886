/**
 * A receiver of callbacks on a free port, for tests.
 * Invariant: requests are kept in order of arrival, and a test waits for them by count, never by time.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Received = { readonly method: string; readonly body: Readonly<Record<string, unknown>> };

export type Receiver = {
  readonly url: string;
  readonly seen: readonly Received[];
  /** Resolves once `count` requests have come in total. */
  readonly came: (count: number) => Promise<readonly Received[]>;
  readonly close: () => Promise<void>;
};

export async function startReceiver(): Promise<Receiver> {
  const seen: Received[] = [];
  let waiting: { count: number; done: () => void }[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => {
      text += chunk;
    });
    request.on('end', () => {
      response.writeHead(200).end();
      seen.push({ method: request.method ?? '', body: JSON.parse(text) as Record<string, unknown> });
      for (const waiter of waiting) if (seen.length >= waiter.count) waiter.done();
      waiting = waiting.filter((waiter) => seen.length < waiter.count);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}/callback`,
    seen,
    came: async (count) => {
      if (seen.length < count) await new Promise<void>((done) => waiting.push({ count, done }));
      return seen;
    },
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}
