/**
 * Programs as real processes: the gateway and the sandbox networks, as built; and the command line, in this process.
 *
 * Invariant: no process outlives its test. Each holds a channel to this one and stops when the channel closes, and
 * `endAll` kills what a failed test has left running.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { runCommandLine } from '../../src/commands/command-line.ts';
import { builtProgram } from './built.ts';

const GATEWAY = 'src/main.js';
const MAX_READY_MS = 180_000;

export type Environment = Readonly<Record<string, string>>;

/** How a process ended. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** How a process must end when it was asked to stop. */
export const CLEAN: Ended = { code: 0, signal: null };

/** A program that reports when it is ready; everything it prints is kept. */
export interface Running {
  readonly pid: number;
  /** The address it reported; undefined for one that does not listen. */
  readonly url: string | undefined;
  readonly ended: Promise<Ended>;
  /** Everything it has printed, on both streams. */
  printed(): string;
  /** The entries of its log so far under the name of an event, oldest first. */
  said<F>(event: string): readonly F[];
  /** Stops or resumes reading its standard output. */
  read(reads: boolean): void;
  signal(name: NodeJS.Signals): void;
  /** Kills it at once, as a power cut would, and waits until it is gone. */
  kill(): Promise<void>;
  /** Asks it to stop, and waits until it has. */
  stop(): Promise<Ended>;
}

const running = new Set<ChildProcess>();
const folders = new Set<string>();

/** Kills whatever is still running and removes the folders: for `afterAll`. */
export async function endAll(): Promise<void> {
  await Promise.all(
    [...running].map(async (child) => {
      const gone = new Promise<void>((done) => child.once('exit', () => done()));
      child.kill('SIGKILL');
      await gone;
    }),
  );
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  folders.clear();
}

/** A folder of its own for a test, removed by `endAll`. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'mbongo-test-'));
  folders.add(folder);
  return folder;
}

export interface GatewayOptions {
  readonly role?: 'all' | 'api' | 'worker';
  /** The folder of another build of it; this project's if absent. */
  readonly build?: string;
  /** If more than one, they run under a supervisor. */
  readonly processes?: number;
  /** Sent at the first output of the process, long before it answers. */
  readonly early?: NodeJS.Signals;
  /** How many times as fast as ours its time passes, from `since` (milliseconds since 1970) on. */
  readonly speed?: { readonly factor: number; readonly since: number };
}

/** `mbongo serve`, once it answers. */
export function startGateway(
  env: Environment,
  { build, role = 'all', processes = 1, early, speed }: GatewayOptions = {},
): Promise<Running> {
  const clock = speed && { FAST_CLOCK: String(speed.factor), FAST_CLOCK_FROM: String(speed.since) };
  const ahead = speed === undefined ? [] : ['--import', builtProgram('sandbox/testing/fast-clock.js')];
  const several = processes === 1 ? [] : ['--processes', String(processes)];
  const main = build === undefined ? builtProgram(GATEWAY) : join(build, GATEWAY);
  return start([...ahead, main, 'serve', '--role', role, ...several], { ...env, ...clock }, early);
}

/** The sandbox networks, once they answer. */
export function startSandbox(env: Environment): Promise<Running> {
  return start([builtProgram('sandbox/main.js')], env);
}

/** Runs `mbongo … --json` in this process and returns the document that it prints: starting a process would cost more. */
export async function command<D>(env: Environment, ...args: string[]): Promise<D> {
  let [printed, said] = ['', ''];
  const io = {
    env: inherited(env),
    write: (text: string) => {
      printed += text;
    },
    writeError: (text: string) => {
      said += text;
    },
  };
  const status = await runCommandLine([...args, '--json'], io, '0.1.0');
  if (status !== 0) throw new Error(`mbongo ${args.slice(0, 2).join(' ')}: ${said}`);
  return JSON.parse(printed) as D;
}

async function start(args: string[], env: Environment, early?: NodeJS.Signals): Promise<Running> {
  const child = spawn(process.execPath, args, { env: inherited(env), stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  running.add(child);
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
  }
  const events = openEvents(child.stdout);
  if (early !== undefined) child.stdout?.once('data', () => child.kill(early));
  const ended = new Promise<Ended>((done) => {
    child.once('close', (code, signal) => {
      running.delete(child);
      done({ code, signal });
    });
  });
  const url = await Promise.race([
    whenReady(child),
    ended.then(({ code, signal }) => {
      throw new Error(`${args.join(' ')} ended with ${code ?? signal} before it was ready:\n${printed}`);
    }),
  ]);
  return {
    pid: child.pid ?? 0,
    url,
    ended,
    printed: () => printed,
    said: events,
    read: (reads) => void (reads ? child.stdout?.resume() : child.stdout?.pause()),
    signal: (name) => void child.kill(name),
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
    stop: () => {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

/** Sorts the lines of a log by event as they arrive, so that a caller who polls does not parse all of it each time. */
function openEvents(log: Readable | null): Running['said'] {
  const events = new Map<string, string[]>();
  let begun = '';
  log?.on('data', (text: string) => {
    const lines = (begun + text).split('\n');
    begun = lines.pop() ?? '';
    for (const line of lines) {
      const [, event] = /"event":"(\w+)"/.exec(line) ?? [];
      if (event === undefined) continue;
      const list = events.get(event);
      if (list === undefined) events.set(event, [line]);
      else list.push(line);
    }
  });
  return <F>(event: string) => (events.get(event) ?? []).map((line): F => JSON.parse(line));
}

function whenReady(child: ChildProcess): Promise<string | undefined> {
  return new Promise((done, fail) => {
    const late = setTimeout(() => fail(new Error(`${child.spawnargs.join(' ')} was not ready in time`)), MAX_READY_MS);
    child.once('exit', () => clearTimeout(late));
    child.on('message', (message: { type?: string; url?: string }) => {
      if (message.type !== 'ready') return;
      clearTimeout(late);
      done(message.url);
    });
  });
}

/** Leaves out the test runner's own settings, which are not meant for the program. */
function inherited(env: Environment): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _options, DATABASE_URL: _database, ...rest } = process.env;
  return { ...rest, ...env };
}
