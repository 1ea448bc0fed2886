/**
 * The catalogue: every table's columns and their PostgreSQL types. All SQL of the store is made from it.
 *
 * Invariant: it names exactly the fields of the record types (a missing or an extra one does not compile) and
 * exactly the columns of the migrations (a test compares it with information_schema).
 */

import type { TableName, Tables } from '../domain/change.ts';

export type ColumnType = 'int2' | 'int4' | 'int8' | 'numeric' | 'text' | 'bool' | 'timestamptz' | 'jsonb';

/** The PostgreSQL types that may hold a field: money is `bigint`, a sum of it `numeric`; an instant or a count is `number`. */
type TypeFor<Value> = [Value] extends [bigint]
  ? 'int8' | 'numeric'
  : [Value] extends [boolean]
    ? 'bool'
    : [Value] extends [number]
      ? 'int2' | 'int4' | 'timestamptz'
      : [Value] extends [string]
        ? 'text'
        : 'jsonb';

/** The columns that hold a record: one per field, whether or not the field may be absent or null. */
export type ColumnsOf<Record> = { readonly [Field in keyof Record]-?: TypeFor<NonNullable<Record[Field]>> };

type Catalogue = { readonly [Table in TableName]: ColumnsOf<Tables[Table]> };

const versioned = { shard: 'int2', id: 'text', version: 'int4' } as const;
const pinCount = { pin_failures: 'int4', pin_failed_at: 'timestamptz', locked_until: 'timestamptz' } as const;

