/**
 * The choice of a way to pay, and what each way asks for.
 *
 * Invariant: every way has a form of its own, so that what was typed for another one is never sent; all of it works
 * without a script, because the chosen one unfolds by the state of its radio button.
 */

import type { SubmittedMethod } from '../domain/submission.ts';
import { maskNumber } from '../domain/wallet.ts';
import type { CheckoutWord } from '../messages/checkout/words.ts';
import { type Html, html, type Piece } from '../messages/html.ts';
import { say } from '../messages/messages.ts';
import type { Offer } from '../usecases/checkout-read.ts';
import { countryText, leftText } from './amounts.ts';
import { accountChoice } from './bank.ts';
import { givenOrOther } from './given.ts';
import { dialCode, maskedPhone } from './phone.ts';
import {
  amountLine,
  field,
  money,
  noticeOf,
  pathOf,
  payButton,
  returnLink,
  type Shown,
  text,
  textAround,
  totalField,
} from './shown.ts';

/** The title: the question, or the only way to pay, or that there is none. */
export function chooseTitle(shown: Shown): string {
  const [only, second] = shown.view.offers;
  if (only === undefined) return text(shown, 'none_title');
  return second === undefined ? say(shown.language, `method.${only.method}`) : text(shown, 'choose_title');
}

/** The page on which the customer chooses and pays: what is paid, and how. */
export function chooseMain(shown: Shown): Html {
  const { offers } = shown.view;
  return html`${orderSection(shown)}
<section class="card pay">${noticeOf(shown)}${offers.length === 0 ? noOffer(shown) : choice(shown)}
<p class="back">${returnLink(shown, 'quiet')}</p></section>`;
}

function noOffer(shown: Shown): Html {
  return html`<h1>${chooseTitle(shown)}</h1><p>${text(shown, 'none_text')}</p>`;
}

function choice(shown: Shown): Html {
  const { offers } = shown.view;
  const [only, second] = offers;
  if (only !== undefined && second === undefined) {
    return html`<h1>${chooseTitle(shown)}</h1><p class="soft">${text(shown, `hint_${only.method}`)}</p>${panel(shown, only)}`;
  }
  const chosen = offers.find(({ method }) => method === shown.kept.method)?.method ?? only?.method;
  return html`<fieldset><legend><h1>${chooseTitle(shown)}</h1></legend>
<ul class="methods">${offers.map((offer) => option(shown, offer, offer.method === chosen))}</ul></fieldset>`;
}

function option(shown: Shown, offer: Offer, isChosen: boolean): Html {
  const { method } = offer;
  // A fee that is the same for every way to pay is shown in the sums.
  const fee = feesDiffer(shown) ? text(shown, 'fee_more', { fee: money(shown, offer.feeMinor) }) : undefined;
  return html`<li class="method"><input class="pick" type="radio" name="method" value="${method}" id="m-${method}"${isChosen ? html` checked` : undefined}>
<label for="m-${method}"><span class="dot" aria-hidden="true"></span><span class="words"><strong>${say(shown.language, `method.${method}`)}</strong> <span class="soft">${text(shown, `hint_${method}`)}</span>${fee === undefined ? undefined : html` <span class="fee">${fee}</span>`}</span>${badges(shown, method)}</label>
<div class="panel">${panel(shown, offer)}</div></li>`;
}

/** The carriers that customers may recognise; for a screen reader the field's help names the carrier. */
function badges(shown: Shown, method: SubmittedMethod): Piece {
  const { view } = shown;
  if (method !== 'mobile_money') return undefined;
  const home = chosenCountry(shown);
  const names = view.carriers.filter(({ country }) => country === home).map(({ carrier }) => carrier);
  const known = [...new Set(names)].filter((name) => name !== 'Mobile Money').slice(0, 3);
  return html`<span class="badges" aria-hidden="true">${known.map((name) => html`<span>${name.replace(/^Vodacom | Money$/, '')}</span>`)}</span>`;
}

