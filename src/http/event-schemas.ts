/**
 * Schemas of webhook events, as a merchant reads them, and of replays (contract §9).
 *
 * Invariant: as in all schemas, unknown fields are ignored, never refused.
 */

import { type Static, Type } from 'typebox';
import { limitQuery, SPAN_QUERY } from './list-query.ts';
import { NextCursor, nullable, Text, Timestamp } from './schema-words.ts';

/** The statuses of events that have a notify_url. */
const SendableName = Type.Union(
  [Type.Literal('waiting'), Type.Literal('delivered'), Type.Literal('dead'), Type.Literal('gone')],
  { description: 'Only events of that status; all that have a notify_url when absent.' },
);

const EventStatusName = Type.Union([...SendableName.anyOf, Type.Literal('no_target')], {
  description:
    '`waiting` for its next try; `delivered`; `dead` after the last try; `gone`: the receiver answered 410; `no_target`: ' +
    'made without a notify_url.',
});

export const EVENTS_MOST = 100;
export const EVENTS = 20;

export const EventsQuery = Type.Object({
  status: Type.Optional(EventStatusName),
  type: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, description: 'For example `payment.approved` or `payout.completed`.' }),
  ),
  transaction_id: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  ...SPAN_QUERY,
  cursor: Type.Optional(Type.String({ maxLength: 255, description: 'The `next_cursor` of the page before.' })),
  limit: limitQuery(EVENTS_MOST, EVENTS),
});
export type EventsQuery = Static<typeof EventsQuery>;

const EVENT = {
  event_id: Type.String({ description: 'The header `webhook-id` of every try.' }),
  type: Type.String({ description: 'The header `webhook-event`.' }),
  transaction_id: Text,
  sequence: Type.Integer({ description: '1, 2, … per transaction: the header `webhook-sequence`.' }),
  url: nullable(Text, 'Where it is posted; null: nowhere.'),
  status: EventStatusName,
  attempts: Type.Integer({ description: 'How often it was posted, replays included.' }),
  next_at: nullable(Timestamp, 'When it is tried next, or a try that is under way is given up; null unless it waits.'),
  created_at: Timestamp,
  delivered_at: nullable(Timestamp, 'When the receiver acknowledged it.'),
  last_error: nullable(Text, 'What came of the last try that failed: `http_500`, or why there was no answer.'),
};

export const EventsAnswer = Type.Object({
  success: Type.Boolean(),
  events: Type.Array(Type.Object(EVENT), {
    description: 'Newest first. A page may be short, or empty, and yet not be the last.',
  }),
  next_cursor: NextCursor,
});

export const EventAnswer = Type.Object({
  success: Type.Boolean(),
  ...EVENT,
  body: Type.Unknown({ description: 'What is posted, as JSON.' }),
  tries: Type.Array(
    Type.Object({
      id: Type.String({ description: 'Names the try, `whd_…`.' }),
      number: Type.Integer({ description: '1, 2, …' }),
      at: Timestamp,
      status_code: nullable(Type.Integer(), 'What the receiver answered; null: nothing.'),
      duration_ms: Type.Integer(),
      error: nullable(Text, 'null: it was delivered.'),
    }),
  ),
});

export const EventReplayedAnswer = Type.Object({ success: Type.Boolean(), ...EVENT });

export const ReplayBody = Type.Object({
  from: Type.String({ ...SPAN_QUERY.from, description: 'The first day (UTC) or instant whose events are sent again.' }),
  to: Type.Optional(
    Type.String({ maxLength: 40, description: 'The last day or instant, at most 31 days later; now when absent.' }),
  ),
  status: Type.Optional(SendableName),
  cursor: Type.Optional(Type.String({ maxLength: 255, description: '`next_cursor` of the call before, to go on.' })),
});
export type ReplayBody = Static<typeof ReplayBody>;

export const RangeReplayedAnswer = Type.Object({
  success: Type.Boolean(),
  replayed: Type.Integer({ description: 'How many events this call sends again: at most 500.' }),
  to: Type.String({ format: 'date-time', description: 'The last instant of the span: send it along when you go on.' }),
  next_cursor: nullable(Text, 'More are left: call again with it as `cursor`, and the same span. null: that was all.'),
});
