/**
 * The connections of a server that are ended for being idle: to make room, and when it stops.
 *
 * Node.js takes a connection for idle once its last answer has been given to it, whether or not it has left: a slow reader
 * loses the rest. Invariant: whoever is ended for being idle is owed nothing.
 */

import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../platform/platform.ts';
import { isOwedAnswer } from './pipelining.ts';

/** So long a connection that has begun to ask, or never has, may still ask while the server stops. */
const ASKING_AT_STOP_MS = 1_000;
/** So long an answer that has been given may take to leave: the rest of the stop needs time, too. */
const LEAVING_AT_STOP_MS = 5_000;
/** How often a server that stops looks at its connections. */
const LOOK_EVERY_MS = 100;

/**
 * Follows a server's connections. Its `closeIdleConnections`, which Node.js and the framework call, too, spares from now on
 * what is still leaving.
 *
 * What it returns is to be called when the server stops. Until it has closed, connections end as they become idle; after a
 * second those that ask for nothing, which Node.js takes for ones that are about to (browsers open some beforehand); after
 * five those that do not read.
 */
export function followConnections(server: Server, clock: Pick<Clock, 'after'>): () => void {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  const closeIdle = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = () => sparing([...open].filter(isOwedAnswer), closeIdle);

  const look = (age: number): void => {
    server.closeIdleConnections();
    for (const socket of open) {
      const asksForNothing = age >= ASKING_AT_STOP_MS && !isOwedAnswer(socket);
      const doesNotRead = age >= LEAVING_AT_STOP_MS && socket.writableLength > 0;
      if (asksForNothing || doesNotRead) socket.destroy();
    }
  };
  return () => {
    let isClosed = false;
    let cancel = (): void => undefined;
    const lookAgain = (age: number): void => {
      cancel = clock.after(LOOK_EVERY_MS, () => {
        // After a pause timers come before sockets: what has arrived is read first.
        setImmediate(() => {
          if (isClosed) return;
          look(age);
          if (server.listening || open.size > 0) lookAgain(age + LOOK_EVERY_MS);
        });
      });
    };
    lookAgain(LOOK_EVERY_MS);
    server.once('close', () => {
      isClosed = true;
      cancel();
    });
  };
}

/**
 * Does something that would destroy these sockets, and lets it not. Which connections are between two messages only Node.js's
 * parser knows, and it tells nobody.
 */
function sparing(sockets: readonly Socket[], work: () => void): void {
  for (const socket of sockets) socket.destroy = () => socket;
  try {
    work();
  } finally {
    for (const socket of sockets) Reflect.deleteProperty(socket, 'destroy');
  }
}
