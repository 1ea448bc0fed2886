-- What the migrations make together: generated from them, and compared with them by a test. Do not edit.
-- After a new migration: npx vitest run --project api test/api/store-schema.test.ts -u

create schema archive;

CREATE OR REPLACE FUNCTION public.fence_days(last date)
 RETURNS boolean
 LANGUAGE plpgsql
 SET lock_timeout TO '500ms'
AS $function$
begin
  perform pg_advisory_xact_lock(7262648);
  insert into setting as s (shard, id, version, value) values (0, 'last_fenced_day', 1, to_char(last, 'YYYY-MM-DD'))
  on conflict (shard, id) do update set value = excluded.value, version = s.version + 1 where s.value < excluded.value;
  return true;
exception when lock_not_available then
  return false;
end $function$;

CREATE OR REPLACE FUNCTION public.lost(kind text, keys text[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'lost %', kind using errcode = 'LOST1', detail = array_to_json(keys)::text;
end $function$;

CREATE OR REPLACE FUNCTION public.may_transfer(earliest timestamp with time zone)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  if earliest > clock_timestamp() - interval '20 minutes' then return true; end if;
  perform pg_advisory_xact_lock_shared(7262648);
  if earliest < (select (max(s.value)::date + 1)::timestamp at time zone 'UTC' from setting s
    where s.shard = 0 and s.id in ('last_fenced_day', 'last_closed_day')) then
    raise exception 'that day is closed' using errcode = 'DAY01';
  end if;
  return true;
end $function$;

create table account (
  shard smallint not null,
  id text collate "C" not null,
  currency text not null,
  balance numeric(38,0) not null,
  floored boolean not null,
  constraint account_pkey PRIMARY KEY (shard, id),
  constraint account_check CHECK (((balance >= (0)::numeric) OR (NOT floored)))
) with (fillfactor=50);

create table account_day (
  shard smallint not null,
  account text collate "C" not null,
  day text collate "C" not null,
  currency text not null,
  balance numeric(38,0) not null,
  constraint account_day_pkey PRIMARY KEY (shard, account, day)
);

create table attempt (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  merchant_id text collate "C" not null,
  payment_id text collate "C" not null,
  connector text not null,
  status text not null,
  reference text not null,
  msisdn text,
  carrier text not null,
  amount_minor bigint not null,
  fee_minor bigint not null,
  currency text not null,
  provider_reference text,
  reason text,
  inquiries integer not null,
  not_found_at timestamp with time zone,
  next_inquiry_at timestamp with time zone,
  created_at timestamp with time zone not null,
  settled_at timestamp with time zone,
  method text default 'mobile_money'::text not null,
  challenge text,
  three_ds_status text,
  eci text,
  purpose text default 'payment'::text not null,
  upstream_account text,
  constraint attempt_pkey PRIMARY KEY (shard, id),
  constraint attempt_amount_minor_check CHECK ((amount_minor > 0)),
  constraint attempt_check CHECK (((settled_at IS NOT NULL) = (status = ANY (ARRAY['approved'::text, 'declined'::text, 'not_sent'::text])))),
  constraint attempt_check1 CHECK (((next_inquiry_at IS NOT NULL) OR (settled_at IS NOT NULL))),
  constraint attempt_fee_minor_check CHECK ((fee_minor >= 0)),
  constraint attempt_method_check CHECK (((method <> 'mobile_money'::text) OR (msisdn IS NOT NULL))),
  constraint attempt_purpose_check CHECK ((purpose = ANY (ARRAY['payment'::text, 'payout'::text, 'refund'::text]))),
  constraint attempt_status_check CHECK ((status = ANY (ARRAY['intended'::text, 'challenged'::text, 'authenticated'::text, 'waiting'::text, 'unknown'::text, 'approved'::text, 'declined'::text, 'not_sent'::text])))
) with (fillfactor=70, autovacuum_vacuum_scale_factor=0.05);
CREATE INDEX attempt_by_time ON public.attempt USING brin (created_at) WITH (pages_per_range='16', autosummarize='on');
CREATE INDEX attempt_late_money ON public.attempt USING btree (shard, id) WHERE (reason = 'late_success'::text);
CREATE INDEX attempt_of_card_payment ON public.attempt USING btree (payment_id, shard) WHERE (method = 'card'::text);
CREATE INDEX attempt_of_order ON public.attempt USING btree (payment_id, shard) WHERE (purpose <> 'payment'::text);
CREATE INDEX attempt_to_inquire ON public.attempt USING btree (shard, next_inquiry_at) WHERE (next_inquiry_at IS NOT NULL);
CREATE INDEX attempt_turned_away ON public.attempt USING btree (payment_id, shard) WHERE ((purpose = 'payment'::text) AND (method = 'mobile_money'::text) AND ((status = 'not_sent'::text) OR (reason ~~ 'late\_%'::text)));

create table bank_account (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  merchant_id text collate "C" not null,
  bank_id text not null,
  bank_name text not null,
  country text not null,
  account_name text not null,
  account_number text not null,
  iban text,
  swift text,
  currency text not null,
  branch_city text,
  status text not null,
  created_at timestamp with time zone not null,
  constraint bank_account_pkey PRIMARY KEY (shard, id),
  constraint bank_account_status_check CHECK ((status = ANY (ARRAY['ACTIVE'::text, 'CLOSED'::text])))
);
CREATE INDEX bank_account_of_merchant ON public.bank_account USING btree (merchant_id, shard);

create table checkout (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  merchant_id text collate "C" not null,
  session_id text collate "C" not null,
  payment_id text collate "C" not null,
  ticket_hash text not null,
  page_hash text,
  opened_at timestamp with time zone,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  given_msisdn text,
  given_wallet_number text,
  given_flash_number text,
  constraint checkout_pkey PRIMARY KEY (shard, id),
  constraint checkout_check CHECK (((page_hash IS NULL) = (opened_at IS NULL)))
);

create table credential (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  merchant_id text collate "C" not null,
  secret_hash text not null,
  status text not null,
  retires_at timestamp with time zone,
  expires_at timestamp with time zone,
  allowed_addresses jsonb,
  created_at timestamp with time zone not null,
  constraint credential_pkey PRIMARY KEY (shard, id),
  constraint credential_check CHECK (((status = 'RETIRING'::text) = (retires_at IS NOT NULL))),
  constraint credential_status_check CHECK ((status = ANY (ARRAY['ALLOWED'::text, 'RETIRING'::text, 'REVOKED'::text])))
);
CREATE INDEX credential_of_merchant ON public.credential USING btree (merchant_id, shard);

create table idempotency (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  request_hash text not null,
  status integer not null,
  body text not null,
  created_at timestamp with time zone not null,
  constraint idempotency_pkey PRIMARY KEY (shard, id)
) with (autovacuum_vacuum_scale_factor=0.05);
CREATE INDEX idempotency_to_reap_of_shard ON public.idempotency USING btree (shard, created_at);

create table journal (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  verb text not null,
  said_by text not null,
  why text,
  about jsonb not null,
  created_at timestamp with time zone not null,
  constraint journal_pkey PRIMARY KEY (shard, id)
);
CREATE INDEX journal_about ON public.journal USING gin (about jsonb_path_ops);

create table ledger_transfer (
  shard smallint not null,
  id text collate "C" not null,
  debit_shard smallint not null,
  debit_account text collate "C" not null,
  credit_shard smallint not null,
  credit_account text collate "C" not null,
  amount_minor bigint not null,
  currency text not null,
  cause text not null,
  cause_id text collate "C" not null,
  at timestamp with time zone not null,
  constraint ledger_transfer_pkey PRIMARY KEY (shard, id),
  constraint ledger_transfer_amount_minor_check CHECK ((amount_minor > 0)),
  constraint ledger_transfer_check CHECK (((debit_shard <> credit_shard) OR (debit_account <> credit_account)))
);
CREATE INDEX ledger_by_time ON public.ledger_transfer USING brin (at) WITH (pages_per_range='16', autosummarize='on');
CREATE INDEX ledger_of_credited_merchant ON public.ledger_transfer USING btree (credit_account, at, id, shard) WHERE (credit_account ~~ 'mch\_%'::text);
CREATE INDEX ledger_of_debited_merchant ON public.ledger_transfer USING btree (debit_account, at, id, shard) WHERE (debit_account ~~ 'mch\_%'::text);

create table merchant (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  name text not null,
  status text not null,
  settings jsonb not null,
  created_at timestamp with time zone not null,
  constraint merchant_pkey PRIMARY KEY (shard, id),
  constraint merchant_shard_check CHECK (((shard >= 0) AND (shard <= 63))),
  constraint merchant_status_check CHECK ((status = ANY (ARRAY['ALLOWED'::text, 'SUSPENDED'::text])))
);

create table merchant_logo (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  content_type text not null,
  content text not null,
  created_at timestamp with time zone not null,
  constraint merchant_logo_pkey PRIMARY KEY (shard, id)
);

create table one_time_code (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  code_hash text not null,
  sent_to text not null,
  resends integer not null,
  tries jsonb not null,
  expires_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  account_changes integer default 0 not null,
  constraint one_time_code_pkey PRIMARY KEY (shard, id)
);

create table payment (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  merchant_id text collate "C" not null,
  session_id text collate "C" not null,
  status text not null,
  method text not null,
  amount text not null,
  amount_minor bigint not null,
  currency text not null,
  customer_reference text collate "C" not null,
  fee_minor bigint not null,
  total_minor bigint not null,
  fee_covered_by text not null,
  delivery_behaviour text not null,
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
  created_at timestamp with time zone not null,
  submitted_at timestamp with time zone,
  completed_at timestamp with time zone,
  expires_at timestamp with time zone not null,
  hosted_session_id text,
  bank_account_id text collate "C",
  checkout_id text collate "C",
  released_at timestamp with time zone,
  refunded_minor bigint default 0 not null,
  refunding_minor bigint default 0 not null,
  constraint payment_pkey PRIMARY KEY (shard, id),
  constraint payment_amount_minor_check CHECK ((amount_minor > 0)),
  constraint payment_check CHECK ((total_minor >= amount_minor)),
  constraint payment_check1 CHECK (((completed_at IS NOT NULL) = (status = ANY (ARRAY['approved'::text, 'declined'::text, 'failed'::text, 'cancelled'::text, 'expired'::text, 'refunded'::text])))),
  constraint payment_delivery_behaviour_check CHECK ((delivery_behaviour = ANY (ARRAY['direct_delivery'::text, 'delayed_delivery'::text]))),
  constraint payment_fee_covered_by_check CHECK ((fee_covered_by = ANY (ARRAY['buyer'::text, 'merchant'::text]))),
  constraint payment_fee_minor_check CHECK ((fee_minor >= 0)),
  constraint payment_refund_check CHECK (((refunded_minor + refunding_minor) <= total_minor)),
  constraint payment_refunded_minor_check CHECK ((refunded_minor >= 0)),
  constraint payment_refunding_minor_check CHECK ((refunding_minor >= 0)),
  constraint payment_release_check CHECK (((released_at IS NULL) OR (delivery_behaviour = 'delayed_delivery'::text))),
  constraint payment_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'processing'::text, 'pending_otp_verification'::text, 'pending_mobile_money_verification'::text, 'pendingBankProofUpload'::text, 'approved'::text, 'declined'::text, 'failed'::text, 'cancelled'::text, 'expired'::text, 'refunded'::text])))
) with (fillfactor=50, autovacuum_vacuum_scale_factor=0.05);
CREATE INDEX payment_by_reference ON public.payment USING btree (merchant_id, customer_reference, id, shard);
CREATE INDEX payment_of_merchant ON public.payment USING btree (merchant_id, id, shard);
CREATE INDEX payment_of_session ON public.payment USING btree (session_id, shard);
CREATE INDEX payment_to_expire ON public.payment USING btree (shard, expires_at) WHERE (completed_at IS NULL);

