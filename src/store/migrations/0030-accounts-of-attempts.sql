-- With which of our accounts at its upstream an attempt was made: "not found" is the truth only of that account. Null: made before
-- this was recorded.

alter table attempt add column upstream_account text;
alter table archive.attempt add column upstream_account text;
