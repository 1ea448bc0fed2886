/**
 * `npm start`: builds what changed, runs the gateway and the sandbox networks side by side, and says what to try.
 *
 * Invariant: exit status 0 means that a signal ended it and that both programs stopped in order.
 */
import { createServer } from 'node:net';
import { join } from 'node:path';
import { build, ROOT } from './build.ts';
import { complain, type Program, say, supervise } from './supervisor.ts';

async function main(): Promise<number> {
  const named = variable('HOST', '127.0.0.1');
  const host = named === 'localhost' ? '127.0.0.1' : named;
  const port = variable('PORT', '8080');
  const mode = variable('GATEWAY_MODE', 'sandbox');
  // Before the build, which takes time, so that a user who has to choose another port learns it at once.
  await demandFree('PORT', port, 'HOST', host);
  if (mode !== 'production') {
    await demandFree(
      'SANDBOX_PORT',
      variable('SANDBOX_PORT', '8090'),
      'SANDBOX_HOST',
      variable('SANDBOX_HOST', '127.0.0.1'),
    );
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
    },
  ];
  if (mode !== 'production') {
    programs.push({
      name: 'sandbox',
      file: join(ROOT, 'dist/sandbox/main.js'),
      args: [],
      env: {
        GATEWAY_URL: variable('PUBLIC_URL', listenUrl(host, port)),
        // With an external database, nobody knows whether it is still the one that the recorded books belong to.
        SANDBOX_DATA_DIR: variable(
          'SANDBOX_DATA_DIR',
          variable('DATABASE_URL', '') ? '' : variable('DATA_DIR', '.data'),
        ),
      },
    });
  }
  return supervise(programs);
}

/** An empty variable counts as unset, as in the gateway. */
function variable(name: string, otherwise: string): string {
  return process.env[name]?.trim() || otherwise;
}

/** The gateway's address for a browser on this machine. */
function listenUrl(host: string, port: string): string {
  const every = host === '0.0.0.0' || host === '::';
  return `http://${every ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Says in one line what to do if the port cannot be listened at; port 0 lets the system choose one. */
async function demandFree(portVariable: string, port: string, hostVariable: string, host: string): Promise<void> {
  if (!/^\d{1,5}$/.test(port) || Number.parseInt(port, 10) > 65_535)
    throw new Error(`${portVariable} is not a port number: set it to 0 to 65535`);
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once('error', ({ code, message }: NodeJS.ErrnoException) => {
      if (code === 'EADDRINUSE')
        reject(new Error(`port ${port} is taken by another program: set ${portVariable} to a free one`));
      else if (code === 'EACCES')
        reject(new Error(`this user may not listen on port ${port}: set ${portVariable} to 1024 or more`));
      else
        reject(
          new Error(
            `cannot listen on ${host} on this machine (${code ?? message}): set ${hostVariable} to one of its addresses`,
          ),
        );
    });
    probe.listen(Number.parseInt(port, 10), host, () => probe.close(() => resolve()));
  });
}

try {
  process.exitCode = await main();
} catch (error) {
  complain(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
