/**
 * `mbongo serve` as a process, on a database and in a folder of its own.
 *
 * Invariant: no process that was started here outlives `close`.
 */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { builtProgram } from './built.ts';
import { createTestDatabase } from './database.ts';

/** The message of a process once it answers. */
export type Ready = { type: 'ready'; url?: string; notes: string[] };

/** Where a process's output goes: the parent's own, a pipe, or an open file. */
type Output = 'inherit' | 'pipe' | number;

export interface ServeDesk {
  readonly databaseUrl: string;
  readonly dataDir: string;
  /** Starts it as `npm start` does, without a log. */
  start(...words: string[]): ChildProcess;
  /** Starts it with variables of its own. Its errors go where its output goes, or into a pipe. */
  startWith(over: { readonly [name: string]: string }, output: Output, ...words: string[]): ChildProcess;
  /** Starts it as a shell does: without a channel, its output and errors into pipes. */
  startAlone(over: { readonly [name: string]: string }, ...words: string[]): ChildProcess;
  close(): Promise<void>;
}

export async function openServeDesk(): Promise<ServeDesk> {
  const database = await createTestDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'mbongo-serve-'));
  const children: ChildProcess[] = [];
  const begin = (over: { readonly [name: string]: string }, stdio: StdioOptions, words: string[]): ChildProcess => {
    const given = { DATABASE_URL: database.url, DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'silent' };
    const child = spawn(process.execPath, [builtProgram('src/main.js'), 'serve', ...words], {
      env: { PATH: process.env.PATH, ...given, ...over },
      stdio,
    });
    children.push(child);
    return child;
  };
  const startWith: ServeDesk['startWith'] = (over, output, ...words) =>
    begin(over, ['ignore', output, typeof output === 'number' ? 'pipe' : output, 'ipc'], words);
  return {
    databaseUrl: database.url,
    dataDir,
    startWith,
    startAlone: (over, ...words) => begin(over, ['ignore', 'pipe', 'pipe'], words),
    start: (...words) => startWith({}, 'inherit', ...words),
    close: async () => {
      for (const child of children) {
        if (child.exitCode !== null || child.signalCode !== null) continue;
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
      await database.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** The whole text of a stream, once it is closed. */
export async function said(stream: Readable | null): Promise<string> {
  return stream === null ? '' : text(stream);
}

export async function ready(child: ChildProcess): Promise<Ready> {
  const over = once(child, 'exit').then(() => Promise.reject(new Error('serve ended before it was ready')));
  const [message] = (await Promise.race([once(child, 'message'), over])) as [Ready];
  return message;
}

/** The process's exit status. */
export async function ended(child: ChildProcess): Promise<number | null> {
  const [status] = (await once(child, 'exit')) as [number | null];
  return status;
}
