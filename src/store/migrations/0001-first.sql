-- The first schema. The shard is the first column of every key, so that a distributed PostgreSQL can spread the
-- tables by it. Times come as values from the service's clock, never from the database's. Texts that are compared
-- as keys use the "C" collation: identifiers are ASCII, and bytes compare fastest.
--
-- An index that is not partial does not begin with the shard: on tables without statistics the planner takes it for as
-- good as the primary key, looks rows up by the shard alone, and reads a whole shard for every row (measured: one merchant
-- at a third of the speed of a hundred).

-- Names the changes of a batch that lost: raised by the statements of the group commit, read by the committer.
create function lost(kind text, keys text[]) returns void language plpgsql as $$
begin
  raise exception 'lost %', kind using errcode = 'LOST1', detail = array_to_json(keys)::text;
end $$;

create table merchant (
  shard smallint not null check (shard between 0 and 63),
  id text collate "C" not null,
  version integer not null,
  name text not null,
  status text not null check (status in ('ALLOWED', 'SUSPENDED')),
  settings jsonb not null,
  created_at timestamptz not null,
  primary key (shard, id)
);

create table credential (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  merchant_id text collate "C" not null,
  secret_hash text not null,
  status text not null check (status in ('ALLOWED', 'RETIRING', 'REVOKED')),
  retires_at timestamptz,
  expires_at timestamptz,
  allowed_addresses jsonb,
  created_at timestamptz not null,
  primary key (shard, id),
  check ((status = 'RETIRING') = (retires_at is not null))
);
create index credential_of_merchant on credential (merchant_id, shard);

create table webhook_secret (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  merchant_id text collate "C" not null,
  sealed text not null,
  status text not null check (status in ('ALLOWED', 'RETIRING', 'REVOKED')),
  retires_at timestamptz,
  created_at timestamptz not null,
  primary key (shard, id)
);
create index webhook_secret_of_merchant on webhook_secret (merchant_id, shard);

create table session (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  merchant_id text collate "C" not null,
  credential_id text collate "C" not null,
  token_hash text not null,
  status text not null check (status in ('ACTIVE', 'CONSUMED')),
  amount text not null,
  amount_minor bigint not null check (amount_minor > 0),
  currency text not null,
  customer_reference text not null,
  scope text check (scope in ('collect', 'payout')),
  device_fingerprint text,
  payments integer not null,
  submitting_payment_id text collate "C",
  issued_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (shard, id),
  check (status = 'ACTIVE' or submitting_payment_id is not null)
) with (fillfactor = 70);

create table payment (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  merchant_id text collate "C" not null,
  session_id text collate "C" not null,
  status text not null check (status in (
    'pending', 'processing', 'pending_otp_verification', 'pending_mobile_money_verification', 'pendingBankProofUpload',
    'approved', 'declined', 'failed', 'cancelled', 'expired', 'refunded')),
  method text not null,
  amount text not null,
  amount_minor bigint not null check (amount_minor > 0),
  currency text not null,
  customer_reference text not null,
  fee_minor bigint not null check (fee_minor >= 0),
  total_minor bigint not null check (total_minor >= amount_minor),
  fee_covered_by text not null check (fee_covered_by in ('buyer', 'merchant')),
  delivery_behaviour text not null check (delivery_behaviour in ('direct_delivery', 'delayed_delivery')),
  notify_url text,
  success_redirect_url text,
  fail_redirect_url text,
  wallet_number text,
  msisdn text,
  carrier text,
  attempt_id text collate "C",
  provider_reference text,
  reason text,
  events integer not null,
  language text not null,
  created_at timestamptz not null,
  submitted_at timestamptz,
  completed_at timestamptz,
  expires_at timestamptz not null,
  primary key (shard, id),
  -- A final payment has its time, and no other has one.
  check ((completed_at is not null) = (status in ('approved', 'declined', 'failed', 'cancelled', 'expired', 'refunded')))
) with (fillfactor = 70);
create index payment_of_session on payment (session_id, shard);
create index payment_to_expire on payment (shard, expires_at) where status in ('pending', 'pending_otp_verification');

