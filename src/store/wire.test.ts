/** What is written is read back: encoding by the catalogue's types, decoding from PostgreSQL's text. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { columnList } from './columns.ts';
import { rowReader, rowWriter, updateWriter } from './row-codec.ts';
import { encodeArray, isStorable, layoutOf } from './wire.ts';

const full = { shard: 7, amount_minor: 5n, name: 'x', floored: true, at: 0, settings: { a: [1, null, 'é'] } };
const columns = columnList<typeof full>({
  shard: 'int2',
  amount_minor: 'int8',
  name: 'text',
  floored: 'bool',
  at: 'timestamptz',
  settings: 'jsonb',
});

const encodeRow = rowWriter(layoutOf(columns, new Set(columns.map(({ name }) => name))));
const decodeRow = rowReader(columns);
const guard = layoutOf(columns, new Set(['shard'])).fields;
const decodeInstant = rowReader(columnList<{ readonly at: number }>({ at: 'timestamptz' }));

test('a row is an array element, its fields in column order', () => {
  expect(encodeRow(full)).toBe('"(7,5,x,t,1970-01-01T00:00:00.000Z,\\"{\\"\\"a\\"\\":[1,null,\\"\\"é\\"\\"]}\\")"');
  expect(encodeRow(Object.fromEntries(columns.map(({ name }) => [name, null])))).toBe('"(,,,,,)"');
});

test('columns that are not written leave their positions empty', () => {
  const some = layoutOf(columns, new Set(['name', 'at']), 1);
  expect(updateWriter(guard, some)({ shard: 7, row: full })).toBe('"(7,,x,,1970-01-01T00:00:00.000Z,)"');
  const none = layoutOf(columns, new Set(), 1);
  expect(updateWriter(guard, none)({ shard: 7, row: full })).toBe('"(7,,,,,)"');
});

test('a value that is not text is refused: a NUL, and half a surrogate pair', () => {
  for (const name of ['\u0000', 'a\u0000b', '\ud83d', 'x\ude00']) {
    expect(() => encodeRow({ ...full, name })).toThrow('a text cannot be written');
  }
});

test('a value of another type than its column is refused, and not quoted', () => {
  const wrong = [{ name: 5 }, { amount_minor: 5 }, { shard: 'secret' }, { floored: 'secret' }, { at: 'secret' }];
  for (const part of wrong) {
    expect(() => encodeRow({ ...full, ...part })).toThrow(/^column \w+ is [\w ]+ and cannot hold a \w+$/);
  }
});

test('instants are read in UTC to the millisecond, with or without a fraction', () => {
  fc.assert(
    fc.property(fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true }), (date) => {
      const text = date
        .toISOString()
        .replace('T', ' ')
        .replace(/\.?0*Z$/, '+00');
      const whole = date.getUTCMilliseconds() === 0 ? `${date.toISOString().slice(0, 19).replace('T', ' ')}+00` : text;
      expect(decodeInstant([whole])).toEqual({ at: date.getTime() });
    }),
  );
});

test('an instant in another form is an error, and never read as another time', () => {
  for (const text of ['2026-11-20 14:32:44+02', 'infinity', '2026/11/20 14:32:44+00', '10000-01-01 00:00:00+00']) {
    expect(() => decodeInstant([text])).toThrow(RangeError);
  }
});

test('rows are decoded by the types of their columns', () => {
  const texts = ['7', '9223372036854775807', 'x', 'f', '2026-11-20 12:00:00.12+00', '{"a":[1]}'];
  expect(decodeRow(texts)).toEqual({
    shard: 7,
    amount_minor: 9_223_372_036_854_775_807n,
    name: 'x',
    floored: false,
    at: Date.UTC(2026, 10, 20, 12, 0, 0, 120),
    settings: { a: [1] },
  });
});

test('an array parameter quotes every text', () => {
  expect(encodeArray([1, 63])).toBe('{1,63}');
  expect(encodeArray(['a', '', 'NULL', '"\\,{}'])).toBe('{"a","","NULL","\\"\\\\,{}"}');
  expect(isStorable('a\u0000')).toBe(false);
});