create table payment_history (
  shard smallint not null,
  payment_id text collate "C" not null,
  version integer not null,
  status text not null,
  reason text,
  at timestamp with time zone not null,
  constraint payment_history_pkey PRIMARY KEY (shard, payment_id, version)
);

create table payout_batch (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  merchant_id text collate "C" not null,
  customer_reference text collate "C" not null,
  currency text not null,
  receipt_mode text not null,
  sending_type text not null,
  notify_url text not null,
  note text,
  language text not null,
  beneficiaries jsonb not null,
  dates jsonb,
  frequency text,
  run_hour integer not null,
  time_zone text not null,
  occurrences integer not null,
  next_occurrence integer not null,
  next_run_at timestamp with time zone,
  approval text not null,
  paused_at timestamp with time zone,
  cancelled_at timestamp with time zone,
  closed_at timestamp with time zone,
  retry_of text collate "C",
  created_at timestamp with time zone not null,
  credential_id text,
  constraint payout_batch_pkey PRIMARY KEY (shard, id),
  constraint payout_batch_approval_check CHECK ((approval = ANY (ARRAY['none'::text, 'waiting'::text, 'approved'::text, 'rejected'::text]))),
  constraint payout_batch_check CHECK (((next_occurrence >= 1) AND (next_occurrence <= (occurrences + 1)))),
  constraint payout_batch_check1 CHECK (((sending_type = 'immediate'::text) = (dates IS NULL))),
  constraint payout_batch_check2 CHECK (((closed_at IS NULL) OR (cancelled_at IS NOT NULL))),
  constraint payout_batch_check3 CHECK (((next_run_at IS NULL) OR ((next_occurrence <= occurrences) AND (approval = ANY (ARRAY['none'::text, 'approved'::text])) AND (paused_at IS NULL) AND (cancelled_at IS NULL)))),
  constraint payout_batch_frequency_check CHECK ((frequency = ANY (ARRAY['daily'::text, 'weekly'::text, 'biweekly'::text, 'monthly'::text]))),
  constraint payout_batch_occurrences_check CHECK (((occurrences >= 1) AND (occurrences <= 366))),
  constraint payout_batch_receipt_mode_check CHECK ((receipt_mode = ANY (ARRAY['mobile_money'::text, 'wallet'::text]))),
  constraint payout_batch_run_hour_check CHECK (((run_hour >= 0) AND (run_hour <= 23))),
  constraint payout_batch_sending_type_check CHECK ((sending_type = ANY (ARRAY['immediate'::text, 'scheduled'::text, 'recurring'::text])))
);
CREATE INDEX payout_batch_by_reference ON public.payout_batch USING btree (merchant_id, customer_reference, id, shard);
CREATE INDEX payout_batch_of_merchant ON public.payout_batch USING btree (merchant_id, id, shard);
CREATE INDEX payout_batch_open ON public.payout_batch USING btree (shard, id) WHERE ((cancelled_at IS NULL) AND ((approval = 'waiting'::text) OR (paused_at IS NOT NULL) OR (next_occurrence <= occurrences)));
CREATE INDEX payout_batch_to_close ON public.payout_batch USING btree (shard, cancelled_at) WHERE ((cancelled_at IS NOT NULL) AND (closed_at IS NULL));
CREATE INDEX payout_batch_to_run ON public.payout_batch USING btree (shard, next_run_at) WHERE (next_run_at IS NOT NULL);

