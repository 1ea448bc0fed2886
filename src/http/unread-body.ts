/**
 * Bodies that do not arrive, or that nobody wants: how long one may take, and what becomes of the rest of one whose request was
 * answered before its end.
 *
 * Invariant: after an answer no more than a few hundred kilobytes are taken from its sender, whoever that is.
 */

import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isShredded } from '../domain/pieces.ts';
import type { Clock } from '../platform/platform.ts';
import { hasBody } from './request-headers.ts';

/** Up to this size a body is read to its end and thrown away, so that its connection can be kept. */
const MAX_REST_BYTES = 256 * 1024;
/** How long a sender may go on sending, so that it comes to read its answer. */
const MAX_REST_MS = 1_000;

/**
 * The payload to send for an answer. While a long body is still arriving, or any body on a connection that we are about to close,
 * the answer leaves at once but is ended only after some of the rest has been read: closing a connection with unread bytes resets
 * it, and a reset may take the answer with it.
 */
export function answerBeforeRest(
  clock: Pick<Clock, 'after'>,
  request: FastifyRequest,
  reply: FastifyReply,
  answer: unknown,
): unknown {
  const { raw } = request;
  if (raw.readableEnded || !hasBody(raw.headers)) return answer;
  const closesEarly = !raw.complete && reply.getHeader('connection') === 'close';
  if (!isLongAndComing(raw) && !closesEarly) {
    // A body that nobody reads would keep its connection from the next request.
    raw.resume();
    return answer;
  }
  reply.header('Connection', 'close');
  if (raw.method === 'HEAD' || (typeof answer !== 'string' && !Buffer.isBuffer(answer))) return answer;
  const bytes = Buffer.from(answer);
  reply.header('Content-Length', String(bytes.length));
  return Readable.from(answerThen(bytes, restOf(clock, raw)));
}

/** Whether more of a body is still to come than is read just to keep the connection. */
export function isLongAndComing({ complete, headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return !complete && hasBody(headers) && (length === undefined || Number(length) > MAX_REST_BYTES);
}

async function* answerThen(answer: Buffer, rest: Promise<void>): AsyncGenerator<Buffer> {
  yield answer;
  await rest;
}

/** Discards what arrives, until it ends or is enough. */
function restOf(clock: Pick<Clock, 'after'>, raw: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let left = MAX_REST_BYTES;
    const cancel = clock.after(MAX_REST_MS, enough);
    function enough(): void {
      cancel();
      raw.pause();
      resolve();
    }
    raw.on('data', (chunk: Buffer) => {
      left -= chunk.length;
      if (left <= 0) enough();
    });
    raw.once('end', enough);
    raw.once('close', enough);
    raw.resume();
  });
}

/**
 * Calls `shredded` once a body of undeclared length comes in too many pieces. To be called right before the body is read: from then on
 * it flows.
 */
export function limitBodyPieces(raw: IncomingMessage, shredded: () => void): void {
  // Bytes of a declared length come as the network hands them over, not as their sender has cut them.
  if (raw.headers['transfer-encoding'] === undefined) return;
  let pieces = 0;
  let bytes = 0;
  const count = (piece: Buffer): void => {
    pieces += 1;
    bytes += piece.length;
    if (!isShredded(pieces, bytes)) return;
    raw.off('data', count);
    shredded();
  };
  raw.on('data', count);
}

/** Calls `late` when a request's body has not come whole within that many milliseconds. */
export function limitBodyTime(
  clock: Pick<Clock, 'after'>,
  raw: IncomingMessage,
  milliseconds: number,
  late: () => void,
): void {
  if (!isOwed(raw)) return;
  // Nearly every body comes in one piece with its head, and needs no timer. Node.js runs next-tick callbacks between the last
  // byte of a body and its end; only when the whole piece has been read is it known to be complete.
  setImmediate(() => {
    if (!isOwed(raw)) return;
    const { socket } = raw;
    const cancel = clock.after(milliseconds, () => {
      if (!raw.complete) late();
    });
    const over = (): void => {
      cancel();
      socket.off('close', over);
    };
    raw.once('end', over);
    raw.once('close', over);
    // A request that has been answered gets no event when its connection closes.
    socket.once('close', over);
  });
}

function isOwed(raw: IncomingMessage): boolean {
  return !raw.complete && !raw.readableEnded && !raw.destroyed && !raw.socket.destroyed && hasBody(raw.headers);
}

/** To be called when an answer has left: a sender that still owes the rest of a body may not take for ever over it. */
export function limitRestTime(clock: Pick<Clock, 'after'>, raw: IncomingMessage, milliseconds: number): void {
  limitBodyTime(clock, raw, milliseconds, () => raw.socket.destroy());
}
