/**
 * The log: one JSON document per line, with fixed event names and fields that are safe to keep.
 *
 * Invariant: callers pass only safe fields (the type allows no objects). Should a caller err all the same, whatever looks like a
 * token, a secret or a phone number is masked before the line is written, in error messages and stacks too.
 */
import { pino } from 'pino';
import { openLogOutput } from './log-output.ts';
import type { Clock, Log, LogFields } from './platform.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

export interface LogOptions {
  readonly level: LogLevel;
  /** Where lines go; standard output when absent. */
  readonly destination?: { write(line: string): void };
  /** The descriptor that lines are written to in the background if there is no `destination`; standard output when absent. */
  readonly fd?: 1 | 2;
  /** The name of this process among a supervisor's. */
  readonly process?: string | undefined;
  /** The clock that stamps the lines; the machine's when absent. */
  readonly clock?: Pick<Clock, 'now'>;
}

/** A log that has to be closed, so that its last lines are not lost. */
export interface OpenLog extends Log {
  /** Writes whole lines of another process's log, as they are. */
  pass(lines: string): void;
  close(): Promise<void>;
}

/**
 * Opens the log. Lines are written in the background; those that arrive meanwhile are written together, and the rest is written
 * when the log is closed or the process ends by itself.
 */
export function createLog(options: LogOptions): OpenLog {
  if (options.destination !== undefined) {
    const { destination } = options;
    const pass = (lines: string): void => destination.write(lines);
    return { ...logTo(destination, options), pass, close: () => Promise.resolve() };
  }
  const output = openLogOutput(options.fd === undefined ? {} : { fd: options.fd });
  return { ...logTo(output, options), pass: output.write, close: output.close };
}

function logTo(destination: { write(line: string): void }, options: LogOptions): Log {
  const now = options.clock?.now ?? Date.now;
  const logger = pino(
    {
      level: options.level,
      base: options.process === undefined ? null : { process: options.process },
      messageKey: 'event',
      timestamp: () => `,"time":"${new Date(now()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  );
  const write =
    (level: 'debug' | 'info' | 'warn') =>
    (event: string, fields?: LogFields): void => {
      if (logger.isLevelEnabled(level)) logger[level](safeFields(fields), safeText(event));
    };
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error(event, fields, cause) {
      if (!logger.isLevelEnabled('error')) return;
      const safe = safeFields(fields);
      logger.error(cause === undefined ? safe : { ...safe, ...describe(cause) }, safeText(event));
    },
  };
}

/** Keys of a line that callers cannot set: no key may occur twice in a document. */
const RESERVED = new Set(['level', 'time', 'event', 'error', 'stack']);

function safeFields(fields: LogFields = {}): Record<string, string | number | boolean | null> {
  const safe: Record<string, string | number | boolean | null> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    safe[RESERVED.has(name) ? `${name}_` : name] = typeof value === 'string' ? safeText(value) : value;
  }
  return safe;
}

/** An error's name, message and stack, and those of its causes. Never its other properties: a driver puts rows there. */
function describe(cause: unknown): Record<string, string> {
  const messages: string[] = [];
  let stack: string | undefined;
  for (let error = cause, depth = 0; error !== undefined && depth < 5; depth += 1) {
    if (!(error instanceof Error)) {
      messages.push(typeof error === 'string' ? error : `a thrown ${typeof error}`);
      break;
    }
    messages.push(`${error.name}: ${error.message}`);
    stack ??= error.stack;
    error = error.cause;
  }
  const error = safeText(messages.join(' <- '));
  return stack === undefined ? { error } : { error, stack: safeText(stack) };
}

const MAX_TEXT_LENGTH = 4096;

/** Matches anything that could need a mask; almost no field does, and this is a single pass over it. */
const SUSPECT = /sess_|sk_(?:test|live)_|whsec_|bearer|basic|\+\d|\d{9}/i;

const MASKS: readonly (readonly [RegExp, string])[] = [
  [/\b(sess_|sk_test_|sk_live_|whsec_)[A-Za-z0-9_+/=-]+/g, '$1***'],
  [/\b(Bearer|Basic)\s+\S+/gi, '$1 ***'],
  // International phone numbers, also written with blanks, dots, brackets and dashes; the last two digits stay.
  [/\+\d[\d .()-]{4,}\d(\d)[ .()-]?(\d)/g, '+***$1$2'],
  // Numbers without the plus sign, and card numbers: runs of digits that are no part of an identifier.
  [/(?<![A-Za-z0-9_])\d{7,}(\d{2})(?![A-Za-z0-9_])/g, '***$1'],
];

function safeText(text: string): string {
  const short = text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH)}…` : text;
  if (!SUSPECT.test(short)) return short;
  return MASKS.reduce((masked, [pattern, mask]) => masked.replace(pattern, mask), short);
}
