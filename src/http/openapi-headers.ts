/**
 * The headers of the OpenAPI document: those that calls take, and those of answers.
 *
 * Invariant: every header of an answer that is meant for its caller is named here.
 */

import { LANGUAGES } from '../messages/messages.ts';
import { componentOf } from './components.ts';
import type { Json } from './json-node.ts';

/** The headers that calls take. */
export const CALL_HEADERS = {
  idempotencyKey: callHeader(
    'Idempotency-Key',
    'One key for each operation, 1 to 255 visible ASCII characters. A call that is repeated within 24 hours with the ' +
      'same key and body gets the stored answer, byte for byte, with the header `Idempotent-Replayed: true`. The same key ' +
      'with another body, or with another id in the path, is refused with 1203. Each path has its own keys.',
    { type: 'string', pattern: '^(?!""$)([!-~]{1,255}|"[!-~]{1,255}")$' },
  ),
  language: callHeader(
    'Accept-Language',
    `The language of all messages: ${LANGUAGES.join(', ')}. French if none of these is asked for.`,
    { type: 'string' },
  ),
  fingerprint: callHeader(
    'X-Device-Fingerprint',
    'SHA-256 of the device’s attributes, 64 hexadecimal characters. The first one that is sent with a session is bound to ' +
      'the session; from then on a call with another one is refused with 1305, and so is a POST without one.',
    { type: 'string', pattern: '^[0-9A-Fa-f]{64}$' },
  ),
};

function callHeader(name: string, description: string, schema: Json): Json {
  return {
    ...componentOf('parameters', componentName(name), description),
    name,
    in: 'header',
    required: false,
    schema,
  };
}

/** The headers of answers, each under its name. */
const ANSWER_HEADERS = {
  requestId: answerHeader('X-Request-Id', 'The id of this request: quote it when you ask for help.'),
  retryAfter: answerHeader('Retry-After', 'When to try again, in whole seconds from now.', {
    type: 'integer',
    minimum: 0,
  }),
  replayed: answerHeader(
    'Idempotent-Replayed',
    '`true` if this is the stored answer of an earlier call with the same Idempotency-Key. The `request_id` of a stored ' +
      'refusal, and `X-Request-Id` with it, is that of the earlier call.',
    { type: 'string', enum: ['true'] },
  ),
  challenge: answerHeader('WWW-Authenticate', 'The kind of credential that is needed: a bearer token.'),
  limit: answerHeader(
    'RateLimit',
    'IETF RateLimit: how many calls remain, and when the window ends. Absent if the call has no limit.',
  ),
  limitPolicy: answerHeader(
    'RateLimit-Policy',
    'IETF RateLimit-Policy: the limit and its window. Absent if the call has no limit.',
  ),
  location: answerHeader('Location', 'Where the browser continues.', { type: 'string', format: 'uri' }),
  fileName: answerHeader('Content-Disposition', 'For a CSV answer: the name under which a browser saves the file.'),
} as const;

type AnswerHeader = keyof typeof ANSWER_HEADERS;

function answerHeader(name: string, description: string, schema: Json = { type: 'string' }): Json {
  return { [name]: { ...componentOf('headers', componentName(name), description), schema } };
}

/** An answer's headers. */
export function answerHeaders(headers: readonly AnswerHeader[]): Json {
  return Object.assign({}, ...headers.map((header) => ANSWER_HEADERS[header])) as Json;
}

/** `IdempotencyKey` for `Idempotency-Key`; without the `X-` of some. */
function componentName(header: string): string {
  return header.replace(/^X-/, '').replaceAll('-', '');
}
