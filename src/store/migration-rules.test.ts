/**
 * What a migration may do to a database on which the version before is running: add, and nothing else.
 *
 * Invariant: whatever removes, renames or narrows is listed in `CONTRACTED`, with the release whose code has stopped using it.
 */
import { describe, expect, test } from 'vitest';
import { readMigrations } from './migrate.ts';

/** These made the schema of the first release: no earlier version was running on it. */
const FIRST_RELEASE = 6;

/** These, too, widened columns before it, each of several tables. */
const WIDENED = 17;

/** Migrations that remove something on purpose, by file: the release since which nothing uses it any more. */
const CONTRACTED: Readonly<Record<string, string>> = {
  // Wider than before. Code that writes 64 bits still works; statements prepared to read them have to be prepared again, which no
  // version before the first release could do.
  '0016-wide-balances.sql': '0.1.0',
  '0017-wide-closed-days.sql': '0.1.0',
  // The same type and the same values, in another order: no statement of any version orders by them.
  '0022-reference-collation.sql': '0.1.0',
  '0023-batch-reference-collation.sql': '0.1.0',
  '0025-archived-reference-collation.sql': '0.1.0',
  '0026-archived-batch-reference-collation.sql': '0.1.0',
};

/** Makes a column's index anew, or the whole table, and holds the table exclusively meanwhile. */
const REBUILDS = /\balter\s+table\s+([\w.]+)\s+alter\s+(?:column\s+)?\w+\s+(?:set\s+data\s+)?type\b/g;

/** A statement that may fail or mislead code written before it, and what to do instead. */
const NARROWING: readonly (readonly [RegExp, string])[] = [
  [/\bdrop\s+(table|column|schema|view|function|type)\b/, 'a release later, when nothing uses it'],
  [/\brename\b/, 'add the new name, write both, and contract a release later'],
  [/\balter\s+(column\s+)?\w+\s+(set\s+data\s+)?type\b/, 'add a column of the new type'],
  [/\bset\s+not\s+null\b/, 'the version before writes nulls'],
  [/\btruncate\b|\bdelete\s+from\b/, 'a migration is no clean-up'],
  [
    /\badd\s+(column\s+)?(?!constraint\b)\w+\s+[^,;]*\bnot\s+null\b(?![^,;]*\bdefault\b)(?<!default[^,;]*)/,
    'the version before does not name it: give it a default',
  ],
  [
    /\badd\s+constraint\b(?![^;]*\bnot\s+valid\b)/,
    'say not valid, which reads no rows under the lock; validate it later',
  ],
  [
    /\bcreate\s+(unique\s+)?index\s+(?!if\s+not\s+exists\b)\w+\s+on\s+(?!archive\.)/,
    'say if not exists: operators of large tables build it beforehand, concurrently',
  ],
];

/** The faults of a migration, in words. Tables that it makes itself are exempt: no version uses them yet. */
function faultsOf(sql: string): string[] {
  const text = sql.replaceAll(/--[^\n]*/g, ' ').toLowerCase();
  const made = new Set([...text.matchAll(/\bcreate\s+table\s+([\w.]+)/g)].map((match) => match[1]));
  const statements = text.split(';').filter((statement) => {
    const on = /\b(?:alter\s+table|index\s+[\w\s]*?\bon)\s+([\w.]+)/.exec(statement)?.[1];
    return on === undefined || !made.has(on);
  });
  return statements.flatMap((statement) =>
    NARROWING.filter(([pattern]) => pattern.test(statement)).map(
      ([, instead]) => `${statement.trim().replaceAll(/\s+/g, ' ').slice(0, 60)}: ${instead}`,
    ),
  );
}

test('every migration since the first release only adds', () => {
  const later = readMigrations().filter(({ name }) => Number(name.slice(0, 4)) > FIRST_RELEASE);
  expect(later.length).toBeGreaterThan(0);
  const faults = later
    .filter(({ name }) => CONTRACTED[name] === undefined)
    .flatMap(({ name, sql }) => faultsOf(sql).map((fault) => `${name}: ${fault}`));
  expect(faults).toEqual([]);
});

test('a migration that makes an index anew holds no other table meanwhile: the archive may be a hundred times as large', () => {
  const tablesOf = (sql: string) => new Set([...sql.matchAll(REBUILDS)].map((match) => match[1]));
  const later = readMigrations().filter(({ name }) => Number(name.slice(0, 4)) > WIDENED);
  const wide = later.filter(({ sql }) => tablesOf(sql).size > 1).map(({ name }) => name);
  expect(wide).toEqual([]);
});

describe('the rule', () => {
  test.each([
    'drop table payment;',
    'alter table payment drop column reason;',
    'alter table payment rename column reason to why;',
    'alter table payment alter column reason type varchar;',
    'alter table payment alter column reason set not null;',
    'alter table payment add column channel text not null;',
    'alter table payment add constraint some_check check (amount_minor > 1);',
    'create index payment_by_carrier on payment (carrier);',
    'delete from payment;',
  ])('refuses %s', (sql) => {
    expect(faultsOf(sql)).toHaveLength(1);
  });

  test.each([
    'create table dispute (id text primary key, reason text not null);\ncreate index dispute_open on dispute (reason);',
    'alter table payment add column channel text;',
    "alter table payment add column channel text not null default 'app';",
    'alter table payment add constraint some_check check (amount_minor > 1) not valid;',
    'create index if not exists payment_by_carrier on payment (carrier);',
    '-- drop table payment;\ncreate schema other;',
  ])('lets %s pass', (sql) => {
    expect(faultsOf(sql)).toEqual([]);
  });
});