create table payment_history (
  shard smallint not null,
  payment_id text collate "C" not null,
  version integer not null,
  status text not null,
  reason text,
  at timestamptz not null,
  primary key (shard, payment_id, version)
);

create table attempt (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  merchant_id text collate "C" not null,
  payment_id text collate "C" not null,
  connector text not null,
  status text not null check (status in ('intended', 'waiting', 'unknown', 'approved', 'declined', 'not_sent')),
  reference text not null,
  msisdn text not null,
  carrier text not null,
  amount_minor bigint not null check (amount_minor > 0),
  fee_minor bigint not null check (fee_minor >= 0),
  currency text not null,
  provider_reference text,
  reason text,
  inquiries integer not null,
  not_found_at timestamptz,
  next_inquiry_at timestamptz,
  created_at timestamptz not null,
  settled_at timestamptz,
  primary key (shard, id),
  check ((settled_at is not null) = (status in ('approved', 'declined', 'not_sent'))),
  -- Whatever is open is asked about until it is settled.
  check (next_inquiry_at is not null or settled_at is not null)
) with (fillfactor = 70);
create index attempt_to_inquire on attempt (shard, next_inquiry_at) where next_inquiry_at is not null;

create table one_time_code (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  code_hash text not null,
  sent_to text not null,
  resends integer not null,
  tries jsonb not null,
  expires_at timestamptz not null,
  created_at timestamptz not null,
  primary key (shard, id)
);

create table wallet (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  kind text not null check (kind in ('wallet', 'flash')),
  currency text not null,
  phone text not null,
  pin_hash text not null,
  pin_failures integer not null check (pin_failures >= 0),
  locked_until timestamptz,
  created_at timestamptz not null,
  primary key (shard, id)
);

create table account (
  shard smallint not null,
  id text collate "C" not null,
  currency text not null,
  balance bigint not null,
  floored boolean not null,
  primary key (shard, id),
  check (balance >= 0 or not floored)
) with (fillfactor = 50);

create table ledger_transfer (
  shard smallint not null,
  id text collate "C" not null,
  debit_shard smallint not null,
  debit_account text collate "C" not null,
  credit_shard smallint not null,
  credit_account text collate "C" not null,
  amount_minor bigint not null check (amount_minor > 0),
  currency text not null,
  cause text not null,
  cause_id text collate "C" not null,
  at timestamptz not null,
  primary key (shard, id),
  check ((debit_shard, debit_account) <> (credit_shard, credit_account))
);

create table webhook_event (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  merchant_id text collate "C" not null,
  transaction_id text collate "C" not null,
  sequence integer not null,
  type text not null,
  url text,
  body text not null,
  status text not null check (status in ('waiting', 'delivered', 'dead', 'gone', 'no_target')),
  attempts integer not null,
  next_at timestamptz not null,
  created_at timestamptz not null,
  delivered_at timestamptz,
  last_error text,
  primary key (shard, id)
) with (fillfactor = 70);
create index webhook_event_due on webhook_event (shard, next_at) where status = 'waiting';
create index webhook_event_of_merchant on webhook_event (merchant_id, id, shard);

create table webhook_attempt (
  shard smallint not null,
  id text collate "C" not null,
  event_id text collate "C" not null,
  number integer not null,
  at timestamptz not null,
  status_code integer,
  duration_ms integer not null,
  error text,
  primary key (shard, event_id, number)
);

create table idempotency (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  request_hash text not null,
  status integer not null,
  body text not null,
  created_at timestamptz not null,
  primary key (shard, id)
);
create index idempotency_to_reap on idempotency (created_at, shard);

-- What the database remembers about itself, by name: the mode it belongs to, and a value that only its master key opens.
create table setting (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  value text not null,
  primary key (shard, id)
);