function panel(shown: Shown, offer: Offer): Html {
  const step = offer.method === 'card' ? 'card' : 'pay';
  return html`<form method="post" action="${pathOf(shown, step)}" data-once novalidate>
<input type="hidden" name="method" value="${offer.method}">${totalField(offer.totalMinor)}${fieldsOf(shown, offer)}
${button(shown, offer)}</form>`;
}

function button(shown: Shown, { method, totalMinor }: Offer): Html {
  if (method === 'card') return html`<button class="button">${text(shown, 'go_card')}</button>`;
  if (method === 'bank_transfer') return html`<button class="button">${text(shown, 'go_bank')}</button>`;
  return payButton(shown, totalMinor);
}

function fieldsOf(shown: Shown, offer: Offer): Piece {
  switch (offer.method) {
    case 'mobile_money':
      return phoneFields(shown, offer);
    case 'wallet':
    case 'flash':
      return accountFields(shown, offer.method);
    case 'bank_transfer':
      return accountChoice(shown);
    case 'card':
      return html`<noscript><p class="help">${text(shown, 'card_noscript')}</p></noscript>`;
  }
}

function phoneFields(shown: Shown, offer: Offer): Html {
  const fault = shown.kept.method === offer.method ? shown.faults.fields.phone : undefined;
  const { mobile_money: phone } = shown.view.given;
  if (phone === undefined) return phoneField(shown, offer, fault);
  return givenOrOther(shown, {
    method: offer.method,
    masked: maskedPhone(phone.msisdn),
    help: text(shown, 'phone_help_carrier', { carrier: phone.carrier, amount: money(shown, offer.totalMinor) }),
    fault,
    other: (wrong) => phoneField(shown, offer, wrong),
  });
}

function phoneField(shown: Shown, { method, totalMinor }: Offer, fault: string | undefined): Html {
  const { kept, view } = shown;
  const countries = [...new Set(view.carriers.map(({ country }) => country))];
  const country = chosenCountry(shown);
  const help = text(shown, 'phone_help', { amount: money(shown, totalMinor) });
  const many = countries.length > 1;
  const value = kept.method === method ? (kept.phone ?? '') : '';
  // A number that was typed with its own country's code does not follow another one.
  const before = many || /^\s*(\+|00)/.test(value) ? undefined : dialCode(country);
  return html`${many ? countryField(shown, countries, country) : html`<input type="hidden" name="country" value="${country}">`}
${field({
  name: 'phone',
  scope: method,
  label: text(shown, 'phone'),
  help: html`<span data-carrier="${pathOf(shown, 'carrier')}" data-help="${help}" data-known="${text(shown, 'phone_help_carrier', { carrier: '{carrier}', amount: money(shown, totalMinor) })}" aria-live="polite">${help}</span>`,
  fault,
  value,
  type: 'tel',
  inputmode: 'tel',
  // The country stands beside the field or before it.
  autocomplete: 'tel-national',
  maxlength: 40,
  before,
})}`;
}

/** The reader's country if a carrier serves it, else the first that a carrier serves. */
function chosenCountry({ view: { carriers }, kept }: Shown): string {
  return (carriers.find(({ country }) => country === kept.country) ?? carriers[0])?.country ?? '';
}

function countryField(shown: Shown, countries: readonly string[], chosen: string): Html {
  const options = countries.map(
    (country) =>
      html`<option value="${country}"${country === chosen ? html` selected` : undefined}>${countryText(shown.language, country)} (${dialCode(country)})</option>`,
  );
  return html`<div class="field"><label class="label" for="mobile_money-country">${text(shown, 'country')}</label>
<div class="box"><select id="mobile_money-country" name="country" autocomplete="country">${options}</select></div></div>`;
}

