-- Three indexes take the places of others, so that what is stuck does not grow into what others wait for. A large database builds them
-- beforehand, concurrently; the old ones may go at any time, because the new ones answer all that they did.

-- One whose building was broken off is there, but not used: it is made anew.
do $$
declare broken record;
begin
  for broken in select i.indexrelid::regclass as name from pg_index i join pg_class c on c.oid = i.indexrelid
    where not i.indisvalid and c.relnamespace = current_schema()::regnamespace and c.relname in
      ('payout_line_open_of_batch', 'idempotency_to_reap_of_shard', 'pin_guard_to_reap_of_shard')
  loop
    execute format('drop index %s', broken.name);
  end loop;
end $$;

-- Open lines by merchant, and by batch: whether a cancelled batch has lines to call off was found by reading all of its lines.
create index if not exists payout_line_open_of_batch on payout_line (merchant_id, batch_id, shard)
  where status in ('pending', 'processing');
drop index if exists payout_line_open;

-- What is to be deleted is read shard by shard, and each shard read past the due rows of all others.
create index if not exists idempotency_to_reap_of_shard on idempotency (shard, created_at);
drop index if exists idempotency_to_reap;
create index if not exists pin_guard_to_reap_of_shard on pin_guard (shard, pin_failed_at);
drop index if exists pin_guard_to_reap;