create table payout_line (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  merchant_id text collate "C" not null,
  batch_id text collate "C" not null,
  occurrence integer not null,
  position integer not null,
  scheduled_date text,
  status text not null,
  receipt_mode text not null,
  msisdn text,
  wallet_number text,
  connector text,
  carrier text,
  amount text not null,
  amount_minor bigint not null,
  fee_minor bigint not null,
  currency text not null,
  customer_reference text not null,
  notify_url text not null,
  note text,
  language text not null,
  attempt_id text collate "C",
  late_attempt_id text collate "C",
  provider_reference text,
  reason text,
  events integer not null,
  tries integer not null,
  reserved_at timestamp with time zone,
  next_start_at timestamp with time zone,
  retried_by text collate "C",
  created_at timestamp with time zone not null,
  started_at timestamp with time zone,
  completed_at timestamp with time zone,
  retry_of text collate "C",
  constraint payout_line_pkey PRIMARY KEY (shard, id),
  constraint payout_line_amount_minor_check CHECK ((amount_minor > 0)),
  constraint payout_line_check CHECK (((completed_at IS NOT NULL) = (status = ANY (ARRAY['completed'::text, 'failed'::text])))),
  constraint payout_line_check1 CHECK (((receipt_mode = 'mobile_money'::text) = (msisdn IS NOT NULL))),
  constraint payout_line_check2 CHECK (((receipt_mode = 'wallet'::text) = (wallet_number IS NOT NULL))),
  constraint payout_line_check3 CHECK (((status <> 'processing'::text) OR (reserved_at IS NOT NULL))),
  constraint payout_line_check4 CHECK (((next_start_at IS NULL) OR (status = 'pending'::text))),
  constraint payout_line_check5 CHECK (((retried_by IS NULL) OR (status = 'failed'::text))),
  constraint payout_line_fee_minor_check CHECK ((fee_minor >= 0)),
  constraint payout_line_occurrence_check CHECK ((occurrence >= 1)),
  constraint payout_line_position_check CHECK ((("position" >= 0) AND ("position" <= 99))),
  constraint payout_line_receipt_mode_check CHECK ((receipt_mode = ANY (ARRAY['mobile_money'::text, 'wallet'::text]))),
  constraint payout_line_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'processing'::text, 'completed'::text, 'failed'::text])))
) with (fillfactor=70, autovacuum_vacuum_scale_factor=0.05);
CREATE INDEX payout_line_of_batch ON public.payout_line USING btree (batch_id, occurrence, "position", shard);
CREATE INDEX payout_line_open_of_batch ON public.payout_line USING btree (merchant_id, batch_id, shard) WHERE (status = ANY (ARRAY['pending'::text, 'processing'::text]));
CREATE INDEX payout_line_retry ON public.payout_line USING btree (shard, retry_of) WHERE (retry_of IS NOT NULL);
CREATE INDEX payout_line_to_start ON public.payout_line USING btree (shard, next_start_at) WHERE (next_start_at IS NOT NULL);

