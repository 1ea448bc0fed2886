/**
 * The headers that the pipeline reads, taken from the raw list so that a header given twice is seen.
 *
 * Invariant: neither of two headers with one name is chosen. Node.js takes the first Authorization and joins other repeated
 * headers, and a proxy in front may have looked at the other one.
 */

import type { IncomingMessage } from 'node:http';
import { refuseField } from '../domain/refusal.ts';

export interface PipelineHeaders {
  readonly authorization: string | undefined;
  readonly idempotencyKey: string | undefined;
  readonly fingerprint: string | undefined;
  /** Authorization came twice: nobody can say which of them counts, so neither does. */
  readonly twoCredentials: boolean;
  /** The first other header that came twice. */
  readonly duplicate: string | undefined;
}

const IDEMPOTENCY_KEY = 'Idempotency-Key';
const FINGERPRINT = 'X-Device-Fingerprint';

export function readPipelineHeaders(request: Pick<IncomingMessage, 'rawHeaders'>): PipelineHeaders {
  const { rawHeaders } = request;
  let authorization: string | undefined;
  let idempotencyKey: string | undefined;
  let fingerprint: string | undefined;
  let twoCredentials = false;
  let duplicate: string | undefined;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    const value = rawHeaders[i + 1] ?? '';
    // Lengths are compared first: almost every header is a different one.
    if (name.length === 13 && name.toLowerCase() === 'authorization') {
      twoCredentials ||= authorization !== undefined;
      authorization = value;
    } else if (name.length === 15 && name.toLowerCase() === 'idempotency-key') {
      if (idempotencyKey !== undefined) duplicate ??= IDEMPOTENCY_KEY;
      idempotencyKey = value;
    } else if (name.length === 20 && name.toLowerCase() === 'x-device-fingerprint') {
      if (fingerprint !== undefined) duplicate ??= FINGERPRINT;
      fingerprint = value;
    }
  }
  return { authorization, idempotencyKey, fingerprint, twoCredentials, duplicate };
}

/** HTTP/1.1 demands one Host; of two, a proxy in front may have looked at the other one. */
export function hasOneHost({ rawHeaders, httpVersion }: Pick<IncomingMessage, 'rawHeaders' | 'httpVersion'>): boolean {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts === 1 || (hosts === 0 && httpVersion === '1.0');
}

const FINGERPRINT_FORM = /^[0-9a-f]{64}$/i;

/** The fingerprint in lower case, undefined when none was sent. @throws Refusal 1110. */
export function readFingerprint(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (!FINGERPRINT_FORM.test(value)) throw refuseField(1110, FINGERPRINT, 'INVALID_DEVICE_FINGERPRINT');
  return value.toLowerCase();
}

/** Exactly JSON, in UTF-8: anything else would have to be guessed at. */
const JSON_TYPE = /^application\/json[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?$/i;

export function isPlainJson(headers: IncomingMessage['headers']): boolean {
  const type = headers['content-type'];
  return type === 'application/json' || (type !== undefined && JSON_TYPE.test(type));
}

const URL_ENCODED = /^application\/x-www-form-urlencoded[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?$/i;

/** A form as browsers send it by themselves, in UTF-8. */
export function isUrlEncoded(headers: IncomingMessage['headers']): boolean {
  return URL_ENCODED.test(headers['content-type'] ?? '');
}

/** The header that says that a body is compressed, or coded in another way than in chunks; undefined if none does. */
export function codingOf(headers: IncomingMessage['headers']): 'Content-Encoding' | 'Transfer-Encoding' | undefined {
  const { 'content-encoding': content = 'identity', 'transfer-encoding': transfer = 'chunked' } = headers;
  if (content.toLowerCase() !== 'identity') return 'Content-Encoding';
  return transfer.toLowerCase() === 'chunked' ? undefined : 'Transfer-Encoding';
}

/** Whether a request announces a body at all. */
export function hasBody(headers: IncomingMessage['headers']): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}
