/**
 * Records for tests of the store: complete, valid, and each with an id of its own.
 *
 * Invariant: nothing here is random: the same calls in the same order make the same records.
 */

import type { Change, Transfer } from '../../src/domain/change.ts';
import type { IdempotencyRecord, Merchant, Payment, Session } from '../../src/domain/records.ts';
import type { WebhookEvent } from '../../src/domain/webhook-records.ts';

/** When the records were made: with milliseconds, which the database has to keep. */
export const MADE_AT = Date.UTC(2026, 10, 20, 12, 0, 0, 123);

/** An id that sorts by its number. */
export function numbered(prefix: string, n: number): string {
  return `${prefix}_${String(n).padStart(26, '0')}`;
}

export function aMerchant(n: number, shard = 0): Merchant {
  return {
    shard,
    id: numbered('mch', n),
    version: 1,
    name: 'Café Ñandú',
    status: 'ALLOWED',
    settings: { currencies: ['usd'], code_thresholds: { usd: '5000' } },
    created_at: MADE_AT,
  };
}

export function aSession(n: number, shard = 0): Session {
  return {
    shard,
    id: numbered('ses', n),
    version: 1,
    merchant_id: numbered('mch', 1),
    credential_id: numbered('key', 1),
    token_hash: 'h',
    status: 'ACTIVE',
    amount: '12.50',
    amount_minor: 1250n,
    currency: 'usd',
    customer_reference: 'order 1',
    scope: null,
    device_fingerprint: null,
    payments: 0,
    submitting_payment_id: null,
    issued_at: MADE_AT,
    expires_at: MADE_AT + 900_000,
  };
}

export function aPayment(n: number, shard = 0): Payment {
  return {
    shard,
    id: numbered('txn', n),
    version: 1,
    merchant_id: numbered('mch', 1),
    session_id: numbered('ses', 1),
    status: 'pending',
    method: 'none',
    amount: '12.50',
    amount_minor: 1250n,
    currency: 'usd',
    customer_reference: 'order "1" \\ \u00e9\u{1f600}\n',
    fee_minor: 25n,
    total_minor: 1275n,
    fee_covered_by: 'buyer',
    delivery_behaviour: 'direct_delivery',
    notify_url: 'https://shop.example/hook',
    success_redirect_url: null,
    fail_redirect_url: null,
    wallet_number: null,
    msisdn: null,
    carrier: null,
    hosted_session_id: null,
    bank_account_id: null,
    checkout_id: null,
    attempt_id: null,
    provider_reference: null,
    reason: null,
    events: 0,
    language: 'en',
    created_at: MADE_AT,
    submitted_at: null,
    completed_at: null,
    released_at: null,
    refunded_minor: 0n,
    refunding_minor: 0n,
    expires_at: MADE_AT + 900_000,
  };
}

export function anEvent(n: number, shard = 0): WebhookEvent {
  return {
    shard,
    id: numbered('evt', n),
    version: 1,
    merchant_id: numbered('mch', 1),
    transaction_id: numbered('txn', n),
    sequence: 1,
    type: 'payment.approved',
    url: 'https://shop.example/hook',
    body: '{"b":1,"a":"é"}',
    status: 'waiting',
    attempts: 0,
    replayed_after: 0,
    next_at: MADE_AT,
    created_at: MADE_AT,
    delivered_at: null,
    last_error: null,
  };
}

export function anAnswer(id: string, shard = 0): IdempotencyRecord {
  return { shard, id, version: 1, request_hash: 'h', status: 201, body: 'sealed', created_at: MADE_AT };
}

/** A transfer in dollars. Accounts whose id begins with `float` may go below zero. */
export function aTransfer(id: string, from: string, to: string, amount: bigint, shard = 0): Transfer {
  const account = (name: string) => ({ shard, id: name, floored: !name.startsWith('float') });
  return {
    shard,
    id,
    debit: account(from),
    credit: account(to),
    amount_minor: amount,
    currency: 'usd',
    cause: 'payment',
    cause_id: 'txn',
    at: MADE_AT,
  };
}

/** A change of transfers that also claims that id, so that it can win or lose. */
export function moving(id: string, ...transfers: Transfer[]): Change {
  return { claims: [{ table: 'idempotency', row: anAnswer(id) }], transfers };
}
