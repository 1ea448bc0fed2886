/**
 * The steps that a customer can take, one per form.
 *
 * Invariant: a step reads the form's fields and calls a use case, which decides whether the step may happen, and refuses it in
 * words.
 */

import { judgeProof } from '../domain/file-type.ts';
import { CODE_FORM } from '../domain/one-time-code.ts';
import { Refusal, type RefusalDetail, refuseField } from '../domain/refusal.ts';
import { isSubmitted, type Means, type SubmittedMethod } from '../domain/submission.ts';
import { PIN_FORM, ungrouped } from '../domain/wallet.ts';
import type { Language } from '../messages/messages.ts';
import type { PageRequest } from '../messages/page.ts';
import { openCardForm } from '../usecases/card-form.ts';
import {
  payOnPage,
  requireShownTotal,
  resendOnPage,
  startAgain,
  uploadOnPage,
  verifyOnPage,
} from '../usecases/checkout-act.ts';
import { type PageView, readPage } from '../usecases/checkout-read.ts';
import type { Deps } from '../usecases/deps.ts';
import { GIVEN } from './given.ts';
import { readPhone } from './phone.ts';

/** A form that was sent, and the payment that it is about, as it was then. */
export interface Step {
  readonly request: PageRequest;
  readonly view: PageView;
  readonly language: Language;
}

/** How a form that was carried out is answered: by a redirect to a page, or as JSON to a script of ours. */
export type Done =
  /** The page as it is now, or a part of it. */
  | { readonly kind: 'page'; readonly path: '' | '/card' | '?sent=1' }
  /** A page of ours that is not the payment's own: the challenge. */
  | { readonly kind: 'elsewhere'; readonly url: string }
  | { readonly kind: 'json'; readonly value: unknown };

const PAGE: Done = { kind: 'page', path: '' };

/** By the last part of the form's address. */
export const steps: { readonly [name: string]: (deps: Deps, step: Step) => Promise<Done> } = {
  pay,
  code: verify,
  resend,
  again,
  card: openCard,
  carrier: nameCarrier,
  proof,
};

async function pay(deps: Deps, step: Step): Promise<Done> {
  const { request, view } = step;
  requireNoCard(request);
  const method = chosenMethod(request);
  requireShownTotal(view, method, request.form.total);
  const { redirectUrl } = await payOnPage(deps, view, meansOf(method, step));
  return redirectUrl === undefined ? PAGE : { kind: 'elsewhere', url: redirectUrl };
}

function chosenMethod(request: PageRequest): SubmittedMethod {
  const method = METHODS.find((one) => one === request.form.method);
  if (method === undefined) throw refuseField(1103, 'payment_method', 'UNKNOWN_PAYMENT_METHOD');
  return method;
}

const METHODS = (['mobile_money', 'card', 'wallet', 'flash', 'bank_transfer'] as const).filter(isSubmitted);

/** A card number may be typed only into the network's own frames. */
function requireNoCard({ cardField, form }: PageRequest): void {
  if (cardField === undefined) return;
  // A field that the customer has given up is hidden, so no fault can be marked there.
  const isHidden = form.source === GIVEN && (cardField === 'phone' || cardField === 'number');
  throw refuseField(1110, (isHidden ? undefined : WIRE_NAMES[cardField]) ?? 'payment_method', 'CARD_DATA');
}

const PHONE_FIELD = 'mobile_money_phone_number';

/** The names of the page's fields in the API. */
const WIRE_NAMES: { readonly [field: string]: string } = {
  number: 'ewallet_number',
  pin: 'ewallet_pin',
  phone: PHONE_FIELD,
  code: 'otp_code',
};

