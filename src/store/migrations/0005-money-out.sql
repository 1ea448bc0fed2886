-- Money out: payouts, refunds, and what statements are made of.

-- One call of a merchant to pay up to a hundred people, once, on dates or recurring.
create table payout_batch (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  merchant_id text collate "C" not null,
  customer_reference text not null,
  currency text not null,
  receipt_mode text not null check (receipt_mode in ('mobile_money', 'wallet')),
  sending_type text not null check (sending_type in ('immediate', 'scheduled', 'recurring')),
  notify_url text not null,
  note text,
  language text not null,
  -- Whom each occurrence pays.
  beneficiaries jsonb not null,
  -- One date for each occurrence, in the merchant's time zone; null: at once.
  dates jsonb,
  frequency text check (frequency in ('daily', 'weekly', 'biweekly', 'monthly')),
  run_hour integer not null check (run_hour between 0 and 23),
  time_zone text not null,
  occurrences integer not null check (occurrences between 1 and 366),
  -- The first occurrence that has not been run.
  next_occurrence integer not null check (next_occurrence between 1 and occurrences + 1),
  -- When it is run; null: all have been, or it is paused, called off or waits for approval.
  next_run_at timestamptz,
  approval text not null check (approval in ('none', 'waiting', 'approved', 'rejected')),
  paused_at timestamptz,
  cancelled_at timestamptz,
  -- When, after that, the last of its lines was final: until then lines that come back to wait are called off.
  closed_at timestamptz,
  -- The batch whose failed lines this one pays again.
  retry_of text collate "C",
  created_at timestamptz not null,
  primary key (shard, id),
  check ((sending_type = 'immediate') = (dates is null)),
  check (closed_at is null or cancelled_at is not null),
  check (next_run_at is null or
    (next_occurrence <= occurrences and approval in ('none', 'approved') and paused_at is null and cancelled_at is null))
);
create index payout_batch_of_merchant on payout_batch (merchant_id, id, shard);
create index payout_batch_by_reference on payout_batch (merchant_id, customer_reference, id, shard);
create index payout_batch_to_run on payout_batch (shard, next_run_at) where next_run_at is not null;
create index payout_batch_to_close on payout_batch (shard, cancelled_at) where cancelled_at is not null and closed_at is null;

-- One beneficiary of one occurrence: a transaction of its own.
create table payout_line (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  merchant_id text collate "C" not null,
  batch_id text collate "C" not null,
  occurrence integer not null check (occurrence >= 1),
  position integer not null check (position between 0 and 99),
  scheduled_date text,
  status text not null check (status in ('pending', 'processing', 'completed', 'failed')),
  receipt_mode text not null check (receipt_mode in ('mobile_money', 'wallet')),
  msisdn text,
  wallet_number text,
  connector text,
  carrier text,
  amount text not null,
  amount_minor bigint not null check (amount_minor > 0),
  fee_minor bigint not null check (fee_minor >= 0),
  currency text not null,
  customer_reference text not null,
  notify_url text not null,
  note text,
  language text not null,
  attempt_id text collate "C",
  -- An attempt that nobody waited for any more, and that has paid all the same.
  late_attempt_id text collate "C",
  provider_reference text,
  reason text,
  events integer not null,
  -- How often its payment was started, or could not be.
  tries integer not null,
  -- Since when its amount and fee lie in the merchant's reserved balance.
  reserved_at timestamptz,
  -- When its payment may start; null: not yet, or it has.
  next_start_at timestamptz,
  -- The batch that pays it again.
  retried_by text collate "C",
  created_at timestamptz not null,
  started_at timestamptz,
  completed_at timestamptz,
  primary key (shard, id),
  check ((completed_at is not null) = (status in ('completed', 'failed'))),
  check ((receipt_mode = 'mobile_money') = (msisdn is not null)),
  check ((receipt_mode = 'wallet') = (wallet_number is not null)),
  -- Nothing is paid from what has not been put aside.
  check (status <> 'processing' or reserved_at is not null),
  check (next_start_at is null or status = 'pending'),
  check (retried_by is null or status = 'failed')
) with (fillfactor = 70);
create index payout_line_of_batch on payout_line (batch_id, occurrence, position, shard);
create index payout_line_to_start on payout_line (shard, next_start_at) where next_start_at is not null;
create index payout_line_open on payout_line (merchant_id, shard) where status in ('pending', 'processing');

