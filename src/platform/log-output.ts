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
import { systemCodeOf } from './system-code.ts';
import { waitingLines } from './waiting-lines.ts';

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

const MAX_WAITING_BYTES = 16 * 1024 * 1024;
const PAUSE_MS = 5_000;
/**
 * Milliseconds before a full pipe is tried again, doubling each time: a reader usually has room again soon, and one that has
 * stopped is not tried too often.
 */
const MIN_FULL_PIPE_MS = 1;
const MAX_FULL_PIPE_MS = 20;
const MAX_CLOSE_MS = 1_000;
/** How many times a full pipe is tried as the process ends. */
const LAST_TRIES = 25;

/** Opens an output for the log's lines, on standard output or standard error. */
export function openLogOutput({
  fd: wanted = 1,
  mostWaiting = MAX_WAITING_BYTES,
  pauseMs = PAUSE_MS,
  complain = toStandardError,
}: LogOutputOptions = {}): LogOutput {
  // The descriptor is taken from the stream, because Node.js makes a pipe non-blocking when it opens the stream: otherwise a
  // write to a full pipe holds a thread, and with it the end of the process, for as long as nobody reads.
  const { fd } = wanted === 1 ? process.stdout : process.stderr;
  const waiting = waitingLines(mostWaiting);
  let isWriting = false;
  let isResting = false;
  let isFailing = false;
  let fullPause = MIN_FULL_PIPE_MS;
  /** Nobody reads the output any more, or it has been closed. */
  let isOver = false;
  let tellClosed = (): void => undefined;

  function pump(): void {
    if (isWriting || isResting || isOver) return;
    const next = waiting.next();
    if (next === undefined) {
      tellClosed();
      return;
    }
    isWriting = true;
    write(fd, next, (error, written) => {
      isWriting = false;
      if (error === null) wrote(written);
      else failed(error);
    });
  }

  function wrote(bytes: number): void {
    isFailing = false;
    fullPause = MIN_FULL_PIPE_MS;
    waiting.written(bytes);
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
    if (isFull) fullPause = Math.min(MAX_FULL_PIPE_MS, fullPause * 2);
  }

  /** The timer does not keep the process alive for the sake of its log. */
  function rest(ms: number): void {
    isResting = true;
    setTimeout(() => {
      isResting = false;
      pump();
    }, ms).unref();
  }

  /** Returns how many lines have not been written. */
  function end(): number {
    isOver = true;
    process.removeListener('exit', writeLast);
    return waiting.drop();
  }

  /** Closed before everything could be written. */
  function giveUp(): void {
    const count = end();
    if (count > 0) complain(`${count} lines of the log could not be written before the process ended`);
  }

  /** A write in flight is finished by another thread; the rest is tried here, because nothing runs afterwards. */
  function writeLast(): void {
    if (isWriting) waiting.written(waiting.next()?.length ?? 0);
    for (let tries = 0; tries < LAST_TRIES; ) {
      const next = waiting.next();
      if (next === undefined) return;
      try {
        waiting.written(writeSync(fd, next));
      } catch (error) {
        if (systemCodeOf(error) !== 'EAGAIN') return;
        tries += 1;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, MAX_FULL_PIPE_MS);
      }
    }
  }
  process.on('exit', writeLast);

  let closing: Promise<void> | undefined;
  return {
    write(more) {
      if (isOver) return;
      waiting.add(more);
      pump();
    },
    close() {
      closing ??= new Promise<void>((resolve) => {
        const limit = setTimeout(resolve, MAX_CLOSE_MS);
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

function toStandardError(text: string): void {
  try {
    writeSync(2, `mbongo: ${text}\n`);
  } catch {
    // It may be the same full disk.
  }
}
