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

export type Result = { status: number; out: string; err: string };
export type Document = { [name: string]: unknown };

export interface CommandLine {
  /** Runs a command; words that contain blanks have to be given as a list. */
  run(words: string | readonly string[], over?: { readonly [name: string]: string }, input?: string): Promise<Result>;
  /** The one JSON document that a command prints; it must print nothing else. */
  json(words: string | readonly string[]): Promise<Document>;
  readonly dataDir: string;
  close(): Promise<void>;
}

export async function openCommandLine(databaseUrl: string, masterKey: string): Promise<CommandLine> {
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
        input: () => Readable.from([input]),
      },
      '0.1.0',
    );
    return { status, out: out.join(''), err: err.join('') };
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
