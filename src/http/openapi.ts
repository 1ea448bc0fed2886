/**
 * The OpenAPI 3.1 document, made from the route table.
 *
 * Invariant: it is derived and never written by hand: it says what a route demands, answers and refuses.
 */

import { IsObject, type TSchema } from 'typebox';
import { Check } from 'typebox/value';
import { asDocumented } from './documented.ts';
import { exampleOf } from './examples.ts';
import { parameterMeaning, withMeanings } from './field-meanings.ts';
import type { Json } from './json-node.ts';
import { answerHeaders, CALL_HEADERS } from './openapi-headers.ts';
import { refusalsOf } from './openapi-refusals.ts';
import { webhookDescriptions } from './openapi-webhooks.ts';
import type { Route } from './route.ts';

/** The document with every part in its place; those with a name are marked with it (components.ts). */
export function openApiDocument(routes: readonly Route[], publicUrl: string): Json {
  const paths: { [path: string]: { [method: string]: Json } } = {};
  for (const route of routes) {
    if (route.outside === true) continue;
    const path = route.path.replaceAll(/:([a-z_]+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Mbongo',
      version: '1.0.0',
      summary: 'Payment gateway',
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: `${publicUrl}/api/v1` }],
    tags: [
      { name: 'sessions', description: 'For your backend: a session binds what a customer pays.' },
      { name: 'payments', description: 'For clients: these calls take a session token.' },
      { name: 'payouts', description: 'For your backend: money out, with a session token or the merchant credential.' },
      { name: 'deliveries', description: 'For your backend: releasing money that is held for a delayed delivery.' },
      { name: 'books', description: 'For your backend: balances, statements, and payments.' },
      { name: 'refunds', description: 'For your backend: returning money to the customer.' },
      { name: 'webhooks', description: 'For your backend: the events sent to you, and sending them again.' },
      {
        name: 'availability',
        description: 'For your backend: which methods and carriers are available at the moment.',
      },
    ],
    paths,
    webhooks: webhookDescriptions(),
    components: { securitySchemes: SECURITY },
  };
}

const DESCRIPTION =
  'Amounts are decimal strings, currencies are lower-case codes, and timestamps are ISO 8601 in UTC with milliseconds. Unknown ' +
  'request fields are ignored; null in an optional field counts as absent. A body that contains a card number anywhere ' +
  'is refused. Every 4xx and 5xx answer is one flat object, described by the schema ErrorAnswer.';

const SECURITY: Json = {
  merchant: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: '<key_id>:<secret>',
    description: 'The merchant credential. Keep it on your backend.',
  },
  session: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'sess_…',
    description: 'A session token, from `POST /internal/sessions/create`.',
  },
};

function operation(route: Route): Json {
  const isPost = route.method !== 'GET';
  return {
    operationId: route.operationId,
    summary: route.summary,
    description: route.description,
    tags: [tagOf(route)],
    security: route.credential === 'none' ? [] : [{ [route.credential]: [] }],
    parameters: [...pathParameters(route), ...queryParameters(route), ...headerParameters(route)],
    ...(isPost && route.body !== undefined
      ? { requestBody: { required: !Check(route.body, {}), content: contentOf(route, route.body) } }
      : {}),
    responses: { ...answers(route), ...refusalsOf(route) },
  };
}

function tagOf({ path, credential }: Route): string {
  if (path.startsWith('/internal/deliveries/')) return 'deliveries';
  if (/^\/internal\/(balances|statement|transactions)(\/|$)/.test(path)) return 'books';
  if (path.startsWith('/internal/refunds')) return 'refunds';
  if (path.startsWith('/internal/events')) return 'webhooks';
  if (path === '/internal/availability') return 'availability';
  if (path.startsWith('/internal/payouts') || path === '/payments/send') return 'payouts';
  return credential === 'merchant' ? 'sessions' : 'payments';
}

function contentOf({ operationId, upload, forms }: Route, body: object): Json {
  const content = { schema: documented(body), ...examples(exampleOf(operationId)?.body) };
  if (upload !== undefined) return { 'multipart/form-data': content };
  const json = { 'application/json': content };
  return forms === true ? { ...json, 'application/x-www-form-urlencoded': content } : json;
}

/** A body's schema as the document has it. */
function documented(schema: object): Json {
  return withMeanings(asDocumented(schema));
}

/** Examples of a body. Named, because the explorer sends only those that have a name. */
function examples(value: unknown): Json {
  return value === undefined ? {} : { examples: { example: { value } } };
}

/** What the document says of a parameter's value. Examples are texts, as in an address; that of a number becomes one. */
function valued(name: string, checked: object, example: string | undefined): Json {
  const schema = parameterMeaning(name, asDocumented(checked));
  if (example === undefined) return { schema };
  return { schema, example: schema.type === 'integer' ? Number(example) : example };
}

function pathParameters(route: Route): Json[] {
  const properties = propertiesOf(route.params);
  return [...route.path.matchAll(/:([a-z_]+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    ...valued(name, properties[name] ?? { type: 'string' }, exampleOf(route.operationId)?.params?.[name]),
  }));
}

function queryParameters(route: Route): Json[] {
  const required: unknown = route.querystring === undefined ? [] : Reflect.get(route.querystring, 'required');
  return Object.entries(propertiesOf(route.querystring)).map(([name, schema]) => ({
    name,
    in: 'query',
    required: Array.isArray(required) && required.includes(name),
    ...valued(name, schema, exampleOf(route.operationId)?.query?.[name]),
  }));
}

function propertiesOf(schema: TSchema | undefined): { readonly [name: string]: TSchema } {
  return schema !== undefined && IsObject(schema) ? schema.properties : {};
}

function headerParameters(route: Route): Json[] {
  const { idempotencyKey, language, fingerprint } = CALL_HEADERS;
  return [
    ...(takesKey(route) ? [idempotencyKey] : []),
    language,
    ...(route.credential === 'session' ? [fingerprint] : []),
  ];
}

function answers(route: Route): Json {
  return Object.fromEntries(
    Object.entries(route.answers).map(([status, schema], index) => [
      status,
      {
        description: SUCCESS[status] ?? 'Done.',
        headers: answerHeaders([
          'requestId',
          ...(hasLimit(route) ? (['limit', 'limitPolicy'] as const) : []),
          ...(route.method === 'GET' ? [] : (['replayed'] as const)),
          ...(status === '303' ? (['location'] as const) : []),
          ...(route.csv === undefined ? [] : (['fileName'] as const)),
        ]),
        content: {
          'application/json': {
            schema: documented(schema),
            ...(index === 0 ? examples(exampleOf(route.operationId)?.answer) : {}),
          },
          ...(route.csv === undefined ? {} : { 'text/csv': { schema: { type: 'string', description: route.csv } } }),
        },
      },
    ]),
  );
}

function hasLimit({ limit, guard }: Route): boolean {
  return limit !== 'none' || guard !== undefined;
}

/** Whether an Idempotency-Key counts: a caller without credential has nobody to remember it for. */
function takesKey({ method, credential }: Route): boolean {
  return method !== 'GET' && credential !== 'none';
}

const SUCCESS: { readonly [status: string]: string } = { '200': 'Done.', '201': 'Created.', '202': 'Accepted.' };
