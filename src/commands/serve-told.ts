/**
 * How a serving process learns that it has to stop.
 *
 * Invariant: it listens from the start, so that no signal ends a process in the middle of its work.
 */

import { onStopSignal } from '../platform/stop-signals.ts';
import type { Io } from './output.ts';

/** 10 s that a stop may take (contract §10). */
export const MAX_STOP_MS = 10_000;

/** 500 ms after `MAX_STOP_MS`, a process that has not stopped by itself is killed. */
export const STOP_MARGIN_MS = 500;
/** 3 s that a replaced process goes on answering on its existing connections. */
export const REPLACED_MS = 3_000;

/** Resolves with the reason: a signal, or the end of the process that started this one. `env` says whether that is npx. */
export function whenToldToStop(env: Io['env']): Promise<string> {
  return new Promise((resolve) => {
    onStopSignal(resolve);
    process.on('disconnect', () => resolve('the parent process has ended'));
    if (isStartedByNpx(env)) whenParentEnds(() => resolve('npx has ended'));
  });
}

/** 500 ms between looks at who the parent process is. */
const LOOK_MS = 500;

/** Whether npx was told to run this very program: what it runs hands its variables on to all that is started below. */
function isStartedByNpx({ npm_command: command, npm_lifecycle_script: script = '' }: Io['env']): boolean {
  // npm has put the name into quotes of either kind, or none.
  return command === 'exec' && /^(['"]?)mbongo\1(?:\s|$)/.test(script);
}

/**
 * `npx mbongo serve` is npx, a shell, and this process. A SIGTERM or SIGINT to npx ends the shell, but is not handed on: without this
 * look the gateway would go on by itself, and keep its port. One that npx cannot hand to its shell, SIGKILL for example, is not seen.
 */
function whenParentEnds(told: () => void): void {
  const parent = process.ppid;
  const looking = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(looking);
    told();
  }, LOOK_MS).unref();
}

/**
 * SIGUSR2 is for supervisors: without a handler it would end this process in the middle of its work, and a service manager may send
 * it to all processes of a unit. `told` is called for each.
 */
export function outliveReplacing(told: () => void): void {
  process.on('SIGUSR2', told);
}

/**
 * The result of `opening`; undefined if the process was told to stop meanwhile. Nothing is in flight yet, and anything written is
 * one transaction: if `opening` still succeeds, its result is closed again; if the database does not answer within
 * `MAX_STOP_MS`, the process exits.
 */
export async function openUnlessTold<W extends { close(): Promise<void> }>(
  opening: Promise<W>,
  stopping: Promise<string>,
): Promise<W | undefined> {
  const opened = await Promise.race([opening, stopping.then(() => undefined)]);
  if (opened !== undefined) return opened;
  const overdue = setTimeout(() => process.exit(0), MAX_STOP_MS);
  // A failure to open does not matter any more.
  const late = await opening.catch(() => undefined);
  try {
    await late?.close();
  } finally {
    clearTimeout(overdue);
  }
  return undefined;
}
