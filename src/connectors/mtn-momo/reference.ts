/**
 * The reference of an attempt in MTN's form, a version 4 UUID.
 *
 * Invariant: the same attempt id gives the same reference, for ever. It is their idempotency key: a try that is sent
 * again, by whatever accident, is refused as a duplicate and moves nothing.
 */

import { createHash } from 'node:crypto';

/** 122 bits of a SHA-256 over the attempt id, with the version and variant bits that MTN checks. */
export function referenceFor(attemptId: string): string {
  const bytes = createHash('sha256').update(`mtn-momo:${attemptId}`).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