function meansOf(method: SubmittedMethod, { request, view: { payment, given }, language }: Step): Means {
  const { form } = request;
  // By the radio button, not by which field is empty: a number that was typed and then given up is not paid with.
  const isGiven = form.source === GIVEN;
  switch (method) {
    case 'wallet':
    case 'flash':
      return { method, language, ...accountIn(isGiven ? given[method] : form.number, form.pin) };
    case 'mobile_money':
      return { method, msisdn: isGiven ? required(given.mobile_money?.msisdn, PHONE_FIELD) : phoneOf(form) };
    case 'card':
      if (payment.hosted_session_id === null) return { method, missing: ['session_id'] };
      return { method, formId: payment.hosted_session_id, browser: request.browser };
    case 'bank_transfer':
      return { method, accountId: required(form.account, 'bank_account_id') };
  }
}

/** The account's number, and its PIN as typed. @throws Refusal 1110, naming all that is missing or malformed. */
function accountIn(givenNumber: string | undefined, typedPin: string | undefined) {
  const number = ungrouped(givenNumber ?? '');
  const pin = (typedPin ?? '').trim();
  const details: RefusalDetail[] = [];
  if (number === '') details.push({ field: 'ewallet_number', code: 'REQUIRED' });
  if (pin === '') details.push({ field: 'ewallet_pin', code: 'REQUIRED' });
  else if (!PIN_FORM.test(pin)) details.push({ field: 'ewallet_pin', code: 'MALFORMED_PIN' });
  if (details.length > 0) throw new Refusal(1110, { details });
  return { number, pin, numberField: 'ewallet_number', pinField: 'ewallet_pin' } as const;
}

function phoneOf(form: PageRequest['form']): string {
  const typed = required(form.phone, PHONE_FIELD);
  const phone = readPhone(typed, form.country ?? '');
  if (phone === undefined) throw refuseField(1110, PHONE_FIELD, 'INVALID_PHONE_NUMBER');
  return phone;
}

function required(value: string | undefined, field: string): string {
  const given = value?.trim() ?? '';
  if (given === '') throw refuseField(1109, field, 'REQUIRED');
  return given;
}

async function verify(deps: Deps, { request, view }: Step): Promise<Done> {
  requireNoCard(request);
  const code = ungrouped(required(request.form.code, 'otp_code'));
  if (!CODE_FORM.test(code)) throw refuseField(1110, 'otp_code', 'MALFORMED_OTP');
  await verifyOnPage(deps, view, code);
  return PAGE;
}

async function resend(deps: Deps, { view, language }: Step): Promise<Done> {
  await resendOnPage(deps, view, language);
  return { kind: 'page', path: '?sent=1' };
}

/** Another payment on the same session, once this one has ended without money. */
async function again(deps: Deps, { view }: Step): Promise<Done> {
  const { status } = view.payment;
  if (status === 'declined' || status === 'failed' || status === 'cancelled') await startAgain(deps, view);
  return PAGE;
}

async function openCard(deps: Deps, { view }: Step): Promise<Done> {
  if (!view.offers.some(({ method }) => method === 'card')) {
    throw refuseField(1103, 'payment_method', 'METHOD_NOT_AVAILABLE');
  }
  await openCardForm(deps, view.caller, view.payment.id);
  return { kind: 'page', path: '/card' };
}

/** Names the carrier of a number while it is typed. The number comes in a body, because addresses are logged. */
async function nameCarrier(deps: Deps, { request, view }: Step): Promise<Done> {
  const phone = readPhone(request.form.phone ?? '', request.form.country ?? '');
  const route = phone === undefined ? undefined : deps.connectors.routeFor('payment', phone, view.payment.currency);
  return { kind: 'json', value: { carrier: route?.kind === 'route' ? route.carrier : null } };
}

async function proof(deps: Deps, { request, view }: Step): Promise<Done> {
  const file = await request.readFile(view.caller.session, view.merchant);
  if (file === undefined) throw refuseField(1109, 'file', 'REQUIRED');
  const verdict = judgeProof(file);
  if (verdict.kind === 'refused') throw refuseField(1110, 'file', verdict.fault);
  // The file may have taken minutes: a merchant that was suspended meanwhile, or whose credential was revoked, gets none.
  const fresh = await readPage(deps, view.checkout);
  await uploadOnPage(deps, fresh, verdict.bytes, verdict.type);
  return PAGE;
}