function accountFields(shown: Shown, method: 'wallet' | 'flash'): Html {
  const faults = shown.kept.method === method ? shown.faults.fields : {};
  const given = shown.view.given[method];
  const number =
    given === undefined
      ? numberField(shown, method, faults.number)
      : givenOrOther(shown, {
          method,
          masked: maskNumber(given),
          fault: faults.number,
          other: (wrong) => numberField(shown, method, wrong),
        });
  return html`${number}${field({
    name: 'pin',
    scope: method,
    label: text(shown, 'pin'),
    help: text(shown, 'pin_help'),
    fault: faults.pin,
    type: 'password',
    inputmode: 'numeric',
    autocomplete: 'off',
    maxlength: 8,
  })}`;
}

function numberField(shown: Shown, method: 'wallet' | 'flash', fault: string | undefined): Html {
  return field({
    name: 'number',
    scope: method,
    label: text(shown, method === 'wallet' ? 'wallet_number' : 'flash_number'),
    fault,
    value: shown.kept.method === method ? shown.kept.number : '',
    inputmode: 'numeric',
    autocomplete: 'off',
    maxlength: 40,
  });
}

function feesDiffer({ view: { offers, payment } }: Shown): boolean {
  return payment.fee_covered_by === 'buyer' && offers.some(({ feeMinor }) => feeMinor !== offers[0]?.feeMinor);
}

/** The order section of a page that comes after the choice of a way to pay: with what that way costs. */
export function orderSectionOf(method: SubmittedMethod, shown: Shown): Html {
  const offers = shown.view.offers.filter((offer) => offer.method === method);
  return orderSection({ ...shown, view: { ...shown.view, offers } });
}

/** What is paid: the reference, the amount as the largest thing on the page, the time that is left. */
export function orderSection(shown: Shown): Html {
  const { language, view } = shown;
  const { payment, now } = view;
  const left = leftText(language, payment.expires_at - now);
  const [before, after] = textAround(shown, 'left', 'time');
  return html`<section class="order" aria-label="${text(shown, 'summary')}">
<p class="soft reference">${text(shown, 'order', { reference: payment.customer_reference })}</p>
${totals(shown)}
<p class="soft">${before}<strong class="time" data-left="${payment.expires_at - now}">${left}</strong>${after}</p>
${sums(shown)}</section>`;
}

/** The sums of each way to pay; once one has been chosen, of that one alone. */
function sumsOf({ view: { offers, payment } }: Shown): readonly Pick<Offer, 'feeMinor' | 'totalMinor'>[] {
  return offers.length > 0 ? offers : [{ feeMinor: payment.fee_minor, totalMinor: payment.total_minor }];
}

/** The total; where ways to pay differ, the style shows that of the chosen one. */
function totals(shown: Shown): Piece {
  const { offers, payment } = shown.view;
  if (!feesDiffer(shown)) {
    return html`${amountLine(money(shown, sumsOf(shown)[0]?.totalMinor ?? payment.total_minor))}`;
  }
  return html`${amountLine(money(shown, payment.amount_minor), ' plain')}${offers.map(({ method, totalMinor }) =>
    amountLine(money(shown, totalMinor), ` of of-${method}`),
  )}`;
}

/** Amount, fee and total, where the customer pays a fee. */
function sums(shown: Shown): Piece {
  const { offers, payment } = shown.view;
  if (payment.fee_covered_by !== 'buyer') return undefined;
  if (feesDiffer(shown)) return offers.map((offer) => sumList(shown, offer, `sums of of-${offer.method}`));
  const [first] = sumsOf(shown);
  return first === undefined || first.feeMinor === 0n ? undefined : sumList(shown, first, 'sums');
}

function sumList(shown: Shown, sum: Pick<Offer, 'feeMinor' | 'totalMinor'>, look: string): Html {
  const line = (name: CheckoutWord, minor: bigint, mark?: Html): Html =>
    html`<div${mark}><dt>${text(shown, name)}</dt><dd>${money(shown, minor)}</dd></div>`;
  return html`<dl class="${look}">${line('amount', shown.view.payment.amount_minor)}${line('fee', sum.feeMinor)}${line('total', sum.totalMinor, html` class="total"`)}</dl>`;
}
