/**
 * Runs several programs side by side as one.
 *
 * Invariant: they live and die together. None outlives this process, however it ends: its channel closes, and the program
 * stops.
 */
import { type ChildProcess, spawn } from 'node:child_process';

/** One program: a name for people, a JavaScript file, its arguments, Node.js flags, and environment variables on top of ours. */
export type Program = {
  name: string;
  file: string;
  args: string[];
  flags?: string[];
  env: Record<string, string>;
  /** Milliseconds after which it is killed if it was asked to stop and still runs. */
  maxStopMs: number;
};

/** A program's message on its channel once it serves; `notes` are lines for the person who started it. */
type Ready = { type: 'ready'; url: string; notes?: string[] };
/** `ended` resolves with what there is to say of it; empty: it has said so itself. */
type Part = { name: string; child: ChildProcess; maxStopMs: number; ready: Promise<Ready>; ended: Promise<string> };
type Stop = { signal: NodeJS.Signals };

const MAX_READY_MS = 180_000;
/** 10 s that a gateway takes at most to finish what is in flight (contract §10); then it ends by itself, with status 0. */
const GATEWAY_STOP_MS = 10_000;
/** 5 s that a program which has reached its own limit may take to end on a busy machine. */
export const STOP_MARGIN_MS = 5_000;

/** Milliseconds after which a gateway has not stopped in time. `drainMs` is its `DRAIN_MS`, which it checks itself when it starts. */
export function gatewayStopMs(drainMs: string): number {
  return (Number.parseInt(drainMs, 10) || 0) + GATEWAY_STOP_MS + STOP_MARGIN_MS;
}

/**
 * Starts the programs, prints the notes of each when all are ready, and waits for a signal or for one of them to end.
 * They are stopped in the order given, each with the time that it may take for itself.
 *
 * @returns the exit status: 0 if a signal asked for the end and every program exited with 0 in time
 */
export async function supervise(programs: Program[]): Promise<number> {
  const stop = signalled();
  const parts = programs.map(launch);
  const anyEnded = Promise.race(parts.map(({ ended }) => ended));
  const allReady = Promise.all(parts.map(({ ready }) => ready));
  let outcome = await Promise.race([allReady, stop, anyEnded, tooLate()]);
  if (Array.isArray(outcome)) {
    for (const line of outcome.flatMap(({ notes }) => notes ?? [])) process.stdout.write(`${line}\n`);
    outcome = await Promise.race([stop, anyEnded]);
  }
  return finish(parts, outcome);
}

/** Prints a line about the progress, with the seconds since the start. */
export function say(text: string): void {
  process.stdout.write(`${(performance.now() / 1000).toFixed(1).padStart(6)} s  ${text}\n`);
}

/** Prints a line about what went wrong. */
export function complain(text: string): void {
  process.stderr.write(`mbongo: ${text}\n`);
}

/** Ends the programs that are still running; 0 if a signal asked for it and all exited cleanly. */
async function finish(parts: Part[], reason: Stop | string): Promise<number> {
  const asked = typeof reason === 'object';
  if (asked) say(`stopping (${reason.signal})`);
  else if (reason !== '') complain(reason);
  let clean = asked;
  for (const part of parts) {
    if (!(await endPart(part))) clean = false;
  }
  if (asked) say('stopped');
  return clean ? 0 : 1;
}

/** Ends one program; false if it failed, or had to be killed because it took too long. */
async function endPart({ name, child, maxStopMs, ended }: Part): Promise<boolean> {
  if (!isRunning(child)) return child.exitCode === 0;
  child.kill('SIGTERM');
  const timer = setTimeout(() => {
    complain(`the ${name} did not stop in time and was killed`);
    child.kill('SIGKILL');
  }, maxStopMs);
  await ended;
  clearTimeout(timer);
  return child.exitCode === 0;
}

/** Starts a program in its own process group, so that Ctrl-C reaches it only through us, in order, and once. */
function launch({ name, file, args, flags = [], env, maxStopMs }: Program): Part {
  const child = spawn(process.execPath, [...flags, file, ...args], {
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, ...env },
  });
  let isServing = false;
  const ready = new Promise<Ready>((resolve) => {
    child.on('message', (message) => {
      if (!isReady(message)) return;
      isServing = true;
      say(`${name} ready at ${message.url}`);
      resolve(message);
    });
  });
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(`the ${name} could not be started: ${error.message}`));
    child.once('exit', (code, signal) =>
      // A program that cannot start has said why, in one line.
      resolve(code === 1 && !isServing ? '' : `the ${name} ended unexpectedly (${signal ?? `exit status ${code}`})`),
    );
  });
  return { name, child, maxStopMs, ready, ended };
}

function isReady(message: unknown): message is Ready {
  return (
    typeof message === 'object' && message !== null && 'type' in message && message.type === 'ready' && 'url' in message
  );
}

function isRunning(child: ChildProcess): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null;
}

function signalled(): Promise<Stop> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve({ signal }));
  });
}

function tooLate(): Promise<string> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(`not ready after ${MAX_READY_MS / 1000} s`), MAX_READY_MS).unref();
  });
}