create table pin_guard (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  pin_failures integer not null,
  pin_failed_at timestamp with time zone not null,
  locked_until timestamp with time zone,
  constraint pin_guard_pkey PRIMARY KEY (shard, id),
  constraint pin_guard_pin_failures_check CHECK ((pin_failures > 0))
) with (fillfactor=70);
CREATE INDEX pin_guard_to_reap_of_shard ON public.pin_guard USING btree (shard, pin_failed_at);

create table proof (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  merchant_id text collate "C" not null,
  payment_id text collate "C" not null,
  content_type text not null,
  size integer not null,
  digest text collate "C" not null,
  status text not null,
  note text,
  created_at timestamp with time zone not null,
  decided_at timestamp with time zone,
  constraint proof_pkey PRIMARY KEY (shard, id),
  constraint proof_check CHECK (((decided_at IS NOT NULL) = (status <> 'waiting'::text))),
  constraint proof_size_check CHECK ((size > 0)),
  constraint proof_status_check CHECK ((status = ANY (ARRAY['waiting'::text, 'approved'::text, 'declined'::text])))
);
CREATE INDEX proof_by_digest ON public.proof USING btree (digest, shard);
CREATE INDEX proof_of_merchant ON public.proof USING btree (merchant_id, id, shard);
CREATE INDEX proof_of_payment ON public.proof USING btree (payment_id, shard);
CREATE INDEX proof_waiting ON public.proof USING btree (shard, created_at) WHERE (status = 'waiting'::text);

create table proof_file (
  shard smallint not null,
  id text collate "C" not null,
  sealed text not null,
  created_at timestamp with time zone not null,
  constraint proof_file_pkey PRIMARY KEY (shard, id)
);

create table refund (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  merchant_id text collate "C" not null,
  payment_id text collate "C" not null,
  status text not null,
  method text not null,
  amount text not null,
  amount_minor bigint not null,
  from_held_minor bigint not null,
  currency text not null,
  note text,
  msisdn text,
  wallet_number text,
  connector text,
  carrier text,
  attempt_id text collate "C",
  late_attempt_id text collate "C",
  provider_reference text,
  reason text,
  tries integer not null,
  next_start_at timestamp with time zone,
  created_at timestamp with time zone not null,
  started_at timestamp with time zone,
  completed_at timestamp with time zone,
  constraint refund_pkey PRIMARY KEY (shard, id),
  constraint refund_amount_minor_check CHECK ((amount_minor > 0)),
  constraint refund_check CHECK (((from_held_minor >= 0) AND (from_held_minor <= amount_minor))),
  constraint refund_check1 CHECK (((completed_at IS NOT NULL) = (status = ANY (ARRAY['completed'::text, 'failed'::text])))),
  constraint refund_check2 CHECK (((next_start_at IS NULL) OR (status = 'pending'::text))),
  constraint refund_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'processing'::text, 'completed'::text, 'failed'::text])))
) with (fillfactor=70, autovacuum_vacuum_scale_factor=0.05);
CREATE INDEX refund_by_hand ON public.refund USING btree (shard, id) WHERE ((status = 'pending'::text) AND (next_start_at IS NULL));
CREATE INDEX refund_of_merchant ON public.refund USING btree (merchant_id, id, shard);
CREATE INDEX refund_of_payment ON public.refund USING btree (payment_id, shard);
CREATE INDEX refund_open ON public.refund USING btree (merchant_id, shard) WHERE (status = ANY (ARRAY['pending'::text, 'processing'::text]));
CREATE INDEX refund_to_start ON public.refund USING btree (shard, next_start_at) WHERE (next_start_at IS NOT NULL);

