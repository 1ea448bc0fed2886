-- How often an operator has changed the PIN or the phone of an account: a code that was asked for before such a change pays nothing.
-- And which payment a bank's transfer has paid for.

alter table wallet add column changes integer not null default 0;
alter table one_time_code add column account_changes integer not null default 0;
alter table archive.one_time_code add column account_changes integer not null default 0;
alter table transfer_reference add column payment_id text collate "C";
