/**
 * Schemas of webhook events, as a merchant reads them, and of replays (contract §9).
 *
 * Invariant: as in all schemas, unknown fields are ignored, never refused.
 */

import { type Static, Type } from 'typebox';
import { named } from './components.ts';
import { EVENT_TYPES, PaymentEvent, PayoutEvent } from './event-bodies.ts';
import { limitQuery, spanQuery } from './list-query.ts';
import { described, NextCursor, nullable, oneOf, Text, Timestamp } from './schema-words.ts';

/** The statuses of events that have a notify_url. */
const SENDABLE = ['waiting', 'delivered', 'dead', 'gone'] as const;

const EventStatus = oneOf(
  [...SENDABLE, 'no_target'],
  named(
    'EventStatus',
    '`waiting`: for its next try, or for the answer to a try in flight; `delivered`: acknowledged; `dead`: the last try has ' +
      'failed; `gone`: the receiver answered 410; `no_target`: made without a notify_url.',
  ),
);

const EventType = oneOf(EVENT_TYPES, named('EventType', 'The value of the header `webhook-event`.'));

const SPAN = spanQuery('created_at');

export const MAX_EVENTS = 100;
export const EVENTS = 20;

export const EventsQuery = Type.Object({
  status: Type.Optional(EventStatus),
  type: Type.Optional(described(EventType, 'Only events of this type.')),
  transaction_id: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  ...SPAN,
  cursor: Type.Optional(Type.String({ maxLength: 255, description: 'The `next_cursor` of the previous page.' })),
  limit: limitQuery(MAX_EVENTS, EVENTS),
});
export type EventsQuery = Static<typeof EventsQuery>;

const EVENT = {
  event_id: Type.String({ description: 'The value of the header `webhook-id`, the same on every try.' }),
  type: EventType,
  transaction_id: Text,
  sequence: Type.Integer({ description: '1, 2, … per transaction; the value of the header `webhook-sequence`.' }),
  url: nullable(Text, 'The URL that the event is sent to; null if it has none.'),
  status: EventStatus,
  attempts: Type.Integer({ description: 'How many times the event was sent, including replays.' }),
  next_at: nullable(
    Timestamp,
    'When the next try is due, or when a try in flight is given up; null unless the status is `waiting`.',
  ),
  created_at: Timestamp,
  delivered_at: nullable(Timestamp, 'When the receiver acknowledged it; null if it has not.'),
  last_error: nullable(Text, 'The result of the last failed try: for example `http_500`, or why there was no answer.'),
};

export const EventsAnswer = Type.Object(
  {
    success: Type.Boolean(),
    events: Type.Array(Type.Object(EVENT, named('WebhookEvent')), {
      description: 'Newest first. A page may be short, or empty, without being the last.',
    }),
    next_cursor: NextCursor,
  },
  named('EventsAnswer'),
);

export const EventAnswer = Type.Object(
  {
    success: Type.Boolean(),
    ...EVENT,
    body: Type.Union([PaymentEvent, PayoutEvent], {
      description: 'The body that is sent: a PaymentEvent, or a PayoutEvent, which has an `event`.',
    }),
    tries: Type.Array(
      Type.Object(
        {
          id: Type.String({ description: 'The id of the try, `whd_…`.' }),
          number: Type.Integer({ description: 'The number of the try: 1, 2, …' }),
          at: Timestamp,
          status_code: nullable(
            Type.Integer(),
            'The HTTP status that the receiver answered; null if it did not answer.',
          ),
          duration_ms: Type.Integer(),
          error: nullable(Text, 'Why the try failed; null if the event was delivered.'),
        },
        named('WebhookTry'),
      ),
    ),
  },
  named('EventAnswer'),
);

export const EventReplayedAnswer = Type.Object({ success: Type.Boolean(), ...EVENT }, named('EventReplayedAnswer'));

export const ReplayBody = Type.Object(
  {
    from: Type.String({
      ...SPAN.from,
      description: 'The first UTC day, or instant, whose events are sent again.',
    }),
    to: Type.Optional(
      Type.String({ ...SPAN.to, description: 'The last day or instant, at most 31 days later. Default: now.' }),
    ),
    status: Type.Optional(
      oneOf(
        SENDABLE,
        named('ReplayedStatus', 'Only events with this status. Default: all events that have a notify_url.'),
      ),
    ),
    cursor: Type.Optional(
      Type.String({ maxLength: 255, description: 'To continue: the `next_cursor` of the previous call.' }),
    ),
  },
  named('ReplayBody'),
);
export type ReplayBody = Static<typeof ReplayBody>;

export const RangeReplayedAnswer = Type.Object(
  {
    success: Type.Boolean(),
    replayed: Type.Integer({ description: 'How many events this call sends again, 500 at most.' }),
    to: Type.String({
      format: 'date-time',
      description: 'The last instant of the span: repeat it as `to` when you continue.',
    }),
    next_cursor: nullable(
      Text,
      'If more events are left: call again with this as `cursor`, and with the same span. null if none are left.',
    ),
  },
  named('RangeReplayedAnswer'),
);
