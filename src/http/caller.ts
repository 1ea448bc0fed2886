/**
 * Who makes a call: the credential is looked up while the body arrives, verified after it, and read again if the call has waited.
 *
 * Invariant: no call goes on with a credential that was read too long ago, so that one revoked or suspended meanwhile is refused.
 */

import type { FastifyRequest } from 'fastify';
import { isWithin } from '../domain/elapsed.ts';
import type { Session } from '../domain/records.ts';
import { type DetailCode, Refusal } from '../domain/refusal.ts';
import type { MerchantCaller, SessionCaller } from '../usecases/callers.ts';
import {
  type AuthenticationParts,
  authenticate,
  lookUpCredential,
  onDevice,
  type PresentedCredential,
} from './authentication.ts';
import type { ClientAddress } from './client-address.ts';
import { exchangeOf } from './exchange.ts';
import { type PipelineHeaders, readFingerprint } from './request-headers.ts';
import type { Route } from './route.ts';

/** Undefined: the route asks for no credential. */
export type Caller = MerchantCaller | SessionCaller | undefined;

export interface CallerParts extends AuthenticationParts {
  /** Binds a session to the first device that it shows; returns the session as it is then. @throws Refusal 1305. */
  bindDevice(session: Session, fingerprint: string): Promise<Session>;
  readonly addressOf: ClientAddress;
}

const MISSING: PresentedCredential = { kind: 'missing' };

/** Milliseconds for which a credential that was read while the body arrived counts as current. */
const FRESH_MS = 500;

/** Starts to look up the credential that a request shows. */
export function lookUpShown(
  { lookups }: Pick<CallerParts, 'lookups'>,
  { authorization, twoCredentials }: PipelineHeaders,
): PresentedCredential {
  return twoCredentials ? MISSING : lookUpCredential(lookups, authorization);
}

/** Authenticates the caller, and with it the fingerprint: its form first, then whether it is the session's. */
export async function callerOf(parts: CallerParts, route: Route, request: FastifyRequest): Promise<Caller> {
  const { credential } = route;
  const { headers, shown: first, startedAt } = exchangeOf(request);
  if (credential === 'none') return undefined;
  if (headers === undefined || first === undefined) throw new Error('a call that was not begun');
  // If the body took its time, the credential is read again: one revoked or suspended meanwhile is refused.
  const isFresh = isWithin(FRESH_MS, startedAt, parts.clock.now());
  const shown = isFresh || first === MISSING ? first : lookUpCredential(parts.lookups, headers.authorization);
  const caller = await authenticate(parts, shown, { credential, address: () => parts.addressOf(request) });
  // A malformed one is refused only now that the credential has been verified.
  const fingerprint = readFingerprint(headers.fingerprint);
  return caller.kind === 'session' ? onDevice(caller, fingerprint, route) : caller;
}

/**
 * A session is bound to the first device that it shows, on whatever call and however that call ends (contract §1). The database may
 * take seconds to write that, or lose its answer and be asked anew: then the caller is looked up again.
 */
export async function withDevice(
  parts: CallerParts,
  route: Route,
  request: FastifyRequest,
  caller: Caller,
): Promise<Caller> {
  if (caller?.kind !== 'session' || caller.fingerprint === undefined) return caller;
  if (caller.session.device_fingerprint !== null) return caller;
  const begunAt = parts.clock.now();
  const bound = { ...caller, session: await parts.bindDevice(caller.session, caller.fingerprint) };
  return isWithin(FRESH_MS, begunAt, parts.clock.now()) ? bound : callerOf(parts, route, request);
}

/** The caller, looked up again if what is known of it is no longer fresh, and its session bound to its device. */
export async function currentCaller(parts: CallerParts, route: Route, request: FastifyRequest): Promise<Caller> {
  return withDevice(parts, route, request, await callerOf(parts, route, request));
}

const EXPIRED = ['SESSION_EXPIRED', 'EXPIRED_AFTER_SUBMIT'] as const;

/**
 * The caller of a call that may have waited for its key's lock: a credential revoked or suspended meanwhile is refused. An expired
 * session may still look up its answer.
 */
export async function callerAfterWait(
  parts: CallerParts,
  route: Route,
  request: FastifyRequest,
  caller: Caller,
): Promise<Caller> {
  if (isWithin(FRESH_MS, exchangeOf(request).startedAt, parts.clock.now())) return caller;
  try {
    return await currentCaller(parts, route, request);
  } catch (error) {
    if (error instanceof Refusal && EXPIRED.some((code) => hasDetail(error, code))) return caller;
    throw error;
  }
}

function hasDetail({ more }: Refusal, wanted: DetailCode): boolean {
  return more.details?.some(({ code }) => code === wanted) === true;
}
