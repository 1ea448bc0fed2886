/**
 * The connections of a server that are ended for being idle: to make room, and when it stops.
 *
 * Node.js ends those whose last answer has been given to the connection, whether or not it has left: a slow reader loses the
 * rest of it. Invariant: whoever is ended here is owed nothing.
 */

import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../platform/platform.ts';
import { isOwed, isResting } from './pipelining.ts';

/** So long a connection that has begun to ask, or never has, may still ask while the server stops. */
const ASKING_AT_STOP_MS = 1_000;
/** How often a server that stops looks for connections that have come to rest. */
const LOOK_EVERY_MS = 100;

/**
 * Follows a server's connections. Its own `closeIdleConnections`, which Node.js and the framework call when it closes, spares
 * from now on what is still leaving.
 *
 * What it returns is to be called when the server stops: until it has closed, connections end as they come to rest, and after
 * a second those that ask for nothing. Node.js takes them for ones that are about to, and would wait; browsers open some beforehand.
 */
export function followConnections(server: Server, clock: Pick<Clock, 'after'>): () => void {
  const open = new Set<Socket>();
  const end = (isIdle: (socket: Socket) => boolean): void => {
    for (const socket of open) if (isIdle(socket)) socket.destroy();
  };
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  server.closeIdleConnections = () => end(isResting);

  return () => {
    let cancel = (): void => undefined;
    const look = (left: number): void => {
      end(left > 0 ? isResting : (socket) => !isOwed(socket));
      if (server.listening || open.size > 0) cancel = clock.after(LOOK_EVERY_MS, () => look(left - LOOK_EVERY_MS));
    };
    look(ASKING_AT_STOP_MS);
    server.once('close', () => cancel());
  };
}
