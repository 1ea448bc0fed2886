/**
 * Pages that show no payment: a link that was used, altered or is over, a way back to a shop that gave no address, a form from
 * elsewhere, trouble on our side.
 *
 * Invariant: an unknown link and another merchant's get the same bytes. As long as nobody has opened a payment's page, only its
 * reference and amount are shown, and only to a browser that could open it.
 */

import type { Merchant } from '../domain/records.ts';
import { Refusal, type RefusalCode } from '../domain/refusal.ts';
import { RETURNED_PATH } from '../domain/return-address.ts';
import { type CheckoutWord, checkoutText } from '../messages/checkout/words.ts';
import { type Html, html } from '../messages/html.ts';
import type { Language } from '../messages/messages.ts';
import type { PageAnswer } from '../messages/page.ts';
import type { PageView } from '../usecases/checkout-read.ts';
import { amountText, spanText } from './amounts.ts';
import type { Assets } from './assets.ts';
import { documentAnswer, type Frame } from './document.ts';
import { amountLine } from './shown.ts';

/**
 * Why no payment is shown. `used`: the link has been opened before; `keyless`: the browser has no cookie for the page; `over`:
 * nobody opened it in time; `foreign`: the form came from elsewhere; `large`: it is too large; `trouble`: a fault of ours; `busy`:
 * one that passes.
 */
export type Closed = 'used' | 'unknown' | 'keyless' | 'over' | 'foreign' | 'large' | 'refused' | 'trouble' | 'busy';

interface ClosedPage {
  /** For a browser. */
  readonly status: number;
  /** The refusal for programs, which comes with the status of that code (contract §2). */
  readonly code: RefusalCode;
  readonly title: CheckoutWord;
  readonly text: CheckoutWord;
}

const PAGES: { readonly [kind in Closed]: ClosedPage } = {
  used: { status: 410, code: 1005, title: 'used_title', text: 'used_text' },
  unknown: { status: 404, code: 1204, title: 'unknown_title', text: 'unknown_text' },
  keyless: { status: 404, code: 1204, title: 'keyless_title', text: 'keyless_text' },
  over: { status: 410, code: 1005, title: 'over_title', text: 'over_text' },
  foreign: { status: 403, code: 1003, title: 'foreign_title', text: 'foreign_text' },
  large: { status: 413, code: 1403, title: 'large_title', text: 'large_text' },
  refused: { status: 403, code: 1003, title: 'refused_title', text: 'refused_text' },
  trouble: { status: 500, code: 1401, title: 'trouble_title', text: 'trouble_text' },
  busy: { status: 503, code: 1402, title: 'trouble_title', text: 'trouble_text' },
};

/** After these the payment's page can be opened again. Those of trouble and of limits ask for that, after a while. */
const LEADING_BACK: readonly Closed[] = ['foreign', 'large', 'trouble', 'busy'];

function isClosed(kind: string): kind is Closed {
  return Object.hasOwn(PAGES, kind);
}

/** Where the language menu of such a page leads: to the same words, and never to an address with a ticket in it. */
const CLOSED_PATH = '/checkout/closed';

/**
 * The page of that kind, in the reader's language. It has the status for a browser, and the refusal that a program gets instead
 * (contract §2). `id`: that of the page that was asked for, as it was sent.
 */
export function closedPage(assets: Assets, language: Language, kind: Closed, id?: string): PageAnswer {
  const { status, code, title, text } = PAGES[kind];
  const page = wordsPage(assets, language, checkoutText(language, title), checkoutText(language, text), {
    path: `${CLOSED_PATH}/${kind}`,
    status,
    id: LEADING_BACK.includes(kind) ? id : undefined,
  });
  return { refusal: new Refusal(code), ...page };
}

/**
 * A page that was shown, in another language. At this address nothing has failed: pages of trouble, or of too many requests, are
 * not errors here, so that nobody can cause one by asking for it.
 */
export function repeatedPage(
  assets: Assets,
  language: Language,
  kind: string,
  query: Readonly<Record<string, string>>,
): PageAnswer {
  if (kind === LIMITED) return { ...limitedPage(assets, language, secondsIn(query), query.of), status: 200 };
  if (kind === RETURNED) return returnedPage(assets, language);
  const page = closedPage(assets, language, isClosed(kind) ? kind : 'unknown', query.of);
  return page.status < 500 ? page : { ...page, status: 200, refusal: new Refusal(1204) };
}

/** The last part of `RETURNED_PATH`. */
const RETURNED = 'returned';

