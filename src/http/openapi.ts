/**
 * The OpenAPI 3.1 document, made from the route table.
 *
 * Invariant: it is derived and never written by hand: it says what a route demands, answers and refuses.
 */

import { IsObject, type TSchema } from 'typebox';
import { isRemembered, REFUSALS, type RefusalCode } from '../domain/refusal.ts';
import { LANGUAGES } from '../messages/messages.ts';
import { asDocumented } from './documented.ts';
import { exampleOf } from './examples.ts';
import { parameterMeaning, withMeanings } from './field-meanings.ts';
import { webhookDescriptions } from './openapi-webhooks.ts';
import type { Route } from './route.ts';

type Json = { readonly [name: string]: unknown };

/** Codes with which every call may be refused, besides those of its route. */
const EVERYWHERE: readonly RefusalCode[] = [1401, 1402];
/** 1110: a repeated header, or a malformed device fingerprint. */
const WITH_CREDENTIAL: readonly RefusalCode[] = [1001, 1002, 1003, 1004, 1005, 1110, 1301];
/** A session may be bound to a device, which is checked on its reads too. */
const WITH_SESSION: readonly RefusalCode[] = [1305];
const WITH_BODY: readonly RefusalCode[] = [1110, 1403];

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
    components: {
      securitySchemes: SECURITY,
      schemas: { Error: withMeanings(ERROR_SCHEMA) },
      parameters: HEADERS,
      headers: ANSWER_HEADERS,
    },
  };
}

const DESCRIPTION =
  'Amounts are decimal strings, currencies are lower-case codes, and timestamps are ISO 8601 in UTC with milliseconds. Unknown ' +
  'request fields are ignored; null in an optional field counts as absent. A body that contains a card number anywhere ' +
  'is refused. Every 4xx and 5xx answer is one flat object, described by the schema Error.';

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

const HEADERS = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description:
      'One key for each operation, 1 to 255 visible ASCII characters. A call that is repeated within 24 hours with the ' +
      'same key and body gets the stored answer, byte for byte, with the header `Idempotent-Replayed: true`. The same key ' +
      'with another body, or with another id in the path, is refused with 1203. Each path has its own keys.',
    schema: { type: 'string', pattern: '^(?!""$)([!-~]{1,255}|"[!-~]{1,255}")$' },
  },
  AcceptLanguage: {
    name: 'Accept-Language',
    in: 'header',
    required: false,
    description: `The language of all messages: ${LANGUAGES.join(', ')}. French if none of these is asked for.`,
    schema: { type: 'string' },
  },
  DeviceFingerprint: {
    name: 'X-Device-Fingerprint',
    in: 'header',
    required: false,
    description:
      'SHA-256 of the device’s attributes, 64 hexadecimal characters. The first one that is sent with a session is bound to ' +
      'the session; from then on a call with another one is refused with 1305, and so is a POST without one.',
    schema: { type: 'string', pattern: '^[0-9A-Fa-f]{64}$' },
  },
} as const;

const ANSWER_HEADERS = {
  RequestId: { description: 'The id of this request: quote it when you ask for help.', schema: { type: 'string' } },
  RetryAfter: { description: 'When to try again, in whole seconds from now.', schema: { type: 'integer', minimum: 0 } },
  Replayed: {
    description:
      '`true` if this is the stored answer of an earlier call with the same Idempotency-Key. The `request_id` in a stored ' +
      'refusal is that of the earlier call.',
    schema: { type: 'string', enum: ['true'] },
  },
  Challenge: { description: 'The kind of credential that is needed: a bearer token.', schema: { type: 'string' } },
  RateLimit: {
    description: 'IETF RateLimit: how many calls remain, and when the window ends.',
    schema: { type: 'string' },
  },
  RateLimitPolicy: { description: 'IETF RateLimit-Policy: the limit and its window.', schema: { type: 'string' } },
  Location: { description: 'Where the browser continues.', schema: { type: 'string', format: 'uri' } },
  ContentDisposition: {
    description: 'For a CSV answer: the name under which a browser saves the file.',
    schema: { type: 'string' },
  },
} as const;

type AnswerHeader = keyof typeof ANSWER_HEADERS;

const NULLABLE_TEXT = { type: ['string', 'null'] };

