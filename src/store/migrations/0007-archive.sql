-- The archive: what is final and old lies here, a table a month, so that retention is a cheap drop of tables.
--
-- Every table has the columns and rules of the live one of the same name. A row lies in the month (UTC) that its own id
-- was made in; a line of a timeline and a try at a webhook in that of what they belong to; a ledger line in that of its
-- time. Ids sort by time, so that ranges of ids are months, and whoever knows an id reads one table. The months' tables are made when something
-- moves into them. The live tables are no part of it: partitions would halve the speed of their set-based updates.

create schema archive;

create table archive.payment (
  like payment including defaults including constraints,
  primary key (shard, id)
) partition by range (id);
create index payment_of_merchant on archive.payment (merchant_id, id, shard);
create index payment_by_reference on archive.payment (merchant_id, customer_reference, id, shard);

create table archive.payment_history (
  like payment_history including defaults including constraints,
  primary key (shard, payment_id, version)
) partition by range (payment_id);

create table archive.attempt (
  like attempt including defaults including constraints,
  primary key (shard, id)
) partition by range (id);
create index attempt_by_time on archive.attempt using brin (created_at) with (pages_per_range = 16);

create table archive.one_time_code (
  like one_time_code including defaults including constraints,
  primary key (shard, id)
) partition by range (id);

create table archive.refund (
  like refund including defaults including constraints,
  primary key (shard, id)
) partition by range (id);
create index refund_of_payment on archive.refund (payment_id, shard);

create table archive.proof (
  like proof including defaults including constraints,
  primary key (shard, id)
) partition by range (id);

create table archive.proof_file (
  like proof_file including defaults including constraints,
  primary key (shard, id)
) partition by range (id);

create table archive.webhook_event (
  like webhook_event including defaults including constraints,
  primary key (shard, id)
) partition by range (id);
create index webhook_event_of_merchant on archive.webhook_event (merchant_id, id, shard);
create index webhook_event_of_transaction on archive.webhook_event (merchant_id, transaction_id, id, shard);

create table archive.webhook_attempt (
  like webhook_attempt including defaults including constraints,
  primary key (shard, event_id, number)
) partition by range (event_id);

create table archive.checkout (
  like checkout including defaults including constraints,
  primary key (shard, id)
) partition by range (id);

create table archive.session (
  like session including defaults including constraints,
  primary key (shard, id)
) partition by range (id);

create table archive.payout_batch (
  like payout_batch including defaults including constraints,
  primary key (shard, id)
) partition by range (id);
create index payout_batch_of_merchant on archive.payout_batch (merchant_id, id, shard);
create index payout_batch_by_reference on archive.payout_batch (merchant_id, customer_reference, id, shard);

create table archive.payout_line (
  like payout_line including defaults including constraints,
  primary key (shard, id)
) partition by range (id);
create index payout_line_of_batch on archive.payout_line (batch_id, occurrence, position, shard);

create table archive.ledger_transfer (
  like ledger_transfer including defaults including constraints,
  primary key (shard, id, at)
) partition by range (at);
create index ledger_of_debited_merchant on archive.ledger_transfer (debit_account, at, id, shard)
  where debit_account like 'mch\_%';
create index ledger_of_credited_merchant on archive.ledger_transfer (credit_account, at, id, shard)
  where credit_account like 'mch\_%';
create index ledger_by_time on archive.ledger_transfer using brin (at) with (pages_per_range = 16);
