/**
 * As much HTTP/1.1 as the load needs, on bare sockets: a client that posts and gets JSON, and a receiver that acknowledges.
 *
 * A library's client took as much CPU time per payment as the carrier and half of PostgreSQL, on the same cores as what is
 * measured. Invariant: it understands only messages with a content-length and one answer at a time, and fails on anything
 * else.
 */

import { createConnection, createServer, type Socket } from 'node:net';

export interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

export interface Caller {
  /** Posts JSON and resolves with the answer. One call at a time. Rejects when the connection breaks. */
  post(path: string, bearer: string, body: object): Promise<Answer>;
  /** Gets, without a body, in the same way. */
  get(path: string, bearer: string): Promise<Answer>;
  close(): void;
}

const HEAD_END = '\r\n\r\n';
const LENGTH = /\r\ncontent-length: *(\d+)\r\n/i;

/** A message that has arrived in full: its head, its body, and how many bytes both take. */
interface Message {
  readonly head: string;
  readonly body: string;
  readonly size: number;
}

function messageIn(bytes: Buffer): Message | undefined {
  const end = bytes.indexOf(HEAD_END, 0, 'latin1');
  if (end < 0) return undefined;
  const head = bytes.toString('latin1', 0, end + 2);
  const length = LENGTH.exec(head)?.[1];
  if (length === undefined) throw new Error('a message without a content-length');
  const from = end + HEAD_END.length;
  const size = from + Number(length);
  return bytes.length < size ? undefined : { head, body: bytes.toString('utf8', from, size), size };
}

/** Passes on each message that arrives. Returns the function that takes the bytes; it does not keep them. */
function messages(arrived: (message: Message) => void): (bytes: Buffer) => void {
  let rest: Buffer | undefined;
  return (bytes) => {
    let left = rest === undefined ? bytes : Buffer.concat([rest, bytes]);
    for (let message = messageIn(left); message !== undefined; message = messageIn(left)) {
      left = left.subarray(message.size);
      arrived(message);
      if (left.length === 0) break;
    }
    rest = left.length === 0 ? undefined : Buffer.from(left);
  };
}

/** 64 KiB that all callers receive into, one at a time: a buffer for each read is expensive. */
const landing = Buffer.allocUnsafe(64 * 1024);

/** Opens one dedicated connection to a server at an `http://` origin. */
export function openCaller(origin: string): Caller {
  const { hostname, port, host } = new URL(origin);
  let waiting: { resolve(answer: Answer): void; reject(error: Error): void } | undefined;
  const take = messages(({ head, body }) => {
    waiting?.resolve({ status: Number(head.slice(9, 12)), body: JSON.parse(body) as Answer['body'] });
  });
  const onread = {
    buffer: landing,
    callback: (count: number): boolean => {
      take(landing.subarray(0, count));
      return true;
    },
  };
  const socket = createConnection({ host: hostname, port: Number(port), noDelay: true, onread });
  let broken: Error | undefined;
  const fail = (error: Error): void => {
    broken ??= error;
    waiting?.reject(broken);
  };
  socket.on('error', fail);
  socket.on('close', () => fail(new Error('the connection was closed')));
  const send = (message: string): Promise<Answer> =>
    new Promise((resolve, reject) => {
      if (broken !== undefined) throw broken;
      waiting = { resolve, reject };
      socket.write(message);
    });
  return {
    post(path, bearer, body) {
      const text = JSON.stringify(body);
      return send(
        `POST ${path} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\naccept-language: en\r\n` +
          `authorization: Bearer ${bearer}\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
      );
    },
    get: (path, bearer) =>
      send(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\naccept-language: en\r\nauthorization: Bearer ${bearer}\r\n\r\n`),
    close: () => socket.destroy(),
  };
}

const ACKNOWLEDGED = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';

/** Acknowledges every post and passes its body on. Returns the function that closes the receiver. */
export function openReceiver(port: number, heard: (body: string) => void): Promise<() => void> {
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    const take = messages(({ body }) => {
      socket.write(ACKNOWLEDGED, 'latin1');
      heard(body);
    });
    socket.on('data', take);
    // The sender may close idle connections at any time.
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });
  return new Promise((done) => {
    server.listen(port, '127.0.0.1', () =>
      done(() => {
        server.close();
        for (const socket of sockets) socket.destroy();
      }),
    );
  });
}
