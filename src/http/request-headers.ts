/**
 * The headers that the pipeline reads, taken from the raw list so that a header given twice is seen.
 *
 * Invariant: neither of two headers with one name is chosen. Node.js takes the first Authorization and joins other repeated
 * headers, and a proxy in front may have looked at the other one.
 */

import type { IncomingMessage } from 'node:http';
import { refuseField } from '../domain/refusal.ts';

/** The headers of a call that its route's pipeline acts on. */
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

/**
 * Reads the three headers, as they were sent; undefined if one is absent. Of one that came twice the value must not be used: see
 * `twoCredentials` and `duplicate`.
 */
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

/** Whether the content type says JSON in UTF-8; false if there is none. */
export function isPlainJson(headers: IncomingMessage['headers']): boolean {
  const type = headers['content-type'];
  return type === 'application/json' || isOf('application/json', type);
}

/** A form as browsers send it by themselves. */
export function isUrlEncoded(headers: IncomingMessage['headers']): boolean {
  return isOf('application/x-www-form-urlencoded', headers['content-type']);
}

/** What UTF-8 is called by those who send it, and a part of it. */
const UTF_8 = /^("?)(?:utf-?8|us-ascii)\1$/i;

/**
 * Whether a body is of that media type, and in UTF-8. Parameters that are not about its characters have no meaning (RFC 8259,
 * section 11), and another encoding would have to be guessed at.
 */
function isOf(mediaType: string, header = ''): boolean {
  const [type = ''] = header.split(';', 1);
  if (type.trim().toLowerCase() !== mediaType) return false;
  const parameters = header.slice(type.length);
  let read = 0;
  for (const [whole, name, value = ''] of parameters.matchAll(PARAMETER)) {
    if (name?.toLowerCase() === 'charset' && !UTF_8.test(value)) return false;
    read += whole.length;
  }
  return read === parameters.length;
}

/** A parameter of a media type, its value perhaps quoted, or nothing after a semicolon (RFC 9110, sections 5.6.6 and 8.3.1). */
const PARAMETER = /;[ \t]*(?:([^\s;="]+)=("(?:[^"\\]|\\.)*"|[^\s;="]+)[ \t]*)?/gy;

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
