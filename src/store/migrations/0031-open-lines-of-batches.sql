-- Open lines by merchant, and by batch: whether a cancelled batch has lines to call off was found by reading all of its lines. A large
-- database builds the index beforehand, concurrently; one whose building was broken off is there, but not used, and is made anew.

do $$
begin
  if exists (select from pg_index where indexrelid = to_regclass('payout_line_open_of_batch') and not indisvalid) then
    drop index payout_line_open_of_batch;
  end if;
end $$;

create index if not exists payout_line_open_of_batch on payout_line (merchant_id, batch_id, shard)
  where status in ('pending', 'processing');
drop index if exists payout_line_open;
