-- Wrong PINs at numbers that are no account, counted as at one; and since when a wrong PIN no longer counts.

alter table wallet
  add column pin_failed_at timestamptz;

-- `id` is a keyed hash of what was typed. What no longer counts is reaped, so that it does not grow without end.
create table pin_guard (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  pin_failures integer not null check (pin_failures > 0),
  pin_failed_at timestamptz not null,
  locked_until timestamptz,
  primary key (shard, id)
) with (fillfactor = 70);
create index pin_guard_to_reap on pin_guard (pin_failed_at, shard);
