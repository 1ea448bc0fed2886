/**
 * Judges a webhook's signature by the Standard Webhooks rules. They are written here independently, so that a misreading by the
 * gateway would show.
 * Invariant: "verified" is said only if a signature of exactly the received bytes matches and the time was right on arrival.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

export type Verdict = {
  readonly verdict: 'verified' | 'wrong_signature' | 'no_secret';
  /** In words, for a person. */
  readonly why: string;
};

export type SignedParts = {
  readonly id: string | undefined;
  readonly timestamp: string | undefined;
  readonly signature: string | undefined;
  readonly body: Buffer;
  /** When it arrived, in milliseconds since the epoch; the tolerance is judged against this time. */
  readonly receivedAt: number;
};

/** 300 seconds that the timestamp may be off, either way. */
const tolerance = 300;

const wrong = (why: string): Verdict => ({ verdict: 'wrong_signature', why: `Does not verify: ${why}` });

/** The key's bytes, or undefined if the text is not a `whsec_` secret. */
export function keyIn(secret: string): Buffer | undefined {
  const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret.trim())?.[1];
  const key = encoded === undefined ? undefined : Buffer.from(encoded, 'base64');
  return key === undefined || key.length === 0 ? undefined : key;
}

export function judge(key: Buffer | undefined, parts: SignedParts): Verdict {
  const { id, timestamp, signature, body, receivedAt } = parts;
  if (key === undefined) return { verdict: 'no_secret', why: 'No secret known yet: paste it here.' };
  const missing = [
    id === undefined && 'webhook-id',
    timestamp === undefined && 'webhook-timestamp',
    signature === undefined && 'webhook-signature',
  ].filter((name) => name !== false);
  if (id === undefined || timestamp === undefined || signature === undefined)
    return wrong(`the header ${missing.join(', ')} is missing.`);
  if (!/^\d{1,12}$/.test(timestamp)) return wrong('webhook-timestamp is not a number of seconds.');
  const given = signature
    .split(' ')
    .filter((one) => one.startsWith('v1,'))
    .map((one) => Buffer.from(one.slice(3), 'base64'));
  if (given.length === 0) return wrong('webhook-signature holds no v1 signature.');
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
  const matches = given.some((one) => one.length === expected.length && timingSafeEqual(one, expected));
  if (!matches) return wrong('no signature matches this secret and these bytes.');
  const off = Math.round(receivedAt / 1_000) - Number(timestamp);
  if (Math.abs(off) > tolerance) return wrong(`it is signed for a time ${Math.abs(off)} s away; 300 s are allowed.`);
  const count = given.length > 1 ? ` One of ${given.length} signatures matches.` : '';
  return { verdict: 'verified', why: `Verified.${count}` };
}