-- An attempt moves money for a payment, a payout line or a refund; `payment_id` is the id of that.
alter table attempt
  add column purpose text not null default 'payment' check (purpose in ('payment', 'payout', 'refund'));
-- Attempts are made in the order of their times, nearly: enough to find a day's, for auditors.
create index attempt_by_time on attempt using brin (created_at) with (pages_per_range = 16, autosummarize = on);

alter table payment
  -- What has been given back, and what is on its way back.
  add column refunded_minor bigint not null default 0 check (refunded_minor >= 0),
  add column refunding_minor bigint not null default 0 check (refunding_minor >= 0),
  add constraint payment_refund_check check (refunded_minor + refunding_minor <= total_minor);

create table refund (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  merchant_id text collate "C" not null,
  payment_id text collate "C" not null,
  status text not null check (status in ('pending', 'processing', 'completed', 'failed')),
  -- The method that paid.
  method text not null,
  amount text not null,
  amount_minor bigint not null check (amount_minor > 0),
  -- How much of it was taken from money that was still held for the payment.
  from_held_minor bigint not null check (from_held_minor between 0 and amount_minor),
  currency text not null,
  -- The merchant's words.
  note text,
  msisdn text,
  wallet_number text,
  connector text,
  carrier text,
  attempt_id text collate "C",
  -- An attempt that nobody waited for any more, and that has paid all the same.
  late_attempt_id text collate "C",
  provider_reference text,
  reason text,
  tries integer not null,
  next_start_at timestamptz,
  created_at timestamptz not null,
  started_at timestamptz,
  completed_at timestamptz,
  primary key (shard, id),
  check ((completed_at is not null) = (status in ('completed', 'failed'))),
  check (next_start_at is null or status = 'pending')
) with (fillfactor = 70);
create index refund_of_payment on refund (payment_id, shard);
create index refund_of_merchant on refund (merchant_id, id, shard);
create index refund_to_start on refund (shard, next_start_at) where next_start_at is not null;
create index refund_open on refund (merchant_id, shard) where status in ('pending', 'processing');

-- What an index's condition names counts as indexed: a change of it writes the row anew into every index of the table. A
-- payment changes status three times, and now only its end does so. What belongs to an attempt is left out by the question.
drop index payment_to_expire;
create index payment_to_expire on payment (shard, expires_at) where completed_at is null;

-- A merchant's list of payments, and of those under one reference.
create index payment_of_merchant on payment (merchant_id, id, shard);
drop index payment_by_card_reference;
create index payment_by_reference on payment (merchant_id, customer_reference, id, shard);

-- Statements: the lines of merchants' accounts by time. Other accounts' lines are read by nobody but the auditor.
create index ledger_of_debited_merchant on ledger_transfer (debit_account, at, id, shard) where debit_account like 'mch\_%';
create index ledger_of_credited_merchant on ledger_transfer (credit_account, at, id, shard) where credit_account like 'mch\_%';
-- Lines are written in the order of their times, nearly: enough to find a day's.
create index ledger_by_time on ledger_transfer using brin (at) with (pages_per_range = 16, autosummarize = on);

-- Each account's balance at the end of a day (UTC), for accounts that moved on it: statements and the auditor begin there.
create table account_day (
  shard smallint not null,
  account text collate "C" not null,
  day text collate "C" not null,
  currency text not null,
  balance bigint not null,
  primary key (shard, account, day)
);
