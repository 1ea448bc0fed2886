/**
 * What `doctor` checks on this machine: Node.js, the ports, the disk.
 *
 * Invariant: a port is opened for a moment and released; nothing is written.
 */

import { statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { Config } from '../config.ts';
import { type Check, fail, looking, ok, warn } from './doctor-check.ts';
import { type Address, isOurs, listenProblem } from './listen-problem.ts';

const GIB = 1_024 ** 3;
/** 256 MiB free at least, or the database will soon stop; less than 2 GiB is worth a warning. */
const MIN_FREE_BYTES = GIB / 4;
const LITTLE_FREE_BYTES = 2 * GIB;

/** Whether Node.js is new enough to be safe. `version`: as `process.versions.node` writes it, `20.19.4`. */
export function checkNode(version = process.versions.node): Check {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  // Before 20.19.4, a header with a blank before its colon could make Node.js read one request as two.
  const well = major > 20 || (major === 20 && (minor > 19 || (minor === 19 && patch >= 4)));
  return well ? ok('Node.js', version) : fail('Node.js', `${version}: install 20.19.4 or newer`);
}

/** The ports that this configuration listens at: free, or served by a gateway or sandbox. */
export function checkPorts({ mode, host, port, sandboxPort, workerPort }: Config): Promise<readonly Check[]> {
  const checks = [portCheck('port', { host, port, variable: 'PORT' }, 'gateway')];
  if (mode === 'sandbox') {
    const sandbox = { host: '127.0.0.1', port: sandboxPort, variable: 'SANDBOX_PORT' };
    checks.push(portCheck('sandbox port', sandbox, 'sandbox'));
  }
  if (workerPort !== undefined) {
    const worker = { host, port: workerPort, variable: 'WORKER_PORT' };
    checks.push(portCheck('worker port', worker, 'gateway'));
  }
  return Promise.all(checks);
}

/** Well if the port is free, or taken by that program of ours. */
async function portCheck(name: string, address: Address, program: 'gateway' | 'sandbox'): Promise<Check> {
  const { host, port } = address;
  const why = await whyNotFree(host, port);
  if (why === undefined) return ok(name, `${port} is free`);
  const problem = listenProblem(why, address);
  if (why !== 'EADDRINUSE') return fail(name, problem);
  if (await isOurs(address, program)) return ok(name, `${port} is already in use by Mbongo`);
  return fail(name, problem);
}

/** The system's error code for listening there; undefined if the port is free. */
function whyNotFree(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

/** The disk of the embedded database; an external database's disk is checked where that runs. */
export function checkDisk({ databaseUrl, dataDir }: Config): Promise<readonly Check[]> {
  return looking('disk', async () => {
    if (databaseUrl !== undefined) return [];
    const { bavail, bsize } = await statfs(dataDir);
    return [spaceCheck(bavail * bsize, dataDir)];
  });
}

/** `free`: bytes free on the disk. */
export function spaceCheck(free: number, dataDir: string): Check {
  const said = `${(free / GIB).toFixed(1)} GiB free for ${dataDir}`;
  const wayOut = 'free some space, or move DATA_DIR to a larger disk while the gateway is stopped';
  if (free < MIN_FREE_BYTES) return fail('disk', `${said}: the database is about to stop; ${wayOut}`);
  return free < LITTLE_FREE_BYTES ? warn('disk', `${said}: ${wayOut}`) : ok('disk', said);
}
