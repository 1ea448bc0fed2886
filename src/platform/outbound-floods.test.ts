/** Receivers that answer in order to keep the gateway busy: little of what they send is looked at. */
import { once } from 'node:events';
import { createServer, type Server, Socket } from 'node:net';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { portOf } from '../../test/support/listening.ts';
import { createOutbound } from './outbound.ts';
import { READ_BYTES } from './outbound-small-reads.ts';
import type { Outbound, OutboundAnswer } from './platform.ts';
import { manualClock } from './testing/manual-clock.ts';

/** Time stands still: nothing here ends because a request's time is up. */
let outbound: Outbound;
let server: Server;
const sockets = new Set<Socket>();
/** What the server does once a request has come. */
let flood: (socket: Socket) => void;

beforeEach(async () => {
  outbound = createOutbound({ allowLoopback: true, requireHttps: false, clock: manualClock(0) });
  server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).once('data', () => flood(socket));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterEach(async () => {
  vi.restoreAllMocks();
  await outbound.close();
  for (const socket of sockets) socket.destroy();
  server.close();
  await once(server, 'close');
});

function send(trust: 'merchant' | 'upstream'): Promise<OutboundAnswer> {
  const url = `http://127.0.0.1:${portOf(server)}/`;
  return outbound.request({ method: 'POST', url, trust, headers: {}, body: 'x', timeout: 10_000, answerLimit: 64_000 });
}

describe.each(['merchant', 'upstream'] as const)('to a %s', (trust) => {
  test('an answer is read in small pieces, and none of it once the connection was given up', async () => {
    const { read } = Readable.prototype;
    const pieces: number[] = [];
    vi.spyOn(Readable.prototype, 'read').mockImplementation(function (this: Readable, size) {
      const piece: Buffer | null = read.call(this, size);
      if (piece !== null && this instanceof Socket && this.remotePort === portOf(server)) pieces.push(piece.length);
      return piece;
    });
    flood = (socket) => socket.write(`HTTP/1.1 200 OK\r\n${'a:\r\n'.repeat(32_000)}`);
    expect(await send(trust)).toEqual({ kind: 'lost', reason: 'the connection failed: UND_ERR_HEADERS_OVERFLOW' });
    expect(Math.max(...pieces)).toBe(READ_BYTES);
    // 'a' of each line is counted: a line for each byte allowed, and the piece in which the last of them is.
    expect(pieces.length).toBeLessThan(trust === 'merchant' ? 36 : 72);
  });

  test('a header of 7 KiB is read', async () => {
    const long = 'x'.repeat(7 * 1024);
    flood = (socket) => socket.write(`HTTP/1.1 200 OK\r\nX-Long: ${long}\r\nContent-Length: 2\r\n\r\nok`);
    expect(await send(trust)).toMatchObject({ kind: 'answered', headers: { 'x-long': long }, body: 'ok' });
  });

  test('interim responses without end are not waited out', async () => {
    flood = (socket) => {
      const more = (): void => {
        if (!socket.destroyed) socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(8), () => setImmediate(more));
      };
      more();
    };
    expect(await send(trust)).toEqual({ kind: 'lost', reason: 'the connection failed: INTERIM_WITHOUT_END' });
  });

  test('a few interim responses are', async () => {
    flood = (socket) => {
      const hints = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(64);
      socket.write(`${hints}HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok`);
    };
    expect(await send(trust)).toMatchObject({ kind: 'answered', status: 201, body: 'ok' });
  });

  test('a body of single bytes is not read to its end', async () => {
    const chunks = 20_000;
    flood = (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(chunks)}0\r\n\r\n`);
    };
    const answer = await send(trust);
    expect(answer).toMatchObject({ kind: 'answered', status: 200, body: expect.stringMatching(/^x{1000,1500}$/) });
  });
});
