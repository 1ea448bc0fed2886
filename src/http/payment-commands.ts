/**
 * Bodies of collect and submit: what is wrong with their fields beyond the schema, and what they are as commands.
 *
 * Invariant: every fault is found, none is thrown; the pipeline answers them all at once. PINs that come with a collect
 * are checked for form and dropped here: they are verified at submit (contract §4).
 */

import { requireAvailable } from '../domain/method.ts';
import { Refusal, type RefusalDetail } from '../domain/refusal.ts';
import type { PaymentSubmitCommand } from '../domain/submission.ts';
import type { SessionCaller } from '../usecases/callers.ts';
import type { Deps } from '../usecases/deps.ts';
import { type PaymentCollectCommand, urlFaults } from '../usecases/payment-collect.ts';
import { currencyFault } from '../usecases/session-create.ts';

import { parsePhone } from './phone.ts';
import type { CollectBody, SubmitBody } from './schemas.ts';

const NEEDED_AT_COLLECT: { readonly [method: string]: readonly (keyof CollectBody)[] } = {
  wallet: ['wallet_number', 'wallet_pin'],
  card: ['cardnet_payment_method'],
  google_pay: ['native_pay_token', 'native_pay_token_type'],
  apple_pay: ['native_pay_token', 'native_pay_token_type'],
};

/** What is wrong with a collect's fields, in any order. */
export function collectFaults(
  deps: Pick<Deps, 'outbound'>,
  { merchant }: SessionCaller,
  body: Partial<CollectBody>,
): RefusalDetail[] {
  const found: RefusalDetail[] = [...methodFaults(body)];
  const urls = urlFaults(deps, merchant, {
    notify_url: body.notify_url ?? undefined,
    success_redirect_url: body.success_redirect_url ?? undefined,
    fail_redirect_url: body.fail_redirect_url ?? undefined,
  });
  found.push(...urls, ...phoneFaults('phone_number', body.phone_number));
  for (const field of ['cardnet_payment_method', 'mastercard_payment_method'] as const) {
    if (body[field] === 'DIRECT_CAPTURE') found.push({ field, code: 'DIRECT_CAPTURE' });
  }
  const currency = currencyFault('transactional_currency', body.transactional_currency, merchant);
  return currency === undefined ? found : [...found, currency];
}

/** A method that is not carried out, or else what it needs and is not there. */
function methodFaults(body: Partial<CollectBody>): readonly RefusalDetail[] {
  const { payment_method: method } = body;
  if (method === undefined || method === 'none') return [];
  try {
    requireAvailable(method, 'payment_method');
  } catch (error) {
    if (error instanceof Refusal) return error.more.details ?? [];
    throw error;
  }
  const given = { ...body, cardnet_payment_method: body.cardnet_payment_method ?? body.mastercard_payment_method };
  const missing = (NEEDED_AT_COLLECT[method] ?? []).filter((field) => absent(given[field]));
  return missing.map((field) => ({ field, code: 'REQUIRED' }));
}

function phoneFaults(field: string, text: string | null | undefined): RefusalDetail[] {
  if (absent(text) || parsePhone(text ?? '') !== undefined) return [];
  return [{ field, code: 'INVALID_PHONE_NUMBER' }];
}

function absent(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

export function collectCommand(body: CollectBody, language: string): PaymentCollectCommand {
  return {
    method: body.payment_method,
    fee_covered_by: body.fee_covered_by,
    delivery_behaviour: body.delivery_behaviour,
    notify_url: body.notify_url ?? undefined,
    success_redirect_url: body.success_redirect_url ?? undefined,
    fail_redirect_url: body.fail_redirect_url ?? undefined,
    amount: body.amount ?? undefined,
    currency: body.currency ?? undefined,
    transactional_currency: body.transactional_currency ?? undefined,
    customer_reference: body.customer_reference ?? undefined,
    language,
  };
}

/** What is wrong with a submit's fields. */
export function submitFaults(body: Partial<SubmitBody>): RefusalDetail[] {
  return phoneFaults('mobile_money_phone_number', body.mobile_money_phone_number);
}

export function submitCommand(body: SubmitBody): PaymentSubmitCommand {
  return {
    payment_id: body.payment_id,
    payment_method_id: body.payment_method_id,
    // flash also takes the wallet's field names (contract §4).
    wallet_number: body.flash_number ?? body.ewallet_number ?? undefined,
    wallet_pin: body.flash_pin ?? body.ewallet_pin ?? undefined,
    msisdn: parsePhone(body.mobile_money_phone_number ?? ''),
  };
}
