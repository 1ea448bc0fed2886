/**
 * Who is calling (specification, Authentication; contract §1, §2).
 *
 * Invariant: an unknown key, an unknown session and a wrong secret get the same answer, and nothing about a caller is revealed
 * before its secret has been verified.
 */

import {
  type CredentialWithStanding,
  requireMintingSecret,
  requireSecret,
  type SessionWithStanding,
} from '../domain/credential.ts';
import { evictOldest } from '../domain/evict.ts';
import { isId, shardOf } from '../domain/ids.ts';
import type { Merchant } from '../domain/records.ts';
import { Refusal, type RefusalDetail, refuseField } from '../domain/refusal.ts';
import { refuseConsumed, refuseExpired } from '../domain/session.ts';
import { sessionIdIn } from '../domain/session-token.ts';
import type { Clock, Secrets } from '../platform/platform.ts';
import type { MerchantCaller, SessionCaller } from '../usecases/callers.ts';
import { addressKey, addressMatcher } from './client-address.ts';
import type { FailedAuthentications } from './limits.ts';
import type { Lookups } from './lookups.ts';
import type { CredentialKind, Route } from './route.ts';

/** A credential as presented, with its lookup already in flight. */
export type PresentedCredential =
  | { readonly kind: 'missing' }
  | { readonly kind: 'unknown' }
  /** Neither a key with its secret nor a session's token, by its form alone. */
  | { readonly kind: 'formless' }
  | { readonly kind: 'merchant'; readonly secret: string; readonly row: Promise<CredentialWithStanding | undefined> }
  | { readonly kind: 'session'; readonly token: string; readonly row: Promise<SessionWithStanding | undefined> };

/** A scheme name in any case, one space, one value of visible characters. */
const BEARER = /^bearer ([\x21-\x7e]{1,512})$/i;

/** Reads the Authorization header and starts the lookup, so that it runs while the body arrives. */
export function lookUpCredential(lookups: Lookups, authorization: string | undefined): PresentedCredential {
  const value = authorization === undefined ? undefined : BEARER.exec(authorization)?.[1];
  if (value === undefined) return { kind: 'missing' };
  const colon = value.indexOf(':');
  if (colon < 0) {
    const sessionId = sessionIdIn(value);
    if (sessionId === undefined) return { kind: value.startsWith('sess_') ? 'unknown' : 'formless' };
    return { kind: 'session', token: value, row: begun(lookups.sessionCaller(shardOf(sessionId), sessionId)) };
  }
  const keyId = value.slice(0, colon);
  if (!isId('key', keyId)) return { kind: 'unknown' };
  return {
    kind: 'merchant',
    secret: value.slice(colon + 1),
    row: begun(lookups.credentialCaller(shardOf(keyId), keyId)),
  };
}

/** A refusal that comes first (413, 415) never awaits the lookup, whose failure must not end the process. */
function begun<T>(lookup: Promise<T>): Promise<T> {
  lookup.catch(() => undefined);
  return lookup;
}

export interface AuthenticationParts {
  readonly lookups: Lookups;
  readonly secrets: Pick<Secrets, 'digest' | 'equal'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Which kind of secret counts here: `sk_test_` or `sk_live_` (contract §1). */
  readonly mode: 'sandbox' | 'production';
  readonly failures: FailedAuthentications;
}

/** What authentication needs to know of a call besides its credential. */
export interface Circumstances {
  readonly credential: Exclude<CredentialKind, 'none'>;
  /** The caller's address behind trusted proxies; found only when it is needed. */
  readonly address: () => string;
}

/**
 * The caller behind a credential. A CONSUMED session is returned as it is: the route says what it may still do.
 *
 * @throws Refusal 1001, 1002, 1003, 1004, 1005 or 1301.
 */
export async function authenticate(
  parts: AuthenticationParts,
  shown: PresentedCredential,
  call: Circumstances,
): Promise<MerchantCaller | SessionCaller> {
  if (shown.kind === 'missing') throw refuseField(1002, 'Authorization', 'CREDENTIAL_FORM');
  if (shown.kind === 'merchant') return merchantCaller(parts, shown.secret, await shown.row, call);
  if (shown.kind === 'session') return sessionCaller(parts, shown.token, await shown.row, call);
  throw refuseWrong(parts, call, shown.kind === 'formless' ? [WRONG_FORM] : []);
}

