/**
 * Ports for servers that a test starts under a fixed number, stops, and starts again; and ports at which no server
 * listens.
 *
 * Invariant: all are below the range that systems assign to listeners at port 0 and to outgoing connections (from 32768 on Linux
 * by default, from 49152 elsewhere), so that a port stays free while its server is down; and processes that run at once draw from
 * different blocks. Vitest's number of a worker does not tell them apart: after a group of tests two can have the same one.
 */
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

const HOST = '127.0.0.1';

/** Consecutive blocks of ports; a process claims a block for as long as it lives. */
interface Range {
  readonly first: number;
  readonly blocks: number;
  readonly ofBlock: number;
}

/** A port at which nothing listens, and which only the caller will use. */
export const freePort = portsOf({ first: 20_000, blocks: 240, ofBlock: 50 });

/** Draws ports from blocks that only this caller has claimed, one after the other. @throws Error when all blocks are claimed. */
export function portsOf(range: Range): () => Promise<number> {
  let next = 0;
  let end = 0;
  let last: Promise<unknown> = Promise.resolve();

  async function draw(): Promise<number> {
    for (;;) {
      while (next < end) {
        const port = next;
        next += 1;
        if (await isFree(port)) return port;
      }
      next = await claimBlock(range);
      end = next + range.ofBlock;
    }
  }

  return () => {
    const drawn = last.then(draw);
    last = drawn.catch(() => undefined);
    return drawn;
  };
}

/** The first port of a block that nobody has claimed; begins at random, so that processes seldom try the same one. */
async function claimBlock({ first, blocks, ofBlock }: Range): Promise<number> {
  const start = randomInt(blocks);
  for (let tried = 0; tried < blocks; tried += 1) {
    const port = first + ((start + tried) % blocks) * ofBlock;
    if (await claim(port)) return port;
  }
  throw new Error(`all ports from ${first} on are claimed`);
}

/** Claims a block by its first port for UDP, which nothing else here uses: the system gives it to one process, until that ends. */
async function claim(port: number): Promise<boolean> {
  const socket = createSocket('udp4');
  const listening = once(socket, 'listening');
  socket.bind({ address: HOST, port, exclusive: true });
  try {
    await listening;
  } catch {
    socket.close();
    return false;
  }
  socket.unref();
  return true;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const listening = once(server, 'listening');
  server.listen(port, HOST);
  try {
    await listening;
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
