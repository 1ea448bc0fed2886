-- A replayed event gets the whole schedule of tries again: how many it had had by then.

alter table webhook_event
  add column replayed_after integer not null default 0,
  add constraint webhook_event_series_check check (replayed_after between 0 and attempts);
