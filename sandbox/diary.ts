/**
 * What the pretend networks write down, so that they know it when they are started again: one JSON document a line, in a file.
 *
 * Invariant: a line is in the file before anybody is told what it says, so that an end at any moment loses nothing of it. A line
 * that was cut off by such an end is left out. One process writes it: another would not know what this one takes.
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

/** All that is written of one kind. */
export type Chapter<T> = {
  /** What was written before this start, the oldest first. It is told once, and then forgotten here. */
  readonly past: () => readonly T[];
  readonly note: (what: T) => void;
};

export type Diary = {
  /** The chapter of that name; one place asks for it, once. */
  readonly chapter: <T>(name: string) => Chapter<T>;
};

/** Of a network that forgets everything when it ends: tests, and load. */
export const noDiary: Diary = { chapter: () => blankChapter() };

export function blankChapter<T>(): Chapter<T> {
  return { past: () => [], note: () => undefined };
}

/** Only so much of the past is read, and kept, at a start: enough for some 60 000 payments. */
const BYTES_MOST = 64 * 1024 * 1024;

/**
 * Opens the diary of a folder, which is made where it is not there.
 *
 * @throws Error that names the process, when another sandbox has it open.
 */
export function openDiary(folder: string): Diary & { readonly close: () => void } {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const holder = join(folder, 'holder');
  takeOver(holder);
  const file = join(folder, 'networks.jsonl');
  const past = readPast(file);
  const output = openSync(file, 'a', 0o600);
  /** A line that could not be written whole stands alone: what follows begins on another one. */
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

/** Whoever was killed has left its number behind, which another program may have by now. The file comes with what it says. */
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

/** The file's text; of one that has grown too long, and is cut, the newest lines. What follows begins on a line of its own. */
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

/** The last bytes of a file, and whether they are all that it has. */
function tailOf(file: string): { readonly bytes: Buffer; readonly isAll: boolean } {
  if (!existsSync(file)) return { bytes: Buffer.alloc(0), isAll: true };
  const input = openSync(file, 'r');
  try {
    const { size } = fstatSync(input);
    const bytes = Buffer.alloc(Math.min(size, BYTES_MOST));
    const length = readSync(input, bytes, 0, bytes.length, size - bytes.length);
    return { bytes: bytes.subarray(0, length), isAll: size <= BYTES_MOST };
  } finally {
    closeSync(input);
  }
}

/** What a short file says; nothing where it is not there, or its process has just gone. */
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
