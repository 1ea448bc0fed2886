/**
 * Bodies of collect and submit: the faults of their fields beyond the schema, and their commands.
 *
 * Invariant: every fault is found and returned, so that the pipeline answers them all at once; only a session that may not
 * collect is thrown. PINs that come with a collect are checked for form and dropped here: they are verified at submit (contract
 * §4).
 */

import { bindingFaults, requireCollector } from '../domain/collection.ts';
import { currencyFault } from '../domain/merchant-currency.ts';
import { methodNamed, offeredMethods, requireOffered } from '../domain/method.ts';
import type { Given } from '../domain/page-records.ts';
import { PAYMENT_METHODS } from '../domain/payment.ts';
import type { PaymentMethod } from '../domain/records.ts';
import type { RefusalDetail } from '../domain/refusal.ts';
import {
  type BrowserFacts,
  isSubmitted,
  type Means,
  type PaymentSubmitCommand,
  type SubmittedMethod,
  unknownMethod,
} from '../domain/submission.ts';
import { isWalletNumber, ungrouped } from '../domain/wallet.ts';
import type { SessionCaller } from '../usecases/callers.ts';
import type { Deps } from '../usecases/deps.ts';
import { urlFaults } from '../usecases/merchant-urls.ts';
import { type Reaching, reachOf } from '../usecases/method-reach.ts';
import type { PaymentCollectCommand } from '../usecases/payment-collectable.ts';
import { refusalOf } from '../usecases/perform.ts';
import { parsePhone } from './phone.ts';
import type { Call } from './route.ts';
import type { CollectBody, SubmitBody } from './schemas.ts';

type Needed = { readonly [method: string]: readonly (keyof CollectBody)[] };

/** For a payment on the hosted page, which asks its customer for the rest: no shop has to ask for a PIN. */
export const NEEDED_FOR_PAGE: Needed = {
  google_pay: ['native_pay_token', 'native_pay_token_type'],
  apple_pay: ['native_pay_token', 'native_pay_token_type'],
};

const NEEDED_AT_COLLECT: Needed = {
  ...NEEDED_FOR_PAGE,
  wallet: ['wallet_number', 'wallet_pin'],
  card: ['cardnet_payment_method'],
};

/** A reference of another type or length differs from the binding, hence 1103 (specification, Endpoints, rule 1). */
export const COLLECT_CODES = { customer_reference: 1103 } as const;

/**
 * The faults of a collect's fields, in any order; `needed` names the fields that each method cannot do without. A session that
 * may not collect learns only that, and nothing about the body.
 *
 * @throws Refusal 1003 to a session minted for payouts.
 */
export function collectFaults(
  deps: Pick<Deps, 'outbound'> & Reaching,
  { merchant, session }: SessionCaller,
  body: Partial<CollectBody>,
  needed = NEEDED_AT_COLLECT,
): RefusalDetail[] {
  requireCollector(session);
  const offered = offeredMethods(merchant, reachOf(deps, session.currency));
  const found: RefusalDetail[] = [...methodFaults(offered, body, needed)];
  const urls = urlFaults(deps, merchant, {
    notify_url: body.notify_url ?? undefined,
    success_redirect_url: body.success_redirect_url ?? undefined,
    fail_redirect_url: body.fail_redirect_url ?? undefined,
  });
  found.push(...urls, ...phoneFaults('phone_number', body.phone_number));
  found.push(...entryFaults(body, body.payment_method === 'card'));
  const currency = currencyFault('transactional_currency', body.transactional_currency, merchant);
  const drift = bindingFaults(session, {
    transactional_currency: currency === undefined ? (body.transactional_currency ?? undefined) : undefined,
    amount: body.amount ?? undefined,
    currency: body.currency ?? undefined,
    customer_reference: body.customer_reference ?? undefined,
  });
  return [...found, ...(currency === undefined ? [] : [currency]), ...drift];
}