const ERROR_SCHEMA: Json = {
  type: 'object',
  description: 'The answer to every failed call, including calls to unknown paths and calls with malformed bodies.',
  required: [
    'error',
    'error_code',
    'error_name',
    'message',
    'details',
    'timestamp',
    'request_id',
    'transaction_id',
    'retryable',
    'retry_after',
    'summary_code',
    'documentation_url',
  ],
  properties: {
    error: { const: true },
    error_code: { type: 'string', enum: Object.keys(REFUSALS) },
    error_name: { type: 'string', enum: [...new Set(Object.values(REFUSALS).map(({ name }) => name))] },
    message: {
      type: 'string',
      description: 'A sentence for people, in the caller’s language, that says what to do next.',
    },
    details: {
      type: ['array', 'null'],
      items: {
        type: 'object',
        required: ['field', 'message', 'code'],
        properties: {
          field: {
            type: 'string',
            description: 'The field that is wrong, as a path such as `beneficiaries[3].amount`.',
          },
          message: { type: 'string' },
          code: { type: 'string' },
        },
      },
    },
    timestamp: { type: 'string', format: 'date-time' },
    request_id: { type: 'string' },
    transaction_id: NULLABLE_TEXT,
    retryable: { type: 'boolean', description: 'true only if the same call can succeed later unchanged.' },
    retry_after: {
      type: ['integer', 'null'],
      description:
        'When to try again, in whole seconds; the same as in the header `Retry-After`. Null if no time is given.',
    },
    summary_code: { type: 'string', pattern: '^lok00[1-9]$' },
    documentation_url: { type: 'string', format: 'uri' },
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
      ? { requestBody: { required: true, content: contentOf(route, route.body) } }
      : {}),
    responses: { ...answers(route), ...failures(route) },
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
  const names: (keyof typeof HEADERS)[] = ['AcceptLanguage'];
  if (takesKey(route)) names.unshift('IdempotencyKey');
  if (route.credential === 'session') names.push('DeviceFingerprint');
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
}

function answers(route: Route): Json {
  return Object.fromEntries(
    Object.entries(route.answers).map(([status, schema], place) => [
      status,
      {
        description: SUCCESS[status] ?? 'Done.',
        headers: answerHeaders([
          'RequestId',
          ...limitHeadersOf(route),
          ...(route.method === 'GET' ? [] : (['Replayed'] as const)),
          ...(status === '303' ? (['Location'] as const) : []),
          ...(route.csv === undefined ? [] : (['ContentDisposition'] as const)),
        ]),
        content: {
          'application/json': {
            schema: documented(schema),
            ...(place === 0 ? examples(exampleOf(route.operationId)?.answer) : {}),
          },
          ...(route.csv === undefined ? {} : { 'text/csv': { schema: { type: 'string', description: route.csv } } }),
        },
      },
    ]),
  );
}

/** The headers that tell of the route's limit, if it has one. */
function limitHeadersOf({ limit, guard }: Route): readonly AnswerHeader[] {
  return limit !== 'none' || guard !== undefined ? ['RateLimit', 'RateLimitPolicy'] : [];
}

/** Whether an Idempotency-Key counts: a caller without credential has nobody to remember it for. */
function takesKey({ method, credential }: Route): boolean {
  return method !== 'GET' && credential !== 'none';
}

const SUCCESS: { readonly [status: string]: string } = { '200': 'Done.', '201': 'Created.', '202': 'Accepted.' };

const HEADER_NAMES: { readonly [name in AnswerHeader]: string } = {
  RequestId: 'X-Request-Id',
  RetryAfter: 'Retry-After',
  Replayed: 'Idempotent-Replayed',
  Challenge: 'WWW-Authenticate',
  RateLimit: 'RateLimit',
  RateLimitPolicy: 'RateLimit-Policy',
  Location: 'Location',
  ContentDisposition: 'Content-Disposition',
};

function answerHeaders(names: readonly AnswerHeader[]): Json {
  return Object.fromEntries(names.map((name) => [HEADER_NAMES[name], { $ref: `#/components/headers/${name}` }]));
}

/** Refusals that may carry Retry-After. */
const COME_AGAIN: ReadonlySet<RefusalCode> = new Set([1203, 1301, 1303, 1402, 1404]);
/** The status of a body that is refused by its type, before its sender is known and counted. */
const UNCOUNTED = 415;

function failureHeaders(route: Route, status: number, codes: readonly RefusalCode[]): Json {
  // Wrong credentials are counted, too: 1301 may tell of that limit on every route that takes a credential.
  const limit = status === 429 ? (['RateLimit', 'RateLimitPolicy'] as const) : limitHeadersOf(route);
  return answerHeaders([
    'RequestId',
    ...(codes.some((code) => COME_AGAIN.has(code)) ? (['RetryAfter'] as const) : []),
    ...(status === 401 ? (['Challenge'] as const) : []),
    ...(status === UNCOUNTED ? [] : limit),
    ...(takesKey(route) && isRemembered(status) ? (['Replayed'] as const) : []),
  ]);
}

/** What a route may refuse with, by HTTP status. */
function failures(route: Route): Json {
  const codes = new Set<RefusalCode>([
    ...(route.credential === 'none' ? [] : WITH_CREDENTIAL),
    ...(route.credential === 'session' ? WITH_SESSION : []),
    ...(route.method === 'GET' ? [] : WITH_BODY),
    ...route.refusals,
    ...EVERYWHERE,
  ]);
  const byStatus = new Map<number, RefusalCode[]>();
  for (const code of [...codes].sort()) {
    for (const status of statusesOf(code)) byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, listed]) => [
      String(status),
      {
        description: listed.map((code) => `\`${code}\` ${REFUSALS[code].name}`).join(', '),
        headers: failureHeaders(route, status, listed),
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    ]),
  );
}

/** Within an operation the path and method are right, so 1403 is about the body's time, size or type. */
function statusesOf(code: RefusalCode): readonly number[] {
  return code === 1403 ? [408, 413, 415] : [REFUSALS[code].http];
}
