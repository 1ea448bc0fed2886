/**
 * Connections for an open loop: a call takes a free connection or opens a new one, and gives it back afterwards.
 *
 * Invariant: a call is answered exactly once, with the server's answer or `broken`; only the fields needed are read from
 * an answer, because most are refusals, and parsing them would take time from the machine being measured.
 */

import { createConnection, type Socket } from 'node:net';

export interface Said {
  readonly status: number;
  /** Milliseconds from the call to the whole answer. */
  readonly ms: number;
  /** The header's value in seconds; undefined if absent. */
  readonly retryAfter: number | undefined;
  readonly body: string;
}

export type Spoken = Said | 'broken' | 'no connection';

export interface Pool {
  /** Sends a request, unchanged. */
  call(request: string, answered: (said: Spoken) => void): void;
  /**
   * Opens connections until there are `count`, and sends the request once on each new one: only an answer shows that the server
   * has accepted it. Resolves when each has been answered or has broken.
   */
  open(count: number, request: string): Promise<void>;
  /** How many connections are open. */
  size(): number;
  close(): void;
}

const LENGTH = /\r\ncontent-length: *(\d+)\r\n/i;
const RETRY_AFTER = /\r\nretry-after: *(\d+)\r\n/i;

interface Connection {
  readonly socket: Socket;
  received: string;
  sentAt: number;
  answered: ((said: Spoken) => void) | undefined;
}

/** At most `most` connections; a call that finds none free and may not open another is answered `no connection`. */
export function openPool(origin: string, most: number): Pool {
  const { hostname, port } = new URL(origin);
  const all = new Set<Connection>();
  const free: Connection[] = [];

  const end = (connection: Connection, said: Spoken): void => {
    const { answered } = connection;
    connection.answered = undefined;
    answered?.(said);
  };
  const open = (): Connection => {
    const socket = createConnection({ host: hostname, port: Number(port), noDelay: true });
    const connection: Connection = { socket, received: '', sentAt: 0, answered: undefined };
    all.add(connection);
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      connection.received += chunk;
      const headEnd = connection.received.indexOf('\r\n\r\n');
      if (headEnd < 0) return;
      const head = connection.received.slice(0, headEnd + 2);
      const size = headEnd + 4 + Number(LENGTH.exec(head)?.[1] ?? 0);
      if (connection.received.length < size) return;
      const retryAfter = RETRY_AFTER.exec(head)?.[1];
      const said = {
        status: Number(head.slice(9, 12)),
        ms: performance.now() - connection.sentAt,
        retryAfter: retryAfter === undefined ? undefined : Number(retryAfter),
        body: connection.received.slice(headEnd + 4, size),
      };
      connection.received = '';
      free.push(connection);
      end(connection, said);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      all.delete(connection);
      const at = free.indexOf(connection);
      if (at >= 0) free.splice(at, 1);
      end(connection, 'broken');
    });
    return connection;
  };

  const ask = (connection: Connection, request: string, answered: (said: Spoken) => void): void => {
    connection.answered = answered;
    connection.sentAt = performance.now();
    connection.socket.write(request);
  };

  return {
    call(request, answered) {
      const connection = free.pop() ?? (all.size < most ? open() : undefined);
      if (connection === undefined) return answered('no connection');
      ask(connection, request, answered);
    },
    async open(count, request) {
      const askOnce = (): Promise<Spoken> => new Promise((done) => ask(open(), request, done));
      await Promise.all(Array.from({ length: count - all.size }, askOnce));
    },
    size: () => all.size,
    close() {
      for (const { socket } of all) socket.destroy();
    },
  };
}
