-- Three indexes take the places of others, so that what is stuck does not grow into what others wait for. A large database builds them
-- beforehand, concurrently; the old ones may go at any time, because the new ones answer all that they did.

-- Open lines by merchant, and by batch: whether a cancelled batch has lines to call off was found by reading all of its lines.
create index if not exists payout_line_open_of_batch on payout_line (merchant_id, batch_id, shard)
  where status in ('pending', 'processing');
drop index if exists payout_line_open;

-- What is to be deleted is read shard by shard, and each shard read past the due rows of all others.
create index if not exists idempotency_to_reap_of_shard on idempotency (shard, created_at);
drop index if exists idempotency_to_reap;
create index if not exists pin_guard_to_reap_of_shard on pin_guard (shard, pin_failed_at);
drop index if exists pin_guard_to_reap;