/** The fault of a method that is not offered, or else the fields that it needs and lacks. */
function methodFaults(
  offered: readonly PaymentMethod[],
  body: Partial<CollectBody>,
  needed: Needed,
): readonly RefusalDetail[] {
  const { payment_method: method } = body;
  if (method === undefined || method === 'none') return [];
  // Whether there is a bank account is not known here: a transfer is let through, but not named as an option.
  const certain = offered.filter((one) => one !== 'bank_transfer' || one === method);
  const refused = refusalOf(() => requireOffered(method, 'payment_method', certain));
  if (refused !== undefined) return refused.more.details ?? [];
  const older = (field: string) => (field === 'cardnet_payment_method' ? body.mastercard_payment_method : undefined);
  const missing = (needed[method] ?? []).filter((field) => absent(body[field] ?? older(field)));
  return missing.map((field) => ({ field, code: 'REQUIRED' }));
}

const ENTRY_FIELDS = ['cardnet_payment_method', 'mastercard_payment_method'] as const;

/** Where the card is entered: in the network's form, and so far nowhere else (contract §4). */
function entryFaults(
  body: { readonly [field in (typeof ENTRY_FIELDS)[number]]?: string | null },
  isCard: boolean,
): RefusalDetail[] {
  return ENTRY_FIELDS.flatMap((field): RefusalDetail[] => {
    const entry = body[field];
    if (entry === 'DIRECT_CAPTURE') return [{ field, code: 'DIRECT_CAPTURE' }];
    if (!isCard || absent(entry) || entry === 'HOSTED_SESSION') return [];
    return [{ field, code: 'NOT_AN_OPTION', words: { options: 'HOSTED_SESSION' } }];
  });
}

function phoneFaults(field: string, text: string | null | undefined): RefusalDetail[] {
  if (text === undefined || text === null || parsePhone(text) !== undefined) return [];
  return [{ field, code: 'INVALID_PHONE_NUMBER' }];
}

