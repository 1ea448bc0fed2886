/**
 * How many requests of one connection are unanswered.
 *
 * A client that sends requests without reading answers has each answer kept for it: 64 KiB of requests, which arrive in one
 * piece, can ask for a hundred megabytes. Invariant: of one connection no more than a few answers are ever held.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** More than any client of today sends ahead: browsers and HTTP libraries send one. */
const MOST_UNANSWERED = 16;

/** On the connection itself, which every request asks. */
const UNANSWERED = Symbol('unanswered');
type Counted = Socket & { [UNANSWERED]?: number };

/** Counts a request of a connection until it has been answered. False when its connection asks for too much. */
export function isInTurn(request: IncomingMessage, response: ServerResponse): boolean {
  const socket: Counted = request.socket;
  const count = (socket[UNANSWERED] ?? 0) + 1;
  if (count > MOST_UNANSWERED || socket.destroyed) return false;
  socket[UNANSWERED] = count;
  response.once('close', () => {
    socket[UNANSWERED] = (socket[UNANSWERED] ?? 1) - 1;
  });
  return true;
}

/** Whether a client is still to get something: an answer, or the rest of one that has not left yet. */
export function isOwedAnswer(socket: Socket): boolean {
  const { [UNANSWERED]: unanswered = 0, writable, writableLength }: Counted = socket;
  // What is not HTTP is answered past all requests, and ends what can be written: their answers never leave.
  return writableLength > 0 || (unanswered > 0 && writable);
}
