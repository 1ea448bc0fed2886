/**
 * Ports for servers that a test starts under a number of their own, stops, and starts again; and for those that nobody
 * listens at.
 *
 * Invariant: below those that systems give to whoever listens at port 0 or connects (Linux as it is delivered begins at 32768,
 * others at 49152), so that one which is free while its server is away stays so; and workers that run at once draw from
 * different ones.
 */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

const FIRST = 20_000;
const OF_A_WORKER = 3_000;
const WORKERS = 4;

/** Vitest counts those that run at once from one on. */
const worker = Number(process.env.VITEST_POOL_ID ?? 1);
if (worker > WORKERS) throw new Error(`no ports are set aside for a worker ${worker}`);
const own = FIRST + (worker - 1) * OF_A_WORKER;
/** Another run beside this one begins elsewhere; what is taken all the same is left out. */
let drawn = randomInt(OF_A_WORKER);

/** A port at which nobody listens, and at which nobody will but who was told of it. */
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
