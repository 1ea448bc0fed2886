/**
 * Bodies of collect and submit as commands: what each method needs is there, and has its form.
 *
 * Invariant: every missing field is named at once (1109), then every field of the wrong form. PINs that come with a
 * collect are checked for form and dropped here: they are verified at submit (contract §4).
 */

import { requireAvailable } from '../domain/method.ts';
import { Refusal, type RefusalDetail, refuseField } from '../domain/refusal.ts';
import type { PaymentSubmitCommand } from '../domain/submission.ts';
import type { PaymentCollectCommand } from '../usecases/payment-collect.ts';

import { parsePhone } from './phone.ts';
import type { CollectBody, SubmitBody } from './schemas.ts';

const NEEDED_AT_COLLECT: { readonly [method: string]: readonly (keyof CollectBody)[] } = {
  wallet: ['wallet_number', 'wallet_pin'],
  card: ['cardnet_payment_method'],
  google_pay: ['native_pay_token', 'native_pay_token_type'],
  apple_pay: ['native_pay_token', 'native_pay_token_type'],
};

export function collectCommand(body: CollectBody, language: string): PaymentCollectCommand {
  const cardnet = body.cardnet_payment_method ?? body.mastercard_payment_method;
  if (cardnet === 'DIRECT_CAPTURE') throw refuseField(1103, 'cardnet_payment_method', 'DIRECT_CAPTURE');
  if (body.payment_method !== 'none') requireAvailable(body.payment_method, 'payment_method');
  const missing = (NEEDED_AT_COLLECT[body.payment_method] ?? []).filter((field) => absent(body[field]));
  if (missing.length > 0) throw refuseMissing(missing);
  requireForms(body);
  return {
    method: body.payment_method,
    fee_covered_by: body.fee_covered_by,
    delivery_behaviour: body.delivery_behaviour,
    notify_url: body.notify_url ?? undefined,
    success_redirect_url: body.success_redirect_url ?? undefined,
    fail_redirect_url: body.fail_redirect_url ?? undefined,
    amount: body.amount ?? undefined,
    currency: body.currency ?? undefined,
    customer_reference: body.customer_reference ?? undefined,
    language,
  };
}

function absent(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

function refuseMissing(fields: readonly string[]): Refusal {
  return new Refusal(1109, { details: fields.map((field): RefusalDetail => ({ field, code: 'REQUIRED' })) });
}

function requireForms(body: CollectBody): void {
  const field = 'phone_number';
  if (absent(body[field]) || parsePhone(body[field] ?? '') !== undefined) return;
  throw refuseField(1110, field, 'INVALID_PHONE_NUMBER');
}

export function submitCommand(body: SubmitBody): PaymentSubmitCommand {
  const field = 'mobile_money_phone_number';
  const phone = absent(body[field]) ? undefined : (body[field] ?? '');
  const msisdn = phone === undefined ? undefined : parsePhone(phone);
  if (phone !== undefined && msisdn === undefined) throw refuseField(1110, field, 'INVALID_PHONE_NUMBER');
  return {
    payment_id: body.payment_id,
    payment_method_id: body.payment_method_id,
    // flash also takes the wallet's field names (contract §4).
    wallet_number: body.flash_number ?? body.ewallet_number ?? undefined,
    wallet_pin: body.flash_pin ?? body.ewallet_pin ?? undefined,
    msisdn,
  };
}
