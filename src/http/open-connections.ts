/**
 * Closes a server's idle connections: to make room, and on shutdown.
 *
 * Node.js treats a connection as idle once its last response has been handed to it, even if not yet flushed: a slow reader
 * would lose the rest. Invariant: a connection closed as idle has received everything it was owed.
 */

import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../platform/platform.ts';
import { isOwedAnswer } from './pipelining.ts';

/** How long a connection that has begun a request, or sent none yet, may still take to send one while the server stops. */
const ASKING_AT_STOP_MS = 1_000;
/** How long an answer that was given may take to leave: the rest of the stop needs time, too. */
const LEAVING_AT_STOP_MS = 5_000;
/** How often a server that stops checks its connections. */
const LOOK_EVERY_MS = 100;

/**
 * Tracks a server's connections. From now on its `closeIdleConnections`, also called by Node.js and the framework, spares
 * connections whose response is still being flushed.
 *
 * Call the returned function when the server stops. Until the server has closed, connections are closed as they become idle;
 * after one second also those that are owed no answer but may yet send a request (browsers open some in advance); after five
 * seconds those whose client does not read.
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
        // After a stall timers run before sockets: this lets what has arrived be read first.
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
 * Runs `work` while `destroy` is disabled on these sockets. Only Node.js's parser knows which connections are between two
 * messages, and it does not expose that.
 */
function sparing(sockets: readonly Socket[], work: () => void): void {
  for (const socket of sockets) socket.destroy = () => socket;
  try {
    work();
  } finally {
    for (const socket of sockets) Reflect.deleteProperty(socket, 'destroy');
  }
}
