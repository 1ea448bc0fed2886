/**
 * The command line in this process, against a database of the test's own.
 *
 * Invariant: what a command writes is kept apart by stream, as a shell would see it.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect } from 'vitest';
import { runCommandLine } from '../../src/commands/command-line.ts';

/** What a command wrote; `err` is its standard error without the copies of journal entries, which are `copies`, absent if none. */
export type Result = { status: number; out: string; err: string; copies?: readonly Document[] };
export type Document = { [name: string]: unknown };

/** How the copy of a journal entry begins. */
const COPY = /^\{"level":"info","time":"[^"]+",.*"event":"journal_entry"\}$/;

export interface CommandLine {
  /** Runs a command; words that contain blanks have to be given as a list. */
  run(words: string | readonly string[], over?: { readonly [name: string]: string }, input?: string): Promise<Result>;
  /** The one JSON document that a command prints; it must print nothing else. */
  json(words: string | readonly string[]): Promise<Document>;
  readonly dataDir: string;
  close(): Promise<void>;
}

/** Opens the command line; its standard error is a pipe unless `isStderrTty`. */
export async function openCommandLine(
  databaseUrl: string,
  masterKey: string,
  isStderrTty = false,
): Promise<CommandLine> {
  const dataDir = await mkdtemp(join(tmpdir(), 'mbongo-cli-'));
  const run: CommandLine['run'] = async (words, over = {}, input = '') => {
    const out: string[] = [];
    const err: string[] = [];
    const env = { DATABASE_URL: databaseUrl, DATA_DIR: dataDir, MASTER_KEY: masterKey, ...over };
    const status = await runCommandLine(
      typeof words === 'string' ? words.split(' ') : words,
      {
        env,
        write: (text) => out.push(text),
        writeError: (text) => err.push(text),
        isStderrTty,
        input: () => Readable.from([input]),
      },
      '0.1.0',
    );
    return { status, out: out.join(''), ...apart(err.join('')) };
  };
  return {
    run,
    async json(words) {
      const { status, out, err } = await run(typeof words === 'string' ? `${words} --json` : [...words, '--json']);
      expect([status, err]).toEqual([0, '']);
      expect(out.endsWith('\n')).toBe(true);
      expect(out.trimEnd()).not.toContain('\n');
      return JSON.parse(out) as Document;
    },
    dataDir,
    close: () => rm(dataDir, { recursive: true, force: true }),
  };
}

function apart(err: string): Pick<Result, 'err' | 'copies'> {
  const lines = err.split(/(?<=\n)/);
  const isCopy = (line: string): boolean => COPY.test(line.trimEnd());
  const copies = lines.filter(isCopy).map((line) => JSON.parse(line) as Document);
  return { err: lines.filter((line) => !isCopy(line)).join(''), ...(copies.length > 0 && { copies }) };
}
