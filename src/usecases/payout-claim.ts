/**
 * Claims the payout lines that are due, and hands them to the dispatcher.
 *
 * Invariant: any number of processes may do so at once: each line is leased to one of them. A line that the dispatcher has no
 * room for is due again when its lease has run out.
 */

import { START_LEASE_MS } from '../domain/payout.ts';
import type { Deps } from './deps.ts';
import { idleInTime } from './idle.ts';
import type { Dispatcher } from './payout-dispatch.ts';

const AT_ONCE = 256;
/** 16 claims at most per run, so that the round can be stopped even during a large backlog. */
const MAX_CLAIMS = 16;

/** Starts the lines that are due. Returns how many there were. */
export async function startDue(deps: Pick<Deps, 'store' | 'clock' | 'holds'>, dispatcher: Dispatcher): Promise<number> {
  let found = 0;
  let offered = 0;
  // While the dispatcher is full, a claim would only delay the lines that it leases.
  for (let claims = 0; claims < MAX_CLAIMS && !dispatcher.isFull(); claims += 1) {
    await deps.holds.look();
    const now = deps.clock.now();
    const due = await deps.store.payoutLine.leaseDue(now, now + START_LEASE_MS, AT_ONCE, dispatcher.busy());
    for (const line of due) dispatcher.offer(line, 'claim');
    found += due.length;
    offered += due.length;
    if (due.length === AT_ONCE) continue;
    // Nothing more is due for carriers that have room; once these lines have been sent, there is more room.
    if (offered === 0 || !(await idleInTime(deps, dispatcher))) break;
    offered = 0;
  }
  return found;
}
