-- With 0034 this takes the place of the index of both. Built and made anew as the index of 0031.

do $$
begin
  if exists (select from pg_index where indexrelid = to_regclass('webhook_event_gone') and not indisvalid) then
    drop index webhook_event_gone;
  end if;
end $$;

create index if not exists webhook_event_gone on webhook_event (shard, id) where status = 'gone';
drop index if exists webhook_event_given_up;
