/**
 * Ports for servers that a test starts under a fixed number, stops, and starts again; and ports at which no server
 * listens.
 *
 * Invariant: all are below the range that systems assign to listeners at port 0 and to outgoing connections (from 32768 on Linux
 * by default, from 49152 elsewhere), so that a port stays free while its server is down; and workers that run at once draw from
 * different ranges.
 */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

const FIRST = 20_000;
const OF_A_WORKER = 3_000;
const WORKERS = 4;

/** Vitest numbers the workers that run at once from one. */
const worker = Number(process.env.VITEST_POOL_ID ?? 1);
if (worker > WORKERS) throw new Error(`no ports are set aside for a worker ${worker}`);
const own = FIRST + (worker - 1) * OF_A_WORKER;
/** Starts at random, so that a run beside this one starts elsewhere; ports in use are skipped. */
let drawn = randomInt(OF_A_WORKER);

/** A port at which nothing listens, and which only the caller will use. */
export async function freePort(): Promise<number> {
  for (let tried = 0; tried < OF_A_WORKER; tried += 1) {
    drawn += 1;
    const port = own + (drawn % OF_A_WORKER);
    if (await isFree(port)) return port;
  }
  throw new Error(`no port from ${own} on is free`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const listening = once(server, 'listening');
  server.listen(port, '127.0.0.1');
  try {
    await listening;
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