function absent(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

/**
 * The command of a collect. A card's form and an open choice need a hosted page; any other method does only if it is `hosted`.
 */
export function collectCommand(body: CollectBody, language: string, hosted?: 'hosted'): PaymentCollectCommand {
  const { payment_method: method } = body;
  return {
    method,
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
    page: hosted !== undefined || method === 'card' || method === 'none' ? { given: givenIn(body) } : 'none',
    native_pay_token: body.native_pay_token ?? undefined,
  };
}

/**
 * What the body gives of the customer, for the hosted page to offer. Nothing is taken of what `user_info` or
 * `payment_method_info` calls `none`, nor a number that cannot be an account's: the page asks for these. If flash is chosen, the
 * wallet's number is a flash account's, as at submit (contract §4).
 */
function givenIn(body: CollectBody): Given {
  const phone = body.user_info === 'none' ? undefined : parsePhone(body.phone_number ?? '');
  const number = body.payment_method_info === 'none' ? '' : ungrouped(body.wallet_number ?? '');
  const account = isWalletNumber(number) ? number : null;
  const isFlash = body.payment_method === 'flash';
  return {
    given_msisdn: phone ?? null,
    given_wallet_number: isFlash ? null : account,
    given_flash_number: isFlash ? account : null,
  };
}

/** The fields that each method needs at submit (contract §4): one of each list, where any may replace the first. */
const NEEDED_AT_SUBMIT = {
  wallet: [['ewallet_number'], ['ewallet_pin']],
  flash: [
    ['flash_number', 'ewallet_number'],
    ['flash_pin', 'ewallet_pin'],
  ],
  mobile_money: [['mobile_money_phone_number']],
  card: [['cardnet_payment_method', 'mastercard_payment_method'], ['session_id']],
  bank_transfer: [['bank_account_id']],
} as const satisfies { readonly [method in SubmittedMethod]: readonly (readonly (keyof SubmitBody)[])[] };

/** The fields that a method still needs. */
function missingAtSubmit(
  body: Partial<SubmitBody>,
  method: SubmittedMethod,
  unreadable: ReadonlySet<string> = new Set(),
): string[] {
  const needed: readonly (readonly (keyof SubmitBody)[])[] = NEEDED_AT_SUBMIT[method];
  const missing = needed.filter((fields) => fields.every((field) => absent(body[field]) && !unreadable.has(field)));
  return missing.map(([field = '']) => field);
}

/**
 * What is wrong with a submit's fields. A missing method, or what it lacks, is reported here only next to other faults, so that
 * all are reported at once; on its own it waits until the payment is known, which may have another method (contract §4: 1103).
 * An `unreadable` field is not missing: the schema reports it.
 */
export function submitFaults(
  body: Partial<SubmitBody>,
  { merchant }: Pick<SessionCaller, 'merchant'>,
  unreadable: ReadonlySet<string>,
): RefusalDetail[] {
  const method = methodNamed(merchant.id, body.payment_method_id ?? '');
  const phone = phoneFaults('mobile_money_phone_number', body.mobile_money_phone_number || undefined);
  const found = [...phone, ...entryFaults(body, method === 'card')];
  if (found.length === 0 && unreadable.size === 0) return [];
  const missing = isSubmitted(method) ? missingAtSubmit(body, method, unreadable) : [];
  if (method === undefined && !absent(body.payment_method_id)) {
    found.push(unknownMethod(merchant, merchant.settings.methods ?? PAYMENT_METHODS));
  }
  return [...found, ...missing.map((field) => ({ field, code: 'REQUIRED' }) as const)];
}

/** The command of a submit in whose fields `submitFaults` has found no fault. */
export function submitCommand(
  body: SubmitBody,
  { merchant }: Pick<SessionCaller, 'merchant'>,
  browser: BrowserFacts,
): PaymentSubmitCommand {
  return {
    payment_id: body.payment_id,
    means: meansIn(body, methodNamed(merchant.id, body.payment_method_id), browser),
  };
}

/** The means in a body with which `submitFaults` has found no fault. */
function meansIn(body: SubmitBody, method: PaymentMethod | undefined, browser: BrowserFacts): Means {
  if (!isSubmitted(method)) return { method };
  const missing = missingAtSubmit(body, method);
  if (missing.length > 0) return { method, missing };
  switch (method) {
    case 'wallet':
    case 'flash': {
      const [numberFields, pinFields] = NEEDED_AT_SUBMIT[method];
      const number = sentIn(body, numberFields);
      const pin = sentIn(body, pinFields);
      return {
        method,
        number: ungrouped(number.text),
        pin: pin.text,
        numberField: number.field,
        pinField: pin.field,
      };
    }
    case 'mobile_money': {
      const msisdn = parsePhone(sentIn(body, ['mobile_money_phone_number']).text);
      if (msisdn === undefined) throw new Error('the phone number has not been checked');
      return { method, msisdn };
    }
    case 'card':
      return { method, formId: sentIn(body, ['session_id']).text, browser };
    case 'bank_transfer':
      return { method, accountId: sentIn(body, ['bank_account_id']).text };
  }
}

/** The first of these fields that was sent. `missingAtSubmit` has found that one was, so its absence is a bug. */
function sentIn(
  body: SubmitBody,
  fields: readonly (keyof SubmitBody)[],
): { readonly field: string; readonly text: string } {
  for (const field of fields) {
    const text = body[field];
    if (text !== undefined && text !== '') return { field, text };
  }
  throw new Error(`none of ${fields.join(', ')} was sent`);
}

/** What the issuer of a card may want to know about the customer's browser. */
export function browserOf(call: Pick<Call, 'header' | 'address'>): BrowserFacts {
  return {
    accept: call.header('accept'),
    userAgent: call.header('user-agent'),
    language: call.header('accept-language'),
    address: call.address(),
  };
}
