/**
 * Verifies a webhook as its receiver should (Standard Webhooks; contract §6).
 *
 * Invariant: it is verified only if a signature over exactly the bytes received matches, and its time is within the tolerance.
 */

import type { Secrets } from '../platform/platform.ts';
import { signatureOf } from './webhook-sign.ts';

/** 300 s that the time of the signature may be off, either way. */
const TOLERANCE_S = 300;

/** A webhook as its receiver got it. */
export interface Arrived {
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined };
  readonly body: string;
  /** When it arrived, milliseconds since 1970. */
  readonly at: number;
}

/** Why a webhook is not verified; undefined when it is. */
export function whyNotVerified(
  secrets: Pick<Secrets, 'hmac' | 'equal'>,
  key: Uint8Array,
  { headers, body, at }: Arrived,
): string | undefined {
  const [id, seconds, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(
    (name) => headers[name],
  );
  if (typeof id !== 'string' || typeof seconds !== 'string' || typeof signatures !== 'string')
    return 'webhook-id, webhook-timestamp or webhook-signature is missing';
  if (!/^[0-9]{1,12}$/.test(seconds)) return 'webhook-timestamp is no number of seconds';
  const expected = signatureOf(secrets, key, id, seconds, body);
  if (!signatures.split(' ').some((given) => secrets.equal(given, expected)))
    return 'no signature is that of this secret over this body';
  const off = Math.abs(Math.floor(at / 1_000) - Number(seconds));
  return off > TOLERANCE_S ? `it was signed for a time ${off} s away; ${TOLERANCE_S} s are allowed` : undefined;
}
