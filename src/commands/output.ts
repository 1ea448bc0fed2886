/**
 * What a command prints: sentences for people, or exactly one JSON document for programs.
 *
 * Invariant: standard output carries the result and nothing else; an error is one line on standard error. Text written by a
 * merchant or a customer can never add, hide or colour a line.
 */

import { systemCodeOf } from '../platform/system-code.ts';

/** A command's result in both forms. */
export interface Output {
  readonly document: { readonly [name: string]: unknown };
  readonly lines: readonly string[];
  /** The command was carried out, and its finding is negative: the exit status is 1. */
  readonly failed?: true;
}

/** The environment and the standard streams of a command. */
export interface Io {
  readonly env: { readonly [name: string]: string | undefined };
  write(text: string): void;
  writeError(text: string): void;
  /** Whether standard error is a terminal, where somebody reads it and nothing keeps it; absent: it is not. */
  readonly isStderrTty?: boolean;
  /** Opens the standard input; absent: there is none. */
  readonly input?: (() => AsyncIterable<string | Uint8Array>) | undefined;
}

/** The exit status of wrong usage: a command that could not be carried out whatever the database holds. */
const WRONGLY_ASKED = 2;

/**
 * Writes a result to standard output: with `json` its document in one line, otherwise its lines, in which invisible characters are
 * written as code points.
 */
export function printOutput(io: Io, output: Output, json: boolean): void {
  if (json) io.write(`${jsonLine(output.document)}\n`);
  else io.write(output.lines.map((line) => `${visible(line)}\n`).join(''));
}

/** Characters that move the cursor, change the reading order, end a line or are invisible. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Writes what cannot be seen as its code point. */
function visible(line: string): string {
  return line.replaceAll(UNSEEN, (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`);
}

/** A document in one line, in which what cannot be seen is escaped (RFC 8259, section 7): it may be read on a terminal, too. */
function jsonLine(document: object): string {
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(document).replaceAll(UNSEEN, (char) => char.split('').map(escaped).join(''));
}

/**
 * Prints an error as one line, or with `--json` as one JSON document. Messages of this project's own errors hold no secrets.
 * Returns the exit status: `WRONGLY_ASKED`, or 1 when the command was not carried out.
 */
export function printError(io: Io, error: unknown, json: boolean): number {
  const message = messageOf(error);
  io.writeError(json ? `${jsonLine({ error: true, message })}\n` : `mbongo: ${visible(message)}\n`);
  // Checked by its name, so that printing help does not load the use cases.
  return error instanceof Error && error.name === 'UsageError' ? WRONGLY_ASKED : 1;
}

/** What Node.js says when it is so old that it lacks something of its own that the program imports. */
const LACKING = /^The requested module 'node:[a-z/_]+' does not provide an export named/;

/** The first line of an error's message; its code or name if the message is empty. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return 'something that is not an error was thrown';
  if (LACKING.test(error.message)) return `Node.js ${process.versions.node} is too old: install 20.19.4 or newer`;
  const inner: unknown = error instanceof AggregateError ? error.errors[0] : undefined;
  const text = error.message !== '' || inner === undefined ? error.message : messageOf(inner);
  const code = systemCodeOf(error) ?? error.name;
  return (text === '' ? code : text).split('\n', 1)[0] ?? code;
}

/** Rows as lines of aligned columns. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return ['none'];
  // Escaped before the widths are computed, so that the columns align.
  const all = [head, ...rows.map((row) => row.map(visible))];
  const widths = head.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** The values that a record is shown with. */
export type Fields = { readonly [name: string]: string | number | boolean | readonly string[] | null };

/** A record as aligned lines, a field on each. */
export function fieldLines(record: Fields): string[] {
  const width = Math.max(...Object.keys(record).map((name) => name.length));
  return Object.entries(record).map(([name, value]) => {
    const text = Array.isArray(value) ? value.join(', ') : String(value ?? '');
    return `${name.padEnd(width)}  ${text}`.trimEnd();
  });
}

/** A count with its noun: `1 webhook`, `2 webhooks`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** How a page of a list ends: a full page says where the next one begins, so that it is not taken for the whole list. */
export function endOfPage(
  rows: readonly { readonly id: string }[],
  limit: number,
): { readonly next: string | null; readonly lines: readonly string[] } {
  const next = rows.length < limit ? undefined : rows.at(-1)?.id;
  return next === undefined
    ? { next: null, lines: [] }
    : { next, lines: [`There may be more: list them with --after ${next}`] };
}

/** An instant, in milliseconds since 1970, as the wire writes it: ISO 8601 in UTC. */
export function timeOf(instant: number): string;
/** The same of an instant that may be missing: null stays null. */
export function timeOf(instant: number | null): string | null;
/** An instant as the wire writes it; null stays null. */
export function timeOf(instant: number | null): string | null {
  return instant === null ? null : new Date(instant).toISOString();
}
