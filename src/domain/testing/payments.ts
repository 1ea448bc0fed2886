/** Payments and sessions for tests, which name only the fields that a test is about. */

import type { Payment, Session } from '../records.ts';

/** A payment of 10.00 dollars as it was collected, except for the given fields. */
export function paymentWith(
  row: Pick<Payment, 'shard' | 'id' | 'merchant_id' | 'session_id'> & Partial<Payment>,
): Payment {
  return {
    version: 1,
    status: 'pending',
    method: 'none',
    amount: '10.00',
    amount_minor: 1000n,
    currency: 'usd',
    customer_reference: 'order-1',
    fee_minor: 0n,
    total_minor: 1000n,
    fee_covered_by: 'buyer',
    delivery_behaviour: 'direct_delivery',
    notify_url: 'http://127.0.0.1:9/hook',
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
    language: 'fr',
    created_at: 1,
    submitted_at: null,
    completed_at: null,
    released_at: null,
    refunded_minor: 0n,
    refunding_minor: 0n,
    expires_at: 1_000_000,
    ...row,
  };
}

/** An open session for 10.00 dollars with one payment, except for the given fields. */
export function sessionWith(row: Pick<Session, 'shard' | 'id' | 'merchant_id'> & Partial<Session>): Session {
  return {
    version: 1,
    credential_id: 'key_1',
    token_hash: '',
    status: 'ACTIVE',
    amount: '10.00',
    amount_minor: 1000n,
    currency: 'usd',
    customer_reference: 'order-1',
    scope: null,
    device_fingerprint: null,
    payments: 1,
    submitting_payment_id: null,
    issued_at: 1,
    expires_at: 1_000_000,
    ...row,
  };
}
