/**
 * Stillness: nothing in this process works, so that time may pass. A clock that a test moves while a commit is under way makes
 * waits end that on a real clock would never have ended first, and which of them does depends on the machine.
 *
 * Invariant: it is not still while bytes are on their way between two sockets of this process, while the database owes an answer,
 * or while an awaited work goes on. What waits for the clock alone is still.
 */
import { subscribe } from 'node:diagnostics_channel';
import { Socket } from 'node:net';
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import { type ManualClock, manualClock } from '../../src/platform/testing/manual-clock.ts';

/** A socket of ours at a database, and what it is owed. */
interface Line {
  readonly socket: Socket;
  /** How many bytes had been written when the database was last ready for a query. */
  answered: number;
  /** What has come of a message that is not yet complete. */
  rest: Buffer;
}

/** The ports of databases. */
const databases = new Set<number>();
const lines = new Set<Line>();
/** Sockets that connected to anything but a database. */
const callers = new Set<Socket>();
/** Sockets that a server of this process accepted, by the ports of the two ends. */
const called = new Map<string, Socket>();
/** How many works go on that no socket shows, and how many have ended. */
const works = { going: 0, ended: 0 };

/** The turns of the event loop without any work after which it is still: a connection takes two to be accepted and read. */
const TURNS = 4;
const MAX_BUSY_MS = 60_000;
const READY_FOR_QUERY = 'Z'.charCodeAt(0);
/** Requests to the operating system, as Node.js names them. */
const REQUESTS = ['FSReqCallback', 'FSReqPromise', 'GetAddrInfoReqWrap'];

/** From now on, connections to that address are a database's. */
export function watchDatabase(url: string): void {
  databases.add(Number(new URL(url).port || 5432));
}

/** The work's outcome; it is not still before. */
export async function working<T>(work: Promise<T>): Promise<T> {
  works.going += 1;
  try {
    return await work;
  } finally {
    works.going -= 1;
    works.ended += 1;
  }
}

/**
 * Resolves once it is still.
 *
 * @throws Error after `limitMs`: then what goes on waits for the test itself, for example for a lock that the test holds, or the
 *   test goes on asking meanwhile
 */
export async function stillness(limitMs = MAX_BUSY_MS): Promise<void> {
  const begun = performance.now();
  let before = moved();
  for (let quiet = 0; quiet < TURNS; ) {
    await turn();
    const now = moved();
    if (now === before && isStill()) {
      quiet += 1;
      continue;
    }
    if (performance.now() - begun > limitMs) throw new Error('time cannot pass: something goes on that does not end');
    before = now;
    quiet = 0;
    await pause(1);
  }
}

/** Time passes for those who wait, not for those who work. */
export interface StillClock extends Omit<ManualClock, 'advance' | 'jump'> {
  /**
   * Moves time forward once it is still, and at once: what has fallen due runs at the new time, and what it puts off waits for the
   * next move. Run at its own time, it would begin work through which the rest of the time passes.
   */
  advance(milliseconds: number): Promise<void>;
}

export function stillClock(start: number): StillClock {
  const { jump, ...clock } = manualClock(start);
  return {
    ...clock,
    async advance(milliseconds) {
      await stillness();
      // What is due already was put off only until what goes on has ended.
      await clock.advance(0);
      await stillness();
      await jump(milliseconds);
    },
  };
}

function isStill(): boolean {
  if (works.going > 0) return false;
  for (const { socket, answered } of lines) if (socket.connecting || socket.bytesWritten > answered) return false;
  for (const caller of callers) {
    if (caller.connecting) return false;
    const other = called.get(`${caller.localPort} ${caller.remotePort}`);
    if (other === undefined) continue;
    if (caller.bytesWritten > other.bytesRead || other.bytesWritten > caller.bytesRead) return false;
  }
  return !process.getActiveResourcesInfo().some((name) => REQUESTS.includes(name));
}

/** A number that changes with whatever moves. */
function moved(): number {
  let sum = works.ended + callers.size + called.size;
  for (const { socket } of lines) sum += socket.bytesRead + socket.bytesWritten;
  for (const group of [callers, called.values()]) {
    for (const socket of group) sum += socket.bytesRead + socket.bytesWritten;
  }
  return sum;
}

const { connect } = Socket.prototype;
// Replaced, because no channel reports the sockets that the driver opens.
Socket.prototype.connect = function (...given: readonly unknown[]) {
  if (databases.has(portOf(given))) follow(this);
  else {
    callers.add(this);
    this.once('close', () => callers.delete(this));
  }
  return Reflect.apply(connect, this, given);
};

subscribe('net.server.socket', (message) => {
  if (!(typeof message === 'object' && message !== null && 'socket' in message)) return;
  const { socket } = message;
  if (!(socket instanceof Socket)) return;
  const ports = `${socket.remotePort} ${socket.localPort}`;
  called.set(ports, socket);
  socket.once('close', () => {
    if (called.get(ports) === socket) called.delete(ports);
  });
});

/** The port that a socket is told to connect to: as a number, among options, or in Node.js's own form of both. */
function portOf([given]: readonly unknown[]): number {
  const [options] = Array.isArray(given) ? given : [given];
  return Number(typeof options === 'object' && options !== null && 'port' in options ? options.port : options);
}

/** Reads along what the database answers: a message is a letter, its length and its bytes. */
function follow(socket: Socket): void {
  const line: Line = { socket, answered: 0, rest: Buffer.alloc(0) };
  lines.add(line);
  socket.once('close', () => lines.delete(line));
  socket.on('data', (bytes) => {
    let rest = line.rest.length === 0 ? bytes : Buffer.concat([line.rest, bytes]);
    while (rest.length >= 5) {
      const length = 1 + rest.readInt32BE(1);
      if (rest.length < length) break;
      if (rest[0] === READY_FOR_QUERY) line.answered = socket.bytesWritten;
      rest = rest.subarray(length);
    }
    line.rest = rest;
  });
}
