/**
 * Where the log's lines go: standard output, in the background.
 *
 * pino's own stream for this tries for ever, without letting the process end or answer, where a disk is full as it ends.
 * Invariant: nobody waits for the log. Lines stay in order and whole; what cannot be written waits, and where too much
 * waits further lines are lost and counted.
 */
import { write, writeSync } from 'node:fs';

export interface LogOutput {
  write(line: string): void;
  /** Resolves when what waits has been written, or cannot be; nothing is written any more then. */
  close(): Promise<void>;
}

export interface LogOutputOptions {
  /** The file that is written to; standard output when absent. */
  readonly fd?: number;
  /** So many characters may wait; more are lost. */
  readonly mostWaiting?: number;
  /** How long after a failure it is tried again, in milliseconds. */
  readonly pauseMs?: number;
  /** Hears in one line what a person must know at once; standard error when absent. */
  complain?(text: string): void;
}

const MOST_WAITING = 16 * 1024 * 1024;
const PAUSE_MS = 5_000;
/** A reader that is slow has room again soon. */
const FULL_PIPE_MS = 20;
const CLOSE_LIMIT_MS = 1_000;
/** So often a full pipe is tried as the process ends. */
const LAST_TRIES = 25;

export function openLogOutput({
  fd = 1,
  mostWaiting = MOST_WAITING,
  pauseMs = PAUSE_MS,
  complain = toStandardError,
}: LogOutputOptions = {}): LogOutput {
  let waiting: string[] = [];
  let waitingLength = 0;
  let lost = 0;
  /** What is being written, or is to be tried again. */
  let left: Buffer | undefined;
  let isWriting = false;
  let isResting = false;
  let isFailing = false;
  /** Nobody reads it, or it has been closed. */
  let isOver = false;
  let tellClosed = (): void => undefined;

  /** What waits, as one piece; how much was lost comes behind what was there before. */
  function take(): Buffer | undefined {
    if (waiting.length === 0) return undefined;
    const lines = waiting;
    if (lost > 0) lines.push(lostLine(lost));
    lost = 0;
    waiting = [];
    waitingLength = 0;
    return Buffer.from(lines.join(''));
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
    left = left !== undefined && bytes < left.length ? left.subarray(bytes) : undefined;
    pump();
  }

  function failed(error: NodeJS.ErrnoException): void {
    const isFull = error.code === 'EAGAIN' || error.code === 'EBUSY';
    // Whoever read our output has gone for good, and that is no failure.
    if (error.code === 'EPIPE') end();
    if (!isFull && !isOver && !isFailing) {
      isFailing = true;
      complain(`the log cannot be written (${error.message}): it waits, and lines are lost where too many wait`);
    }
    if (!isFull) tellClosed();
    isResting = true;
    // A process does not go on for the sake of its log.
    setTimeout(
      () => {
        isResting = false;
        pump();
      },
      isFull ? FULL_PIPE_MS : pauseMs,
    ).unref();
  }

  function end(): void {
    isOver = true;
    waiting = [];
    left = undefined;
    process.removeListener('exit', writeLast);
  }

  /** What is under way is written by another thread; the rest is tried here, because nothing runs afterwards. */
  function writeLast(): void {
    let rest = isWriting ? take() : join(left, take());
    for (let tries = 0; rest !== undefined && rest.length > 0 && tries < LAST_TRIES; ) {
      try {
        rest = rest.subarray(writeSync(fd, rest));
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) return;
        tries += 1;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FULL_PIPE_MS);
      }
    }
  }
  process.on('exit', writeLast);

  let closing: Promise<void> | undefined;
  return {
    write(line) {
      if (isOver) return;
      if (waitingLength + line.length > mostWaiting) {
        lost += 1;
        return;
      }
      waiting.push(line);
      waitingLength += line.length;
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
      }).then(end);
      return closing;
    },
  };
}

function join(first: Buffer | undefined, second: Buffer | undefined): Buffer | undefined {
  return first === undefined || second === undefined ? (first ?? second) : Buffer.concat([first, second]);
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
