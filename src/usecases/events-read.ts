/**
 * Reads a merchant's webhook events: a list of them, and one with its tries.
 *
 * Invariant: no filter or cursor leads to another merchant's events; another merchant's event and an unknown one are answered
 * alike (1204).
 */

import { isId, shardOf } from '../domain/ids.ts';
import type { Merchant, WebhookAttempt, WebhookEvent } from '../domain/records.ts';
import { Refusal } from '../domain/refusal.ts';
import type { EventPageFilter } from '../store/event-lists.ts';
import type { ScannedPage } from '../store/scanned-page.ts';
import { type FindDeps, findEvent, findRows, pageOfBoth } from './archive-find.ts';
import type { MerchantCaller } from './callers.ts';

/** The filter of a list of events, newest first. */
export type EventListing = Omit<EventPageFilter, 'shard' | 'merchantId' | 'notStatus' | 'order'>;

export interface EventDetail {
  readonly event: WebhookEvent;
  /** In the order in which they were made. */
  readonly tries: readonly WebhookAttempt[];
}

/** A page of the merchant's events, newest first, live and archived. */
export function listEvents(
  deps: FindDeps,
  { merchant }: MerchantCaller,
  listing: EventListing,
): Promise<ScannedPage<WebhookEvent>> {
  const { shard, id } = merchant;
  const filter = { ...listing, shard, merchantId: id, order: 'newest' } as const;
  const { store } = deps;
  return pageOfBoth(
    deps,
    listing.limit,
    () => store.pageOfEvents(filter),
    () => store.archive.event.page(filter),
  );
}

/** One of the merchant's events with its tries. @throws Refusal 1204. */
export async function readEvent(deps: FindDeps, { merchant }: MerchantCaller, eventId: string): Promise<EventDetail> {
  const event = await readOwnEvent(deps, merchant, eventId);
  const { webhookAttempts, archive } = deps.store;
  const { shard, id } = event;
  const places = { live: () => webhookAttempts.ofEvent(shard, id), archive: () => archive.event.tries(shard, id) };
  const tries = await findRows(deps, places, id);
  return { event, tries: tries.toSorted((a, b) => a.number - b.number) };
}

/** An event of the merchant's own. @throws Refusal 1204. */
export async function readOwnEvent(deps: FindDeps, merchant: Merchant, id: string): Promise<WebhookEvent> {
  const isPossible = isId('evt', id) && shardOf(id) === merchant.shard;
  const event = isPossible ? await findEvent(deps, merchant.shard, id) : undefined;
  if (event === undefined || event.merchant_id !== merchant.id) throw new Refusal(1204);
  return event;
}
