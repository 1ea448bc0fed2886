/**
 * Limits how many requests of one connection are unanswered, and keeps their answers in order.
 *
 * For a client that sends requests without reading answers, each answer is kept in memory: 64 KiB of requests, which arrive in
 * one piece, can ask for a hundred megabytes. Invariants: no more than a few answers are ever held for one connection, and what
 * ends the connection is said after the answers to what was asked before.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../platform/platform.ts';

/** More than any client of today sends ahead: browsers and HTTP libraries send one. */
const MAX_UNANSWERED = 16;

/** Kept on the connection itself, because every request looks it up. */
const UNANSWERED = Symbol('unanswered');
/** The newest request: the only one that may not have arrived whole. */
const NEWEST = Symbol('newest');
/** What sends the last response of the connection, and ends it. */
const LAST_RESPONSE = Symbol('last response');
type Counted = Socket & { [UNANSWERED]?: number; [NEWEST]?: IncomingMessage; [LAST_RESPONSE]?: () => void };

/** How long a connection whose last response is known may still take: its client may read nothing, and yet go on sending. */
const MAX_LAST_RESPONSE_MS = 60_000;

/** Counts a request of a connection until it has been answered. Returns false if too many are unanswered. */
export function isInTurn(request: IncomingMessage, response: ServerResponse): boolean {
  const socket: Counted = request.socket;
  const count = (socket[UNANSWERED] ?? 0) + 1;
  if (count > MAX_UNANSWERED || socket.destroyed) return false;
  socket[UNANSWERED] = count;
  socket[NEWEST] = request;
  response.once('close', () => {
    socket[UNANSWERED] = (socket[UNANSWERED] ?? 1) - 1;
    sendLastResponse(socket);
  });
  return true;
}

/**
 * Calls `send`, which sends the last response and ends the connection, once every request that has arrived whole is answered: such a
 * request may have moved money, and its client must not take another answer for its own. Never calls it if the connection closes
 * before, and only the first one of a connection. A minute later the connection is closed, whatever has been sent and read until
 * then.
 */
export function afterOwedAnswers(socket: Counted, clock: Pick<Clock, 'after'>, send: () => void): void {
  if (socket[LAST_RESPONSE] !== undefined) return;
  socket[LAST_RESPONSE] = send;
  socket.once(
    'close',
    clock.after(MAX_LAST_RESPONSE_MS, () => socket.destroy()),
  );
  sendLastResponse(socket);
}

function sendLastResponse(socket: Counted): void {
  const { [LAST_RESPONSE]: send } = socket;
  if (send === undefined || unansweredWhole(socket) > 0 || !socket.writable) return;
  socket[LAST_RESPONSE] = () => undefined;
  send();
}

/** How many requests have arrived whole and are not answered. */
function unansweredWhole({ [UNANSWERED]: unanswered = 0, [NEWEST]: newest }: Counted): number {
  return newest === undefined || newest.complete ? unanswered : Math.max(0, unanswered - 1);
}

/**
 * Whether it is the client's turn: all that it asked is answered, and the next request has not arrived whole. It is ours while a part
 * of that request lies unread here, such as of a file whose sender is being looked up: until then the rest is kept from coming.
 */
export function isWaitedFor(socket: Counted): boolean {
  const { [NEWEST]: newest, writableLength } = socket;
  const isUnread = newest !== undefined && !newest.complete && newest.readableLength > 0;
  return writableLength === 0 && unansweredWhole(socket) === 0 && !isUnread;
}

/** Whether a client is still owed something: an answer, or the rest of one that has not left yet. */
export function isOwedAnswer(socket: Socket): boolean {
  const { [UNANSWERED]: unanswered = 0, writable, writableLength }: Counted = socket;
  // Input that is not HTTP is answered outside of all requests, and ends the writable side: pending answers never leave.
  return writableLength > 0 || (unanswered > 0 && writable);
}
