/**
 * Reads webhook events: for a merchant its own, a list of them or one with its tries; for an operator any.
 *
 * Invariant: no filter or cursor leads to another merchant's events; another merchant's event and an unknown one are answered
 * alike (1204).
 */

import { isIdIn, shardOf } from '../domain/ids.ts';
import type { Merchant } from '../domain/records.ts';
import { Refusal } from '../domain/refusal.ts';
import type { WebhookAttempt, WebhookEvent } from '../domain/webhook-records.ts';
import type { EventPageFilter } from '../store/event-lists.ts';
import type { ScannedPage } from '../store/scanned-page.ts';
import { type FindDeps, findEvent, findRows, pageOfBoth } from './archive-find.ts';
import type { MerchantCaller } from './callers.ts';
import { OperatorError } from './operator-error.ts';
import { requireId } from './operator-input.ts';

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
  return withTries(deps, await readOwnEvent(deps, merchant, eventId));
}

/** An event of any merchant with its tries, live or archived. @throws OperatorError when there is no such event. */
export async function seeEvent(deps: FindDeps, eventId: string): Promise<EventDetail> {
  requireId('evt', eventId, 'event');
  const event = await findEvent(deps, shardOf(eventId), eventId);
  if (event === undefined) throw new OperatorError(`there is no event ${eventId}: see \`mbongo webhook list\``);
  return withTries(deps, event);
}

async function withTries(deps: FindDeps, event: WebhookEvent): Promise<EventDetail> {
  const { webhookAttempts, archive } = deps.store;
  const { shard, id } = event;
  const sources = { live: () => webhookAttempts.ofEvent(shard, id), archive: () => archive.event.tries(shard, id) };
  const tries = await findRows(deps, sources, id);
  return { event, tries: tries.toSorted((a, b) => a.number - b.number) };
}

/** An event of the merchant's own. @throws Refusal 1204. */
export async function readOwnEvent(deps: FindDeps, merchant: Merchant, id: string): Promise<WebhookEvent> {
  const isPossible = isIdIn(merchant.shard, 'evt', id);
  const event = isPossible ? await findEvent(deps, merchant.shard, id) : undefined;
  if (event === undefined || event.merchant_id !== merchant.id) throw new Refusal(1204);
  return event;
}
