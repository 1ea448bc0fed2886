import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { asDocumented } from '../documented.ts';
import { fieldOf, shapesOf } from './fields.ts';

const read = (schema: object) => fieldOf('x', asDocumented(schema), false);

describe('a field', () => {
  test.each([
    ['a text', Type.String({ minLength: 1, maxLength: 255 }), 'string', '1 to 255 characters'],
    ['a text of some length', Type.String({ minLength: 10 }), 'string', 'at least 10 characters'],
    ['a number', Type.Integer({ minimum: 0, maximum: 100 }), 'integer', '0 to 100'],
    ['a list', Type.Array(Type.String(), { maxItems: 366 }), 'array of strings', 'at most 366 entries'],
    ['a day', Type.String({ format: 'date' }), 'date string', ''],
    ['a list of days', Type.Array(Type.String({ format: 'date' })), 'array of date strings', ''],
    ['a text or nothing', Type.Union([Type.String(), Type.Null()]), 'string or null', ''],
    ['one of two kinds', Type.Union([Type.String(), Type.Integer()]), 'string or integer', ''],
    ['what another field decides', Type.Union([Type.Boolean(), Type.Unknown()]), 'boolean', ''],
    ['anything', Type.Unknown(), 'any', ''],
    ['the OpenAPI document’s own', { type: ['string', 'null'] }, 'string or null', ''],
    ['a file', { contentMediaType: 'application/octet-stream' }, 'file', ''],
  ])('knows %s', (_name, schema, form, limits) => {
    expect(read(schema)).toMatchObject({ form, limits, options: [], fields: [] });
  });

  test('lists the allowed words', () => {
    const schema = Type.Union([Type.Literal('buyer'), Type.Literal('merchant')], { description: 'Who pays.' });
    expect(read(schema)).toMatchObject({ form: 'string', options: ['buyer', 'merchant'], meaning: 'Who pays.' });
    const orNot = Type.Union([schema, Type.Null()]);
    expect(read(orNot)).toMatchObject({ form: 'string or null', options: ['buyer', 'merchant'] });
  });

  test('takes its description from its non-null form', () => {
    const schema = Type.Union([Type.String({ description: 'The carrier.' }), Type.Null()]);
    expect(read(schema).meaning).toBe('The carrier.');
  });

  test('knows the fields of its object, and of its entries', () => {
    const inner = Type.Object({ amount: Type.String(), note: Type.Optional(Type.String()) });
    for (const schema of [inner, Type.Array(inner), Type.Union([inner, Type.Null()])]) {
      expect(read(schema).fields.map(({ name, required }) => [name, required])).toEqual([
        ['amount', true],
        ['note', false],
      ]);
    }
  });
});

test('a field that is one of several objects lists the fields of none', () => {
  const either = Type.Union([Type.Object({ a: Type.String() }), Type.Object({ b: Type.String() })]);
  expect(read(either)).toMatchObject({ form: 'object', fields: [] });
});

test('a body may have several forms, each with its name', () => {
  const made = Type.Object({ batch_id: Type.String() });
  const checked = Type.Object({ dry_run: Type.Literal(true) }, { description: 'Of a dry run.' });
  const shapes = shapesOf(JSON.parse(JSON.stringify(Type.Union([made, checked]))));
  expect(shapes.map(({ name, fields }) => [name, fields.map((field) => field.name)])).toEqual([
    ['', ['batch_id']],
    ['Of a dry run.', ['dry_run']],
  ]);
});
