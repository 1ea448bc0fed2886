/**
 * Binds a session to the first device fingerprint that is sent with it, on any call (contract §1).
 *
 * Invariant: a session is bound once. Of two devices that come at the same time one wins, and the other is refused (1305).
 */

import type { Session } from '../domain/records.ts';
import { Refusal } from '../domain/refusal.ts';
import { deviceColumns, reviseSession } from '../domain/session.ts';
import { CommitUnknown } from '../store/errors.ts';
import { cachedFirst, type Deps } from './deps.ts';
import { commitDecision } from './perform.ts';

/** Returns the session, bound to this device. @throws Refusal 1001 when it is gone, 1305 when another device won. */
export function bindDevice(deps: Pick<Deps, 'store'>, session: Session, fingerprint: string): Promise<Session> {
  const { shard, id } = session;
  const read = cachedFirst<Session | undefined>(session, () => deps.store.session.caller(shard, id));
  const bind = (): Promise<Session> =>
    commitDecision(deps.store, read, (found) => {
      if (found === undefined) throw new Refusal(1001);
      const columns = deviceColumns(found, fingerprint);
      if (columns.device_fingerprint === undefined) return { answer: found };
      const { update, after } = reviseSession(found, columns);
      return { change: { updates: [update] }, answer: after };
    });
  // A lost outcome is resolved by reading again, so the caller need not be told that a call is in doubt which has not begun.
  return bind().catch((error: unknown) => {
    if (error instanceof CommitUnknown) return bind();
    throw error;
  });
}