create table schema_migration (
  name text not null,
  checksum text not null,
  applied_at timestamp with time zone default now() not null,
  constraint schema_migration_pkey PRIMARY KEY (name)
);

create table session (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  merchant_id text collate "C" not null,
  credential_id text collate "C" not null,
  token_hash text not null,
  status text not null,
  amount text not null,
  amount_minor bigint not null,
  currency text not null,
  customer_reference text not null,
  scope text,
  device_fingerprint text,
  payments integer not null,
  submitting_payment_id text collate "C",
  issued_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  constraint session_pkey PRIMARY KEY (shard, id),
  constraint session_amount_minor_check CHECK ((amount_minor > 0)),
  constraint session_check CHECK (((status = 'ACTIVE'::text) OR (submitting_payment_id IS NOT NULL))),
  constraint session_scope_check CHECK ((scope = ANY (ARRAY['collect'::text, 'payout'::text]))),
  constraint session_status_check CHECK ((status = ANY (ARRAY['ACTIVE'::text, 'CONSUMED'::text])))
) with (fillfactor=50, autovacuum_vacuum_scale_factor=0.05);

create table setting (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  value text not null,
  constraint setting_pkey PRIMARY KEY (shard, id)
);

create table transfer_reference (
  shard smallint not null,
  id text collate "C" not null,
  transfer_id text collate "C" not null,
  amount_minor bigint not null,
  created_at timestamp with time zone not null,
  payment_id text collate "C",
  constraint transfer_reference_pkey PRIMARY KEY (shard, id),
  constraint transfer_reference_amount_minor_check CHECK ((amount_minor > 0))
);

create table wallet (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  kind text not null,
  currency text not null,
  phone text not null,
  pin_hash text not null,
  pin_failures integer not null,
  locked_until timestamp with time zone,
  created_at timestamp with time zone not null,
  pin_failed_at timestamp with time zone,
  changes integer default 0 not null,
  constraint wallet_pkey PRIMARY KEY (shard, id),
  constraint wallet_kind_check CHECK ((kind = ANY (ARRAY['wallet'::text, 'flash'::text]))),
  constraint wallet_pin_failures_check CHECK ((pin_failures >= 0))
);

create table webhook_attempt (
  shard smallint not null,
  id text collate "C" not null,
  event_id text collate "C" not null,
  number integer not null,
  at timestamp with time zone not null,
  status_code integer,
  duration_ms integer not null,
  error text,
  constraint webhook_attempt_pkey PRIMARY KEY (shard, event_id, number)
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
  status text not null,
  attempts integer not null,
  next_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  delivered_at timestamp with time zone,
  last_error text,
  replayed_after integer default 0 not null,
  constraint webhook_event_pkey PRIMARY KEY (shard, id),
  constraint webhook_event_series_check CHECK (((replayed_after >= 0) AND (replayed_after <= attempts))),
  constraint webhook_event_status_check CHECK ((status = ANY (ARRAY['waiting'::text, 'delivered'::text, 'dead'::text, 'gone'::text, 'no_target'::text])))
) with (fillfactor=70, autovacuum_vacuum_scale_factor=0.05);
CREATE INDEX webhook_event_dead ON public.webhook_event USING btree (shard, id) WHERE (status = 'dead'::text);
CREATE INDEX webhook_event_due ON public.webhook_event USING btree (shard, next_at) WHERE (status = 'waiting'::text);
CREATE INDEX webhook_event_gone ON public.webhook_event USING btree (shard, id) WHERE (status = 'gone'::text);
CREATE INDEX webhook_event_of_merchant ON public.webhook_event USING btree (merchant_id, id, shard);
CREATE INDEX webhook_event_of_transaction ON public.webhook_event USING btree (merchant_id, transaction_id, id, shard);

create table webhook_secret (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  merchant_id text collate "C" not null,
  sealed text not null,
  status text not null,
  retires_at timestamp with time zone,
  created_at timestamp with time zone not null,
  constraint webhook_secret_pkey PRIMARY KEY (shard, id),
  constraint webhook_secret_status_check CHECK ((status = ANY (ARRAY['ALLOWED'::text, 'RETIRING'::text, 'REVOKED'::text])))
);
CREATE INDEX webhook_secret_of_merchant ON public.webhook_secret USING btree (merchant_id, shard);

