-- What operators' commands did: who gave them, why, and about what. An entry is written with the change that it tells of, and is never
-- changed or removed.

create table journal (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  verb text not null,
  said_by text not null,
  why text,
  -- The ids of what was made, changed or moved, and of whose it is.
  about jsonb not null,
  created_at timestamptz not null,
  primary key (shard, id)
);
create index journal_about on journal using gin (about jsonb_path_ops);
