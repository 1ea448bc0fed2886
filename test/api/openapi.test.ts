/** The OpenAPI document against the route table, the refusals and the schemas; valid by an independent validator. */

import { Validator } from '@seriousme/openapi-schema-validator';
import { Compile } from 'typebox/compile';
import { Check } from 'typebox/value';
import { afterAll, describe, expect, test } from 'vitest';
import { REFUSALS } from '../../src/domain/refusal.ts';
import type { Route } from '../../src/http/route.ts';
import { dereferenced } from '../../src/http/testing/dereferenced.ts';
import { creditBalance } from '../../src/usecases/balance-credit.ts';
import { expectEnvelope } from '../support/envelope.ts';
import { bearerOf, collect, numberEnding, payByPhone, payFromWallet, untilStatus } from '../support/flows.ts';
import { createPayout, hookOf } from '../support/payout-flows.ts';
import { credentialRoutes, named, requireWorks, sampleOf, send } from '../support/route-samples.ts';
import { type Answer, openWorld } from '../support/world.ts';

// The table is walked at collection, so that each route's tests carry its name.
const world = await openWorld();
const merchant = await world.merchant();
const published: Document = JSON.parse(await (await fetch(`${world.url}/openapi.json`)).text());
const document = dereferenced(published);
const routes = credentialRoutes(world);
afterAll(() => world.close());

type Schema = { readonly properties?: Readonly<Record<string, Schema>>; readonly [name: string]: unknown };

interface Operation {
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly { readonly name: string; readonly schema?: Schema }[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: { readonly [type: string]: { readonly schema: Schema } };
  };
  readonly responses: {
    readonly [status: string]: {
      readonly description: string;
      readonly headers: Readonly<Record<string, unknown>>;
      readonly content: { readonly 'application/json': { readonly schema: Schema } };
    };
  };
}

interface Document {
  readonly webhooks: { readonly [name: string]: { readonly post: Operation } };
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } };
  readonly components: { readonly schemas: { readonly ErrorAnswer: Schema } };
}

function operationOf(route: Pick<Route, 'path' | 'method'>): Operation {
  const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
  const operation = document.paths[path]?.[route.method.toLowerCase()];
  if (operation === undefined) throw new Error(`${route.method} ${path} is not in the document`);
  return operation;
}

/** Demands what the document promises of a success: the schema, no undocumented field, and its headers. */
function expectDocumented(route: Route, answer: Answer): void {
  const promised = operationOf(route).responses[String(answer.status)];
  if (promised === undefined) throw new Error(`${answer.status} is not in the document: ${answer.text}`);
  const { schema } = promised.content['application/json'];
  const problems = [...Compile(schema).Errors(answer.json)];
  expect(problems, answer.text).toEqual([]);
  expectNamed(schema, answer.json);
  expectHeadersNamed(route, answer);
}

/** The codes of refusals, after demanding that the document promises each of them for its status. */
function expectRefusalsDocumented(route: Route, refused: readonly Answer[]): string[] {
  const { responses } = operationOf(route);
  return refused.map((answer) => {
    expectEnvelope(answer);
    expect(responses[String(answer.status)]?.description, answer.text).toContain(answer.json.error_code);
    expect([...Compile(document.components.schemas.ErrorAnswer).Errors(answer.json)], answer.text).toEqual([]);
    expectHeadersNamed(route, answer);
    return answer.json.error_code;
  });
}

function routeOf(operationId: string): Route {
  const route = routes.find((one) => one.operationId === operationId);
  if (route === undefined) throw new Error(`no route ${operationId}`);
  return route;
}

/** Headers for browsers, caches and connections, present on every answer. */
const OF_HTTP =
  /^(access-control-.*|cache-control|connection|content-(length|type)|date|keep-alive|referrer-policy|transfer-encoding|x-content-type-options)$/;

