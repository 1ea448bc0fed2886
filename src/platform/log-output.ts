/**
 * Where the log's lines go: standard output, in the background.
 *
 * Invariant: nobody waits for it, and what waits for it is bounded. Lines that find no room, or a full disk, are lost, and
 * how many is the first line that is written afterwards.
 */
import { writeSync } from 'node:fs';
import { pino } from 'pino';

type Stream = ReturnType<typeof pino.destination>;

export interface LogOutput {
  write(line: string): void;
  /** Resolves when what waits has been written, or cannot be. */
  close(): Promise<void>;
}

export interface LogOutputParts {
  /** Opens what lines are written to; the process's standard output when absent. */
  open?(): Stream;
  /** Milliseconds of a clock that only goes forward. */
  now?(): number;
  /** Hears in one line what a person must know at once; standard error when absent. */
  complain?(text: string): void;
}

/** Lines that wait for a slow reader, in characters. */
const MOST_WAITING = 16 * 1024 * 1024;
/** How long after a failure lines are lost without another try. */
const PAUSE_MS = 5_000;
const CLOSE_LIMIT_MS = 1_000;

export function openLogOutput({
  open = () => pino.destination({ dest: 1, sync: false, maxLength: MOST_WAITING }),
  now = () => performance.now(),
  complain = toStandardError,
}: LogOutputParts = {}): LogOutput {
  let lost = 0;
  /** Nothing is written, and no loss is told of, until then. */
  let restUntil = 0;
  let stream: Stream | undefined = opened();
  let closing: Promise<void> | undefined;

  function opened(): Stream {
    const made = open();
    made.on('drop', () => {
      lost += 1;
    });
    made.on('error', (error: NodeJS.ErrnoException) => {
      const isUnread = error.code === 'EPIPE';
      // What is left in it would be tried for ever when the process ends.
      if (!isUnread) made.destroy();
      if (stream !== made) return;
      stream = undefined;
      // Whoever read our output has gone for good, and that is no failure.
      restUntil = isUnread ? Number.POSITIVE_INFINITY : now() + PAUSE_MS;
      if (isUnread) return;
      complain(`the log cannot be written (${error.message}): lines are lost until it can`);
    });
    return made;
  }

  /** Tells once of what was lost; should that be lost too, it is one line more. */
  function tellLost(to: Stream): void {
    const line = { level: 'error', time: new Date().toISOString(), lines: lost, event: 'log_lines_lost' };
    lost = 0;
    restUntil = now() + PAUSE_MS;
    to.write(`${JSON.stringify(line)}\n`);
  }

  return {
    write(line) {
      if (closing !== undefined) return;
      const isResting = now() < restUntil;
      if (stream === undefined && !isResting) stream = opened();
      if (stream === undefined) {
        lost += 1;
        return;
      }
      if (lost > 0 && !isResting) tellLost(stream);
      stream.write(line);
    },
    close() {
      const left = stream;
      closing ??= new Promise((resolve) => {
        if (left === undefined) return resolve();
        const limit = setTimeout(() => {
          left.destroy();
          resolve();
        }, CLOSE_LIMIT_MS);
        left.once('close', () => {
          clearTimeout(limit);
          resolve();
        });
        left.end();
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
