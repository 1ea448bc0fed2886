/**
 * `mbongo reconcile FILE`: matches an upstream's statement with what we have.
 *
 * Invariant: it changes nothing but the report that it was asked for, and writes over no file. A report has its name when it
 * is whole, and not before. Exit status 1 says that something does not match.
 */

import { access, type FileHandle, link, open, rename, unlink } from 'node:fs/promises';
import { type Currency, isCurrency } from '../domain/currency.ts';
import { formatMinor } from '../domain/money.ts';
import { OperatorError } from '../usecases/operator.ts';
import { type Matched, type Reconciled, reconcile, VERDICTS } from '../usecases/reconcile.ts';
import { readTime } from './options.ts';
import { type Output, table, timeOf } from './output.ts';
import { readStatement, requireStatementFile } from './statement-file.ts';
import type { Tools } from './tools.ts';

export interface ReconcileOptions {
  readonly connector: string;
  readonly from?: string;
  readonly to?: string;
  readonly report?: string;
}

/** So many differences are shown; the report has all. */
const MOST_SHOWN = 20;
const COLUMNS = [
  'verdict',
  'line',
  'reference',
  'attempt_id',
  'transaction_id',
  'currency',
  'their_amount',
  'our_amount',
  'their_status',
  'our_status',
  'date',
  'provider_reference',
] as const;
type Row = Readonly<Record<(typeof COLUMNS)[number], string>>;

export async function reconcileFile({ deps }: Tools, file: string, options: ReconcileOptions): Promise<Output> {
  const { connector, from, to, report } = options;
  const statement = {
    connector,
    read: () => readStatement(file),
    from: from === undefined ? undefined : readTime(from),
    to: to === undefined ? undefined : readTime(to),
  };
  await requireStatementFile(file);
  const shown: Row[] = [];
  const writer = report === undefined ? undefined : await openReport(report);
  try {
    const result = await reconcile(deps, statement, async (matched) => {
      const row = rowOf(matched);
      if (matched.verdict !== 'matched' && shown.length < MOST_SHOWN) shown.push(row);
      await writer?.write(row);
    });
    await writer?.close();
    return outputOf(file, options, result, shown);
  } catch (error) {
    await writer?.discard();
    throw error;
  }
}

function rowOf({ verdict, theirs, ours }: Matched): Row {
  return {
    verdict,
    line: theirs === undefined ? '' : String(theirs.line),
    reference: theirs?.reference ?? ours?.reference ?? '',
    attempt_id: ours?.id ?? '',
    transaction_id: ours?.transactionId ?? '',
    currency: theirs?.currency ?? ours?.currency ?? '',
    their_amount: theirs === undefined ? '' : formatMinor(theirs.amountMinor, theirs.currency),
    our_amount: ours === undefined ? '' : amountOf(ours.amountMinor, ours.currency, theirs?.currency),
    their_status: theirs?.word ?? '',
    our_status: ours?.status ?? '',
    date: theirs?.at === undefined ? '' : timeOf(theirs.at),
    provider_reference: theirs?.providerReference ?? ours?.providerReference ?? '',
  };
}

/** With its currency, where that is another one than theirs. */
function amountOf(minor: bigint, currency: Currency, theirs: Currency | undefined): string {
  const amount = formatMinor(minor, currency);
  return theirs === undefined || theirs === currency ? amount : `${amount} ${currency}`;
}

interface ReportWriter {
  write(row: Row): Promise<void>;
  close(): Promise<void>;
  /** What could not be finished is not left lying about. */
  discard(): Promise<void>;
}

/** Rows leave in batches: a report of a million lines is written in little memory. */
const BATCH = 1_000;

async function openReport(path: string): Promise<ReportWriter> {
  const { stringify } = await import('csv-stringify/sync');
  await requireNew(path);
  const unfinished = `${path}.${process.pid}.unfinished`;
  const file = await openNew(unfinished);
  let waiting: Row[] = [];
  const flush = async (): Promise<void> => {
    // Formulas are escaped: the values come from elsewhere, and people open reports in spreadsheets.
    const text = stringify(waiting, { columns: [...COLUMNS], escape_formulas: true, record_delimiter: '\r\n' });
    waiting = [];
    // Not `write`, which may write a part where a disk is full, and says so to nobody.
    await file.appendFile(text);
  };
  await file.appendFile(`${COLUMNS.join(',')}\r\n`);
  return {
    async write(row) {
      waiting.push(row);
      if (waiting.length >= BATCH) await flush();
    },
    async close() {
      await flush();
      await file.close();
      await giveName(unfinished, path);
    },
    async discard() {
      await file.close();
      await unlink(unfinished);
    },
  };
}

/** Before anything is matched, so that nobody waits in vain. */
async function requireNew(path: string): Promise<void> {
  const isThere = await access(path).then(
    () => true,
    () => false,
  );
  if (isThere) throw isThereAlready(path);
}

async function openNew(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx', 0o600);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw isThereAlready(path);
    throw new OperatorError(`${path} cannot be written: name a file in a folder of yours`);
  }
}

/** A link writes over nobody's file that was made meanwhile; a file system without links has the name looked at first. */
async function giveName(unfinished: string, path: string): Promise<void> {
  try {
    await link(unfinished, path);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw isThereAlready(path);
    await requireNew(path);
    return rename(unfinished, path);
  }
  await unlink(unfinished);
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

function isThereAlready(path: string): OperatorError {
  return new OperatorError(`${path} is there already: name a file that is not`);
}

function outputOf(file: string, options: ReconcileOptions, result: Reconciled, shown: readonly Row[]): Output {
  const { connector, report } = options;
  const { counts, lines, agrees } = result;
  const totals = result.totals.map(({ currency, statementMinor, attemptsMinor, isBooked }) => ({
    currency,
    statement: totalOf(statementMinor, currency),
    attempts: totalOf(attemptsMinor, currency),
    booked: isBooked,
  }));
  const document = {
    agrees,
    file,
    connector,
    from: timeOf(result.from),
    to: timeOf(result.to),
    lines,
    verdicts: counts,
    totals,
    differences: shown,
    report: report ?? null,
  };
  const different = VERDICTS.filter((verdict) => verdict !== 'matched').reduce((sum, name) => sum + counts[name], 0);
  const text = [
    `${lines} lines from ${document.from} to ${document.to}: ${agrees ? 'everything matches' : 'not everything matches'}`,
    ...table(
      ['verdict', 'count'],
      VERDICTS.map((verdict) => [verdict, String(counts[verdict])]),
    ),
    ...table(
      ['currency', 'statement', 'attempts', 'ledger'],
      totals.map((one) => [one.currency, one.statement, one.attempts, one.booked ? 'the same' : 'DIFFERS']),
    ),
    ...(shown.length === 0 ? [] : differencesOf(shown)),
    ...(different > shown.length ? [`${different - shown.length} more; --report writes all of them`] : []),
  ];
  return { document, lines: text, ...(agrees ? {} : { failed: true as const }) };
}

function differencesOf(shown: readonly Row[]): string[] {
  const columns = [
    'verdict',
    'line',
    'reference',
    'transaction_id',
    'their_amount',
    'our_amount',
    'their_status',
    'our_status',
  ] as const;
  return table(
    columns,
    shown.map((row) => columns.map((column) => row[column])),
  );
}

function totalOf(minor: bigint, currency: string): string {
  return isCurrency(currency) ? formatMinor(minor, currency) : String(minor);
}
