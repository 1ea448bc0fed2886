/**
 * An upstream for tests that does as it is told: a real HTTP server on a free port of the loopback.
 *
 * Invariant: it records what really arrived, byte for byte, and `close` leaves no socket behind.
 */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { portOf } from '../../../test/support/listening.ts';
import type { Outbound } from '../../platform/platform.ts';

/** How an upstream can misbehave. In all cases but the first it accepts the connection. */
export type Misbehaviour = (typeof MISBEHAVIOURS)[number];

export const MISBEHAVIOURS = ['refuses_connections', 'cuts', 'garbage', 'html', 'empty', 'huge', 'endless'] as const;

export interface Arrived {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A status and a body to answer with, or something worse. */
export type Reply = Misbehaviour | { readonly status: number; readonly body: string };

export interface ScriptedUpstream {
  readonly url: string;
  readonly arrived: readonly Arrived[];
  close(): Promise<void>;
}

const HUGE = 50_000_000;

/** Milliseconds that a test waits for an answer that never comes. */
const HURRIED_MS = 400;

/**
 * The door through which an upstream with that reply is called: with deadlines that a test can wait for if only a deadline ends
 * the call, and with the real ones otherwise, so that a slow machine ends none.
 */
export function doorTo(reply: Reply, door: Outbound, isSpared: (path: string) => boolean = () => false): Outbound {
  if (reply !== 'endless') return door;
  return {
    ...door,
    request: (request) =>
      isSpared(new URL(request.url).pathname)
        ? door.request(request)
        : door.request({ ...request, timeout: Math.min(request.timeout, HURRIED_MS) }),
  };
}

/** Starts a server that answers each request as `script` says, once the whole request has arrived and `script` has decided. */
export async function startScriptedUpstream(
  script: (request: Arrived) => Reply | Promise<Reply>,
): Promise<ScriptedUpstream> {
  const arrived: Arrived[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const seen = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body };
    arrived.push(seen);
    answer(response, await script(seen));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const port = portOf(server);
  return {
    url: `http://127.0.0.1:${port}`,
    arrived,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answer(response: ServerResponse, reply: Reply): void {
  if (typeof reply === 'object') {
    response.writeHead(reply.status, { 'content-type': 'application/json' }).end(reply.body);
    return;
  }
  switch (reply) {
    case 'refuses_connections':
      throw new Error('close the server instead: one that listens cannot refuse');
    case 'cuts':
      response.destroy();
      return;
    case 'garbage':
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"status":"SUCCESSFUL","amount":');
      return;
    case 'html':
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>SUCCESSFUL</title>');
      return;
    case 'empty':
      response.writeHead(200).end();
      return;
    case 'huge':
      response.writeHead(200, { 'content-type': 'application/json' }).end(`{"padding":"${'x'.repeat(HUGE)}"}`);
      return;
    case 'endless':
      // Headers and a beginning that never ends: only the caller's own deadline ends the call.
      response.writeHead(200, { 'content-type': 'application/json' }).write('{"status":');
      return;
  }
}
