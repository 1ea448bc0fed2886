/**
 * `npm start`: builds what changed, runs the gateway and the sandbox networks side by side, and says what to try.
 *
 * Invariant: exit status 0 says that a signal ended it and that both stopped in order.
 */
import { createServer } from 'node:net';
import { join } from 'node:path';
import { build, ROOT } from './build.ts';
import { complain, type Program, say, supervise } from './supervisor.ts';

async function main(): Promise<number> {
  const host = process.env.HOST ?? '127.0.0.1';
  const port = process.env.PORT ?? '8080';
  const gatewayUrl = process.env.PUBLIC_URL ?? `http://${host === '0.0.0.0' ? '127.0.0.1' : host}:${port}`;

  say((await build()) ? 'built' : 'built already');
  await demandFree('PORT', port, host);
  // The gateway stops first: while it finishes what is in flight it may still need the networks.
  const programs: Program[] = [
    {
      name: 'gateway',
      file: join(ROOT, 'dist/src/main.js'),
      args: ['serve', '--role', 'all'],
      // src/platform/node-flags.ts says why.
      flags: ['--max-semi-space-size=32'],
      env: { LOG_LEVEL: process.env.LOG_LEVEL ?? 'warn' },
    },
  ];
  if (process.env.GATEWAY_MODE !== 'production') {
    await demandFree('SANDBOX_PORT', process.env.SANDBOX_PORT ?? '8090', process.env.SANDBOX_HOST ?? '127.0.0.1');
    programs.push({
      name: 'sandbox',
      file: join(ROOT, 'dist/sandbox/main.js'),
      args: [],
      env: { GATEWAY_URL: gatewayUrl },
    });
  }
  return supervise(programs);
}

/** Says in one line what to do when another program has the port; 0 lets the system choose one. */
async function demandFree(variable: string, port: string, host: string): Promise<void> {
  if (!/^\d{1,5}$/.test(port) || Number.parseInt(port, 10) > 65_535)
    throw new Error(`${variable} is not a port number`);
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once('error', (error: NodeJS.ErrnoException) => {
      const taken = error.code === 'EADDRINUSE';
      const what = taken
        ? `port ${port} is taken by another program`
        : `port ${port} cannot be used (${error.message})`;
      reject(new Error(`${what}: set ${variable} to a free one`));
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
