/**
 * What carriers are asked to do: the part that taking money and sending money have in common.
 */

import type { CarrierOrder } from '../connectors/connector.ts';
import type { Attempt, Merchant } from '../domain/records.ts';
import { callbackUrl } from './callback-url.ts';
import type { Deps } from './deps.ts';

/** An attempt at a phone, with the merchant as the carrier shows it, and the merchant's own reference. */
export interface AtPhone {
  readonly attempt: Attempt;
  /** E.164, with the plus sign. */
  readonly msisdn: string;
  readonly merchant: Pick<Merchant, 'name'>;
  readonly customerReference: string;
}

/** The order for an attempt at a phone: its reference and amount (minor units, fee included) are the attempt's. */
export function carrierOrderOf(
  deps: Pick<Deps, 'secrets' | 'publicUrl'>,
  { attempt, msisdn, merchant, customerReference }: AtPhone,
): CarrierOrder {
  return {
    attemptId: attempt.id,
    reference: attempt.reference,
    msisdn,
    amountMinor: attempt.amount_minor,
    currency: attempt.currency,
    merchantName: merchant.name,
    customerReference,
    callbackUrl: callbackUrl(deps, attempt),
  };
}
