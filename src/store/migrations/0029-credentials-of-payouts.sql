-- Whose payouts they are: the credential that made each batch, itself or by a session. Null: made before this was recorded.

alter table payout_batch add column credential_id text;
alter table archive.payout_batch add column credential_id text;
