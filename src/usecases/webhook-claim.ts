/**
 * Leases the webhook events that are due, and hands them to the courier.
 *
 * Invariant: any number of processes may do so at once: each event is leased to one of them. Events the courier has no room for
 * are postponed briefly, so that they neither wait for a lease to expire nor block others that are due: at a silent receiver,
 * by as long as it has been silent; at a slow one, so that at most twice its throughput becomes due again. This neither counts
 * nor skips a try; after an outage the backlog is retried within the outage's length again, and within five minutes, as soon as
 * there is room.
 */

import { guardedUpdate } from '../domain/change.ts';
import { MINUTE_MS } from '../domain/durations.ts';
import { LEASE_MS } from '../domain/webhook.ts';
import type { WebhookEvent } from '../domain/webhook-records.ts';
import type { Deps } from './deps.ts';
import type { Courier } from './webhook-deliver.ts';

const AT_ONCE = 256;
/** 64 batches at most per run, so that the round can be stopped even during a large backlog. */
const MAX_BATCHES = 64;
/** 3 s at least until an event that found no room is due again: by then many of those before it have been posted. */
const FULL_PAUSE_MS = 3_000;
/**
 * 5 min at most, at a silent or slow receiver: 200 000 events waiting for it then cost some 700 leases a second, which leaves
 * the rest of a run to other receivers.
 */
const MAX_PAUSE_MS = 5 * MINUTE_MS;
/** 2048 events without room are given back in one run, then it ends: each costs a write. */
const MAX_GIVEN_BACK = 2_048;

/** Offers the events that are due to the courier. Returns how many there were. */
export async function offerDue(deps: Pick<Deps, 'store' | 'clock'>, courier: Courier): Promise<number> {
  let found = 0;
  let givenBack = 0;
  for (let batch = 0; batch < MAX_BATCHES && givenBack < MAX_GIVEN_BACK; batch += 1) {
    const now = deps.clock.now();
    const due = await deps.store.event.leaseDue(now, now + LEASE_MS, AT_ONCE);
    const refused = due.filter((event) => !courier.offer(event));
    await Promise.all(refused.map((event) => giveBack(deps, event, now + pauseOf(courier, event))));
    found += due.length;
    givenBack += refused.length;
    if (due.length < AT_ONCE) break;
  }
  return found;
}

function pauseOf(courier: Courier, event: WebhookEvent): number {
  return Math.max(FULL_PAUSE_MS, courier.retryAfterMs(event, MAX_PAUSE_MS));
}

/** Postpones the event; if another process has taken it meanwhile, this loses and that process keeps it. */
async function giveBack(deps: Pick<Deps, 'store'>, event: WebhookEvent, next_at: number): Promise<void> {
  await deps.store.commit({ updates: [guardedUpdate('webhook_event', event, { next_at })] });
}
