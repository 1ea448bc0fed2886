/**
 * Servers that a test has started at a port which the system chose.
 *
 * Invariant: none is asked for before it listens.
 */
import { type AddressInfo, connect, type Socket } from 'node:net';

interface Listening {
  address(): AddressInfo | string | null;
}

/** The port at which a server listens. @throws Error when it does not listen, or not at a port. */
export function portOf(server: Listening): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server listens at no port');
  return address.port;
}

/** A new connection to a server, over which a test says what no client would. */
export function connectTo(server: Listening): Socket {
  return connect(portOf(server), '127.0.0.1');
}
