import { Validator } from '@seriousme/openapi-schema-validator';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withComponents } from './components.ts';
import { readIdempotencyKey } from './idempotency.ts';
import { openApiDocument } from './openapi.ts';
import { dereferenced } from './testing/dereferenced.ts';
import { smallWorld } from './testing/small-world.ts';
import { toYaml } from './yaml.ts';

const world = smallWorld();
const published = withComponents(openApiDocument(world.routes, 'https://pay.example.com'));
const document = dereferenced(published);

interface Operation {
  readonly security: readonly object[];
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: object;
  readonly responses: { readonly [status: string]: { readonly description: string } };
}

const operationAt = (path: string, method: string): Operation => {
  const paths = document.paths as { [path: string]: { [method: string]: Operation } };
  const operation = paths[path]?.[method];
  if (operation === undefined) throw new Error(`no operation ${method} ${path}`);
  return operation;
};

describe('the OpenAPI document', () => {
  it('is valid', async () => {
    const result = await new Validator().validate(JSON.parse(JSON.stringify(published)) as Record<string, unknown>);
    expect(result).toMatchObject({ valid: true });
  });

  it('has every route of the API, and no callback', () => {
    expect(Object.keys(document.paths as object)).toEqual([
      '/orders',
      '/payments/pay',
      '/payments/status/{payment_id}',
    ]);
  });

  it('says what a call accepts', () => {
    const post = operationAt('/payments/pay', 'post');
    expect(post.security).toEqual([{ session: [] }]);
    expect(post.parameters.map(({ name }) => name)).toEqual([
      'Idempotency-Key',
      'Accept-Language',
      'X-Device-Fingerprint',
    ]);
    expect(post.requestBody).toMatchObject({
      content: { 'application/json': { schema: { required: ['amount', 'currency', 'payment_method'] } } },
    });
    const get = operationAt('/payments/status/{payment_id}', 'get');
    expect(get.parameters[0]).toMatchObject({
      name: 'payment_id',
      in: 'path',
      required: true,
      schema: { minLength: 10 },
    });
    expect(get.requestBody).toBeUndefined();
  });

  it('says exactly which idempotency keys are accepted', () => {
    const { IdempotencyKey } = (
      document.components as { parameters: { IdempotencyKey: { schema: { pattern: string } } } }
    ).parameters;
    const said = new RegExp(IdempotencyKey.schema.pattern);
    const isAccepted = (key: string): boolean => {
      try {
        return readIdempotencyKey(key) !== '';
      } catch {
        return false;
      }
    };
    const key = fc.string({ unit: fc.constantFrom('a', '"', '~', '!', ' ', '\t', 'é'), maxLength: 5 });
    const long = fc.integer({ min: 250, max: 260 }).map((length) => 'k'.repeat(length));
    fc.assert(
      fc.property(
        fc.oneof(
          key,
          long,
          long.map((text) => `"${text}"`),
        ),
        (text) => {
          expect(said.test(text)).toBe(isAccepted(text));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('says, by status, what a call is refused with', () => {
    const { responses } = operationAt('/orders', 'post');
    expect(Object.keys(responses)).toEqual([
      '201',
      '400',
      '401',
      '402',
      '403',
      '408',
      '413',
      '415',
      '429',
      '431',
      '500',
      '503',
    ]);
    expect(responses['400']?.description).toBe(
      '`1101` INVALID_AMOUNT, `1102` INVALID_CURRENCY, `1110` INVALID_FIELD_FORMAT',
    );
  });

  it('says what a path with a parameter that cannot be decoded is refused with', async () => {
    const { statusCode, body } = await world.app.inject('/api/v1/payments/status/%zz');
    expect([statusCode, JSON.parse(body)]).toMatchObject([404, { error_code: '1403' }]);
    const { responses } = operationAt('/payments/status/{payment_id}', 'get');
    expect(responses['404']?.description).toBe('`1204` TRANSACTION_NOT_FOUND, `1403` UNSUPPORTED_REQUEST');
  });

  it('is served in both forms, and both say the same', async () => {
    const json = await world.app.inject('/openapi.json');
    const yaml = await world.app.inject('/openapi.yaml');
    expect([json.statusCode, yaml.statusCode]).toEqual([200, 200]);
    const reader = new Validator();
    expect(await reader.validate(yaml.body)).toMatchObject({ valid: true });
    expect(reader.specification).toEqual(json.json());
  });
});

describe('YAML', () => {
  it('is unambiguous', () => {
    const value = {
      a: [],
      b: {},
      c: [[1, 'x'], { no: 'no', 'a b': null }],
      d: 'two\nlines: #',
      e: undefined,
      f: [{ g: [true] }],
    };
    expect(toYaml(value)).toBe(
      [
        'a: []',
        'b: {}',
        'c:',
        '  -',
        '    - 1',
        '    - "x"',
        '  -',
        '    "no": "no"',
        '    "a b": null',
        'd: "two\\nlines: #"',
        'f:',
        '  -',
        '    g:',
        '      - true',
        '',
      ].join('\n'),
    );
  });
});