export const TABLES: Catalogue = {
  merchant: {
    ...versioned,
    name: 'text',
    status: 'text',
    settings: 'jsonb',
    created_at: 'timestamptz',
  },
  credential: {
    ...versioned,
    merchant_id: 'text',
    secret_hash: 'text',
    status: 'text',
    retires_at: 'timestamptz',
    expires_at: 'timestamptz',
    allowed_addresses: 'jsonb',
    created_at: 'timestamptz',
  },
  webhook_secret: {
    ...versioned,
    merchant_id: 'text',
    sealed: 'text',
    status: 'text',
    retires_at: 'timestamptz',
    created_at: 'timestamptz',
  },
  session: {
    ...versioned,
    merchant_id: 'text',
    credential_id: 'text',
    token_hash: 'text',
    status: 'text',
    amount: 'text',
    amount_minor: 'int8',
    currency: 'text',
    customer_reference: 'text',
    scope: 'text',
    device_fingerprint: 'text',
    payments: 'int4',
    submitting_payment_id: 'text',
    issued_at: 'timestamptz',
    expires_at: 'timestamptz',
  },
  payment: {
    ...versioned,
    merchant_id: 'text',
    session_id: 'text',
    status: 'text',
    method: 'text',
    amount: 'text',
    amount_minor: 'int8',
    currency: 'text',
    customer_reference: 'text',
    fee_minor: 'int8',
    total_minor: 'int8',
    fee_covered_by: 'text',
    delivery_behaviour: 'text',
    notify_url: 'text',
    success_redirect_url: 'text',
    fail_redirect_url: 'text',
    wallet_number: 'text',
    msisdn: 'text',
    carrier: 'text',
    hosted_session_id: 'text',
    bank_account_id: 'text',
    checkout_id: 'text',
    attempt_id: 'text',
    provider_reference: 'text',
    reason: 'text',
    events: 'int4',
    language: 'text',
    created_at: 'timestamptz',
    submitted_at: 'timestamptz',
    completed_at: 'timestamptz',
    released_at: 'timestamptz',
    refunded_minor: 'int8',
    refunding_minor: 'int8',
    expires_at: 'timestamptz',
  },
  payment_history: {
    shard: 'int2',
    payment_id: 'text',
    version: 'int4',
    status: 'text',
    reason: 'text',
    at: 'timestamptz',
  },
  attempt: {
    ...versioned,
    merchant_id: 'text',
    purpose: 'text',
    payment_id: 'text',
    connector: 'text',
    method: 'text',
    status: 'text',
    reference: 'text',
    msisdn: 'text',
    carrier: 'text',
    amount_minor: 'int8',
    fee_minor: 'int8',
    currency: 'text',
    provider_reference: 'text',
    reason: 'text',
    challenge: 'text',
    three_ds_status: 'text',
    eci: 'text',
    inquiries: 'int4',
    not_found_at: 'timestamptz',
    next_inquiry_at: 'timestamptz',
    created_at: 'timestamptz',
    settled_at: 'timestamptz',
  },
  one_time_code: {
    ...versioned,
    code_hash: 'text',
    sent_to: 'text',
    resends: 'int4',
    tries: 'jsonb',
    expires_at: 'timestamptz',
    created_at: 'timestamptz',
  },
  wallet: {
    ...versioned,
    kind: 'text',
    currency: 'text',
    phone: 'text',
    pin_hash: 'text',
    ...pinCount,
    created_at: 'timestamptz',
  },
  pin_guard: { ...versioned, ...pinCount },
  account: { shard: 'int2', id: 'text', currency: 'text', balance: 'numeric', floored: 'bool' },
  ledger_transfer: {
    shard: 'int2',
    id: 'text',
    debit_shard: 'int2',
    debit_account: 'text',
    credit_shard: 'int2',
    credit_account: 'text',
    amount_minor: 'int8',
    currency: 'text',
    cause: 'text',
    cause_id: 'text',
    at: 'timestamptz',
  },
  webhook_event: {
    ...versioned,
    merchant_id: 'text',
    transaction_id: 'text',
    sequence: 'int4',
    type: 'text',
    url: 'text',
    body: 'text',
    status: 'text',
    attempts: 'int4',
    replayed_after: 'int4',
    next_at: 'timestamptz',
    created_at: 'timestamptz',
    delivered_at: 'timestamptz',
    last_error: 'text',
  },
  webhook_attempt: {
    shard: 'int2',
    id: 'text',
    event_id: 'text',
    number: 'int4',
    at: 'timestamptz',
    status_code: 'int4',
    duration_ms: 'int4',
    error: 'text',
  },
  idempotency: {
    shard: 'int2',
    id: 'text',
    version: 'int4',
    request_hash: 'text',
    status: 'int4',
    body: 'text',
    created_at: 'timestamptz',
  },
  setting: { ...versioned, value: 'text' },
  bank_account: {
    ...versioned,
    merchant_id: 'text',
    bank_id: 'text',
    bank_name: 'text',
    country: 'text',
    account_name: 'text',
    account_number: 'text',
    iban: 'text',
    swift: 'text',
    currency: 'text',
    branch_city: 'text',
    status: 'text',
    created_at: 'timestamptz',
  },
  proof: {
    ...versioned,
    merchant_id: 'text',
    payment_id: 'text',
    content_type: 'text',
    size: 'int4',
    digest: 'text',
    status: 'text',
    note: 'text',
    created_at: 'timestamptz',
    decided_at: 'timestamptz',
  },
  proof_file: { shard: 'int2', id: 'text', sealed: 'text', created_at: 'timestamptz' },
  checkout: {
    ...versioned,
    merchant_id: 'text',
    session_id: 'text',
    payment_id: 'text',
    ticket_hash: 'text',
    page_hash: 'text',
    opened_at: 'timestamptz',
    given_msisdn: 'text',
    given_wallet_number: 'text',
    given_flash_number: 'text',
    created_at: 'timestamptz',
    expires_at: 'timestamptz',
  },
  payout_batch: {
    ...versioned,
    merchant_id: 'text',
    customer_reference: 'text',
    currency: 'text',
    receipt_mode: 'text',
    sending_type: 'text',
    notify_url: 'text',
    note: 'text',
    language: 'text',
    beneficiaries: 'jsonb',
    dates: 'jsonb',
    frequency: 'text',
    run_hour: 'int4',
    time_zone: 'text',
    occurrences: 'int4',
    next_occurrence: 'int4',
    next_run_at: 'timestamptz',
    approval: 'text',
    paused_at: 'timestamptz',
    cancelled_at: 'timestamptz',
    closed_at: 'timestamptz',
    retry_of: 'text',
    created_at: 'timestamptz',
  },
  payout_line: {
    ...versioned,
    merchant_id: 'text',
    batch_id: 'text',
    occurrence: 'int4',
    position: 'int4',
    scheduled_date: 'text',
    status: 'text',
    receipt_mode: 'text',
    msisdn: 'text',
    wallet_number: 'text',
    connector: 'text',
    carrier: 'text',
    amount: 'text',
    amount_minor: 'int8',
    fee_minor: 'int8',
    currency: 'text',
    customer_reference: 'text',
    notify_url: 'text',
    note: 'text',
    language: 'text',
    attempt_id: 'text',
    late_attempt_id: 'text',
    provider_reference: 'text',
    reason: 'text',
    events: 'int4',
    tries: 'int4',
    reserved_at: 'timestamptz',
    next_start_at: 'timestamptz',
    retried_by: 'text',
    retry_of: 'text',
    created_at: 'timestamptz',
    started_at: 'timestamptz',
    completed_at: 'timestamptz',
  },
  refund: {
    ...versioned,
    merchant_id: 'text',
    payment_id: 'text',
    status: 'text',
    method: 'text',
    amount: 'text',
    amount_minor: 'int8',
    from_held_minor: 'int8',
    currency: 'text',
    note: 'text',
    msisdn: 'text',
    wallet_number: 'text',
    connector: 'text',
    carrier: 'text',
    attempt_id: 'text',
    late_attempt_id: 'text',
    provider_reference: 'text',
    reason: 'text',
    tries: 'int4',
    next_start_at: 'timestamptz',
    created_at: 'timestamptz',
    started_at: 'timestamptz',
    completed_at: 'timestamptz',
  },
  journal: {
    ...versioned,
    verb: 'text',
    said_by: 'text',
    why: 'text',
    about: 'jsonb',
    created_at: 'timestamptz',
  },
  merchant_logo: { ...versioned, content_type: 'text', content: 'text', created_at: 'timestamptz' },
};

