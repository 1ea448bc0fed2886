/**
 * What a page is drawn from, and the pieces that several of them use: fields, faults, the way back to the shop.
 *
 * Invariant: a field keeps its label in sight, its fault stands beside it, and a PIN or a code is never put back into it.
 */

import { shopAddress } from '../domain/return-address.ts';
import { type CheckoutWord, checkoutText } from '../messages/checkout/words.ts';
import { type Html, html, type Piece } from '../messages/html.ts';
import type { Language } from '../messages/messages.ts';
import type { PageView } from '../usecases/checkout-read.ts';
import { amountText, momentText } from './amounts.ts';
import type { Faults } from './faults.ts';

/** What a payment's page is drawn from: the payment as it is now, its reader, and what became of the form that was sent. */
export interface Shown {
  readonly language: Language;
  readonly view: PageView;
  /** The faults of the form that was sent. */
  readonly faults: Faults;
  /** What was typed and may be shown again, by the form's names. */
  readonly kept: Readonly<Record<string, string>>;
  /** What has just been done, in words. */
  readonly notice?: string | undefined;
}

export const NO_FAULTS: Faults = { fields: {} };

/** Where a page's forms post to. */
export function pathOf({ view }: Shown, step = ''): string {
  return `/checkout/${view.checkout.id}${step === '' ? '' : `/${step}`}`;
}

/** A sentence of the pages in the reader's language. `values`: what stands for its placeholders, by their names. */
export function text({ language }: Shown, word: CheckoutWord, values?: Readonly<Record<string, string>>): string {
  return checkoutText(language, word, values);
}

/** Stands for a value in a sentence while the sentence is split: no sentence contains this character. */
const PLACEHOLDER = '\u0000';

/** What comes before and after a word's value in a sentence, for a value that is markup. */
export function textAround(
  shown: Shown,
  sentence: CheckoutWord,
  word: string,
): readonly [before: string, after: string] {
  const [before = '', after = ''] = text(shown, sentence, { [word]: PLACEHOLDER }).split(PLACEHOLDER);
  return [before, after];
}

/** An amount, in minor units of the payment's currency, as the reader's language writes it. */
export function money({ language, view }: Shown, minor: bigint): string {
  return amountText(language, minor, view.payment.currency);
}

/** Amounts of more characters do not fit on a narrow screen in the type before: the class that gives them a smaller one. */
const LONG_AMOUNTS = [
  [17, ' longest'],
  [15, ' longer'],
  [10, ' long'],
] as const;

/** An amount as the largest thing on the page. */
export function amountLine(amount: string, look = ''): Html {
  const size = LONG_AMOUNTS.find(([most]) => amount.length > most)?.[1] ?? '';
  return html`<p class="amount${look}${size}">${amount}</p>`;
}

/** One line of a list of names and values. */
export function line(name: string, value: Piece): Html {
  return html`<div><dt>${name}</dt><dd>${value}</dd></div>`;
}

/** The names by which shop and customer can refer to a payment. */
export function names(shown: Shown): Html {
  const { payment } = shown.view;
  return html`${line(text(shown, 'order_number'), payment.customer_reference)}
${line(text(shown, 'transaction'), html`<code>${payment.id}</code>`)}`;
}

/** What is paid, for a page without a receipt. */
export function about(shown: Shown): Html {
  return html`<dl class="sums">${line(text(shown, 'total'), money(shown, shown.view.payment.total_minor))}
${names(shown)}</dl>`;
}

/** An instant. A script writes it in the reader's own time zone, which the server does not know. */
export function moment({ language }: Shown, at: number): Html {
  return html`<time datetime="${new Date(at).toISOString()}" data-moment>${momentText(language, at)}</time>`;
}

interface Field {
  /** The form's name for it; unique on the page together with `scope`. */
  readonly name: string;
  readonly scope: string;
  readonly label: string;
  readonly help?: Piece;
  readonly fault?: string | undefined;
  readonly value?: string | undefined;
  readonly type?: 'text' | 'password' | 'tel';
  readonly inputmode?: 'numeric' | 'tel';
  readonly autocomplete: string;
  readonly maxlength: number;
  /** Shown in front of the input. */
  readonly before?: string | undefined;
}

