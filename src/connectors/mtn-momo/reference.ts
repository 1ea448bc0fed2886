/**
 * The reference of an attempt in MTN's form, a version 4 UUID.
 *
 * Invariant: the same attempt id gives the same reference, for ever. It is their idempotency key: a request that is accidentally
 * sent again is refused as a duplicate and moves nothing.
 */

import { hash } from 'node:crypto';
import type { MtnMomoConfig } from './client.ts';

/** 122 bits of a SHA-256 over the attempt id, with the version and variant bits that MTN checks. */
export function referenceFor(attemptId: string): string {
  const hex = hash('sha256', `mtn-momo:${attemptId}`, 'hex');
  const version = `4${hex.slice(13, 16)}`;
  const variant = VARIANT.charAt(Number.parseInt(hex.charAt(16), 16) & 3) + hex.slice(17, 20);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${version}-${variant}-${hex.slice(20, 32)}`;
}

/**
 * Which account of ours a reference is within: the market, and the API user. The API key is renewed without another account, and the
 * host alone tells the upstream: a port or a path may change.
 */
export function accountOf(config: Pick<MtnMomoConfig, 'baseUrl' | 'targetEnvironment' | 'apiUser'>): string {
  const { baseUrl, targetEnvironment, apiUser } = config;
  return hash('sha256', [new URL(baseUrl).hostname, targetEnvironment, apiUser].join('\n'), 'hex').slice(0, 16);
}

/** The hexadecimal digits whose upper two bits mark an RFC 9562 UUID. */
const VARIANT = '89ab';
