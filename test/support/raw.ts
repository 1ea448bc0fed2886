/**
 * Requests as bytes: what no HTTP client would send.
 *
 * Invariant: what comes back is all that the gateway wrote until it closed the connection.
 */

import { once } from 'node:events';
import { connect } from 'node:net';
import type { Answer, World } from './world.ts';

/** Sends bytes unchanged and returns all that comes back until the gateway closes. */
export async function sendRaw(world: World, bytes: string | Buffer): Promise<Answer> {
  const { hostname, port } = new URL(world.url);
  const socket = connect(Number(port), hostname);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.write(bytes);
  await once(socket, 'close');
  return parseRaw(Buffer.concat(chunks).toString('utf8'));
}

function parseRaw(answer: string): Answer {
  const end = answer.indexOf('\r\n\r\n');
  const [first = '', ...lines] = answer.slice(0, end).split('\r\n');
  const headers = new Headers(
    lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
  );
  const text = answer.slice(end + 4);
  const json: unknown = text.startsWith('{') ? JSON.parse(text) : undefined;
  return { status: Number(first.split(' ')[1]), headers, text, json };
}

/** A POST as a client would write it, with header lines that `fetch` would not send. */
export function rawPost(path: string, lines: readonly string[], body: string | Buffer): Buffer {
  const bytes = Buffer.from(body);
  const head = [`POST /api/v1${path} HTTP/1.1`, 'Host: gateway', 'Accept-Language: en', 'Connection: close', ...lines];
  return Buffer.concat([
    Buffer.from(`${head.join('\r\n')}\r\nContent-Length: ${bytes.length}\r\n\r\n`, 'latin1'),
    bytes,
  ]);
}

/** A mint whose body is these bytes, with that content type. */
export function mintBytes(
  world: World,
  bearer: string,
  bytes: Buffer,
  type = 'application/json',
  more: readonly string[] = [],
): Promise<Answer> {
  const lines = [`Authorization: Bearer ${bearer}`, `Content-Type: ${type}`, ...more];
  return sendRaw(world, rawPost('/internal/sessions/create', lines, bytes));
}
