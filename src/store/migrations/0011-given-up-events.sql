-- Operators list the webhook events that were given up: a handful of millions. Their status is in the condition of another index
-- already, so that no step of an event writes more for it.

create index if not exists webhook_event_given_up on webhook_event (shard, id) where status in ('dead', 'gone');
