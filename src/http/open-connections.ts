/**
 * Closes a server's connections that are owed nothing: to make room, and on shutdown.
 *
 * Node.js treats a connection as idle once its last response has been handed to it, even if not yet flushed: a slow reader
 * would lose the rest. Invariant: a connection closed as idle has received everything it was owed.
 */

import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../platform/platform.ts';
import { addressKey } from './client-address.ts';
import { isOwedAnswer, isWaitedFor } from './pipelining.ts';

/** How long a connection that has begun a request, or sent none yet, may still take to send one while the server stops. */
const ASKING_AT_STOP_MS = 1_000;
/** How long an answer that was given may take to leave: the rest of the stop needs time, too. */
const LEAVING_AT_STOP_MS = 5_000;
/** How often a server that stops checks its connections. */
const LOOK_EVERY_MS = 100;

/** How many connections were closed to make room, by why. */
export interface RoomMade {
  /** Idle connections. */
  readonly idle: number;
  /** Connections without a whole request, of addresses that had more than their share. */
  readonly over_share: number;
}

/** The connections of a server, and which of them may be closed. */
export interface OpenConnections {
  /**
   * Closes idle connections. If one address (of IPv6, one /64) still has more than `share`, what it has too many is closed, the
   * oldest first, of those that have yet to send a whole request: one client's unfinished requests must not shut out everybody else.
   */
  makeRoom(share: number): RoomMade;
  /**
   * Call when the server stops. Until it has closed, connections are closed as they become idle; after one second also those
   * that are owed no answer but may yet send a request (browsers open some in advance); after five seconds those whose client
   * does not read.
   */
  endIdle(): void;
}

/**
 * Tracks a server's connections. From now on its `closeIdleConnections`, also called by Node.js and the framework, spares
 * connections whose response is still being flushed. `isProxy`: whether an address is a proxy of ours, which has no share of its
 * own because it brings everybody's requests.
 */
export function followConnections(
  server: Server,
  clock: Pick<Clock, 'after'>,
  isProxy: (address: string) => boolean,
): OpenConnections {
  /** Each with the key of its address. */
  const open = new Map<Socket, string>();
  server.on('connection', (socket: Socket) => {
    const { remoteAddress = '' } = socket;
    open.set(socket, isProxy(remoteAddress) ? '' : addressKey(remoteAddress));
    socket.once('close', () => open.delete(socket));
  });
  const closeIdle = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = () => sparing([...open.keys()].filter(isOwedAnswer), closeIdle);

  const look = (age: number): void => {
    server.closeIdleConnections();
    for (const socket of open.keys()) {
      const asksForNothing = age >= ASKING_AT_STOP_MS && !isOwedAnswer(socket);
      const doesNotRead = age >= LEAVING_AT_STOP_MS && socket.writableLength > 0;
      if (asksForNothing || doesNotRead) socket.destroy();
    }
  };
  const endIdle = (): void => {
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
  const makeRoom = (share: number): RoomMade => {
    // A connection that is closed stays in the table until it says so.
    const before = [...open].filter(([{ destroyed }]) => !destroyed);
    server.closeIdleConnections();
    const busy = before.filter(([{ destroyed }]) => !destroyed);
    const counts = new Map<string, number>();
    for (const [, key] of busy) if (key !== '') counts.set(key, (counts.get(key) ?? 0) + 1);
    let overShare = 0;
    for (const [socket, key] of busy) {
      const count = counts.get(key) ?? 0;
      if (count <= share || !isWaitedFor(socket)) continue;
      socket.destroy();
      counts.set(key, count - 1);
      overShare += 1;
    }
    return { idle: before.length - busy.length, over_share: overShare };
  };
  return { makeRoom, endIdle };
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