/** For a customer who comes from the issuer, of a shop that gave no address: nothing has failed, and the shop knows the rest. */
function returnedPage(assets: Assets, language: Language): PageAnswer {
  const title = checkoutText(language, 'returned_title');
  return wordsPage(assets, language, title, checkoutText(language, 'returned_text'), {
    path: RETURNED_PATH,
    status: 200,
  });
}

/** Too many requests, of one session or one address. */
const LIMITED = 'limited';

function limitedPage(assets: Assets, language: Language, seconds: number, id: string | undefined): PageAnswer {
  const title = checkoutText(language, 'refused_title');
  const text = checkoutText(language, 'busy', { time: spanText(language, seconds * 1_000) });
  const query = { seconds: String(seconds) };
  return wordsPage(assets, language, title, text, { path: `${CLOSED_PATH}/${LIMITED}`, query, status: 429, id });
}

/** The seconds to wait that the address gives. */
function secondsIn({ seconds = '' }: Readonly<Record<string, string>>): number {
  return /^[1-9]\d{0,4}$/.test(seconds) ? Number(seconds) : 1;
}

/** The page for a link's preview: whom the link pays, and nothing more. The link is still good. */
export function previewPage(assets: Assets, language: Language, merchant: Merchant): PageAnswer {
  const title = checkoutText(language, 'closed_title', { merchant: merchant.name });
  return wordsPage(assets, language, title, checkoutText(language, 'closed_text'), { path: '', status: 200, merchant });
}

/** What is paid, and a button that opens the page: for a request that may or may not have a person behind it. */
export function unsurePage(assets: Assets, language: Language, view: PageView, ticket: string): PageAnswer {
  const { merchant, payment } = view;
  const title = checkoutText(language, 'closed_title', { merchant: merchant.name });
  const main = html`<section class="card calm"><h1>${title}</h1>
<p class="soft reference">${checkoutText(language, 'order', { reference: payment.customer_reference })}</p>
${amountLine(amountText(language, payment.total_minor, payment.currency))}
<p>${checkoutText(language, 'open_text')}</p>
<form method="get" action="${TICKET_PATH}"><input type="hidden" name="ticket" value="${ticket}"><input type="hidden" name="open" value="1">
<button class="button">${checkoutText(language, 'open_button')}</button></form></section>`;
  return documentAnswer(assets, { language, title, merchant, path: TICKET_PATH, query: { ticket }, main });
}

/** The path at which a ticket is presented. */
export const TICKET_PATH = '/api/v1/payments/collect-redirect';

/** How a request that failed is shown. `id`: that of the page that it was for, if any, as it was sent. */
export function failedPage(assets: Assets, language: Language, refusal: Refusal, id: string | undefined): PageAnswer {
  const kind = failedKind(refusal);
  if (refusal.code === 1403) return { ...closedPage(assets, language, kind, id), status: refusal.http };
  if (refusal.code !== 1301) return closedPage(assets, language, kind, id);
  return limitedPage(assets, language, refusal.more.retryAfter ?? 1, id);
}

/**
 * A form that no page of ours sends counts as one from elsewhere, unless it is only too large; an address that leads nowhere as an
 * unknown one.
 */
function failedKind({ code, http }: Refusal): Closed {
  if (code === 1403 && http === 404) return 'unknown';
  if (code === 1403) return http === 413 ? 'large' : 'foreign';
  if (http === 503) return 'busy';
  return http >= 500 ? 'trouble' : 'refused';
}

interface WordsOptions extends Pick<Frame, 'path' | 'query'> {
  readonly status: number;
  readonly merchant?: Merchant;
  /** The id of the payment's page to which this one leads back. */
  readonly id?: string | undefined;
}

function wordsPage(
  assets: Assets,
  language: Language,
  title: string,
  text: string,
  { path, query = {}, id, status, merchant }: WordsOptions,
): PageAnswer {
  const isKnown = id !== undefined && /^chk_[0-9a-z]+$/.test(id);
  const main = html`<section class="card ended"><h1>${title}</h1><p>${text}</p>${isKnown ? backTo(language, id) : undefined}</section>`;
  // In another language the page leads back, too.
  const kept = isKnown ? { ...query, of: id } : query;
  const frame: Frame = { language, title, merchant, main, scripts: ['page.js'], path, query: kept };
  return documentAnswer(assets, frame, { status });
}

/** A link, because a browser that loads the answer to a form again sends the form again, and warns of that. */
function backTo(language: Language, id: string): Html {
  return html`<a class="button" href="/checkout/${id}">${checkoutText(language, 'open_button')}</a>`;
}
