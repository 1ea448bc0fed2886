-- A day that is being closed takes no transfer any more, whoever writes it: a process that stood still over midnight, and longer than
-- the closing waits, would change what has been summed up. Who fences days waits for such transfers under way, briefly.
create function fence_days(last date) returns boolean language plpgsql set lock_timeout = '500ms' as $$
begin
  perform pg_advisory_xact_lock(7262648);
  insert into setting as s (shard, id, version, value) values (0, 'last_fenced_day', 1, to_char(last, 'YYYY-MM-DD'))
  on conflict (shard, id) do update set value = excluded.value, version = s.version + 1 where s.value < excluded.value;
  return true;
exception when lock_not_available then
  return false;
end $$;

-- Whether a transfer of that instant may be written: otherwise an error. What is decided is committed at once, and a day is over for an hour
-- before it is fenced, so that what is recent by this server's clock need not be looked at; also where a clock was put right, and
-- days were closed before they were over.
create function may_transfer(earliest timestamptz) returns boolean language plpgsql as $$
begin
  if earliest > clock_timestamp() - interval '20 minutes' then return true; end if;
  perform pg_advisory_xact_lock_shared(7262648);
  if earliest < (select (max(s.value)::date + 1)::timestamp at time zone 'UTC' from setting s
    where s.shard = 0 and s.id in ('last_fenced_day', 'last_closed_day')) then
    raise exception 'that day is closed' using errcode = 'DAY01';
  end if;
  return true;
end $$;
