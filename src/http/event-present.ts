/**
 * Webhook events in wire form (contract §9).
 *
 * Invariant: a body is shown as it is posted: the same JSON value, whatever has become of its transaction since.
 */

import type { WebhookAttempt, WebhookEvent } from '../domain/webhook-records.ts';
import type { EventDetail } from '../usecases/events-read.ts';
import type { RangeReplayed, ReplayRange } from '../usecases/events-replay.ts';
import { timestamp } from './present.ts';

/** An event without its body. `next_at` is null unless a try is due, and `delivered_at` until one has succeeded. */
export function presentEvent(event: WebhookEvent) {
  const { id, type, transaction_id, sequence, url, status, attempts, last_error } = event;
  return {
    event_id: id,
    type,
    transaction_id,
    sequence,
    url,
    status,
    attempts,
    next_at: status === 'waiting' ? timestamp(event.next_at) : null,
    created_at: timestamp(event.created_at),
    delivered_at: timestamp(event.delivered_at),
    last_error,
  };
}

/** The answer to the read of one event: the event, its body, and its tries in the order given. */
export function presentEventDetail({ event, tries }: EventDetail) {
  const body: unknown = JSON.parse(event.body);
  return { success: true, ...presentEvent(event), body, tries: tries.map(presentTry) };
}

/**
 * The answer to the replay of a time span: how many events are sent again, and up to which instant, itself included. With a
 * `next_cursor` there are more.
 */
export function presentRange({ replayed, next }: RangeReplayed, { until }: Pick<ReplayRange, 'until'>) {
  return { success: true, replayed, to: timestamp(until - 1), next_cursor: next ?? null };
}

function presentTry({ id, number, at, status_code, duration_ms, error }: WebhookAttempt) {
  return { id, number, at: timestamp(at), status_code, duration_ms, error };
}
