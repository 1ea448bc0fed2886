/**
 * A wire between the store and its database, whose faults a test decides: cut, refused, deaf, frozen, stalled or held back.
 *
 * Invariant: what the wire carries it carries unchanged and in order; what it holds back arrives once it is released.
 */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** The store's kinds of connection, by the name that they give to the server. */
export type LineName = 'commit' | 'read';

export interface Wire {
  /** The database's address through the wire. */
  readonly url: string;
  /** New connections are closed at once. */
  refuse: boolean;
  /** The database receives everything, but its answers are lost. */
  swallow: boolean;
  /** Nothing passes in either direction, and connections stay open, as with a stopped server. What comes meanwhile is lost. */
  frozen: boolean;
  /** Nothing passes in either direction from now on, but nothing is lost, as with a database whose disk has stalled. */
  stall(): void;
  /** Passes on what came during the stall, in order. */
  resume(): void;
  /** Sees each request before it is passed on, and decides its fate; if absent, everything is carried. */
  judge: ((line: string, bytes: Buffer) => Fate) | undefined;
  /** Keeps the database's answers on connections of that name. */
  hold(line: LineName): void;
  /** Resolves once an answer is kept. */
  kept(): Promise<void>;
  /** Passes on what was kept, if the connection is still open, and keeps no more. */
  release(): void;
  /** Breaks every connection. */
  cut(): void;
  /** Resolves at the next bytes of an answer from the database. */
  answered(): Promise<void>;
  close(): Promise<void>;
}

/** Carried on; or a function that is given each part of the answer first, and says whether that part is lost. */
export type Fate = 'carried' | ((answer: Buffer) => boolean);

/** Opens a wire to the database of that address. Each of its answers waits for `slowness`, if given. */
export async function openWire(target: string, slowness?: () => Promise<void>): Promise<Wire> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const waiting = new Set<() => void>();
  let held: LineName | undefined;
  let kept: { readonly near: Socket; readonly bytes: Buffer }[] = [];
  let stalled: (() => void)[] | undefined;

  const answered = (): Promise<void> => new Promise((resolve) => void waiting.add(resolve));
  const tell = (): void => {
    for (const resolve of waiting) resolve();
    waiting.clear();
  };

  const server = createServer((near) => {
    if (wire.refuse) {
      near.destroy();
      return;
    }
    const far = connect(Number(port === '' ? 5432 : port), hostname);
    let line = '';
    let isLost: ((answer: Buffer) => boolean) | undefined;
    let last = Promise.resolve();
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    near.on('data', (bytes) => {
      // The first message names the connection.
      if (line === '') line = /mbongo (\w+)/.exec(bytes.toString('latin1'))?.[1] ?? 'unnamed';
      const fate = wire.judge?.(line, bytes) ?? 'carried';
      if (fate !== 'carried') isLost = fate;
      if (stalled !== undefined) stalled.push(() => far.write(bytes));
      else if (!wire.frozen) far.write(bytes);
    });
    const answer = (bytes: Buffer): void => {
      if (isLost?.(bytes) === true) return;
      if (stalled !== undefined) stalled.push(() => near.write(bytes));
      else if (line === held) kept.push({ near, bytes });
      else if (!wire.frozen && !wire.swallow) near.write(bytes);
      tell();
    };
    far.on('data', (bytes) => {
      if (slowness === undefined) answer(bytes);
      else last = last.then(slowness).then(() => answer(bytes));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const url = new URL(target);
  url.host = `127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}`;

  const wire: Wire = {
    url: url.href,
    refuse: false,
    swallow: false,
    frozen: false,
    judge: undefined,
    stall() {
      stalled ??= [];
    },
    resume() {
      const waiting = stalled ?? [];
      stalled = undefined;
      for (const pass of waiting) pass();
    },
    hold(name) {
      held = name;
    },
    async kept() {
      while (kept.length === 0) await answered();
    },
    release() {
      held = undefined;
      for (const { near, bytes } of kept) if (!near.destroyed) near.write(bytes);
      kept = [];
    },
    cut() {
      for (const socket of sockets) socket.destroy();
    },
    answered,
    async close() {
      wire.cut();
      server.close();
      await once(server, 'close');
    },
  };
  return wire;
}
