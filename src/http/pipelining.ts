/**
 * Limits how many requests of one connection are unanswered.
 *
 * For a client that sends requests without reading answers, each answer is kept in memory: 64 KiB of requests, which arrive in
 * one piece, can ask for a hundred megabytes. Invariant: no more than a few answers are ever held for one connection.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** More than any client of today sends ahead: browsers and HTTP libraries send one. */
const MOST_UNANSWERED = 16;

/** Kept on the connection itself, because every request looks it up. */
const UNANSWERED = Symbol('unanswered');
type Counted = Socket & { [UNANSWERED]?: number };

/** Counts a request of a connection until it has been answered. Returns false if too many are unanswered. */
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

/** Whether a client is still owed something: an answer, or the rest of one that has not left yet. */
export function isOwedAnswer(socket: Socket): boolean {
  const { [UNANSWERED]: unanswered = 0, writable, writableLength }: Counted = socket;
  // Input that is not HTTP is answered outside of all requests, and ends the writable side: pending answers never leave.
  return writableLength > 0 || (unanswered > 0 && writable);
}
