/**
 * Where the log's lines go: standard output, in the background.
 *
 * If the disk is full when the process ends, pino's own stream for this retries for ever, and the process neither ends nor
 * responds. Invariant: nothing waits for the log. Lines stay in order and whole; what cannot be written waits, and beyond a limit
 * further lines are lost and counted.
 *
 * What it cannot guarantee: whole lines if several processes write to one pipe (a supervisor writes for all of its own), an end
 * if standard output blocks and its reader has stopped (a halted terminal), and the order of the last lines if `process.exit`
 * comes while a full pipe is being written to.
 */
import { write, writeSync } from 'node:fs';

export interface LogOutput {
  /** One line or several, each with its newline. */
  write(lines: string): void;
  /** Resolves when all that waits has been written, or cannot be; nothing is written after that. */
  close(): Promise<void>;
}

export interface LogOutputOptions {
  /** Standard output (the default) or standard error. */
  readonly fd?: 1 | 2;
  /** Bytes that may wait; lines beyond that are lost. */
  readonly mostWaiting?: number;
  /** Milliseconds after a failure until the next try. */
  readonly pauseMs?: number;
  /** Receives, in one line, what an operator must know at once; absent: standard error does. */
  complain?(text: string): void;
}

const MOST_WAITING = 16 * 1024 * 1024;
/**
 * Bytes written at once. Waiting lines are turned into bytes in pieces of this size: lines as pino makes them are strings of many
 * parts, which take six bytes for each character (measured).
 */
const PIECE = 64 * 1024;
const PAUSE_MS = 5_000;
/**
 * Milliseconds before a full pipe is tried again, doubling each time: a reader usually has room again soon, and one that has
 * stopped is not tried too often.
 */
const FULL_PIPE_LEAST_MS = 1;
const FULL_PIPE_MOST_MS = 20;
const CLOSE_LIMIT_MS = 1_000;
/** How many times a full pipe is tried as the process ends. */
const LAST_TRIES = 25;

export function openLogOutput({
  fd: wanted = 1,
  mostWaiting = MOST_WAITING,
  pauseMs = PAUSE_MS,
  complain = toStandardError,
}: LogOutputOptions = {}): LogOutput {
  // The descriptor is taken from the stream, because Node.js makes a pipe non-blocking when it opens the stream: otherwise a
  // write to a full pipe holds a thread, and with it the end of the process, for as long as nobody reads.
  const { fd } = wanted === 1 ? process.stdout : process.stderr;
  /** The newest lines, less than a piece, and their total number of characters. */
  let lines: string[] = [];
  let length = 0;
  /** The pieces made of the lines before them. */
  let pieces: Buffer[] = [];
  /** Bytes that wait, including those being written; a character of `lines` counts as one. */
  let size = 0;
  let lost = 0;
  /** The piece that is being written, or is to be tried again. */
  let left: Buffer | undefined;
  let isWriting = false;
  let isResting = false;
  let isFailing = false;
  let fullPause = FULL_PIPE_LEAST_MS;
  /** Nobody reads the output any more, or it has been closed. */
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

  /** The oldest waiting piece; the line about lost lines comes after everything that waited before them. */
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
    // The reader of our output has gone for good, and that is no failure.
    if (error.code === 'EPIPE' && !isOver) {
      complain('nothing reads the log any more: its lines are lost');
      end();
    }
    if (!isFull && !isOver && !isFailing) {
      isFailing = true;
      complain(
        `the log cannot be written (${error.message}): its lines wait in memory, and are lost when too many wait`,
      );
    }
    if (!isFull) tellClosed();
    rest(isFull ? fullPause : pauseMs);
    if (isFull) fullPause = Math.min(FULL_PIPE_MOST_MS, fullPause * 2);
  }

  /** The timer does not keep the process alive for the sake of its log. */
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

  /** Closed before everything could be written. */
  function giveUp(): void {
    makePiece();
    const count = [...(left === undefined ? [] : [left]), ...pieces].reduce((sum, piece) => sum + linesIn(piece), lost);
    if (count > 0) complain(`${count} lines of the log could not be written before the process ended`);
    end();
  }

  /** A write in flight is finished by another thread; the rest is tried here, because nothing runs afterwards. */
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

/** Counts a line that has been written in part, too. */
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
