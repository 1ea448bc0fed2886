/**
 * `mbongo reconcile FILE`: matches an upstream's statement with our attempts and the ledger.
 *
 * Invariant: it writes nothing but the report that was asked for, and overwrites no file. A report gets its name only when it
 * is complete. Exit status 1 says that something does not match.
 */

import { access, link, rename, unlink } from 'node:fs/promises';
import { CONNECTORS } from '../connectors/registry.ts';
import { type Currency, isCurrency } from '../domain/currency.ts';
import { formatMinor } from '../domain/money.ts';
import { systemCodeOf } from '../platform/system-code.ts';
import { UsageError } from '../usecases/operator-error.ts';
import { type Reconciled, reconcile } from '../usecases/reconcile.ts';
import { type Matched, VERDICTS } from '../usecases/reconcile-match.ts';
import { isThereAlready, openNewFile } from './new-file.ts';
import { readTime } from './options.ts';
import { counted, type Output, table, timeOf } from './output.ts';
import { readStatement, requireStatementFile } from './statement-file.ts';
import type { Tools } from './tools.ts';

/**
 * The options of `mbongo reconcile`. `from` and `to`: the span of the statement, by default its first and last date; `to` is not
 * included. `report`: a new CSV file for every verdict.
 */
export interface ReconcileOptions {
  readonly connector: string;
  readonly from?: string;
  readonly to?: string;
  readonly report?: string;
}

/** 20 differences at most are printed; the report has all. */
const MAX_SHOWN = 20;
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

/**
 * Compares the statement in `file` with our attempts and the ledger:
 * `{agrees, file, connector, from, to, lines, verdicts, totals, differences, report}`. `verdicts` counts each verdict,
 * `differences` are the first `MAX_SHOWN`. The output has `failed` if something does not match.
 *
 * @throws UsageError for an unknown connector or a malformed time; OperatorError when the file is no statement, or the report
 *   exists or cannot be written.
 */
export async function reconcileFile({ deps }: Tools, file: string, options: ReconcileOptions): Promise<Output> {
  const { connector, from, to, report } = options;
  if (!CONNECTORS.includes(connector)) {
    throw new UsageError(`no connector is called ${JSON.stringify(connector)}: there is ${CONNECTORS.join(', ')}`);
  }
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
      if (matched.verdict !== 'matched' && shown.length < MAX_SHOWN) shown.push(row);
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
    reference: theirs?.reference ?? ours?.key ?? '',
    attempt_id: ours?.id ?? '',
    transaction_id: ours?.transactionId ?? '',
    currency: theirs?.currency ?? ours?.currency ?? '',
    their_amount: theirs === undefined ? '' : formatMinor(theirs.amountMinor, theirs.currency),
    our_amount: ours === undefined ? '' : amountOf(ours.amountMinor, ours.currency, theirs?.currency),
    their_status: theirs?.upstreamStatus ?? '',
    our_status: ours?.status ?? '',
    date: theirs?.at === undefined ? '' : timeOf(theirs.at),
    provider_reference: theirs?.providerReference ?? ours?.providerReference ?? '',
  };
}

/** Our amount, with its currency if the statement's is another. */
function amountOf(minor: bigint, currency: Currency, theirs: Currency | undefined): string {
  const amount = formatMinor(minor, currency);
  return theirs === undefined || theirs === currency ? amount : `${amount} ${currency}`;
}

interface ReportWriter {
  write(row: Row): Promise<void>;
  close(): Promise<void>;
  /** Removes the unfinished report. */
  discard(): Promise<void>;
}

/** 1000 rows are written at a time, so that a report of a million lines needs little memory. */
const BATCH = 1_000;

async function openReport(path: string): Promise<ReportWriter> {
  const { stringify } = await import('csv-stringify/sync');
  await requireNew(path);
  const unfinished = `${path}.${process.pid}.unfinished`;
  const file = await openNewFile(unfinished, path);
  let waiting: Row[] = [];
  const flush = async (): Promise<void> => {
    // Formulas are escaped: the values come from outside, and people open reports in spreadsheets.
    const text = stringify(waiting, { columns: [...COLUMNS], escape_formulas: true, record_delimiter: '\r\n' });
    waiting = [];
    // Not `write`, which on a full disk may write only a part without an error.
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

/** Refuses an existing file before anything is matched, so that the operator does not wait in vain. */
async function requireNew(path: string): Promise<void> {
  const isThere = await access(path).then(
    () => true,
    () => false,
  );
  if (isThere) throw isThereAlready(path);
}

/** Names the report by a link, which never overwrites a file made meanwhile; without links, checks the name and renames. */
async function giveName(unfinished: string, path: string): Promise<void> {
  try {
    await link(unfinished, path);
  } catch (error) {
    if (systemCodeOf(error) === 'EEXIST') throw isThereAlready(path);
    await requireNew(path);
    return rename(unfinished, path);
  }
  await unlink(unfinished);
}

function outputOf(file: string, options: ReconcileOptions, result: Reconciled, shown: readonly Row[]): Output {
  const { connector, report } = options;
  const { counts, lines, agrees } = result;
  const totals = result.totals.map(({ currency, statementMinor, attemptsMinor, isBooked, outsideMinor }) => ({
    currency,
    statement: totalOf(statementMinor, currency),
    attempts: totalOf(attemptsMinor, currency),
    booked: isBooked,
    outside: totalOf(outsideMinor, currency),
  }));
  const outside = totals.filter((_, at) => result.totals[at]?.outsideMinor !== 0n);
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
    `${counted(lines, 'line')} from ${document.from} to ${document.to}: ${agrees ? 'everything matches' : 'not everything matches'}`,
    ...table(
      ['verdict', 'count'],
      VERDICTS.map((verdict) => [verdict, String(counts[verdict])]),
    ),
    ...table(
      ['currency', 'statement', 'attempts', 'ledger'],
      totals.map((one) => [one.currency, one.statement, one.attempts, one.booked ? 'the same' : 'DIFFERS']),
    ),
    ...outside.map((one) => {
      return `${one.outside} ${one.currency} of what matches ended here before or after that span, and is not in our sums: --from and --to widen it`;
    }),
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
