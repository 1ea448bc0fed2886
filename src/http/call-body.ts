/**
 * The body of a call: whether it is of a type that its route takes, and how it is read.
 *
 * Invariant: nothing is read for a sender that is not known yet, except whether the type of the body is right.
 */

import type { FastifyRequest } from 'fastify';
import type { Clock, Secrets } from '../platform/platform.ts';
import { encodedBody, notForm, notJson } from './envelope.ts';
import { type JsonBody, readFormBody, readJsonBody } from './json-body.ts';
import { type FileRule, isForm, readMultipart, type UploadedFile } from './multipart.ts';
import { codingOf, hasBody, isPlainJson, isUrlEncoded } from './request-headers.ts';
import type { Route } from './route.ts';
import { dropNulls, fieldsOf } from './shape.ts';

interface FormParts {
  readonly clock: Pick<Clock, 'after'>;
  readonly secrets: Pick<Secrets, 'digest'>;
}

/** Refuses a body of another type than the route takes, and one that would have to be decoded first. */
export function requireType(route: Route, { headers }: FastifyRequest): void {
  if (route.method === 'GET' || route.rawBody === true) return;
  const coding = hasBody(headers) ? codingOf(headers) : undefined;
  if (coding !== undefined) throw encodedBody(coding);
  if (route.upload === undefined ? isPlainJson(headers) : isForm(headers)) return;
  if (route.forms === true && isUrlEncoded(headers)) return;
  // A POST without any body lacks its fields, which the shape reports better.
  if (!hasBody(headers) && headers['content-type'] === undefined) return;
  throw route.upload === undefined ? notJson() : notForm();
}

/** What a call reads that takes no fields at all. */
const NO_FIELDS = {};

/** The body as the route takes it. @throws Refusal 1110 for what is no JSON object. */
export function bodyOf(route: Route, request: FastifyRequest): unknown {
  if (route.method === 'GET') return undefined;
  if (route.rawBody === true) return typeof request.body === 'string' ? request.body : '';
  const { body: sent } = request;
  // Parsed here, and not as it arrives: a long body may take tens of milliseconds, which no stranger is to cost us.
  const body = readSent(sent, route.body === undefined ? NO_FIELDS : fieldsOf(route.body));
  // Without any body every field is missing, and the shape says which.
  if (body === undefined) return {};
  if (body.kind === 'refused') throw body.refusal;
  if (body.nulls && route.body !== undefined) dropNulls(route.body, body.value);
  return body.value;
}

/** Undefined if no body was sent. */
function readSent(sent: unknown, known: object | undefined): JsonBody | undefined {
  if (Buffer.isBuffer(sent)) return readJsonBody(sent, known);
  return typeof sent === 'string' ? readFormBody(sent) : undefined;
}

/** Reads a form, now that its sender is known and counted. */
export async function formOf(
  parts: FormParts,
  rule: FileRule,
  request: FastifyRequest,
): Promise<{ readonly body: unknown; readonly memory: unknown }> {
  if (!isForm(request.headers)) return { body: {}, memory: {} };
  const { fields, file } = await readMultipart(request.raw, rule, parts.clock);
  if (file === undefined) return { body: fields, memory: fields };
  const uploaded: UploadedFile = { bytes: file };
  return {
    body: { ...fields, [rule.field]: uploaded },
    memory: { ...fields, [rule.field]: parts.secrets.digest(file) },
  };
}
