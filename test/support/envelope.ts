/**
 * What every failure looks like: the envelope of contract §2.
 *
 * Invariant: whoever expects a refusal expects its whole envelope.
 */

import { expect } from 'vitest';
import type { Fields } from './flows.ts';
import type { Answer } from './world.ts';

/** The fields of every failure's envelope, in their order (contract §2). */
export const ENVELOPE_FIELDS = [
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
];

/** Expects the envelope of contract §2, field by field, and its headers. */
export function expectEnvelope(answer: Pick<Answer, 'status' | 'headers' | 'json' | 'text'>): void {
  const { json, headers, text } = answer;
  expect(json, text).toBeTypeOf('object');
  expect(Object.keys(json), text).toEqual(ENVELOPE_FIELDS);
  expect(json.error).toBe(true);
  expect(json.error_code).toMatch(/^1[0-9]{3}$/);
  expect(json.error_name).toMatch(/^[A-Z_]+$/);
  expect(json.message, text).toMatch(/\S/);
  expect(json.message, text).not.toContain('…');
  expect(json.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(json.request_id).toMatch(/^req_/);
  expect(headers.get('x-request-id')).toBe(json.request_id);
  if (json.transaction_id !== null) expect(json.transaction_id, text).toMatch(/^txn_/);
  expect(json.retryable).toBeTypeOf('boolean');
  expect(headers.get('retry-after')).toBe(json.retry_after === null ? null : String(json.retry_after));
  expect(json.summary_code).toMatch(/^lok00[1-9]$/);
  expect(new URL(json.documentation_url).pathname).toBe(`/docs/errors/${json.error_code}`);
  if (json.details === null) return;
  expect(json.details.length).toBeGreaterThan(0);
  for (const detail of json.details) {
    expect(Object.keys(detail)).toEqual(['field', 'message', 'code']);
    for (const value of Object.values(detail)) expect(value, text).toMatch(/\S/);
  }
}

/** Expects a refusal with that code, in the envelope. */
export function expectRefusal(answer: Answer, status: number, code: string, detail?: string): void {
  expect({ status: answer.status, code: answer.json?.error_code }, answer.text).toEqual({ status, code });
  expectEnvelope(answer);
  if (detail !== undefined) {
    expect(
      answer.json.details?.map((one: { code: string }) => one.code),
      answer.text,
    ).toContain(detail);
  }
}

/** A failure without the fields that differ from call to call. */
export function withoutIds(answer: Answer): Fields {
  const { request_id, timestamp, ...rest } = answer.json;
  expect([typeof request_id, typeof timestamp]).toEqual(['string', 'string']);
  return rest;
}
