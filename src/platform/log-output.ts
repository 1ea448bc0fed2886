/**
 * Where the log's lines go: standard output, in the background.
 *
 * pino's own stream for this tries for ever, without letting the process end or answer, where a disk is full as it ends.
 * Invariant: nobody waits for the log. Lines stay in order and whole; what cannot be written waits, and where too much
 * waits further lines are lost and counted.
 *
 * What it cannot hold: whole lines where several processes write to one pipe (a supervisor writes for all of its own), an
 * end where standard output blocks and its reader stands still (a terminal that has been halted), and the order of the
 * last lines where `process.exit` comes while a full pipe is being written to.
 */
import { write, writeSync } from 'node:fs';

export interface LogOutput {
  /** One line or several, each with its end. */
  write(lines: string): void;
  /** Resolves when what waits has been written, or cannot be; nothing is written any more then. */
  close(): Promise<void>;
}

export interface LogOutputOptions {
  /** Standard output, also when absent, or standard error. */
  readonly fd?: 1 | 2;
  /** So many bytes may wait; more are lost. */
  readonly mostWaiting?: number;
  /** How long after a failure it is tried again, in milliseconds. */
  readonly pauseMs?: number;
  /** Hears in one line what a person must know at once; standard error when absent. */
  complain?(text: string): void;
}

const MOST_WAITING = 16 * 1024 * 1024;
/**
 * So much is written at once. What waits is made bytes in pieces of it: lines as pino makes them are strings of many parts,
 * which take six bytes for each character (measured).
 */
const PIECE = 64 * 1024;
const PAUSE_MS = 5_000;
/** A reader has room again soon, and one that stands still is not asked too often: each pause is twice the one before. */
const FULL_PIPE_LEAST_MS = 1;
const FULL_PIPE_MOST_MS = 20;
const CLOSE_LIMIT_MS = 1_000;
/** So often a full pipe is tried as the process ends. */
const LAST_TRIES = 25;

export function openLogOutput({
  fd: wanted = 1,
  mostWaiting = MOST_WAITING,
  pauseMs = PAUSE_MS,
  complain = toStandardError,
}: LogOutputOptions = {}): LogOutput {
  // Asked for by its stream, because Node.js makes a pipe one that does not block as it opens that: otherwise a write to a full
  // one holds a thread, and with it the end of the process, for as long as nobody reads.
  const { fd } = wanted === 1 ? process.stdout : process.stderr;
  /** The newest lines, less than a piece, and how many characters they have. */
  let lines: string[] = [];
  let length = 0;
  /** What came before them. */
  let pieces: Buffer[] = [];
  /** How many bytes wait, with those that are being written; a character of `lines` counts as one. */
  let size = 0;
  let lost = 0;
  /** What is being written, or is to be tried again. */
  let left: Buffer | undefined;
  let isWriting = false;
  let isResting = false;
  let isFailing = false;
  let fullPause = FULL_PIPE_LEAST_MS;
  /** Nobody reads it, or it has been closed. */
  let isOver = false;
  let tellClosed = (): void => undefined;

  function add(more: string): void {
    lines.push(more);
    length += more.length;
    size += more.length;
    if (length >= PIECE) makePiece();
  }

  function makePiece(): void {
    if (lines.length === 0) return;
    const piece = Buffer.from(lines.join(''));
    pieces.push(piece);
    size += piece.length - length;
    lines = [];
    length = 0;
  }

  /** The oldest of what waits; how much was lost comes behind what was there before. */
  function take(): Buffer | undefined {
    if (lost > 0) add(lostLine(lost));
    lost = 0;
    if (pieces.length === 0) makePiece();
    return pieces.shift();
  }

  function pump(): void {
    if (isWriting || isResting || isOver) return;
    left ??= take();
    if (left === undefined) {
      tellClosed();
      return;
    }
    isWriting = true;
    write(fd, left, (error, written) => {
      isWriting = false;
      if (error === null) wrote(written);
      else failed(error);
    });
  }

  function wrote(bytes: number): void {
    isFailing = false;
    fullPause = FULL_PIPE_LEAST_MS;
    size -= bytes;
    left = left !== undefined && bytes < left.length ? left.subarray(bytes) : undefined;
    pump();
  }

  function failed(error: NodeJS.ErrnoException): void {
    const isFull = error.code === 'EAGAIN' || error.code === 'EBUSY';
    // Whoever read our output has gone for good, and that is no failure.
    if (error.code === 'EPIPE' && !isOver) {
      complain('the log has no reader any more: its lines are lost');
      end();
    }
    if (!isFull && !isOver && !isFailing) {
      isFailing = true;
      complain(`the log cannot be written (${error.message}): it waits, and lines are lost where too many wait`);
    }
    if (!isFull) tellClosed();
    rest(isFull ? fullPause : pauseMs);
    if (isFull) fullPause = Math.min(FULL_PIPE_MOST_MS, fullPause * 2);
  }

  /** A process does not go on for the sake of its log. */
  function rest(ms: number): void {
    isResting = true;
    setTimeout(() => {
      isResting = false;
      pump();
    }, ms).unref();
  }

  function end(): void {
    isOver = true;
    lines = [];
    pieces = [];
    left = undefined;
    process.removeListener('exit', writeLast);
  }

  /** Closed, and not everything was taken in time. */
  function giveUp(): void {
    makePiece();
    const count = [...(left === undefined ? [] : [left]), ...pieces].reduce((sum, piece) => sum + linesIn(piece), lost);
    if (count > 0) complain(`${count} lines of the log could not be written before the end`);
    end();
  }

  /** What is under way is written by another thread; the rest is tried here, because nothing runs afterwards. */
  function writeLast(): void {
    let last = isWriting || left === undefined ? take() : left;
    for (let tries = 0; last !== undefined && tries < LAST_TRIES; ) {
      try {
        last = last.subarray(writeSync(fd, last));
        if (last.length === 0) last = take();
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) return;
        tries += 1;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FULL_PIPE_MOST_MS);
      }
    }
  }
  process.on('exit', writeLast);

  let closing: Promise<void> | undefined;
  return {
    write(more) {
      if (isOver) return;
      if (size + more.length > mostWaiting) {
        lost += linesIn(more);
        return;
      }
      add(more);
      pump();
    },
    close() {
      closing ??= new Promise<void>((resolve) => {
        const limit = setTimeout(resolve, CLOSE_LIMIT_MS);
        tellClosed = () => {
          clearTimeout(limit);
          resolve();
        };
        if (isOver || isFailing) tellClosed();
        else pump();
      }).then(() => {
        if (!isOver) giveUp();
      });
      return closing;
    },
  };
}

/** A line that has been written in part counts. */
function linesIn(text: string | Buffer): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

function lostLine(lines: number): string {
  const time = new Date().toISOString();
  return `${JSON.stringify({ level: 'error', time, lines, event: 'log_lines_lost' })}\n`;
}

function toStandardError(text: string): void {
  try {
    writeSync(2, `mbongo: ${text}\n`);
  } catch {
    // It may be the same full disk.
  }
}
