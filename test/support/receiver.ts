/**
 * A webhook receiver for tests: a real HTTP server on a free port that answers as the test says, and keeps what it received.
 */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { portOf } from './listening.ts';

export type Hit = { headers: IncomingHttpHeaders; body: string; method: string | undefined; path: string | undefined };

export type Receiver = {
  url: string;
  hits: Hit[];
  /** How many connections were made to it. */
  connections(): number;
  /** Resolves once `count` hits have come in total. */
  reached(count: number): Promise<void>;
  /** Cuts every connection that is still open. */
  close(): Promise<void>;
};

/** `answer` may leave the response open: then the receiver hangs. */
export async function openReceiver(
  answer: (response: ServerResponse, hit: Hit, number: number) => void = (response) => response.writeHead(204).end(),
): Promise<Receiver> {
  const hits: Hit[] = [];
  const waiters: { count: number; resolve: () => void }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const hit = { headers: request.headers, body, method: request.method, path: request.url };
      hits.push(hit);
      answer(response, hit, hits.length);
      for (const waiter of waiters) if (hits.length >= waiter.count) waiter.resolve();
    });
  });
  let connections = 0;
  server.on('connection', () => {
    connections += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = portOf(server);
  return {
    url: `http://127.0.0.1:${port}/hooks`,
    hits,
    connections: () => connections,
    reached: (count) =>
      new Promise((resolve) => {
        if (hits.length >= count) resolve();
        else waiters.push({ count, resolve });
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
