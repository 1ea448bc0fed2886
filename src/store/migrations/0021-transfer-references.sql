-- Under which references operators have moved money, so that a command that is repeated does not move it again. Nothing is removed.

create table transfer_reference (
  shard smallint not null,
  -- The cause, the account and the reference.
  id text collate "C" not null,
  transfer_id text collate "C" not null,
  amount_minor bigint not null check (amount_minor > 0),
  created_at timestamptz not null,
  primary key (shard, id)
);
