/**
 * Takes the webhook events that are due, and hands them to the courier.
 *
 * Invariant: any number of processes may do so at once: each event is leased to one of them. What the courier has no
 * room for comes up again when its lease has run out.
 */

import { LEASE_MS } from '../domain/webhook.ts';
import type { Deps } from './deps.ts';
import type { Courier } from './webhook-deliver.ts';

const AT_ONCE = 256;
/** So many batches a run, so that a great backlog does not keep the round from being stopped. */
const MOST_BATCHES = 64;

/** Offers what is due. Returns how many events there were. */
export async function offerDue(deps: Pick<Deps, 'store' | 'clock'>, courier: Courier): Promise<number> {
  let found = 0;
  for (let batch = 0; batch < MOST_BATCHES; batch += 1) {
    const now = deps.clock.now();
    const due = await deps.store.event.claimDue(now, now + LEASE_MS, AT_ONCE);
    for (const event of due) courier.offer(event);
    found += due.length;
    if (due.length < AT_ONCE) break;
  }
  return found;
}
