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
/** How many bytes had come when the last answer was done with. */
const READ = Symbol('read');
type Counted = Socket & { [UNANSWERED]?: number; [READ]?: number };

/** Counts a request of a connection until it has been answered. False when its connection asks for too much. */
export function isInTurn(request: IncomingMessage, response: ServerResponse): boolean {
  const socket: Counted = request.socket;
  const count = (socket[UNANSWERED] ?? 0) + 1;
  if (count > MOST_UNANSWERED || socket.destroyed) return false;
  socket[UNANSWERED] = count;
  response.once('close', () => {
    socket[UNANSWERED] = (socket[UNANSWERED] ?? 1) - 1;
    socket[READ] = socket.bytesRead;
  });
  return true;
}

/** Whether a client is owed something: an answer, or the rest of one that has not left yet. */
export function isOwed(socket: Socket): boolean {
  const { [UNANSWERED]: unanswered = 0, writableLength }: Counted = socket;
  return unanswered > 0 || writableLength > 0;
}

/** Whether a connection rests between two requests: it is owed nothing, and nothing has come since. */
export function isResting(socket: Socket): boolean {
  const { [READ]: read, bytesRead }: Counted = socket;
  return read === bytesRead && !isOwed(socket);
}
