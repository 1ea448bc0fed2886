-- Old counts are deleted shard by shard, and each shard read past those of all others. Built and made anew as the index of 0031.

do $$
begin
  if exists (select from pg_index where indexrelid = to_regclass('pin_guard_to_reap_of_shard') and not indisvalid) then
    drop index pin_guard_to_reap_of_shard;
  end if;
end $$;

create index if not exists pin_guard_to_reap_of_shard on pin_guard (shard, pin_failed_at);
drop index if exists pin_guard_to_reap;