create table archive.attempt (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  merchant_id text collate "C" not null,
  payment_id text collate "C" not null,
  connector text not null,
  status text not null,
  reference text not null,
  msisdn text,
  carrier text not null,
  amount_minor bigint not null,
  fee_minor bigint not null,
  currency text not null,
  provider_reference text,
  reason text,
  inquiries integer not null,
  not_found_at timestamp with time zone,
  next_inquiry_at timestamp with time zone,
  created_at timestamp with time zone not null,
  settled_at timestamp with time zone,
  method text default 'mobile_money'::text not null,
  challenge text,
  three_ds_status text,
  eci text,
  purpose text default 'payment'::text not null,
  upstream_account text,
  constraint attempt_pkey PRIMARY KEY (shard, id),
  constraint attempt_amount_minor_check CHECK ((amount_minor > 0)),
  constraint attempt_check CHECK (((settled_at IS NOT NULL) = (status = ANY (ARRAY['approved'::text, 'declined'::text, 'not_sent'::text])))),
  constraint attempt_check1 CHECK (((next_inquiry_at IS NOT NULL) OR (settled_at IS NOT NULL))),
  constraint attempt_fee_minor_check CHECK ((fee_minor >= 0)),
  constraint attempt_method_check CHECK (((method <> 'mobile_money'::text) OR (msisdn IS NOT NULL))),
  constraint attempt_purpose_check CHECK ((purpose = ANY (ARRAY['payment'::text, 'payout'::text, 'refund'::text]))),
  constraint attempt_status_check CHECK ((status = ANY (ARRAY['intended'::text, 'challenged'::text, 'authenticated'::text, 'waiting'::text, 'unknown'::text, 'approved'::text, 'declined'::text, 'not_sent'::text])))
) partition by range (id);
CREATE INDEX attempt_by_time ON ONLY archive.attempt USING brin (created_at) WITH (pages_per_range='16');
CREATE INDEX attempt_of_order ON ONLY archive.attempt USING btree (payment_id, shard) WHERE (purpose <> 'payment'::text);

create table archive.checkout (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  merchant_id text collate "C" not null,
  session_id text collate "C" not null,
  payment_id text collate "C" not null,
  ticket_hash text not null,
  page_hash text,
  opened_at timestamp with time zone,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  given_msisdn text,
  given_wallet_number text,
  given_flash_number text,
  constraint checkout_pkey PRIMARY KEY (shard, id),
  constraint checkout_check CHECK (((page_hash IS NULL) = (opened_at IS NULL)))
) partition by range (id);

create table archive.ledger_transfer (
  shard smallint not null,
  id text collate "C" not null,
  debit_shard smallint not null,
  debit_account text collate "C" not null,
  credit_shard smallint not null,
  credit_account text collate "C" not null,
  amount_minor bigint not null,
  currency text not null,
  cause text not null,
  cause_id text collate "C" not null,
  at timestamp with time zone not null,
  constraint ledger_transfer_pkey PRIMARY KEY (shard, id, at),
  constraint ledger_transfer_amount_minor_check CHECK ((amount_minor > 0)),
  constraint ledger_transfer_check CHECK (((debit_shard <> credit_shard) OR (debit_account <> credit_account)))
) partition by range (at);
CREATE INDEX ledger_by_time ON ONLY archive.ledger_transfer USING brin (at) WITH (pages_per_range='16');
CREATE INDEX ledger_of_credited_merchant ON ONLY archive.ledger_transfer USING btree (credit_account, at, id, shard) WHERE (credit_account ~~ 'mch\_%'::text);
CREATE INDEX ledger_of_debited_merchant ON ONLY archive.ledger_transfer USING btree (debit_account, at, id, shard) WHERE (debit_account ~~ 'mch\_%'::text);

create table archive.one_time_code (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  code_hash text not null,
  sent_to text not null,
  resends integer not null,
  tries jsonb not null,
  expires_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  account_changes integer default 0 not null,
  constraint one_time_code_pkey PRIMARY KEY (shard, id)
) partition by range (id);

create table archive.payment (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  merchant_id text collate "C" not null,
  session_id text collate "C" not null,
  status text not null,
  method text not null,
  amount text not null,
  amount_minor bigint not null,
  currency text not null,
  customer_reference text collate "C" not null,
  fee_minor bigint not null,
  total_minor bigint not null,
  fee_covered_by text not null,
  delivery_behaviour text not null,
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
  created_at timestamp with time zone not null,
  submitted_at timestamp with time zone,
  completed_at timestamp with time zone,
  expires_at timestamp with time zone not null,
  hosted_session_id text,
  bank_account_id text collate "C",
  checkout_id text collate "C",
  released_at timestamp with time zone,
  refunded_minor bigint default 0 not null,
  refunding_minor bigint default 0 not null,
  constraint payment_pkey PRIMARY KEY (shard, id),
  constraint payment_amount_minor_check CHECK ((amount_minor > 0)),
  constraint payment_check CHECK ((total_minor >= amount_minor)),
  constraint payment_check1 CHECK (((completed_at IS NOT NULL) = (status = ANY (ARRAY['approved'::text, 'declined'::text, 'failed'::text, 'cancelled'::text, 'expired'::text, 'refunded'::text])))),
  constraint payment_delivery_behaviour_check CHECK ((delivery_behaviour = ANY (ARRAY['direct_delivery'::text, 'delayed_delivery'::text]))),
  constraint payment_fee_covered_by_check CHECK ((fee_covered_by = ANY (ARRAY['buyer'::text, 'merchant'::text]))),
  constraint payment_fee_minor_check CHECK ((fee_minor >= 0)),
  constraint payment_refund_check CHECK (((refunded_minor + refunding_minor) <= total_minor)),
  constraint payment_refunded_minor_check CHECK ((refunded_minor >= 0)),
  constraint payment_refunding_minor_check CHECK ((refunding_minor >= 0)),
  constraint payment_release_check CHECK (((released_at IS NULL) OR (delivery_behaviour = 'delayed_delivery'::text))),
  constraint payment_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'processing'::text, 'pending_otp_verification'::text, 'pending_mobile_money_verification'::text, 'pendingBankProofUpload'::text, 'approved'::text, 'declined'::text, 'failed'::text, 'cancelled'::text, 'expired'::text, 'refunded'::text])))
) partition by range (id);
CREATE INDEX payment_by_reference ON ONLY archive.payment USING btree (merchant_id, customer_reference, id, shard);
CREATE INDEX payment_of_merchant ON ONLY archive.payment USING btree (merchant_id, id, shard);

