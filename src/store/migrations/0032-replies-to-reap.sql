-- Old replies are deleted shard by shard, and each shard read past those of all others. Built and made anew as the index of 0031.

do $$
begin
  if exists (select from pg_index where indexrelid = to_regclass('idempotency_to_reap_of_shard') and not indisvalid) then
    drop index idempotency_to_reap_of_shard;
  end if;
end $$;

create index if not exists idempotency_to_reap_of_shard on idempotency (shard, created_at);
drop index if exists idempotency_to_reap;
