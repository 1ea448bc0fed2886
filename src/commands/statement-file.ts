/**
 * Reads an upstream's statement: a CSV file (RFC 4180, UTF-8) with a line of column names, in any order.
 *
 * Invariant: a file of any size is read in little memory. An error is one sentence that names the line and the column; nothing
 * is guessed. Unknown columns are not kept.
 */

import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline, Transform } from 'node:stream';
import { CsvError, type Info, parse } from 'csv-parse';
import { type Currency, isCurrency } from '../domain/currency.ts';
import { DAY_MS } from '../domain/durations.ts';
import { formatMinor, parsePaddedAmount } from '../domain/money.ts';
import { OperatorError } from '../usecases/operator-error.ts';
import type { UpstreamLine, UpstreamLineStatus } from '../usecases/reconcile-match.ts';
import { readTime } from './options.ts';

const REQUIRED = ['reference', 'amount', 'currency', 'status'] as const;
const OPTIONAL = ['date', 'provider_reference'] as const;
type Column = (typeof REQUIRED)[number] | (typeof OPTIONAL)[number];
type Cells = { readonly [column in Column]?: string };

/** Upstreams' words for each status, ignoring case; blanks, hyphens and underscores are equal. */
const WORDS: Readonly<Record<UpstreamLineStatus, readonly string[]>> = {
  // An order that was given back, or is disputed, was paid; what was charged back is not any more.
  paid: [
    'successful',
    'success',
    'completed',
    'paid',
    'approved',
    'captured',
    'settled',
    'partially_refunded',
    'refunded',
    'disputed',
    'excessively_refunded',
    'partially_captured',
  ],
  not_paid: [
    'failed',
    'failure',
    'declined',
    'rejected',
    'cancelled',
    'canceled',
    'expired',
    'timeout',
    'not_paid',
    'chargeback_processed',
    'authentication_unsuccessful',
  ],
  open: [
    'pending',
    'processing',
    'created',
    'ongoing',
    'open',
    'authorized',
    'authenticated',
    'authentication_initiated',
    'authentication_not_needed',
  ],
};
const STATUSES = new Map(
  Object.entries(WORDS).flatMap(([status, words]) => words.map((word) => [word, status as UpstreamLineStatus])),
);

const MAX_BYTES = 512 * 1024 * 1024;
const MAX_LINES = 2_000_000;
/** 64 KiB: longer lines are not lines of a statement, and are refused before they are read to the end. */
const MAX_LINE_LENGTH = 64 * 1024;
const MAX_CELL_LENGTH = 200;
const NEWLINE = 0x0a;

/** Requires a file that can be a statement: it exists, and is neither empty nor too large. @throws OperatorError */
export async function requireStatementFile(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined || !found.isFile()) throw new OperatorError(`${path} is not a file that can be read`);
  if (found.size === 0) throw new OperatorError(`${path} is empty: a statement has at least a line of column names`);
  if (found.size > MAX_BYTES) throw new OperatorError(`${path} is larger than 512 MiB: split it, for example by day`);
}

/** The lines of the file, from its beginning. @throws OperatorError that names line and column. */
export async function* readStatement(path: string): AsyncGenerator<UpstreamLine> {
  let header: readonly string[] = [];
  const parser = parse({
    bom: true,
    columns: (names: string[]) => {
      header = names.map((name) => name.trim().toLowerCase());
      requireColumns(path, header);
      return header.map((name) => (isColumn(name) ? name : false));
    },
    info: true,
    max_record_size: MAX_LINE_LENGTH,
    record_delimiter: ['\r\n', '\n', '\r'],
    skip_empty_lines: true,
    trim: true,
  });
  // An error anywhere in the pipeline destroys the parser, and so is thrown where the parser is read.
  pipeline(createReadStream(path), requireUtf8(path), parser, () => undefined);
  let lines = 0;
  try {
    for await (const { info, record } of parser as AsyncIterable<{ info: Info; record: Cells }>) {
      lines += 1;
      if (lines > MAX_LINES)
        throw new OperatorError(`${path} has more than 2 000 000 lines: split it, for example by day`);
      yield lineOf(path, info.lines, record);
    }
  } catch (error) {
    throw sayWhere(path, error, header.length);
  }
  if (header.length === 0) throw new OperatorError(`${path} is empty: a statement has at least a line of column names`);
}

function isColumn(name: string): name is Column {
  return [...REQUIRED, ...OPTIONAL].some((known) => known === name);
}

function requireColumns(path: string, header: readonly string[]): void {
  const missing = REQUIRED.filter((name) => !header.includes(name));
  if (missing.length > 0) {
    const there = header.slice(0, 12).map((name) => JSON.stringify(name.slice(0, 40)));
    throw new OperatorError(
      `${path}, line 1: missing columns: ${missing.join(', ')}; found: ${there.join(', ')}. Separate columns with commas`,
    );
  }
  const twice = header.find((name, at) => isColumn(name) && header.indexOf(name) !== at);
  if (twice !== undefined) throw new OperatorError(`${path}, line 1: the column ${twice} occurs twice`);
}

