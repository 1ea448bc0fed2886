/**
 * The form of a session token: `sess_`, the 26 characters of the session's id, then the secret.
 *
 * Invariant: a token names its session, and so its shard, without a search; only its secret, 256 random bits, proves it. Only the
 * SHA-256 of the whole token is stored.
 */

import { isId } from './ids.ts';

const PREFIX = 'sess_';
const ID_LENGTH = 26;
/** 32 bytes in base64url. */
const SECRET = /^[A-Za-z0-9_-]{43}$/;

/** The token of a session: handed out once, at the mint. `secret` is 32 random bytes in base64url. */
export function makeSessionToken(sessionId: string, secret: string): string {
  if (!isId('ses', sessionId)) throw new RangeError('not a session id');
  if (!SECRET.test(secret)) throw new RangeError('a session secret is 32 bytes in base64url');
  return PREFIX + sessionId.slice(sessionId.indexOf('_') + 1) + secret;
}

/** The id of the session that a token names; undefined for what cannot be a token. Its secret may still be wrong. */
export function sessionIdIn(token: string): string | undefined {
  if (!token.startsWith(PREFIX)) return undefined;
  const sessionId = `ses_${token.slice(PREFIX.length, PREFIX.length + ID_LENGTH)}`;
  return isId('ses', sessionId) && SECRET.test(token.slice(PREFIX.length + ID_LENGTH)) ? sessionId : undefined;
}
