/**
 * Refuses what would be decided and written by a wrong clock: how long a reply is remembered, a session or a code is valid, or a
 * PIN is locked.
 *
 * Invariant: a process that is known to have a wrong clock changes nothing, and answers reads as well as it can.
 */

import { Refusal } from '../domain/refusal.ts';

/** Compares this process's clock with the database's. */
export interface ClockCheck {
  /** Whether this process's clock can be believed. The promise rejects while the database, which is asked, cannot be reached. */
  isClockRight(): Promise<boolean>;
}

/** Seconds after which a refused call may be sent again; another process may take it at once. */
const RETRY_SECONDS = 5;

/** @throws Refusal 1402 for a call that may change something. */
export async function requireRightClock({ isClockRight }: ClockCheck, method: string): Promise<void> {
  if (method === 'GET' || method === 'HEAD' || (await isClockRight())) return;
  throw new Refusal(1402, { retryAfter: RETRY_SECONDS });
}