create table archive.payment_history (
  shard smallint not null,
  payment_id text collate "C" not null,
  version integer not null,
  status text not null,
  reason text,
  at timestamp with time zone not null,
  constraint payment_history_pkey PRIMARY KEY (shard, payment_id, version)
) partition by range (payment_id);

create table archive.payout_batch (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  merchant_id text collate "C" not null,
  customer_reference text collate "C" not null,
  currency text not null,
  receipt_mode text not null,
  sending_type text not null,
  notify_url text not null,
  note text,
  language text not null,
  beneficiaries jsonb not null,
  dates jsonb,
  frequency text,
  run_hour integer not null,
  time_zone text not null,
  occurrences integer not null,
  next_occurrence integer not null,
  next_run_at timestamp with time zone,
  approval text not null,
  paused_at timestamp with time zone,
  cancelled_at timestamp with time zone,
  closed_at timestamp with time zone,
  retry_of text collate "C",
  created_at timestamp with time zone not null,
  credential_id text,
  constraint payout_batch_pkey PRIMARY KEY (shard, id),
  constraint payout_batch_approval_check CHECK ((approval = ANY (ARRAY['none'::text, 'waiting'::text, 'approved'::text, 'rejected'::text]))),
  constraint payout_batch_check CHECK (((next_occurrence >= 1) AND (next_occurrence <= (occurrences + 1)))),
  constraint payout_batch_check1 CHECK (((sending_type = 'immediate'::text) = (dates IS NULL))),
  constraint payout_batch_check2 CHECK (((closed_at IS NULL) OR (cancelled_at IS NOT NULL))),
  constraint payout_batch_check3 CHECK (((next_run_at IS NULL) OR ((next_occurrence <= occurrences) AND (approval = ANY (ARRAY['none'::text, 'approved'::text])) AND (paused_at IS NULL) AND (cancelled_at IS NULL)))),
  constraint payout_batch_frequency_check CHECK ((frequency = ANY (ARRAY['daily'::text, 'weekly'::text, 'biweekly'::text, 'monthly'::text]))),
  constraint payout_batch_occurrences_check CHECK (((occurrences >= 1) AND (occurrences <= 366))),
  constraint payout_batch_receipt_mode_check CHECK ((receipt_mode = ANY (ARRAY['mobile_money'::text, 'wallet'::text]))),
  constraint payout_batch_run_hour_check CHECK (((run_hour >= 0) AND (run_hour <= 23))),
  constraint payout_batch_sending_type_check CHECK ((sending_type = ANY (ARRAY['immediate'::text, 'scheduled'::text, 'recurring'::text])))
) partition by range (id);
CREATE INDEX payout_batch_by_reference ON ONLY archive.payout_batch USING btree (merchant_id, customer_reference, id, shard);
CREATE INDEX payout_batch_of_merchant ON ONLY archive.payout_batch USING btree (merchant_id, id, shard);

create table archive.payout_line (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  merchant_id text collate "C" not null,
  batch_id text collate "C" not null,
  occurrence integer not null,
  position integer not null,
  scheduled_date text,
  status text not null,
  receipt_mode text not null,
  msisdn text,
  wallet_number text,
  connector text,
  carrier text,
  amount text not null,
  amount_minor bigint not null,
  fee_minor bigint not null,
  currency text not null,
  customer_reference text not null,
  notify_url text not null,
  note text,
  language text not null,
  attempt_id text collate "C",
  late_attempt_id text collate "C",
  provider_reference text,
  reason text,
  events integer not null,
  tries integer not null,
  reserved_at timestamp with time zone,
  next_start_at timestamp with time zone,
  retried_by text collate "C",
  created_at timestamp with time zone not null,
  started_at timestamp with time zone,
  completed_at timestamp with time zone,
  retry_of text collate "C",
  constraint payout_line_pkey PRIMARY KEY (shard, id),
  constraint payout_line_amount_minor_check CHECK ((amount_minor > 0)),
  constraint payout_line_check CHECK (((completed_at IS NOT NULL) = (status = ANY (ARRAY['completed'::text, 'failed'::text])))),
  constraint payout_line_check1 CHECK (((receipt_mode = 'mobile_money'::text) = (msisdn IS NOT NULL))),
  constraint payout_line_check2 CHECK (((receipt_mode = 'wallet'::text) = (wallet_number IS NOT NULL))),
  constraint payout_line_check3 CHECK (((status <> 'processing'::text) OR (reserved_at IS NOT NULL))),
  constraint payout_line_check4 CHECK (((next_start_at IS NULL) OR (status = 'pending'::text))),
  constraint payout_line_check5 CHECK (((retried_by IS NULL) OR (status = 'failed'::text))),
  constraint payout_line_fee_minor_check CHECK ((fee_minor >= 0)),
  constraint payout_line_occurrence_check CHECK ((occurrence >= 1)),
  constraint payout_line_position_check CHECK ((("position" >= 0) AND ("position" <= 99))),
  constraint payout_line_receipt_mode_check CHECK ((receipt_mode = ANY (ARRAY['mobile_money'::text, 'wallet'::text]))),
  constraint payout_line_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'processing'::text, 'completed'::text, 'failed'::text])))
) partition by range (id);
CREATE INDEX payout_line_of_batch ON ONLY archive.payout_line USING btree (batch_id, occurrence, "position", shard);
CREATE INDEX payout_line_retry ON ONLY archive.payout_line USING btree (shard, retry_of) WHERE (retry_of IS NOT NULL);

