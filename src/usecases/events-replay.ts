/**
 * Sends webhook events again at their merchant's request: one, or those of a time range (contract §6, §9).
 *
 * Invariant: an event to be sent again is first committed as leased to this process, so that it is sent at once, or by the round
 * if this process dies. A call replays a bounded number of events, and says where it stopped.
 */

import type { Merchant } from '../domain/records.ts';
import { Refusal } from '../domain/refusal.ts';
import { afterReplay, LEASE_MS } from '../domain/webhook.ts';
import type { EventStatus, WebhookEvent } from '../domain/webhook-records.ts';
import type { FindDeps } from './archive-find.ts';
import type { MerchantCaller } from './callers.ts';
import { readOwnEvent } from './events-read.ts';
import { type Answering, commitDecision, type Decision, perform, type Reply } from './perform.ts';
import type { Courier } from './webhook-deliver.ts';

/** Replays one event. Refuses, through `answering`, with 1204, and with 1205 if it has no target or has been archived. */
export async function replayOwnEvent(
  deps: FindDeps,
  courier: Pick<Courier, 'offer'>,
  { merchant }: MerchantCaller,
  eventId: string,
  answering: Answering<WebhookEvent>,
): Promise<Reply> {
  let due: WebhookEvent | undefined;
  const reply = await perform<LiveEvent, WebhookEvent>(
    deps.store,
    answering,
    () => readLiveEvent(deps, merchant, eventId),
    ({ event, isLive }) => {
      if (!isLive) throw refuseReplay(event, 'ARCHIVED_EVENT');
      const decision = decideReplay(deps, event);
      due = decision.answer;
      return decision;
    },
  );
  if (reply.replayed !== true && due !== undefined) courier.offer(due);
  return reply;
}

interface LiveEvent {
  readonly event: WebhookEvent;
  /** False when it has been archived: then it can only be read. */
  readonly isLive: boolean;
}

async function readLiveEvent(deps: FindDeps, merchant: Merchant, id: string): Promise<LiveEvent> {
  const event = await readOwnEvent(deps, merchant, id);
  const live = await deps.store.event.get(event.shard, event.id);
  return { event: live ?? event, isLive: live !== undefined };
}

/** A range of the events' creation times, in milliseconds. */
export interface ReplayRange {
  /** Inclusive. */
  readonly from: number;
  /** Exclusive. */
  readonly until: number;
  /** Undefined: every event that has a target. */
  readonly status: EventStatus | undefined;
  /** Only events after this one: where the previous call stopped. */
  readonly beyond: string | undefined;
}

/** How many events of a range were sent again, and where the next call continues. */
export interface RangeReplayed {
  readonly replayed: number;
  /** `beyond` for the next call; undefined: that was all. */
  readonly next: string | undefined;
}

/** 500 events at most are replayed by one call. */
const MAX_REPLAYED = 500;
/** 10 pages at most are read by one call, in case few events match. */
const MAX_PAGES = 10;

/**
 * Replays the events of a range, oldest first. Repeating a call whose reply was lost may send some of them twice: receivers
 * deduplicate by event id.
 */
export async function replayOwnRange(
  deps: FindDeps,
  courier: Pick<Courier, 'offer'>,
  { merchant }: MerchantCaller,
  range: ReplayRange,
  answering: Answering<RangeReplayed>,
): Promise<Reply> {
  const stored = await answering.receipt?.stored();
  if (stored !== undefined) return stored;
  const replayed = await replayPages(deps, courier, merchant, range);
  return perform<RangeReplayed, RangeReplayed>(
    deps.store,
    answering,
    () => Promise.resolve(replayed),
    (answer) => ({ answer }),
  );
}

async function replayPages(
  deps: FindDeps,
  courier: Pick<Courier, 'offer'>,
  { shard, id: merchantId }: Merchant,
  { from, until, status, beyond }: ReplayRange,
): Promise<RangeReplayed> {
  const filter = { shard, merchantId, from, until, status, notStatus: 'no_target', order: 'oldest' } as const;
  let replayed = 0;
  let next = beyond;
  for (let page = 0; page < MAX_PAGES && replayed < MAX_REPLAYED; page += 1) {
    const found = await deps.store.pageOfEvents({ ...filter, beyond: next, limit: MAX_REPLAYED - replayed });
    const sent = await Promise.all(found.rows.map((event) => replayNow(deps, courier, event)));
    replayed += sent.filter(Boolean).length;
    next = found.next;
    if (next === undefined) break;
  }
  return { replayed, next };
}

/** Returns false, and sends nothing, when the event has been archived since it was listed. */
async function replayNow(deps: FindDeps, courier: Pick<Courier, 'offer'>, { shard, id }: WebhookEvent) {
  const due = await commitDecision<WebhookEvent | undefined, WebhookEvent | undefined>(
    deps.store,
    () => deps.store.event.get(shard, id),
    (event) => (event === undefined ? { answer: undefined } : decideReplay(deps, event)),
  );
  if (due !== undefined) courier.offer(due);
  return due !== undefined;
}

function decideReplay(deps: FindDeps, event: WebhookEvent) {
  const again = afterReplay(event, deps.clock.now(), LEASE_MS);
  if (again === undefined) throw refuseReplay(event, 'NO_TARGET');
  return { change: { updates: [again.update] }, answer: again.event } satisfies Decision<WebhookEvent>;
}

function refuseReplay(event: WebhookEvent, code: 'NO_TARGET' | 'ARCHIVED_EVENT'): Refusal {
  const details = [{ field: 'id', code }] as const;
  return new Refusal(1205, { transactionId: event.transaction_id, details });
}
