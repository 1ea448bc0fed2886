-- Dead events were read past those of receivers that answer 410, which may be many more. Built and made anew as the index of 0031.

do $$
begin
  if exists (select from pg_index where indexrelid = to_regclass('webhook_event_dead') and not indisvalid) then
    drop index webhook_event_dead;
  end if;
end $$;

create index if not exists webhook_event_dead on webhook_event (shard, id) where status = 'dead';
