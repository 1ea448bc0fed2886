/**
 * The routes of webhook events: read what was sent and what came of it, and send it again (contract §6, §9).
 */

import { DAY_MS } from '../domain/durations.ts';
import type { RefusalDetail } from '../domain/refusal.ts';
import type { WebhookEvent } from '../domain/webhook-records.ts';
import type { Deps } from '../usecases/deps.ts';
import { type EventListing, listEvents, readEvent } from '../usecases/events-read.ts';
import { type RangeReplayed, type ReplayRange, replayOwnEvent, replayOwnRange } from '../usecases/events-replay.ts';
import type { Courier } from '../usecases/webhook-deliver.ts';
import { presentEvent, presentEventDetail, presentRange } from './event-present.ts';
import {
  EVENTS,
  EventAnswer,
  EventReplayedAnswer,
  EventsAnswer,
  EventsQuery,
  MAX_EVENTS,
  RangeReplayedAnswer,
  ReplayBody,
} from './event-schemas.ts';
import { cursorFaults, idFaults, limitFaults, readSpan, spanFaults } from './list-query.ts';
import { defineRoute, type Route } from './route.ts';
import { idParams } from './schema-words.ts';

const EventParams = idParams('The id of the event, `evt_…`: the header `webhook-id` has it.');

/** `courier` posts the events that are sent again. */
export function eventRoutes(deps: Deps, courier: Pick<Courier, 'offer'>): Route[] {
  return [...readingRoutes(deps), ...replayRoutes(deps, courier)];
}

function readingRoutes(deps: Deps): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/internal/events',
      operationId: 'listEvents',
      summary: 'List your webhook events',
      description:
        'Events that were sent to your notify_urls, or are still to be sent, newest first, page by page. An event must match ' +
        'all filters that are given. Events made while you read come before the first page, so nothing is repeated or ' +
        'left out.',
      credential: 'merchant',
      limit: 'none',
      loadClass: 'read',
      querystring: EventsQuery,
      answers: { 200: EventsAnswer },
      refusals: [1103, 1110],
      checkQuery: listFaults,
      run: async (call) => {
        const { rows, next } = await listEvents(deps, call.caller, listingOf(call.query));
        return call.reply(200, { success: true, events: rows.map(presentEvent), next_cursor: next ?? null });
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/internal/events/:id',
      operationId: 'readEvent',
      summary: 'Read a webhook event',
      description: 'The event with the body that is sent, and every try with its result.',
      credential: 'merchant',
      limit: 'none',
      loadClass: 'read',
      params: EventParams,
      answers: { 200: EventAnswer },
      refusals: [1204],
      run: async (call) => call.reply(200, presentEventDetail(await readEvent(deps, call.caller, call.params.id))),
    }),
  ];
}

function replayRoutes(deps: Deps, courier: Pick<Courier, 'offer'>): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/internal/events/:id/replay',
      operationId: 'replayEvent',
      summary: 'Send a webhook event again',
      description:
        'Sends the event at once, whatever its status, with the same id, sequence and body, and a new signature. If that ' +
        'try fails, the whole schedule of retries starts again. An event without a notify_url is refused with 1205.',
      credential: 'merchant',
      limit: 'none',
      loadClass: 'begin',
      params: EventParams,
      answers: { 200: EventReplayedAnswer },
      refusals: [1203, 1204, 1205],
      run: (call) =>
        replayOwnEvent(
          deps,
          courier,
          call.caller,
          call.params.id,
          call.answering((event: WebhookEvent) => ({ status: 200, value: { success: true, ...presentEvent(event) } })),
        ),
    }),
    defineRoute({
      method: 'POST',
      path: '/internal/events/replay',
      operationId: 'replayEvents',
      summary: 'Send the webhook events of a time span again',
      description:
        'Does the same for the events of a span of at most 31 days, oldest first, up to 500 in one call. If more are left, ' +
        'the answer has a `next_cursor`: call again with it as `cursor`.',
      credential: 'merchant',
      limit: 'none',
      loadClass: 'begin',
      body: ReplayBody,
      answers: { 200: RangeReplayedAnswer },
      refusals: [1103, 1109, 1110, 1203],
      check: (body) => rangeFaults(body, deps.clock.now()),
      run(call) {
        const range = rangeOf(call.body, deps.clock.now());
        const answering = call.answering((replayed: RangeReplayed) => ({
          status: 200,
          value: presentRange(replayed, range),
        }));
        return replayOwnRange(deps, courier, call.caller, range, answering);
      },
    }),
  ];
}

function listFaults({ transaction_id: id, from, to, cursor, limit }: Partial<EventsQuery>) {
  return [
    ...idFaults('transaction_id', 'txn', id),
    ...spanFaults({ from, to }),
    ...cursorFaults('evt', cursor),
    ...limitFaults(limit, MAX_EVENTS),
  ];
}

/** Reads a query in which `listFaults` has found none. */
function listingOf(query: EventsQuery): EventListing {
  const { status, type, transaction_id: transactionId, cursor: beyond, limit } = query;
  return { status, type, transactionId, ...readSpan(query), beyond, limit: Number(limit ?? EVENTS) };
}

const MAX_DAYS = 31;

function rangeFaults({ from, to, cursor }: Partial<ReplayBody>, now: number): RefusalDetail[] {
  const faults = [...spanFaults({ from, to }), ...cursorFaults('evt', cursor)];
  if (from === undefined || faults.length > 0) return faults;
  const { from: begin = now, until = now + 1 } = readSpan({ from, to });
  // The last instant belongs to the span: instants that are exactly that many days apart may be its ends.
  const isLong = until - 1 - begin > MAX_DAYS * DAY_MS;
  return isLong ? [{ field: to === undefined ? 'from' : 'to', code: 'SPAN_TOO_LONG', words: { days: MAX_DAYS } }] : [];
}

/** Reads a body in which `rangeFaults` has found none. */
function rangeOf(body: ReplayBody, now: number): ReplayRange {
  const { from = now, until = now + 1 } = readSpan(body);
  // A span that is yet to come ends where it begins: it is empty.
  return { from, until: Math.max(from, until), status: body.status, beyond: body.cursor };
}
