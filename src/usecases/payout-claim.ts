/**
 * Takes the payout lines that are due, and hands them to the dispatcher.
 *
 * Invariant: any number of processes may do so at once: each line is leased to one of them. What the dispatcher has no
 * room for comes up again when its lease has run out.
 */

import { START_LEASE_MS } from '../domain/payout.ts';
import type { Deps } from './deps.ts';
import { idleInTime } from './idle.ts';
import type { Dispatcher } from './payout-dispatch.ts';

const AT_ONCE = 256;
/** So many claims a run, so that a great backlog does not keep the round from being stopped. */
const MOST_CLAIMS = 16;

/** Starts what is due. Returns how many lines there were. */
export async function startDue(deps: Pick<Deps, 'store' | 'clock'>, dispatcher: Dispatcher): Promise<number> {
  let found = 0;
  let offered = 0;
  // A claim would only put off what it takes.
  for (let claims = 0; claims < MOST_CLAIMS && !dispatcher.isFull(); claims += 1) {
    const now = deps.clock.now();
    const due = await deps.store.payoutLine.claimDue(now, now + START_LEASE_MS, AT_ONCE, dispatcher.busy());
    for (const line of due) dispatcher.offer(line, 'claim');
    found += due.length;
    offered += due.length;
    if (due.length === AT_ONCE) continue;
    // Of those that have room nothing more is due; once these are on their way, there is more room.
    if (offered === 0 || !(await idleInTime(deps, dispatcher))) break;
    offered = 0;
  }
  return found;
}
