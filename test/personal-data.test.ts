/**
 * docs/personal-data.md says of every column that may hold text whether it tells something about a person: by naming it, or
 * because its name is listed here.
 */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { TABLES } from '../src/store/tables.ts';

const DOCUMENT = readFileSync(new URL('../docs/personal-data.md', import.meta.url), 'utf8');

/** Columns that say nothing about a person, whatever their table: ids, states, amounts, codes of ours, secrets and their hashes. */
const IMPERSONAL: ReadonlySet<string> = new Set(
  `amount approval attempt_id bank_account_id bank_id bank_name batch_id branch_city carrier cause cause_id checkout_id
  connector content content_type country credential_id currency dates delivery_behaviour digest eci error event_id fee_covered_by
  frequency hosted_session_id id kind last_error late_attempt_id merchant_id method page_hash payment_id purpose reason
  receipt_mode reference request_hash retried_by retry_of scheduled_date scope secret_hash sending_type session_id settings
  status submitting_payment_id swift three_ds_status ticket_hash time_zone token_hash transaction_id transfer_id tries type value
  upstream_account verb webhook_secret.sealed`.split(/\s+/),
);

/** Columns that the migrations make and no change writes: closed days. */
const UNWRITTEN = ['account_day.account'];

const columns = Object.entries(TABLES).flatMap(([table, types]) =>
  Object.entries(types)
    .filter(([, type]) => type === 'text' || type === 'jsonb')
    .map(([column]) => ({ column, name: `${table}.${column}` })),
);
const named = new Set([...DOCUMENT.matchAll(/`(\w+\.\w+)`/g)].map((match) => match[1] ?? ''));

test('each column that may hold text is named as personal, or known not to be', () => {
  const unknown = columns.filter(
    ({ column, name }) => !named.has(name) && !IMPERSONAL.has(column) && !IMPERSONAL.has(name),
  );
  expect(unknown.map(({ name }) => name)).toEqual([]);
});

test('no column is named that does not exist', () => {
  const known = new Set([...columns.map(({ name }) => name), ...UNWRITTEN]);
  expect([...named].filter((name) => !known.has(name))).toEqual([]);
});
