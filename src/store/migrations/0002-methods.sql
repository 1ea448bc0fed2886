-- Cards, bank transfers and the hosted page.

-- What each further method needs of a payment.
alter table payment
  -- The card network's session that the hosted form fills.
  add column hosted_session_id text,
  -- The account that a bank transfer goes to.
  add column bank_account_id text collate "C",
  -- The hosted page that it is paid on.
  add column checkout_id text collate "C",
  -- When delayed funds were released to the merchant.
  add column released_at timestamptz,
  add constraint payment_release_check check (released_at is null or delivery_behaviour = 'delayed_delivery');

-- A payment with an attempt is the attempt's: it ends by what the upstream says, never by time alone.
drop index payment_to_expire;
create index payment_to_expire on payment (shard, expires_at)
  where status in ('pending', 'pending_otp_verification', 'pendingBankProofUpload') and attempt_id is null;

-- An order's newest card payment, by the merchant's own name for it. Of other methods nobody asks so.
create index payment_by_card_reference on payment (merchant_id, customer_reference, id, shard)
  where method in ('card', 'google_pay', 'apple_pay');

alter table attempt
  alter column msisdn drop not null,
  add column method text not null default 'mobile_money',
  -- Sealed: where the issuer asks the customer, and what the browser posts there.
  add column challenge text,
  -- What the network said of the customer's authentication, and its electronic commerce indicator.
  add column three_ds_status text,
  add column eci text,
  drop constraint attempt_status_check,
  add constraint attempt_status_check
    check (status in
      ('intended', 'challenged', 'authenticated', 'waiting', 'unknown', 'approved', 'declined', 'not_sent')),
  add constraint attempt_method_check check (method <> 'mobile_money' or msisdn is not null);

-- A card payment's tries are one order at the network: before the next one asks for money, the others are asked about.
create index attempt_of_card_payment on attempt (payment_id, shard) where method = 'card';

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
  status text not null check (status in ('ACTIVE', 'CLOSED')),
  created_at timestamptz not null,
  primary key (shard, id)
);
create index bank_account_of_merchant on bank_account (merchant_id, shard);

-- A customer's proof of a bank transfer: what is known of it, and apart from it the file, sealed.
create table proof (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  merchant_id text collate "C" not null,
  payment_id text collate "C" not null,
  content_type text not null,
  size integer not null check (size > 0),
  digest text collate "C" not null,
  status text not null check (status in ('waiting', 'approved', 'declined')),
  note text,
  created_at timestamptz not null,
  decided_at timestamptz,
  primary key (shard, id),
  check ((decided_at is not null) = (status <> 'waiting'))
);
create index proof_of_payment on proof (payment_id, shard);
create index proof_by_digest on proof (digest, shard);
create index proof_waiting on proof (shard, created_at) where status = 'waiting';

create table proof_file (
  shard smallint not null,
  id text collate "C" not null,
  sealed text not null,
  created_at timestamptz not null,
  primary key (shard, id)
);

-- A hosted page: opened once by its ticket, and then by the cookie of the browser that opened it.
create table checkout (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  merchant_id text collate "C" not null,
  session_id text collate "C" not null,
  payment_id text collate "C" not null,
  ticket_hash text not null,
  page_hash text,
  opened_at timestamptz,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (shard, id),
  check ((page_hash is null) = (opened_at is null))
);

-- A merchant's logo for the hosted page; `id` is the merchant's.
create table merchant_logo (
  shard smallint not null,
  id text collate "C" not null,
  version integer not null,
  content_type text not null,
  content text not null,
  created_at timestamptz not null,
  primary key (shard, id)
);