function lineOf(path: string, line: number, cells: Cells): UpstreamLine {
  const wrong = (column: Column, what: string): OperatorError =>
    new OperatorError(`${path}, line ${line}, column ${column}: ${JSON.stringify(cells[column] ?? '')} ${what}`);
  for (const column of [...REQUIRED, ...OPTIONAL]) {
    if ((cells[column] ?? '').length > MAX_CELL_LENGTH) {
      throw new OperatorError(`${path}, line ${line}, column ${column}: more than ${MAX_CELL_LENGTH} characters`);
    }
  }
  const { reference = '', amount = '', status = '', date = '' } = cells;
  if (reference === '') throw wrong('reference', 'is not a reference');
  const currency = (cells.currency ?? '').toLowerCase();
  if (!isCurrency(currency)) throw wrong('currency', 'is not a currency of this gateway');
  const meaning = STATUSES.get(status.toLowerCase().replaceAll(/[\s_-]+/g, '_'));
  const amountMinor = meaning === 'not_paid' && NOTHING.test(amount) ? 0n : parsePaddedAmount(amount, currency)?.minor;
  if (amountMinor === undefined) throw wrong('amount', `is not an amount in ${currency}: ${exampleIn(currency)}`);
  if (meaning === undefined) throw wrong('status', `is not a status: use one of ${[...STATUSES.keys()].join(', ')}`);
  return {
    line,
    reference: UUID.test(reference) ? reference.toLowerCase() : reference,
    amountMinor,
    currency,
    status: meaning,
    upstreamStatus: status,
    ...(date === '' ? { at: undefined, until: undefined } : timesOf(instantOf(date, wrong), date)),
    providerReference: cells.provider_reference === '' ? undefined : cells.provider_reference,
  };
}

function exampleIn(currency: Currency): string {
  const example = formatMinor(parsePaddedAmount('1250', currency)?.minor ?? 0n, currency);
  return `write it like ${example}, without signs`;
}

/** A date without a time covers its whole day. */
function timesOf(at: number, date: string): { at: number; until: number } {
  return { at, until: at + (/t/i.test(date) ? 1 : DAY_MS) };
}

function instantOf(date: string, wrong: (column: Column, what: string) => OperatorError): number {
  try {
    return readTime(date);
  } catch {
    throw wrong('date', 'is not a time: write it like 2026-03-01T08:00:00Z or 2026-03-01');
  }
}

/** How some upstreams write what has moved no money. */
const NOTHING = /^0+(\.0+)?$/;
/** Upper case and lower case are the same in it (RFC 9562 §4); ours are in lower case. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Passes bytes on as long as they are UTF-8 text, which spreadsheet files and other encodings are not. */
function requireUtf8(path: string): Transform {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let line = 1;
  const check = (bytes: Uint8Array | undefined): Error | undefined => {
    try {
      decoder.decode(bytes, { stream: bytes !== undefined });
      return bytes?.includes(0) === true
        ? notText(path, line + newlinesIn(bytes.subarray(0, bytes.indexOf(0))))
        : undefined;
    } catch {
      return notText(path, line + (bytes === undefined ? 0 : goodLinesOf(bytes)));
    }
  };
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const wrong = check(chunk);
      if (wrong !== undefined) return done(wrong);
      line += newlinesIn(chunk);
      done(null, chunk);
    },
    flush: (done) => done(check(undefined)),
  });
}

function notText(path: string, line: number): OperatorError {
  return new OperatorError(`${path}, line ${line}: this is not UTF-8 text: save the statement as CSV in UTF-8`);
}

function newlinesIn(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) count += 1;
  return count;
}

/** How many whole lines precede the one that is not UTF-8. */
function goodLinesOf(bytes: Uint8Array): number {
  let lines = 0;
  // The first bytes may be the end of a character that began in the previous chunk.
  for (let from = bytes.findIndex((byte) => (byte & 0xc0) !== 0x80); from < bytes.length; lines += 1) {
    const end = bytes.indexOf(NEWLINE, from);
    if (end < 0 || !isText(bytes.subarray(from, end))) return lines;
    from = end + 1;
  }
  return lines;
}

function isText(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** The parser's error as a sentence that names the line; other errors are returned unchanged. */
function sayWhere(path: string, error: unknown, columns: number): unknown {
  if (!(error instanceof CsvError)) return error;
  const { lines } = error;
  const line = typeof lines === 'number' ? lines : 1;
  return new OperatorError(`${path}, line ${line}: ${whatIsWrong(error.code, columns)}`);
}

function whatIsWrong(code: string, columns: number): string {
  switch (code) {
    case 'CSV_RECORD_INCONSISTENT_COLUMNS':
    case 'CSV_RECORD_INCONSISTENT_FIELDS_LENGTH':
      return `it must have ${columns} columns, like the first line`;
    case 'CSV_QUOTE_NOT_CLOSED':
      return 'a quotation mark is not closed';
    case 'CSV_INVALID_CLOSING_QUOTE':
    case 'INVALID_OPENING_QUOTE':
    case 'CSV_NON_TRIMABLE_CHAR_AFTER_CLOSING_QUOTE':
      return 'a value contains a quotation mark: double it, and put the value between quotation marks';
    case 'CSV_MAX_RECORD_SIZE':
      return 'it is longer than 64 KiB: perhaps a quotation mark is not closed';
    default:
      return 'it is not CSV';
  }
}
