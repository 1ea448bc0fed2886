/**
 * What the pretend networks record so that they remember it after a restart: a file with one JSON document per line.
 *
 * Invariant: a line is in the file before any caller is told what it says, so that an end at any moment loses none of it. A
 * line cut off by such an end is skipped. Only one process writes the file: a second would not know what the first one takes.
 */
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  fstatSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

/** Everything recorded of one kind. */
export type Chapter<T> = {
  /** What was recorded before this start, oldest first. It can be read once, and is then dropped from memory. */
  readonly past: () => readonly T[];
  readonly note: (what: T) => void;
};

export type Diary = {
  /** The chapter of that name; only one place may ask for it, once. */
  readonly chapter: <T>(name: string) => Chapter<T>;
};

/** For a network that forgets everything when it ends: tests, and load. */
export const noDiary: Diary = { chapter: () => blankChapter() };

export function blankChapter<T>(): Chapter<T> {
  return { past: () => [], note: () => undefined };
}

/** 64 MiB: the most that is read, and kept, of the past at start-up; enough for some 60 000 payments. */
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * Opens the diary in a folder, which is created if it does not exist.
 *
 * @throws Error that names the process, if another sandbox has the diary open.
 */
export function openDiary(folder: string): Diary & { readonly close: () => void } {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const holder = join(folder, 'holder');
  takeOver(holder);
  const file = join(folder, 'networks.jsonl');
  const past = readPast(file);
  const output = openSync(file, 'a', 0o600);
  /** Whether the last write stopped in the middle of a line: the next one then starts on a new line. */
  let isTorn = false;
  let isFailing = false;

  const write = (line: string): void => {
    const bytes = Buffer.from(`${isTorn ? '\n' : ''}${line}\n`);
    const written = writeSync(output, bytes);
    isTorn = written < bytes.length;
    if (isTorn) throw new Error(`${written} of ${bytes.length} bytes were written`);
  };

  return {
    chapter: <T>(name: string) => ({
      past: () => {
        const told = (past.get(name) ?? []) as T[];
        past.delete(name);
        return told;
      },
      note: (what) => {
        try {
          write(JSON.stringify([name, what], bigintAsObject));
          isFailing = false;
        } catch (error) {
          if (!isFailing)
            console.error(`the sandbox forgets what it takes: ${file} cannot be written: ${String(error)}`);
          isFailing = true;
        }
      },
    }),
    close: () => {
      closeSync(output);
      rmSync(holder, { force: true });
    },
  };
}

/**
 * Becomes the holder. A sandbox that was killed leaves its process id behind, which may by now belong to another program. The
 * file is linked into place with its content, so that it is never seen empty.
 */
function takeOver(holder: string): void {
  const pid = Number(readable(holder));
  if (pid !== process.pid && isSandbox(pid)) throw new Error(`another sandbox (process ${pid}) has its networks there`);
  rmSync(holder, { force: true });
  const beside = `${holder}.${process.pid}`;
  writeFileSync(beside, String(process.pid), { mode: 0o600 });
  try {
    linkSync(beside, holder);
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'EEXIST'
      ? new Error('another sandbox has just begun there')
      : error;
  } finally {
    rmSync(beside, { force: true });
  }
}

function isSandbox(pid: number): boolean {
  if (!(pid > 0)) return false;
  const command =
    process.platform === 'linux'
      ? readable(`/proc/${pid}/cmdline`)
      : (spawnSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout ?? '');
  return /sandbox[/\\]main\.[jt]s/.test(command);
}

function readPast(file: string): Map<string, unknown[]> {
  const chapters = new Map<string, unknown[]>();
  const text = lastOf(file);
  for (const line of text.split('\n')) {
    const [name, what] = parsed(line) ?? [];
    if (name === undefined) continue;
    const known = chapters.get(name);
    if (known === undefined) chapters.set(name, [what]);
    else known.push(what);
  }
  return chapters;
}

/** The file's text, or its newest lines if it has grown too long and is cut. Later writes start on a new line. */
function lastOf(file: string): string {
  const { bytes, isAll } = tailOf(file);
  const isWhole = bytes.length === 0 || bytes.at(-1) === NEWLINE;
  if (isWhole && isAll) return bytes.toString();
  const from = isAll ? 0 : bytes.indexOf(NEWLINE) + 1;
  const kept = bytes.subarray(from, bytes.lastIndexOf(NEWLINE) + 1);
  const beside = `${file}.new`;
  writeFileSync(beside, kept, { mode: 0o600 });
  renameSync(beside, file);
  return kept.toString();
}

const NEWLINE = 0x0a;

/** The last bytes of a file, and whether they are the whole file. */
function tailOf(file: string): { readonly bytes: Buffer; readonly isAll: boolean } {
  if (!existsSync(file)) return { bytes: Buffer.alloc(0), isAll: true };
  const input = openSync(file, 'r');
  try {
    const { size } = fstatSync(input);
    const bytes = Buffer.alloc(Math.min(size, MAX_BYTES));
    const length = readSync(input, bytes, 0, bytes.length, size - bytes.length);
    return { bytes: bytes.subarray(0, length), isAll: size <= MAX_BYTES };
  } finally {
    closeSync(input);
  }
}

/** The text of a short file; empty if it does not exist, or its process has just ended. */
function readable(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function parsed(line: string): readonly [string, unknown] | undefined {
  try {
    return JSON.parse(line, objectAsBigint);
  } catch {
    return undefined;
  }
}

function bigintAsObject(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? { bigint: String(value) } : value;
}

function objectAsBigint(_name: string, value: unknown): unknown {
  const isBigint = typeof value === 'object' && value !== null && 'bigint' in value && typeof value.bigint === 'string';
  return isBigint ? BigInt(value.bigint as string) : value;
}
