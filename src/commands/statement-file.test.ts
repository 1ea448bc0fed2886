/** A statement file is read as a whole, or refused with the line and the column that cannot be read. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { UpstreamLine } from '../usecases/reconcile-match.ts';
import { readStatement, requireStatementFile } from './statement-file.ts';

let folder: string;
let files = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mbongo-statement-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function fileOf(content: string | Uint8Array): Promise<string> {
  files += 1;
  const path = join(folder, `${files}.csv`);
  await writeFile(path, content);
  return path;
}

async function read(content: string | Uint8Array): Promise<UpstreamLine[]> {
  const path = await fileOf(content);
  await requireStatementFile(path);
  const lines: UpstreamLine[] = [];
  for await (const line of readStatement(path)) lines.push(line);
  return lines;
}

const HEAD = 'reference,amount,currency,status,date,provider_reference';

test('a date covers its whole day, a time only its millisecond, with a large or a small T', async () => {
  const dates = ['2026-11-20', '2026-11-20T10:00:00Z', '2026-11-20t10:00:00z'];
  const lines = await read([HEAD, ...dates.map((date, at) => `r-${at},1.00,usd,paid,${date},`)].join('\n'));
  expect(lines.map(({ at = 0, until = 0 }) => until - at)).toEqual([86_400_000, 1, 1]);
});

test('columns are found by name, in any order, and others are ignored', async () => {
  const lines = await read(
    '\uFEFFStatus, Currency ,note,PROVIDER_REFERENCE,amount,date,reference\r\n' +
      'SUCCESSFUL,USD,"said ""yes""\nand left",42,12.50,2026-11-20,r-1\r\n\r\n' +
      'TIMEOUT,xof,,,100,2026-11-20T10:00:00Z,r-2',
  );
  expect(lines).toEqual([
    {
      line: 3,
      reference: 'r-1',
      amountMinor: 1250n,
      currency: 'usd',
      status: 'paid',
      upstreamStatus: 'SUCCESSFUL',
      at: Date.UTC(2026, 10, 20),
      until: Date.UTC(2026, 10, 21),
      providerReference: '42',
    },
    {
      line: 5,
      reference: 'r-2',
      amountMinor: 100n,
      currency: 'xof',
      status: 'not_paid',
      upstreamStatus: 'TIMEOUT',
      at: Date.UTC(2026, 10, 20, 10),
      until: Date.UTC(2026, 10, 20, 10) + 1,
      providerReference: undefined,
    },
  ]);
});

test('decimal zeros that a currency does not have are accepted', async () => {
  const lines = await read(`${HEAD}\nr,100.00,xof,paid,,\nr,1.500,usd,paid,,`);
  expect(lines.map(({ amountMinor }) => amountMinor)).toEqual([100n, 150n]);
});

test('what has moved no money may have none', async () => {
  const lines = await read(`${HEAD}\nr,0.00,usd,declined,,\nr,0,xof,Timeout,,`);
  expect(lines.map(({ amountMinor }) => amountMinor)).toEqual([0n, 0n]);
});

test('a UUID is the same in upper case; another reference is not', async () => {
  const uuid = '5f2c1c36-8a41-4c43-9b0f-0d6f4a7be1c2';
  const lines = await read(`${HEAD}\n${uuid.toUpperCase()},1.00,usd,paid,,\nR-1,1.00,usd,paid,,`);
  expect(lines.map(({ reference }) => reference)).toEqual([uuid, 'R-1']);
});

test('a statement without lines is valid if it has its header', async () => {
  expect(await read(`${HEAD}\n`)).toEqual([]);
});

const GOOD = 'r,1.00,usd,paid,2026-11-20,';

test.each<[string, string | Uint8Array, RegExp]>([
  ['an empty file', '', /is empty: a statement has at least a line of column names/],
  ['blank lines', '\n\n', /is empty/],
  ['no such column', `reference,amount,status\n${GOOD}`, /line 1: missing columns: currency; found: "reference"/],
  [
    'semicolons',
    `${HEAD.replaceAll(',', ';')}\n`,
    /line 1: missing columns: .*; found: .*\. Separate columns with commas$/,
  ],
  ['a column twice', `${HEAD},amount\n`, /line 1: the column amount occurs twice/],
  ['no reference', `${HEAD}\n${GOOD}\n,1.00,usd,paid,,\n`, /line 3, column reference: "" is not a reference/],
  ['no amount', `${HEAD}\nr,1,50,usd,paid,2026\n`, /line 2, column currency: "50" is not a currency/],
  ['an amount with a sign', `${HEAD}\nr,-1.00,usd,paid,,\n`, /line 2, column amount: "-1\.00" is not an amount in usd/],
  [
    'a fraction that a currency has not',
    `${HEAD}\nr,100.50,xof,paid,,\n`,
    /is not an amount in xof: write it like 1250,/,
  ],
  ['too many digits', `${HEAD}\nr,1.005,usd,paid,,\n`, /line 2, column amount/],
  ['nothing paid', `${HEAD}\nr,0.00,usd,paid,,\n`, /line 2, column amount/],
  ['nothing open', `${HEAD}\nr,0.00,usd,pending,,\n`, /line 2, column amount/],
  ['another currency', `${HEAD}\nr,1.00,gbp,paid,,\n`, /line 2, column currency: "gbp" is not a currency/],
  [
    'an unknown word',
    `${HEAD}\nr,1.00,usd,maybe,,\n`,
    /line 2, column status: "maybe" is not a status: use one of succ/,
  ],
  ['a date of another form', `${HEAD}\nr,1.00,usd,paid,20/11/2026,\n`, /line 2, column date: .* is not a time/],
  ['a day that is not', `${HEAD}\nr,1.00,usd,paid,2026-13-01,\n`, /line 2, column date/],
  ['a missing cell', `${HEAD}\n${GOOD}\nr,1.00,usd\n`, /line 3: it must have 6 columns, like the first line$/],
  ['an open quotation mark', `${HEAD}\n"r,1.00,usd,paid,,\n${GOOD}`, /line \d: a quotation mark is not closed/],
  ['one inside a value', `${HEAD}\nr"x,1.00,usd,paid,,\n`, /line 2: a value contains a quotation mark/],
  ['a line without end', `${HEAD}\n${'x'.repeat(70_000)}`, /line 2: it is longer than 64 KiB/],
  [
    'a long cell',
    `${HEAD}\n${'x'.repeat(300)},1.00,usd,paid,,\n`,
    /line 2, column reference: more than 200 characters/,
  ],
  ['Latin-1', Buffer.from(`${HEAD}\n${GOOD}\né,1.00,usd,paid,,\n`, 'latin1'), /line 3: this is not UTF-8 text/],
  ['UTF-16', Buffer.from(`\uFEFF${HEAD}\n${GOOD}`, 'utf16le'), /line 1: this is not UTF-8 text/],
  ['a spreadsheet', Buffer.from('PK\x03\x04\x14\x00\x06\x00', 'latin1'), /line 1: this is not UTF-8 text/],
  ['half a character', Buffer.concat([Buffer.from(`${HEAD}\n${GOOD}`), Buffer.of(0xc3)]), /this is not UTF-8 text/],
])('%s is refused, with its place', async (_name, content, message) => {
  await expect(read(content)).rejects.toThrow(message);
  await expect(read(content)).rejects.toMatchObject({ name: 'OperatorError' });
});

test('a file that does not exist and a folder are refused before anything is read', async () => {
  await expect(requireStatementFile(join(folder, 'none.csv'))).rejects.toThrow(/is not a file that can be read/);
  await expect(requireStatementFile(folder)).rejects.toThrow(/is not a file that can be read/);
});

test('a character that the end of a chunk cuts in two is read whole', async () => {
  const filler = Array.from({ length: 4_000 }, (_, n) => `é€🙂${n},1.00,usd,paid,,`).join('\n');
  for (const shift of ['', 'x', 'xx', 'xxx']) {
    expect(await read(`${HEAD}\n${shift}${filler}\n`)).toHaveLength(4_000);
  }
});

test('what a CSV writer writes is read back unchanged', async () => {
  const cell = fc
    .string({ unit: 'binary', minLength: 1, maxLength: 40 })
    .filter((text) => text === text.trim() && !text.includes('\0'));
  await fc.assert(
    fc.asyncProperty(fc.array(cell, { minLength: 1, maxLength: 20 }), async (references) => {
      const rows = references.map((reference) => [reference, '1.00', 'usd', 'paid', '', '']);
      const lines = await read(`${HEAD}\n${stringify(rows, { quoted: true })}`);
      expect(lines.map(({ reference }) => reference)).toEqual(references);
    }),
    { numRuns: 50 },
  );
});
