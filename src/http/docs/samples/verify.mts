import { createHmac, timingSafeEqual } from 'node:crypto';

type Headers = { [name: string]: string | string[] | undefined };

/** `body` is the text as it came, before anything parses it; `secret` is whsec_…; `now` in seconds. */
export function isFromMbongo(headers: Headers, body: string, secret: string, now = Date.now() / 1000): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signatures } = headers;
  if (!(Math.abs(now - Number(at)) <= 300)) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  if (key.length < 24) return false; // No secret is set: anybody could sign.
  const mac = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64');
  const expected = Buffer.from(`v1,${mac}`);
  return String(signatures)
    .split(' ')
    .some((signature) => {
      const given = Buffer.from(signature);
      return given.length === expected.length && timingSafeEqual(given, expected);
    });
}
