/**
 * `npm start`: builds what changed, runs the gateway and the sandbox networks side by side, and says what to try.
 *
 * Invariant: exit status 0 means that a signal ended it and that both programs stopped in order.
 */
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { build, ROOT } from './build.ts';
import { complain, gatewayStopMs, type Program, STOP_MARGIN_MS, say, supervise } from './supervisor.ts';

/** This machine's own address. */
const LOCAL = '127.0.0.1';

async function main(): Promise<number> {
  const host = hostFrom('HOST');
  const sandboxHost = hostFrom('SANDBOX_HOST');
  const port = variable('PORT', '8080');
  const mode = variable('GATEWAY_MODE', 'sandbox');
  // Before the build, which takes time, so that a user who has to choose another port learns it at once.
  await demandFree(GATEWAY, host, port);
  if (mode !== 'production') {
    demandCalled(sandboxHost);
    await demandFree(SANDBOX, sandboxHost, variable('SANDBOX_PORT', '8090'));
  }
  say((await build()) ? 'built' : 'already built');
  // The gateway stops first: while it finishes what is in flight it may still need the networks.
  const programs: Program[] = [
    {
      name: 'gateway',
      file: join(ROOT, 'dist/src/main.js'),
      args: ['serve', '--role', 'all'],
      // Explained in src/platform/node-flags.ts.
      flags: ['--max-semi-space-size=32'],
      env: { LOG_LEVEL: variable('LOG_LEVEL', 'warn') },
      maxStopMs: gatewayStopMs(variable('DRAIN_MS', '0')),
    },
  ];
  if (mode !== 'production') {
    programs.push({
      name: 'sandbox',
      file: join(ROOT, 'dist/sandbox/main.js'),
      args: [],
      env: {
        SANDBOX_HOST: sandboxHost,
        GATEWAY_URL: variable('PUBLIC_URL', listenUrl(host, port)),
        // With an external database, nobody knows whether it is still the one that the recorded books belong to.
        SANDBOX_DATA_DIR: variable(
          'SANDBOX_DATA_DIR',
          variable('DATABASE_URL', '') ? '' : variable('DATA_DIR', '.data'),
        ),
      },
      maxStopMs: STOP_MARGIN_MS,
    });
  }
  return supervise(programs);
}

/** An empty variable counts as unset, as in the gateway. */
function variable(name: string, otherwise: string): string {
  return process.env[name]?.trim() || otherwise;
}

/** One address: the name `localhost` may stand for two. */
function hostFrom(name: 'HOST' | 'SANDBOX_HOST'): string {
  const host = variable(name, LOCAL);
  return host === 'localhost' ? LOCAL : host;
}

/** The gateway calls the sandbox at this machine's usual address, so the sandbox must listen there. */
function demandCalled(sandboxHost: string): void {
  if ([LOCAL, '0.0.0.0', '::'].includes(sandboxHost)) return;
  const wayOut = 'unset it, or set it to 0.0.0.0 for all addresses';
  throw new Error(`SANDBOX_HOST is ${sandboxHost}, but the gateway calls the sandbox at ${LOCAL}: ${wayOut}`);
}

/** The gateway's address for a browser on this machine. */
function listenUrl(host: string, port: string): string {
  if (host === '0.0.0.0' || host === '::') return `http://127.0.0.1:${port}`;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** What is to listen at a port: the variables of its address, how it is told from other programs, and what to set instead. */
type Door = { port: string; host: string; name: string; path: string; says: string; instead: string };

const GATEWAY: Door = {
  port: 'PORT',
  host: 'HOST',
  name: 'Mbongo',
  path: '/openapi.json',
  says: '"title": "Mbongo"',
  instead: 'PORT and SANDBOX_PORT to free ports, and DATA_DIR or DATABASE_URL for data of its own',
};
const SANDBOX: Door = {
  port: 'SANDBOX_PORT',
  host: 'SANDBOX_HOST',
  name: "Mbongo's sandbox",
  path: '/',
  says: 'Mbongo sandbox',
  instead: 'SANDBOX_PORT to a free one',
};

/** Says in one line what to do if the port cannot be listened at; port 0 lets the system choose one. */
async function demandFree(door: Door, host: string, port: string): Promise<void> {
  if (!/^\d{1,5}$/.test(port) || Number.parseInt(port, 10) > 65_535)
    throw new Error(`${door.port} is not a port number: set it to 0 to 65535`);
  const why = await whyNotFree(host, Number.parseInt(port, 10));
  if (why === undefined) return;
  if (why === 'EADDRINUSE' && (await answers(door, listenUrl(host, port))))
    throw new Error(`${door.name} already answers at port ${port}: stop it, or set ${door.instead}`);
  if (why === 'EADDRINUSE') throw new Error(`port ${port} is taken by another program: set ${door.port} to a free one`);
  if (why === 'EACCES') throw new Error(`this user may not listen on port ${port}: set ${door.port} to 1024 or more`);
  throw new Error(`cannot listen on ${host} on this machine (${why}): set ${door.host} to one of its addresses`);
}

/** The system's error code for listening there; undefined if the port is free. */
function whyNotFree(host: string, port: number): Promise<string | undefined> {
  const probe = createServer();
  return new Promise((resolve) => {
    probe.once('error', ({ code, message }: NodeJS.ErrnoException) => resolve(code ?? message));
    probe.listen(port, host, () => probe.close(() => resolve(undefined)));
  });
}

/** Whether that program is what answers there. */
async function answers({ path, says }: Door, url: string): Promise<boolean> {
  try {
    // Not by `fetch`: in Node.js 20 it waits for ever, and keeps no process alive, if the other side closes a connection at once.
    const request = get(`${url}${path}`, { agent: false, signal: AbortSignal.timeout(5_000) });
    request.on('error', () => undefined);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return (await text(response)).includes(says);
  } catch {
    // Another program may answer in another protocol, or not at all.
    return false;
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  complain(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