create table archive.proof (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  merchant_id text collate "C" not null,
  payment_id text collate "C" not null,
  content_type text not null,
  size integer not null,
  digest text collate "C" not null,
  status text not null,
  note text,
  created_at timestamp with time zone not null,
  decided_at timestamp with time zone,
  constraint proof_pkey PRIMARY KEY (shard, id),
  constraint proof_check CHECK (((decided_at IS NOT NULL) = (status <> 'waiting'::text))),
  constraint proof_size_check CHECK ((size > 0)),
  constraint proof_status_check CHECK ((status = ANY (ARRAY['waiting'::text, 'approved'::text, 'declined'::text])))
) partition by range (id);
CREATE INDEX proof_by_digest ON ONLY archive.proof USING btree (digest, shard);

create table archive.proof_file (
  shard smallint not null,
  id text collate "C" not null,
  sealed text not null,
  created_at timestamp with time zone not null,
  constraint proof_file_pkey PRIMARY KEY (shard, id)
) partition by range (id);

create table archive.refund (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  merchant_id text collate "C" not null,
  payment_id text collate "C" not null,
  status text not null,
  method text not null,
  amount text not null,
  amount_minor bigint not null,
  from_held_minor bigint not null,
  currency text not null,
  note text,
  msisdn text,
  wallet_number text,
  connector text,
  carrier text,
  attempt_id text collate "C",
  late_attempt_id text collate "C",
  provider_reference text,
  reason text,
  tries integer not null,
  next_start_at timestamp with time zone,
  created_at timestamp with time zone not null,
  started_at timestamp with time zone,
  completed_at timestamp with time zone,
  constraint refund_pkey PRIMARY KEY (shard, id),
  constraint refund_amount_minor_check CHECK ((amount_minor > 0)),
  constraint refund_check CHECK (((from_held_minor >= 0) AND (from_held_minor <= amount_minor))),
  constraint refund_check1 CHECK (((completed_at IS NOT NULL) = (status = ANY (ARRAY['completed'::text, 'failed'::text])))),
  constraint refund_check2 CHECK (((next_start_at IS NULL) OR (status = 'pending'::text))),
  constraint refund_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'processing'::text, 'completed'::text, 'failed'::text])))
) partition by range (id);
CREATE INDEX refund_of_merchant ON ONLY archive.refund USING btree (merchant_id, id, shard);
CREATE INDEX refund_of_payment ON ONLY archive.refund USING btree (payment_id, shard);

create table archive.session (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  merchant_id text collate "C" not null,
  credential_id text collate "C" not null,
  token_hash text not null,
  status text not null,
  amount text not null,
  amount_minor bigint not null,
  currency text not null,
  customer_reference text not null,
  scope text,
  device_fingerprint text,
  payments integer not null,
  submitting_payment_id text collate "C",
  issued_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  constraint session_pkey PRIMARY KEY (shard, id),
  constraint session_amount_minor_check CHECK ((amount_minor > 0)),
  constraint session_check CHECK (((status = 'ACTIVE'::text) OR (submitting_payment_id IS NOT NULL))),
  constraint session_scope_check CHECK ((scope = ANY (ARRAY['collect'::text, 'payout'::text]))),
  constraint session_status_check CHECK ((status = ANY (ARRAY['ACTIVE'::text, 'CONSUMED'::text])))
) partition by range (id);

create table archive.webhook_attempt (
  shard smallint not null,
  id text collate "C" not null,
  event_id text collate "C" not null,
  number integer not null,
  at timestamp with time zone not null,
  status_code integer,
  duration_ms integer not null,
  error text,
  constraint webhook_attempt_pkey PRIMARY KEY (shard, event_id, number)
) partition by range (event_id);

create table archive.webhook_event (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  merchant_id text collate "C" not null,
  transaction_id text collate "C" not null,
  sequence integer not null,
  type text not null,
  url text,
  body text not null,
  status text not null,
  attempts integer not null,
  next_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  delivered_at timestamp with time zone,
  last_error text,
  replayed_after integer default 0 not null,
  constraint webhook_event_pkey PRIMARY KEY (shard, id),
  constraint webhook_event_series_check CHECK (((replayed_after >= 0) AND (replayed_after <= attempts))),
  constraint webhook_event_status_check CHECK ((status = ANY (ARRAY['waiting'::text, 'delivered'::text, 'dead'::text, 'gone'::text, 'no_target'::text])))
) partition by range (id);
CREATE INDEX webhook_event_of_merchant ON ONLY archive.webhook_event USING btree (merchant_id, id, shard);
CREATE INDEX webhook_event_of_transaction ON ONLY archive.webhook_event USING btree (merchant_id, transaction_id, id, shard);