async function merchantCaller(
  parts: AuthenticationParts,
  secret: string,
  row: CredentialWithStanding | undefined,
  call: Circumstances,
): Promise<MerchantCaller> {
  const right = isRight(parts, secret, row?.secret_hash);
  // A secret of the other mode is not valid here, even if both modes have been given the same database.
  if (!right || row === undefined || secret.startsWith(OTHER_WORLD[parts.mode])) throw refuseWrong(parts, call);
  requireKind('merchant', call);
  const now = parts.clock.now();
  requireSecret(row, now);
  if (row.allowed_addresses !== null && !isAllowed(row.allowed_addresses, call.address())) {
    throw refuseField(1003, 'Authorization', 'ADDRESS_NOT_ALLOWED');
  }
  const merchant = await merchantOf(parts, row.shard, row.merchant_id, row.merchant_version);
  return { kind: 'merchant', merchant, credentialId: row.id };
}

async function sessionCaller(
  parts: AuthenticationParts,
  token: string,
  row: SessionWithStanding | undefined,
  call: Circumstances,
): Promise<SessionCaller> {
  if (!isRight(parts, token, row?.token_hash) || row === undefined) throw refuseWrong(parts, call);
  requireKind('session', call);
  const now = parts.clock.now();
  // Sessions travel to phones and browsers: the allow-list applies to the credential alone.
  requireMintingSecret(row, now);
  if (row.expires_at <= now) throw refuseExpired(row);
  const merchant = await merchantOf(parts, row.shard, row.merchant_id, row.merchant_version);
  return { kind: 'session', merchant, session: row, fingerprint: undefined };
}

const WRONG_FORM: RefusalDetail = { field: 'Authorization', code: 'CREDENTIAL_FORM' };

const OTHER_WORLD = { sandbox: 'sk_live_', production: 'sk_test_' } as const;

/** What an unknown credential is compared with, so that it takes as long as a wrong secret. */
const NO_HASH = 'x'.repeat(43);

function isRight(parts: AuthenticationParts, secret: string, hash: string | undefined): boolean {
  const matches = parts.secrets.equal(parts.secrets.digest(secret), hash ?? NO_HASH);
  return matches && hash !== undefined;
}

function requireKind(kind: Circumstances['credential'], call: Circumstances): void {
  if (call.credential !== kind) throw refuseField(1003, 'Authorization', 'WRONG_CREDENTIAL_KIND');
}

/**
 * A session's caller with the device fingerprint that the call carries, if any. The first fingerprint that a session's caller
 * sends is bound to the session; reads may leave it out (contract §1).
 *
 * @throws Refusal 1305.
 */
export function onDevice(
  caller: SessionCaller,
  fingerprint: string | undefined,
  { method, device }: Pick<Route, 'method' | 'device'>,
): SessionCaller {
  const bound = caller.session.device_fingerprint;
  const mayBeMissing = method === 'GET' || device === 'refused';
  const isRight = bound === null || fingerprint === bound || (fingerprint === undefined && mayBeMissing);
  if (!isRight) {
    throw refuseField(1305, 'X-Device-Fingerprint', fingerprint === undefined ? 'REQUIRED' : 'OTHER_DEVICE');
  }
  return { ...caller, fingerprint };
}

async function merchantOf(parts: AuthenticationParts, shard: number, id: string, version: number): Promise<Merchant> {
  const merchant = await parts.lookups.merchantAt(shard, id, version);
  if (merchant === undefined) throw new Error('a credential without its merchant');
  return merchant;
}

const MAX_MATCHERS = 1_000;
/** The matchers of allow-lists, by the list's text: making one takes longer than asking it. */
const matchers = new Map<string, (address: string) => boolean>();

function isAllowed(list: readonly string[], address: string): boolean {
  const key = list.join(' ');
  const known = matchers.get(key);
  if (known !== undefined) return known(address);
  const matcher = addressMatcher(list);
  matchers.set(key, matcher);
  evictOldest(matchers, MAX_MATCHERS);
  return matcher(address);
}

/**
 * Refuses a wrong credential, and counts it by address. Only failing calls are refused by this count: many customers share an
 * address behind their carrier's gateway, and a caller that shares it cannot guess a secret of 256 bits.
 */
function refuseWrong(parts: AuthenticationParts, call: Circumstances, details: readonly RefusalDetail[] = []): Refusal {
  const standing = parts.failures.window.take(addressKey(call.address()));
  return standing.allowed ? new Refusal(1001, { details }) : new Refusal(1301, { retryAfter: standing.retryAfter });
}

/** Refuses what a consumed session may no longer do (contract §3). */
export function requireUnconsumed(caller: MerchantCaller | SessionCaller | undefined): void {
  if (caller?.kind === 'session' && caller.session.status === 'CONSUMED') throw refuseConsumed(caller.session);
}