/** Demands that the document names every header of an answer that is meant for its caller. */
function expectHeadersNamed(
  route: Route,
  { status, headers, text }: Pick<Answer, 'status' | 'headers' | 'text'>,
): void {
  const named = Object.keys(operationOf(route).responses[String(status)]?.headers ?? {}).map((one) =>
    one.toLowerCase(),
  );
  const own = [...headers.keys()].filter((name) => !OF_HTTP.test(name));
  expect(named, `${status} ${text}`).toEqual(expect.arrayContaining(own));
}

function expectNamed(schema: Schema, value: unknown): void {
  if (typeof value !== 'object' || value === null || schema.properties === undefined) return;
  for (const [name, inner] of Object.entries(value)) {
    const known = schema.properties[name];
    expect(known, `${name} is not in the document`).toBeDefined();
    if (known !== undefined) expectNamed(known, inner);
  }
}

test('is valid OpenAPI 3.1', async () => {
  const result = await new Validator().validate(structuredClone(published) as object as Record<string, unknown>);
  expect(result).toMatchObject({ valid: true });
});

test('has each route of the table, and nothing else', () => {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  // Besides the routes that take a credential there is the card network's callback.
  const table = [...routes, { method: 'POST', path: '/payments/card/3ds-callback' }].map(
    ({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`,
  );
  expect(operations.sort()).toEqual(table.sort());
});

test('says about every error what the contract says: code, status, page', async () => {
  for (const code of Object.keys(REFUSALS)) {
    const page = await fetch(`${world.url}/docs/errors/${code}`);
    expect(page.status, code).toBe(200);
    expect(await page.text()).toContain(code);
  }
});

/** The schema of a query parameter, without its description. */
function queryOf(operationId: string, name: string): Schema {
  const parameters = operationOf(routeOf(operationId)).parameters ?? [];
  const { description: _, ...form } = parameters.find((one) => one.name === name)?.schema ?? {};
  return form;
}

describe('says of a query what a program needs to write one', () => {
  const day = { type: 'string', format: 'date' };
  const span = { anyOf: [day, { type: 'string', format: 'date-time' }] };
  test.each([
    ['readStatement', 'currency', { type: 'string', pattern: '^[a-z]{3}$' }],
    ['listTransactions', 'currency', { type: 'string', pattern: '^[a-z]{3}$' }],
    ['readAvailability', 'currency', { type: 'string', pattern: '^[a-z]{3}$' }],
    ['readStatement', 'limit', { type: 'integer', minimum: 1, maximum: 1_000, default: 100 }],
    ['listTransactions', 'limit', { type: 'integer', minimum: 1, maximum: 100, default: 20 }],
    ['listPayouts', 'limit', { type: 'integer', minimum: 1, maximum: 100, default: 20 }],
    ['listRefunds', 'limit', { type: 'integer', minimum: 1, maximum: 100, default: 20 }],
    ['listEvents', 'limit', { type: 'integer', minimum: 1, maximum: 100, default: 20 }],
    ['readPayout', 'occurrence', { type: 'integer', minimum: 1, maximum: 366, default: 1 }],
    ['readStatement', 'from', span],
    ['listEvents', 'to', span],
    ['readStatement', 'balance', { type: 'string', enum: ['available', 'reserved', 'held', 'all'] }],
  ])('%s: %s', (operationId, name, form) => {
    expect(queryOf(operationId, name)).toEqual(form);
  });

  test('and the bounds of a page are those that hold', async () => {
    for (const operationId of ['readStatement', 'listTransactions', 'listPayouts', 'listRefunds', 'listEvents']) {
      const { minimum, maximum } = queryOf(operationId, 'limit') as { minimum: number; maximum: number };
      const limited = (limit: number) =>
        world.call('GET', `${routeOf(operationId).path}?currency=usd&limit=${limit}`, { bearer: bearerOf(merchant) });
      expect([(await limited(minimum)).status, (await limited(maximum)).status], operationId).toEqual([200, 200]);
      for (const beyond of [minimum - 1, maximum + 1]) {
        expect((await limited(beyond)).json.details, operationId).toMatchObject([{ code: 'OUT_OF_RANGE' }]);
      }
    }
  });
});

test('writes every choice among words as one enum, which generators of clients take for one type', () => {
  expect(JSON.stringify(document)).not.toMatch(/"anyOf":\[\{[^{}]*"const":"/);
});

/** Whether the route accepts a body without any field. */
function needsNothing({ body }: Route): boolean {
  return body === undefined || Check(body, {});
}

describe.each(named(routes))('%s', (_name, route) => {
  test('requires the credential that it accepts', () => {
    expect(operationOf(route).security).toEqual([{ [route.credential]: [] }]);
  });

  test('answers as the document says, both the first time and replayed', async () => {
    const sample = await sampleOf(route, world, merchant);
    const headers: Record<string, string> = route.method === 'POST' ? { 'idempotency-key': 'openapi' } : {};
    for (const answer of [await send(world, route, sample, headers), await send(world, route, sample, headers)]) {
      expect(answer.status, answer.text).toBe(sample.answers);
      expectDocumented(route, answer);
    }
  });

  test('refuses as the document says', async () => {
    const sample = await sampleOf(route, world, merchant);
    const refused = [
      await send(world, route, { ...sample, bearer: 'nobody' }),
      await send(world, route, { ...sample, bearer: 'nobody:at all' }),
      await send(world, route, sample, { 'x-note': 'a'.repeat(20_000) }),
      ...(needsNothing(route) ? [] : [await send(world, route, { ...sample, body: {} })]),
      ...(sample.unknown === undefined ? [] : [await send(world, route, { ...sample.unknown, bearer: sample.bearer })]),
    ];
    expectRefusalsDocumented(route, refused);
  });

  test('refuses an invalid fingerprint, and another device, as the document says', async () => {
    const sample = await sampleOf(route, world, merchant);
    const shown = (fingerprint: string) => send(world, route, sample, { 'x-device-fingerprint': fingerprint });
    expect(expectRefusalsDocumented(route, [await shown('none')])).toEqual(['1110']);
    if (route.credential !== 'session') return;
    await shown('ab'.repeat(32));
    expect(expectRefusalsDocumented(route, [await shown('cd'.repeat(32))])).toEqual(['1305']);
  });
});

describe.each(named(routes.filter(({ method }) => method === 'POST')))('%s', (_name, route) => {
  test('accepts the body that the document describes', async () => {
    const sample = await sampleOf(route, world, merchant);
    const type = route.upload === undefined ? 'application/json' : 'multipart/form-data';
    const schema = operationOf(route).requestBody?.content[type]?.schema ?? {};
    expect([...Compile(schema).Errors(sample.body)]).toEqual([]);
    await requireWorks(world, route, sample);
  });

  test('says whether it needs a body', async () => {
    const { requestBody } = operationOf(route);
    expect(requestBody?.required ?? false).toBe(!needsNothing(route));
    const { body: _, ...bare } = await sampleOf(route, world, merchant);
    const answer = await send(world, route, bare);
    expect(answer.status < 400, answer.text).toBe(needsNothing(route));
  });

  test('repeats a refusal under its key as the document says', async () => {
    const { unknown, bearer } = await sampleOf(route, world, merchant);
    if (unknown === undefined) return;
    const refuse = () => send(world, route, { ...unknown, bearer }, { 'idempotency-key': 'openapi-unknown' });
    const refused = [await refuse(), await refuse()];
    const { responses } = operationOf(route);
    for (const answer of refused)
      expect(responses[String(answer.status)]?.description).toContain(answer.json.error_code);
    for (const answer of refused) expectHeadersNamed(route, answer);
  });
});

test('a redirect of a browser, and a table, have the headers that the document names', async () => {
  const [redirect, statement] = [routeOf('collectRedirect'), routeOf('readStatement')];
  const asked = [
    { route: redirect, sample: await sampleOf(redirect, world, merchant), accept: 'text/html', header: 'location' },
    {
      route: statement,
      sample: await sampleOf(statement, world, merchant),
      accept: 'text/csv',
      header: 'content-disposition',
    },
  ];
  for (const { route, sample, accept, header } of asked) {
    const response = await fetch(`${world.url}/api/v1${sample.path}`, {
      method: route.method,
      headers: { authorization: `Bearer ${sample.bearer}`, accept, 'content-type': 'application/json' },
      redirect: 'manual',
      ...(sample.body === undefined ? {} : { body: JSON.stringify(sample.body) }),
    });
    expect(response.headers.get(header)).toMatch(/./);
    expectHeadersNamed(route, { status: response.status, headers: response.headers, text: await response.text() });
  }
});

test.each([
  ['01', 'approved'],
  ['02', 'failed'],
  ['03', 'cancelled'],
])('every read of a phone payment that ends (%s: %s) is as the document says', async (ending, status) => {
  const paying = await collect(world, merchant);
  const submitted = await payByPhone(world, paying, numberEnding(ending));
  expectDocumented(routeOf('submitPayment'), submitted);
  const reads = [
    [routeOf('readStatus'), `/payments/status/${paying.transaction_id}`, paying.token],
    [routeOf('readTransaction'), `/payments/transaction/${paying.transaction_id}`, paying.token],
    [routeOf('readMerchantTransaction'), `/internal/transactions/${paying.transaction_id}`, bearerOf(merchant)],
    [routeOf('readMobileMoneyStatus'), `/payments/mobile-money/status/${paying.payment_id}`, paying.token],
  ] as const;
  const readAll = async (): Promise<void> => {
    for (const [route, path, bearer] of reads) {
      expectDocumented(route, await world.call('GET', path, { bearer }));
    }
  };
  await readAll();
  await untilStatus(world, paying, status);
  await readAll();
});

test('describes every webhook that was posted: its body, without undocumented fields, and its headers', async () => {
  const other = await world.merchant('Librairie Goma');
  await creditBalance(world.gateway.deps, other.merchant.id, 'usd', 100_00n);
  const wallet = await world.wallet();
  const beneficiaries = [{ wallet_number: wallet.number, amount: '2.00' }];
  for (const more of [{}, { receipt_mode: 'wallet', beneficiaries }]) {
    const { json } = await createPayout(world, other, more);
    await hookOf(world, json.beneficiaries[0].transaction_id, 'completed');
  }
  const paying = await collect(world, other);
  await payFromWallet(world, paying, await world.wallet());
  await world.receiver.about(paying.transaction_id);
  const refund = { transaction_id: paying.transaction_id, amount: '1.00' };
  await world.call('POST', '/internal/refunds', { bearer: bearerOf(other), body: refund });
  await hookOf(world, paying.transaction_id, 'refunded');
  const seen = new Set<string>();
  for (const { headers, body } of world.receiver.hooks) {
    const type = String(headers['webhook-event']);
    const [name = ''] = type.split('.');
    seen.add(type);
    const described = document.webhooks[name]?.post;
    const schema = described?.requestBody?.content['application/json']?.schema;
    if (schema === undefined) throw new Error(`${type} is not in the document`);
    expect([...Compile(schema).Errors(body)], type).toEqual([]);
    expectNamed(schema, body);
    const named = described?.parameters?.find((parameter) => parameter.name === 'webhook-event')?.schema;
    expect(named?.enum, type).toContain(type);
    const sent = Object.keys(headers).filter((header) => header.startsWith('webhook-'));
    expect(described?.parameters?.map((parameter) => parameter.name).sort()).toEqual(sent.sort());
  }
  for (const type of ['payment.approved', 'payment.refunded', 'payout.pending', 'payout.completed']) {
    expect([...seen]).toContain(type);
  }
});
