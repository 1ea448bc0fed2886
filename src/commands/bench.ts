/**
 * `mbongo bench`: measures how fast this machine is with it, as `npm run bench` does.
 *
 * Invariant: what is typed behind it reaches the bench as it is, and the bench's exit status is this one's.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import { OperatorError } from '../usecases/operator.ts';
import { printError, type Surroundings } from './output.ts';

/** Beside the built program. */
const BENCH = fileURLToPath(new URL('../../bench/main.js', import.meta.url));
/** A shell's word for a program that was ended by a signal is this and the signal's number. */
const BY_SIGNAL = 128;

/** What leads to a gateway's own upstreams, or changes what is measured: none of it is the bench's. */
const NOT_ITS = /^(MTN_MOMO_|CARDNET_|SMS_|OTEL_|MASTER_KEY|HOST$|TRUST_PROXY$|GATEWAY_MODE$)/;

function environmentOf(around: Surroundings): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(around.env).filter(([name]) => !NOT_ITS.test(name)));
}

/** Runs it to its end. Returns the exit status. */
export async function bench(around: Surroundings, args: readonly string[], program: string = BENCH): Promise<number> {
  const refuse = (why: string): number => printError(around, new OperatorError(why), args.includes('--json'));
  if (!existsSync(program)) {
    const way = 'take the sources, and say `npm run bench` there';
    return refuse(`the bench is not part of this installation: ${way}`);
  }
  if (around.env.GATEWAY_MODE === 'production') {
    const way = 'run it on a machine of its own, without GATEWAY_MODE';
    return refuse(`the bench makes and drops databases, and loads the server: ${way}`);
  }
  const child = spawn(process.execPath, [program, ...args], { stdio: 'inherit', env: environmentOf(around) });
  // It puts away what it has started: wait for it. A terminal tells both of Ctrl+C; whoever ends this process by its id, this one.
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
