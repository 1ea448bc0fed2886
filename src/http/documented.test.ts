import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { asDocumented } from './documented.ts';

test('a choice among words is an enum, wherever it stands', () => {
  const word = Type.Union([Type.Literal('buyer'), Type.Literal('merchant')], { description: 'Who pays.' });
  const choice = { type: 'string', enum: ['buyer', 'merchant'], description: 'Who pays.' };
  expect(asDocumented(word)).toEqual(choice);
  expect(asDocumented(Type.Object({ payer: word, payers: Type.Array(word) }))).toEqual({
    type: 'object',
    required: ['payer', 'payers'],
    properties: { payer: choice, payers: { type: 'array', items: choice } },
  });
  expect(asDocumented(Type.Union([word, Type.Null()]))).toEqual({ anyOf: [choice, { type: 'null' }] });
});

test('other alternatives stay as they are', () => {
  const either = Type.Union([Type.String(), Type.Integer()]);
  expect(asDocumented(either)).toEqual({ anyOf: [{ type: 'string' }, { type: 'integer' }] });
  const objectOrNull = Type.Union([Type.Object({}), Type.Null()]);
  expect(asDocumented(objectOrNull)).toEqual({ anyOf: [{ type: 'object', properties: {} }, { type: 'null' }] });
});

test('a plain value that may be null is one type', () => {
  const name = Type.Union([Type.String({ maxLength: 9, description: 'Its name.' }), Type.Null()]);
  expect(asDocumented(name)).toEqual({ type: ['string', 'null'], maxLength: 9, description: 'Its name.' });
  const days = Type.Union([Type.Array(Type.String()), Type.Null()], { description: 'Or none.' });
  expect(asDocumented(days)).toEqual({ type: ['array', 'null'], items: { type: 'string' }, description: 'Or none.' });
});

test('what is documented in another form keeps its description, and only that', () => {
  const text = Type.String({ maxLength: 16, description: 'A page.', documentedAs: { type: 'integer', minimum: 1 } });
  expect(asDocumented(text)).toEqual({ type: 'integer', minimum: 1, description: 'A page.' });
  const words = Type.Union([Type.Literal('daily'), Type.Literal('weekly')]);
  const loose = Type.Union([words, Type.Unknown()], { description: 'How often.', documentedAs: words });
  expect(asDocumented(loose)).toEqual({ type: 'string', enum: ['daily', 'weekly'], description: 'How often.' });
});
