/**
 * Counts each call by its sender: against the merchant's traffic limits, and, on a route with a guard, before the guard.
 *
 * Invariant: only authenticated calls are counted here; failed authentication has a limit of its own (`authentication.ts`).
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Merchant } from '../domain/records.ts';
import { Refusal } from '../domain/refusal.ts';
import type { TrafficLimit } from '../domain/traffic-limit.ts';
import type { Clock } from '../platform/platform.ts';
import type { Caller } from './caller.ts';
import { type Guard, guardHeaders, type Limits, limitHeaders } from './limits.ts';
import type { Route } from './route.ts';
import { type SlidingWindow, slidingWindow } from './sliding-window.ts';

interface CountingParts {
  readonly limits: Limits;
}

interface Counting {
  readonly parts: CountingParts;
  readonly reply: FastifyReply;
  /** As how many calls it counts; absent: as one. */
  readonly weight?: number;
}

/** Calls of one guarded route by their sender, whatever payment they name. */
export type GuardedCalls = SlidingWindow;

/**
 * A guard counts the calls about one payment, so that a call which names none of ours escapes it. This limit counts every call of a
 * guarded route by its sender, far above what any guard lets through.
 */
const GUARDED_CALLS: Guard = { name: 'calls', calls: 120, seconds: 60 };

/** Counts the calls of one guarded route, in this process: 120 a minute of each sender are let through. */
export function countGuardedCalls(clock: Pick<Clock, 'now'>): GuardedCalls {
  return slidingWindow(clock, GUARDED_CALLS);
}

/**
 * A call by a session counts once for each 32 KiB of its body, because a body is read on the one thread that serves everybody: the
 * longest takes tens of milliseconds. A payout to a hundred people has less, and a wallet's token a few kilobytes.
 */
const BYTES_OF_A_CALL = 32_768;

/** @throws Refusal 1301 beyond the route's traffic limit, which is the merchant's own where it has one. */
export function countCall(
  parts: CountingParts,
  route: Route,
  caller: Caller,
  { request, reply }: { readonly request: Pick<FastifyRequest, 'body'>; readonly reply: FastifyReply },
): void {
  if (route.limit === 'none' || caller === undefined) return;
  const weight = caller.kind === 'session' ? Math.max(1, Math.ceil(lengthOf(request.body) / BYTES_OF_A_CALL)) : 1;
  countBy({ parts, reply, weight }, route.limit, senderOf(caller), caller.merchant);
}

function lengthOf(body: unknown): number {
  return Buffer.isBuffer(body) || typeof body === 'string' ? body.length : 0;
}

/** Before anything is read or remembered, so that calls that no guard counts are limited too. */
export function countGuarded(calls: GuardedCalls | undefined, caller: Caller, reply: FastifyReply): void {
  if (calls === undefined || caller === undefined) return;
  const { allowed, remaining, reset, retryAfter } = calls.take(senderOf(caller));
  reply.headers(guardHeaders(GUARDED_CALLS, { count: remaining, seconds: reset }));
  if (!allowed) throw new Refusal(1301, { retryAfter });
}

/** The id of the sender by which calls and uploads are counted. */
export function senderOf(caller: NonNullable<Caller>): string {
  return caller.kind === 'session' ? caller.session.id : caller.credentialId;
}

/** Counts by a key of the caller's own choice, such as the order that a callback names. @throws Refusal 1301. */
export function countBy(
  { parts, reply, weight }: Counting,
  limit: TrafficLimit,
  key: string,
  merchant: Merchant | undefined,
): void {
  const standing = parts.limits.take(limit, key, merchant?.settings.rate_limits?.[limit], weight);
  if (standing === undefined) return;
  reply.headers(limitHeaders(limit, standing));
  if (!standing.allowed) throw new Refusal(1301, { retryAfter: standing.retryAfter });
}