/** A column, as SQL and wire code need it. */
export interface Column {
  readonly name: string;
  readonly type: ColumnType;
}

/** A key that no object has: under it, a list of columns names the type of its rows to the compiler. */
declare const decoded: unique symbol;

/** Columns in a statement's order, with the type of the rows that the codec (row-codec.ts) decodes by them. */
export type Columns<Row> = readonly Column[] & { readonly [decoded]: Row };

/**
 * The columns of a statement's rows. The caller names the type of a row, and the compiler demands a column of a fitting type for
 * each of its fields, and no other column. Which fields may be null, only the statement knows: the caller's type has to say so.
 */
export function columnList<Row>(columns: ColumnsOf<Row>): Columns<Row> {
  return decoding(listed(columns));
}

/** For statements whose rows are only counted. */
export const NO_COLUMNS = columnList<object>({});

/** The columns of two lists, one after the other. */
export function joined<First, Second>(first: Columns<First>, second: Columns<Second>): Columns<First & Second> {
  return decoding([...first, ...second]);
}

const LISTS = new Map(Object.entries(TABLES).map(([table, columns]) => [table, listed(columns)]));

/** The columns of a table, in the order of its record type. */
export function columnsOf<T extends TableName>(table: T): Columns<Tables[T]> {
  return decoding(LISTS.get(table) ?? []);
}

/** At run time a list carries no type. The functions above, which alone call this, let the compiler compare columns and row. */
function decoding<Row>(columns: readonly Column[]): Columns<Row> {
  return columns as Columns<Row>;
}

function listed(columns: { readonly [name: string]: ColumnType }): readonly Column[] {
  return Object.entries(columns).map(([name, type]) => ({ name, type }));
}

/** The columns' names for a select, each behind an alias if there is one. */
export function listOf(columns: readonly Column[], alias?: string): string {
  return columns.map(({ name }) => (alias === undefined ? name : `${alias}.${name}`)).join(', ');
}
