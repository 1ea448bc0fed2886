/**
 * The parts of the OpenAPI document that have names, and its examples: what generators of clients read.
 */

import { Compile } from 'typebox/compile';
import { afterAll, expect, test } from 'vitest';
import { routesOf } from '../../src/assemble.ts';
import { openApiDocument } from '../../src/http/openapi.ts';
import { dereferenced } from '../../src/http/testing/dereferenced.ts';
import { creditBalance } from '../../src/usecases/balance-credit.ts';
import { bearerOf, collect } from '../support/flows.ts';
import { createPayout } from '../support/payout-flows.ts';
import { openWorld } from '../support/world.ts';

const world = await openWorld();
const published: Document = JSON.parse(await (await fetch(`${world.url}/openapi.json`)).text());
const document = dereferenced(published);
afterAll(() => world.close());

type Schema = { readonly properties?: Readonly<Record<string, Schema>>; readonly [name: string]: unknown };

interface Document {
  readonly components: {
    readonly schemas: {
      readonly [name in 'PaymentDetail' | 'PayoutLineDetail' | 'TransactionDetailAnswer']: Schema;
    };
  };
}

test('says in references exactly what each place would say itself', () => {
  const { components: _, ...placed } = document;
  const { components: _schemes, ...inline } = openApiDocument(
    routesOf(world.gateway.deps, world.gateway.courier),
    world.url,
  );
  expect(placed).toEqual(withoutNames(inline));
});

/** The document without the marks that name its parts. */
function withoutNames(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, inner: unknown) => (key === 'component' ? undefined : inner)));
}

test('gives only examples that their schemas accept', () => {
  const examples = examplesIn(document, '');
  expect(examples.length).toBeGreaterThan(70);
  const wrong = examples.filter(({ schema, value }) => !Compile(schema).Check(value));
  expect(wrong.map(({ path }) => path)).toEqual([]);
});

interface Exemplified {
  readonly path: string;
  readonly schema: Schema;
  readonly value: unknown;
}

/** Every example of the document, with the schema beside it. */
function examplesIn(value: unknown, path: string): Exemplified[] {
  if (typeof value !== 'object' || value === null) return [];
  const { schema, example, examples = {} } = value as { schema?: Schema; example?: unknown; examples?: object };
  const given = [example, ...Object.values(examples).map(({ value: one }: { value: unknown }) => one)];
  const here = schema === undefined ? [] : given.filter((one) => one !== undefined);
  return [
    ...here.map((one) => ({ path, schema: schema as Schema, value: one })),
    ...Object.entries(value).flatMap(([name, inner]) => examplesIn(inner, `${path}/${name}`)),
  ];
}

test('tells what a transaction is by a word that its answer has', async () => {
  const merchant = await world.merchant();
  await creditBalance(world.gateway.deps, merchant.merchant.id, 'usd', 100_00n);
  const { json: payout } = await createPayout(world, merchant);
  const { transaction_id } = await collect(world, merchant);
  const { discriminator } = published.components.schemas.TransactionDetailAnswer;
  for (const [id, word, name] of [
    [transaction_id, 'payment', 'PaymentDetail'],
    [payout.beneficiaries[0].transaction_id, 'payout', 'PayoutLineDetail'],
  ] as const) {
    const { json } = await world.call('GET', `/internal/transactions/${id}`, { bearer: bearerOf(merchant) });
    expect(json.kind).toBe(word);
    expect(discriminator).toMatchObject({ propertyName: 'kind', mapping: { [word]: `#/components/schemas/${name}` } });
    expect(document.components.schemas[name].properties?.kind).toMatchObject({ enum: [word] });
  }
  expect(payout.dry_run).toBe(false);
});

test('names every object and every choice among words, so that no generated client invents a name', () => {
  expect(nameless(published, '').filter((path) => !/^\/components\/schemas\/\w+$/.test(path))).toEqual([]);
});

/** Where the document describes an object, or a choice among several words. */
function nameless(value: unknown, path: string): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const { type, properties, enum: words } = value as Schema;
  const isShape = (type === 'object' && properties !== undefined) || (Array.isArray(words) && words.length > 1);
  const within = Object.entries(value).flatMap(([name, inner]) => nameless(inner, `${path}/${name}`));
  return isShape ? [path, ...within] : within;
}
