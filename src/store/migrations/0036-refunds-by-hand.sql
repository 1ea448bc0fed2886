-- Refunds that wait for a person: monitoring counts them. Built and made anew as the index of 0031.

do $$
begin
  if exists (select from pg_index where indexrelid = to_regclass('refund_by_hand') and not indisvalid) then
    drop index refund_by_hand;
  end if;
end $$;

create index if not exists refund_by_hand on refund (shard, id) where status = 'pending' and next_start_at is null;
