/**
 * Counts wrong PINs by session, over all the accounts that it names: otherwise one session could try the same PIN at any number of
 * accounts, and lock none.
 *
 * Invariant: a wrong PIN is counted before it is answered, and the answer to a right one guards the same count.
 */

import { type Change, guard, guardedUpdate, type Update } from '../domain/change.ts';
import type { LimitCounter, Session } from '../domain/records.ts';
import { afterWrongPinOfSession } from '../domain/wallet.ts';
import type { Deps } from './deps.ts';

/** A session's count; undefined before its first wrong PIN. It shares a table with the other counts, whose ids are hashes. */
export type SessionPins = LimitCounter | undefined;

type Owner = Pick<Session, 'shard' | 'id'>;

/** Reads the counter of a session's wrong PINs. */
export function readSessionPins({ store }: Pick<Deps, 'store'>, { shard, id }: Owner): Promise<SessionPins> {
  return store.limitCounter.get(shard, id);
}

/** Counts one more wrong PIN: what it writes, and how many more the session is allowed. */
export function sessionPinFailed(
  count: SessionPins,
  { shard, id }: Owner,
  now: number,
): { readonly change: Change; readonly left: number } {
  const { row, left } = afterWrongPinOfSession(count, now);
  const change =
    count === undefined
      ? { claims: [{ table: 'pin_guard', row: { shard, id, version: 1, ...row } } as const] }
      : { updates: [guardedUpdate('pin_guard', count, row)] };
  return { change, left };
}

/** What the answer to a right PIN guards, so that no guess gets past the session's lock. */
export function guardOfSessionPins(count: SessionPins): readonly Update[] {
  return count === undefined ? [] : [guard('pin_guard', count)];
}
