/** Attempts for tests, which name only the fields that a test is about. */

import type { Attempt } from '../records.ts';

/** An attempt at a mobile-money payment of which nothing is known yet, except for the given fields. */
export function attemptWith(
  row: Pick<Attempt, 'shard' | 'id' | 'merchant_id' | 'payment_id'> & Partial<Attempt>,
): Attempt {
  return {
    version: 1,
    purpose: 'payment',
    connector: 'mtn-momo',
    method: 'mobile_money',
    status: 'intended',
    reference: 'ref',
    msisdn: '+243810000042',
    carrier: 'Vodacom M-Pesa',
    amount_minor: 1025n,
    fee_minor: 25n,
    currency: 'usd',
    provider_reference: null,
    reason: null,
    challenge: null,
    three_ds_status: null,
    eci: null,
    inquiries: 0,
    not_found_at: null,
    upstream_account: null,
    next_inquiry_at: 0,
    created_at: 2,
    settled_at: null,
    ...row,
  };
}
