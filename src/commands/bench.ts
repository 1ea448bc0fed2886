/**
 * `mbongo bench`: measures how fast the gateway is on this machine, as `npm run bench` does.
 *
 * Invariant: its arguments are passed to the bench unchanged, and it exits with the bench's status.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import { UPSTREAM_VARIABLES } from '../config-upstreams.ts';
import { OperatorError } from '../usecases/operator-error.ts';
import { type Io, printError } from './output.ts';

/** The bench, next to the built program. */
const BENCH = fileURLToPath(new URL('../../bench/main.js', import.meta.url));
/** 128 plus the signal's number is the exit status of a program ended by a signal, as in a shell. */
const BY_SIGNAL = 128;

/** Variables not passed to the bench: they lead to a gateway's real upstreams, or would change what is measured. */
const NOT_ITS = /^(OTEL_|CARRIER_ROUTES$|MASTER_KEY|HOST$|TRUST_PROXY$|GATEWAY_MODE$)/;

function environmentOf(io: Io): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(io.env).filter(([name]) => !UPSTREAM_VARIABLES.test(name) && !NOT_ITS.test(name)),
  );
}

/** Runs it to its end. Returns the exit status. */
export async function bench(io: Io, args: readonly string[], program: string = BENCH): Promise<number> {
  const refuse = (why: string): number => printError(io, new OperatorError(why), args.includes('--json'));
  if (!existsSync(program)) {
    const way = 'get the sources, and run `npm run bench` there';
    return refuse(`the bench is not part of this installation: ${way}`);
  }
  if (io.env.GATEWAY_MODE === 'production') {
    const way = 'run it on a separate machine, without GATEWAY_MODE=production';
    return refuse(`the bench creates and drops databases, and puts load on the server: ${way}`);
  }
  const child = spawn(process.execPath, [program, ...args], { stdio: 'inherit', env: environmentOf(io) });
  // Wait for the bench, which cleans up what it has started. Ctrl+C reaches both processes; a SIGTERM only this one: pass it on.
  const outlive = (): void => undefined;
  const handOn = (): void => void child.kill('SIGTERM');
  process.on('SIGINT', outlive).on('SIGTERM', handOn);
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    return code ?? BY_SIGNAL + (signal === null ? 0 : constants.signals[signal]);
  } finally {
    process.off('SIGINT', outlive).off('SIGTERM', handOn);
  }
}
