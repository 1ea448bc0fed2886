/**
 * A merchant's webhook events: a list of them, and one with its tries.
 *
 * Invariant: no filter and no cursor leads to another merchant's; another merchant's event and an unknown one answer
 * alike (1204).
 */

import { isId, shardOf } from '../domain/ids.ts';
import type { Merchant, WebhookAttempt, WebhookEvent } from '../domain/records.ts';
import { Refusal } from '../domain/refusal.ts';
import type { MerchantEventFilter } from '../store/event-lists.ts';
import type { ScannedPage } from '../store/scanned-page.ts';
import type { MerchantCaller } from './callers.ts';
import type { Deps } from './deps.ts';

/** Newest first. */
export type EventListing = Omit<MerchantEventFilter, 'shard' | 'merchantId' | 'notStatus' | 'order'>;

export interface EventDetail {
  readonly event: WebhookEvent;
  /** In their order. */
  readonly tries: readonly WebhookAttempt[];
}

export function listEvents(
  deps: Pick<Deps, 'store'>,
  { merchant }: MerchantCaller,
  listing: EventListing,
): Promise<ScannedPage<WebhookEvent>> {
  const { shard, id } = merchant;
  return deps.store.pageOfEvents({ ...listing, shard, merchantId: id, order: 'newest' });
}

/** @throws Refusal 1204. */
export async function readEvent(
  deps: Pick<Deps, 'store'>,
  { merchant }: MerchantCaller,
  eventId: string,
): Promise<EventDetail> {
  const event = await readOwnEvent(deps, merchant, eventId);
  const tries = await deps.store.webhookAttempts.ofEvent(event.shard, event.id);
  return { event, tries: tries.toSorted((a, b) => a.number - b.number) };
}

/** An event of the merchant's own. @throws Refusal 1204. */
export async function readOwnEvent(deps: Pick<Deps, 'store'>, merchant: Merchant, id: string): Promise<WebhookEvent> {
  const isPossible = isId('evt', id) && shardOf(id) === merchant.shard;
  const event = isPossible ? await deps.store.event.get(merchant.shard, id) : undefined;
  if (event === undefined || event.merchant_id !== merchant.id) throw new Refusal(1204);
  return event;
}