/** A field that has to be filled. The browser does not check its form: it would complain in its own language, not the page's. */
export function field(given: Field): Html {
  const { name, scope, label, help, fault, value = '', type = 'text', inputmode, autocomplete, maxlength } = given;
  const id = `${scope}-${name}`;
  const wrong = fault === undefined ? undefined : html` aria-invalid="true" autofocus`;
  const described = [fault === undefined ? '' : `${id}-fault`, help === undefined ? '' : `${id}-help`].join(' ').trim();
  return html`<div class="field"><label class="label" for="${id}">${label}</label>
<div class="box">${given.before === undefined ? undefined : html`<span class="before" aria-hidden="true">${given.before}</span>`}<input id="${id}" name="${name}" type="${type}" value="${value}" autocomplete="${autocomplete}" maxlength="${maxlength}" required${inputmode === undefined ? undefined : html` inputmode="${inputmode}"`}${described === '' ? undefined : html` aria-describedby="${described}"`}${wrong}></div>
${fault === undefined ? undefined : faultLine(`${id}-fault`, fault)}${help === undefined ? undefined : html`<p class="help" id="${id}-help">${help}</p>`}</div>`;
}

/** The total that the form shows, in minor units: if the payment would take another one, nothing is taken. */
export function totalField(totalMinor: bigint): Html {
  return html`<input type="hidden" name="total" value="${String(totalMinor)}">`;
}

/** A button breaks an amount of more characters in two on a narrow screen, in its usual type. */
const MAX_BUTTON_AMOUNT = 17;

/** The button that pays that amount. `isDisabled`: until a script can submit its form. */
export function payButton(shown: Shown, minor: bigint, { isDisabled = false } = {}): Html {
  const amount = money(shown, minor);
  const size = amount.length > MAX_BUTTON_AMOUNT ? ' dense' : '';
  return html`<button class="button${size}"${isDisabled ? html` disabled` : undefined}>${text(shown, 'pay', { amount })}</button>`;
}

/** The line that says what is wrong with a field. The field names the line's `id` in its `aria-describedby`. */
export function faultLine(id: string, fault: string): Html {
  return html`<p class="fault" id="${id}">${sign()}<span>${fault}</span></p>`;
}

/** An empty place, hidden until the page's script has found a fault to say there. */
export function faultPlace(id: string): Html {
  return html`<p class="fault" id="${id}" role="alert" hidden>${sign()}<span></span></p>`;
}

function sign(): Html {
  return html`<svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><circle cx="8" cy="8" r="7" fill="none" stroke="currentColor" stroke-width="1.5"/><path d="M8 4.5v4M8 11v.5" stroke="currentColor" stroke-width="1.7" stroke-linecap="round"/></svg>`;
}

/** A fault of the form as a whole; else a note that fields are marked, or what was done. It gets the focus, to be read out at once. */
export function noticeOf(shown: Shown): Piece {
  const { faults, notice } = shown;
  if (faults.general !== undefined)
    return html`<div class="notice bad" role="alert" tabindex="-1" autofocus>${sign()}<p>${faults.general}</p></div>`;
  if (Object.keys(faults.fields).length > 0) {
    return html`<p class="hush" role="alert">${text(shown, 'fault_title')}</p>`;
  }
  return notice === undefined
    ? undefined
    : html`<div class="notice" role="status" tabindex="-1" autofocus><p>${notice}</p></div>`;
}

/**
 * A link back to the shop, where the shop gave an address for that. `mayBePaid`: as `shopAddress`; a form that was refused because
 * of an earlier try counts as such, too.
 */
export function returnLink(shown: Shown, look: 'main' | 'quiet', { mayBePaid = false } = {}): Piece {
  const address = shopAddress(shown.view.payment, { mayBePaid: mayBePaid || shown.faults.mayBePaid === true });
  if (address === undefined) return undefined;
  return html`<a class="${look === 'main' ? 'button' : 'quiet-link'}" href="${address}" rel="noreferrer">${text(shown, 'return_button')}</a>`;
}
