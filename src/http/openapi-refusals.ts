/**
 * What the OpenAPI document says of failed calls: the one form of their answers, and with which codes each call may be refused.
 *
 * Invariant: every failed call is answered with one schema, and a call's description lists all codes that it may have.
 */

import { isRemembered, REFUSALS, type RefusalCode } from '../domain/refusal.ts';
import { componentOf, named } from './components.ts';
import { withMeanings } from './field-meanings.ts';
import type { Json } from './json-node.ts';
import { answerHeaders } from './openapi-headers.ts';
import type { Route } from './route.ts';

/** Codes with which every call may be refused, besides those of its route. 1403: its headers are too large. */
const EVERYWHERE: readonly RefusalCode[] = [1401, 1402, 1403];
/** 1110: a repeated header, or a malformed device fingerprint. */
const WITH_CREDENTIAL: readonly RefusalCode[] = [1001, 1002, 1003, 1004, 1005, 1110, 1301];
/** A session may be bound to a device, which is checked on its reads too. */
const WITH_SESSION: readonly RefusalCode[] = [1305];
const WITH_BODY: readonly RefusalCode[] = [1110];

const NULLABLE_TEXT = { type: ['string', 'null'] };

const ERROR_ANSWER = withMeanings({
  ...named(
    'ErrorAnswer',
    'The answer to every failed call, including calls to unknown paths and calls with malformed bodies.',
  ),
  type: 'object',
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
    error: { type: 'boolean', const: true },
    error_code: { ...named('ErrorCode'), type: 'string', enum: Object.keys(REFUSALS) },
    error_name: {
      ...named('ErrorName'),
      type: 'string',
      enum: [...new Set(Object.values(REFUSALS).map(({ name }) => name))],
    },
    message: {
      type: 'string',
      description: 'A sentence for people, in the caller’s language, that says what to do next.',
    },
    details: {
      type: ['array', 'null'],
      items: {
        ...named('ErrorDetail'),
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
});

/** What a call of the route may be refused with, by HTTP status. */
export function refusalsOf(route: Route): Json {
  const codes = new Set<RefusalCode>([
    ...(route.credential === 'none' ? [] : WITH_CREDENTIAL),
    ...(route.credential === 'session' ? WITH_SESSION : []),
    ...(route.method === 'GET' ? [] : WITH_BODY),
    ...route.refusals,
    ...EVERYWHERE,
  ]);
  const byStatus = new Map<number, RefusalCode[]>();
  for (const code of [...codes].sort()) {
    for (const status of statusesOf(code, route)) byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries([...byStatus].map(([status, listed]) => [String(status), refused(status, listed)]));
}

/**
 * Within an operation the method is right, and the path but for a parameter: 1403 is about one that cannot be decoded, about the
 * body's time, size or type, or about the headers' size.
 */
function statusesOf(code: RefusalCode, { method, path }: Route): readonly number[] {
  if (code !== 1403) return [REFUSALS[code].http];
  const ofBody = method === 'GET' ? [] : [408, 413, UNREAD_TYPE];
  return [...(path.includes('/:') ? [404] : []), ...ofBody, TOO_LARGE_HEADERS];
}

/** By HTTP status, the names of responses with a single code: they are the same for every call, and stand once in the document. */
const RESPONSE_NAMES: { readonly [status: number]: string } = {
  404: 'NotFound',
  408: 'RequestTimeout',
  413: 'ContentTooLarge',
  415: 'UnsupportedMediaType',
  429: 'TooManyRequests',
  431: 'HeadersTooLarge',
  500: 'InternalError',
  502: 'BadGateway',
  503: 'ServiceUnavailable',
};

/** The status of a body that is refused by its type, before its sender is known and counted. */
const UNREAD_TYPE = 415;
/** The status of headers that are too large to be read: nothing more is known of the call. */
const TOO_LARGE_HEADERS = 431;
/** Refusals that may carry Retry-After. */
const WITH_RETRY_AFTER: ReadonlySet<RefusalCode> = new Set([1203, 1301, 1303, 1402, 1404]);

function refused(status: number, codes: readonly RefusalCode[]): Json {
  const name = codes.length === 1 ? RESPONSE_NAMES[status] : undefined;
  const description = codes.map((code) => `\`${code}\` ${REFUSALS[code].name}`).join(', ');
  return {
    ...(name === undefined ? { description } : componentOf('responses', name, description)),
    headers: answerHeaders([
      'requestId',
      ...(codes.some((code) => WITH_RETRY_AFTER.has(code)) ? (['retryAfter'] as const) : []),
      ...(status === 401 ? (['challenge'] as const) : []),
      ...(status === UNREAD_TYPE || status === TOO_LARGE_HEADERS ? [] : (['limit', 'limitPolicy'] as const)),
      ...(isRemembered(status) ? (['replayed'] as const) : []),
    ]),
    content: { 'application/json': { schema: ERROR_ANSWER } },
  };
}
