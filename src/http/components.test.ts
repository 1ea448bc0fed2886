import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { componentOf, discriminatedBy, named, withComponents } from './components.ts';
import { asDocumented } from './documented.ts';
import { described, nullable, oneOf } from './schema-words.ts';

const Payer = oneOf(['buyer', 'merchant'], named('Payer', 'Who pays.'));
const payer = { type: 'string', enum: ['buyer', 'merchant'], description: 'Who pays.' };
const documented = (schema: object) => withComponents({ schema: asDocumented(schema) });
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

describe('a schema with a name', () => {
  test('is written once, and referred to wherever it stands', () => {
    const { schema, components } = documented(
      Type.Object({ first: Payer, all: Type.Array(Payer), last: nullable(Payer) }),
    );
    expect(components).toMatchObject({ schemas: { Payer: payer } });
    expect(schema).toMatchObject({
      properties: {
        first: ref('Payer'),
        all: { type: 'array', items: ref('Payer') },
        last: { anyOf: [ref('Payer'), { type: 'null' }] },
      },
    });
  });

  test('is one component though a place describes it otherwise', () => {
    const { schema, components } = documented(Type.Object({ payer: described(Payer, 'Who paid the fee.') }));
    expect(components).toMatchObject({ schemas: { Payer: payer } });
    expect(schema).toMatchObject({ properties: { payer: { ...ref('Payer'), description: 'Who paid the fee.' } } });
  });

  test('refers to those within it', () => {
    const { schema, components } = documented(Type.Object({ payer: Payer }, named('Bill')));
    expect(schema).toEqual(ref('Bill'));
    expect(components).toMatchObject({ schemas: { Bill: { properties: { payer: ref('Payer') } }, Payer: payer } });
  });

  test('keeps its name in another form', () => {
    const code = Type.String({ ...named('Code'), maxLength: 16, documentedAs: { type: 'string', pattern: '^[a-z]$' } });
    expect(documented(Type.Array(code))).toMatchObject({
      schema: { items: ref('Code') },
      components: { schemas: { Code: { type: 'string', pattern: '^[a-z]$' } } },
    });
  });
});

test('two different schemas of one name are an error', () => {
  const other = oneOf(['buyer', 'seller'], named('Payer', 'Who pays.'));
  const elsewhere = oneOf(['buyer', 'merchant'], named('Payer', 'Who is charged.'));
  for (const second of [other, elsewhere]) {
    expect(() => documented(Type.Object({ first: Payer, second }))).toThrow('two different schemas are named Payer');
  }
});

test('a choice among schemas with names says by which word each is known', () => {
  const [Made, Checked] = [Type.Object({}, named('Made')), Type.Object({}, named('Checked'))];
  expect(discriminatedBy('kind', { made: Made, checked: Checked })).toEqual({
    discriminator: {
      propertyName: 'kind',
      mapping: { made: '#/components/schemas/Made', checked: '#/components/schemas/Checked' },
    },
  });
});

test('parts of each kind stand by themselves, in the order of their names', () => {
  const part = (kind: 'responses' | 'headers', name: string) => ({
    ...componentOf(kind, name, 'What it is.'),
    x: name,
  });
  const { components, list } = withComponents({
    list: [part('responses', 'B'), part('headers', 'A'), part('responses', 'A')],
    components: { securitySchemes: {} },
  });
  expect(Object.keys(Reflect.get(components as object, 'responses') as object)).toEqual(['A', 'B']);
  expect(components).toMatchObject({ securitySchemes: {}, headers: { A: { description: 'What it is.', x: 'A' } } });
  expect(list).toContainEqual({ $ref: '#/components/responses/B' });
});
