/**
 * The hosted page: every address it has, and what each does.
 *
 * Invariant: nothing is shown or done before the request has proved that it comes from the browser that opened the page;
 * what is done is answered by a redirect, so that going back or loading anew pays nothing twice.
 */

import { MAX_PROOF_BYTES } from '../domain/file-type.ts';
import { isId } from '../domain/ids.ts';
import type { Checkout } from '../domain/page-records.ts';
import type { Merchant } from '../domain/records.ts';
import { Refusal, type RefusalCode } from '../domain/refusal.ts';
import { RETURNED_PATH } from '../domain/return-address.ts';
import { checkoutText } from '../messages/checkout/words.ts';
import type { Page, PageAnswer, PageRequest, Pages } from '../messages/page.ts';
import { readChallenge } from '../usecases/card-challenge.ts';
import { readLogo } from '../usecases/checkout-logo.ts';
import { openByKey, openByTicket, openForGood } from '../usecases/checkout-open.ts';
import { type PageView, readPage } from '../usecases/checkout-read.ts';
import type { Deps } from '../usecases/deps.ts';
import { type Done, steps } from './actions.ts';
import { type Assets, openAssets } from './assets.ts';
import { brandStyle, isColour } from './brand.ts';
import { challengeMain, challengePosts } from './card.ts';
import { closedPage, failedPage, previewPage, repeatedPage, TICKET_PATH, unsurePage } from './closed.ts';
import { documentAnswer } from './document.ts';
import { faultsOf } from './faults.ts';
import { ICON_PATH, methodIcon } from './method-icons.ts';
import { NO_FAULTS, type Shown } from './shown.ts';
import { isCodeOver, stateOf, versionOf } from './state.ts';
import { showPage } from './view.ts';
import { keyCookies, keyOf, languageCookies, readerCountry, readerLanguage, visitOf } from './visit.ts';

interface Parts {
  readonly deps: Deps;
  readonly assets: Assets;
}

/**
 * All addresses of the hosted page, for `http` to serve: the link's own, the forms, the state that its script polls, the files.
 */
export function checkoutPages(deps: Deps): Pages {
  const parts: Parts = { deps, assets: openAssets() };
  const { assets } = parts;
  return {
    root: '/checkout/',
    list: [
      { method: 'GET', path: TICKET_PATH, show: (request) => byTicket(parts, request) },
      { method: 'GET', path: '/checkout/:id', show: (request) => byKey(parts, request, 'page') },
      { method: 'GET', path: '/checkout/:id/card', show: (request) => byKey(parts, request, 'card') },
      { method: 'GET', path: '/checkout/:id/state', isPoll: true, show: (request) => stateOfPage(parts, request) },
      { method: 'GET', path: '/checkout/challenge/:segment', show: (request) => challengePage(parts, request) },
      ...stepPages(parts),
      { method: 'POST', path: '/checkout/:id/language', show: (request) => languagePage(parts, request) },
      ...[...Object.keys(steps), 'language'].filter((name) => name !== 'card').map(backPage),
      ...filePages(parts),
    ],
    failed: (refusal, request) => failedPage(assets, readerLanguage(request), refusal, idIn(request.path)),
  };
}

/** The id of the page whose address, or whose form's, that is. */
function idIn(path: string): string | undefined {
  return /^\/checkout\/([^/]+)/.exec(path)?.[1];
}

/** The address that the shop sends its customer to. */
async function byTicket(parts: Parts, request: PageRequest): Promise<PageAnswer> {
  const { deps, assets } = parts;
  const { ticket = '' } = request.query;
  const opening = await openByTicket(deps, ticket, (id) => keyOf(request, id));
  if (opening.kind === 'unopened') return firstVisit(parts, request, opening.checkout, ticket);
  if (opening.kind !== 'open') return closedPage(assets, readerLanguage(request), opening.kind);
  const page = await pageOf(parts, request, opening.checkout, 'page');
  return withCookies(page, languageCookies(deps, request));
}

/** A page that nobody has opened yet: a person's browser gets its key, with the page; others get a page about it. */
async function firstVisit(parts: Parts, request: PageRequest, checkout: Checkout, ticket: string): Promise<PageAnswer> {
  const { deps, assets } = parts;
  const visit = visitOf(request);
  if (visit !== 'person') {
    const view = await readPage(deps, checkout);
    const language = readerLanguage(request, view.payment.language);
    if (visit === 'nobody') return previewPage(assets, language, view.merchant);
    return withCookies(unsurePage(assets, language, view, ticket), languageCookies(deps, request));
  }
  // Made before the ticket is used up: a refusal would leave the customer without a page, and without a ticket.
  const page = await pageOf(parts, request, checkout, 'page');
  const opening = await openForGood(deps, ticket);
  if (opening.kind !== 'open') return closedPage(assets, readerLanguage(request), opening.kind);
  // A shop that knows its customer's language names it in the address, and the pages that follow keep to it.
  const cookies = [...keyCookies(deps, request, opening.checkout, opening.key), ...languageCookies(deps, request)];
  return withCookies(page, cookies);
}

/** The page, for the browser that has opened it. */
async function byKey(parts: Parts, request: PageRequest, kind: 'page' | 'card'): Promise<PageAnswer> {
  const checkout = await openedBy(parts, request);
  if (checkout === undefined) return notOpened(parts, request);
  return withCookies(await pageOf(parts, request, checkout, kind), languageCookies(parts.deps, request));
}

/** For a browser that has not opened the page, whether there is one or not. */
function notOpened({ assets }: Parts, request: PageRequest): PageAnswer {
  const { id = '' } = request.params;
  const isKeyless = isId('chk', id) && keyOf(request, id) === undefined;
  return closedPage(assets, readerLanguage(request), isKeyless ? 'keyless' : 'unknown');
}

function openedBy({ deps }: Parts, request: PageRequest): Promise<Checkout | undefined> {
  const { id = '' } = request.params;
  return openByKey(deps, id, keyOf(request, id));
}

async function pageOf(
  parts: Parts,
  request: PageRequest,
  checkout: Checkout,
  kind: 'page' | 'card',
): Promise<PageAnswer> {
  const view = await countedView(parts, request, checkout);
  const language = readerLanguage(request, view.payment.language);
  const country = readerCountry(request);
  const kept: Shown['kept'] = country === undefined ? {} : { country };
  // The address stays as it is when the page is loaded again, and the code may have expired by then.
  const isResent = request.query.sent === '1' && stateOf(view) === 'code' && !isCodeOver(view);
  const notice = isResent ? checkoutText(language, 'code_resent') : undefined;
  const shown: Shown = { language, view, faults: NO_FAULTS, kept, notice };
  return showPage(parts.deps, parts.assets, shown, { kind, stays: request.query.stay === '1' });
}

async function countedView({ deps }: Parts, request: PageRequest, checkout: Checkout): Promise<PageView> {
  const view = await readPage(deps, checkout);
  request.note(view.merchant.id, view.payment.id);
  request.count(view.session, view.merchant);
  return view;
}

function withCookies(answer: PageAnswer, cookies: readonly string[]): PageAnswer {
  return { ...answer, cookies: [...(answer.cookies ?? []), ...cookies] };
}

/** For the script of an open page: whether another page would be shown now. */
async function stateOfPage(parts: Parts, request: PageRequest): Promise<PageAnswer> {
  const checkout = await openedBy(parts, request);
  if (checkout === undefined) throw new Refusal(1204);
  const view = await countedView(parts, request, checkout);
  return jsonAnswer({ version: versionOf(view) });
}

const PROOF_FILE = { field: 'file', most: MAX_PROOF_BYTES } as const;

/** The forms: each takes one step, and is answered by the page as it is then, or by itself with its faults. */
function stepPages(parts: Parts): Page[] {
  return Object.entries(steps).map(([name, step]): Page => {
    const show = (request: PageRequest): Promise<PageAnswer> =>
      byForm(parts, request, async (view, checkout) => {
        const language = readerLanguage(request, view.payment.language);
        try {
          return doneAnswer(await step(parts.deps, { request, view, language }), checkout);
        } catch (error) {
          if (!(error instanceof Refusal)) throw error;
          return refusedStep(parts, request, checkout, error);
        }
      });
    return { method: 'POST', path: `/checkout/:id/${name}`, show, ...(name === 'proof' ? { file: PROOF_FILE } : {}) };
  });
}

/** Answers a form of one of our own pages, sent by the browser that has opened it. */
async function byForm(
  parts: Parts,
  request: PageRequest,
  answer: (view: PageView, checkout: Checkout) => Promise<PageAnswer>,
): Promise<PageAnswer> {
  const { assets } = parts;
  if (request.isForeign) return closedPage(assets, readerLanguage(request), 'foreign', request.params.id);
  const checkout = await openedBy(parts, request);
  if (checkout === undefined) return notOpened(parts, request);
  return answer(await countedView(parts, request, checkout), checkout);
}

/**
 * The page in another language, with what has been typed on it. A form and not a link, because what was typed must not stand in
 * an address; no redirect, because it is kept nowhere.
 */
function languagePage(parts: Parts, request: PageRequest): Promise<PageAnswer> {
  const { deps, assets } = parts;
  return byForm(parts, request, (view) => {
    const chosen = { ...request, query: { lang: request.form.lang ?? '' } };
    const language = readerLanguage(chosen, view.payment.language);
    const kept = { country: readerCountry(request) ?? '', ...keptOf(request) };
    const shown: Shown = { language, view, faults: NO_FAULTS, kept };
    const page = showPage(deps, assets, shown, { kind: 'page', stays: false });
    return Promise.resolve(withCookies(page, languageCookies(deps, chosen)));
  });
}

/** A step's address, opened as a page: by Enter in the address bar, or from a browser's history. Nothing is done. */
function backPage(name: string): Page {
  const show = ({ params }: PageRequest): PageAnswer => redirectTo(`/checkout/${encodeURIComponent(params.id ?? '')}`);
  return { method: 'GET', path: `/checkout/:id/${name}`, show };
}

/** Sends the browser to another address, which it opens with a GET. */
function redirectTo(address: string): PageAnswer {
  return { status: 303, type: 'text/plain; charset=utf-8', body: '', headers: { Location: address } };
}

/** For a script of ours. */
function jsonAnswer(value: unknown): PageAnswer {
  return { status: 200, type: 'application/json; charset=utf-8', body: JSON.stringify(value) };
}

function doneAnswer(done: Done, { id }: Checkout): PageAnswer {
  if (done.kind === 'json') return jsonAnswer(done.value);
  return redirectTo(done.kind === 'elsewhere' ? done.url : `/checkout/${id}${done.path}`);
}

/** Refusals which mean that the payment has moved on: consumed, in progress, in another state, declined. */
const GONE_ON: readonly RefusalCode[] = [1001, 1203, 1205, 1502];

/** The rows are read again: the use case that refused may have written, for example that a PIN was wrong. */
async function refusedStep(
  parts: Parts,
  request: PageRequest,
  checkout: Checkout,
  refusal: Refusal,
): Promise<PageAnswer> {
  const { deps, assets } = parts;
  const fresh = (await openedBy(parts, request)) ?? checkout;
  const view = await readPage(deps, fresh);
  // The payment has moved on, by another window, a second press of the button, or the issuer: its present page is shown. If
  // another payment of the session is in flight, this one has not moved on, and the refusal is shown in words.
  const stands = refusal.code === 1203 && stateOf(view) === 'choose';
  if (GONE_ON.includes(refusal.code) && !stands) return doneAnswer({ kind: 'page', path: '' }, checkout);
  const language = readerLanguage(request, view.payment.language);
  const kept = keptOf(request);
  const faults = faultsOf(language, refusal, stateOf(view));
  const shown: Shown = { language, view, faults, kept };
  const cardKind = isFormSpent(refusal) ? 'renewal' : 'card';
  const answer = showPage(deps, assets, shown, { kind: kept.method === 'card' ? cardKind : 'page', stays: true });
  const wait = refusal.more.retryAfter;
  return {
    ...answer,
    status: refusal.http,
    headers: { ...answer.headers, ...(wait === undefined ? {} : { 'Retry-After': String(wait) }) },
  };
}

/** What was typed and may be shown again: no secret, and nothing of a form with a card number in it. */
function keptOf({ cardField, form }: PageRequest): Shown['kept'] {
  const { pin: _pin, code: _code, ...kept } = cardField === undefined ? form : chosenIn(form);
  return kept;
}

/** What was chosen, without what was typed; it is compared with the choices there are, and never shown. */
function chosenIn({ method = '', source = '', country = '' }: PageRequest['form']): Shown['kept'] {
  return { method, source, country };
}

/** The hosted form can no longer be used, because it has ended, is bound to another total, or never was this payment's. */
const SPENT: readonly string[] = [
  'FORM_CHANGED',
  'FORM_USED',
  'FORM_EXPIRED',
  'NO_CARD_FORM',
  'OTHER_CARD_FORM',
  'TOTAL_CHANGED',
];

function isFormSpent({ more }: Refusal): boolean {
  return more.details?.some(({ code }) => SPENT.includes(code)) === true;
}

/** The form that leads to the card's issuer. Anybody with its address may open it: the issuer authenticates its customer. */
async function challengePage({ deps, assets }: Parts, request: PageRequest): Promise<PageAnswer> {
  const found = await readChallenge(deps, request.params.segment ?? '');
  const language = readerLanguage(request, found?.payment.language);
  if (found === undefined) return closedPage(assets, language, 'unknown');
  const { challenge, payment } = found;
  if (challenge === undefined) {
    const id = payment.checkout_id ?? '';
    // A browser that cannot open the hosted page, for example because the shop showed a form of its own.
    const isOwn = (await openByKey(deps, id, keyOf(request, id))) !== undefined;
    return redirectTo(isOwn ? `/checkout/${id}` : RETURNED_PATH);
  }
  const merchant: Merchant | undefined = await deps.store.merchant.get(payment.shard, payment.merchant_id);
  const title = checkoutText(language, 'challenge_title');
  const words = { title, text: checkoutText(language, 'challenge_text'), go: checkoutText(language, 'challenge_go') };
  const path = `/checkout/challenge/${request.params.segment ?? ''}`;
  const frame = {
    language,
    title,
    merchant,
    path,
    main: challengeMain(words, challenge),
    scripts: ['page.js'] as const,
  };
  const answer = documentAnswer(assets, frame, { posts: challengePosts(deps) });
  return withCookies(answer, languageCookies(deps, request));
}

/** Files, the colour of a merchant, its logo, and the pages of links that lead nowhere. */
function filePages({ deps, assets }: Parts): Page[] {
  const nothing = (request: PageRequest): PageAnswer => closedPage(assets, readerLanguage(request), 'unknown');
  return [
    {
      method: 'GET',
      path: '/checkout/assets/:file',
      show: (request) => assets.answer(request.params.file ?? '', request) ?? nothing(request),
    },
    {
      method: 'GET',
      path: ICON_PATH,
      show: (request) => methodIcon(request.params.file ?? '') ?? nothing(request),
    },
    {
      method: 'GET',
      path: '/checkout/brand/:file',
      show(request) {
        const { file = '' } = request.params;
        const colour = file.slice(0, -'.css'.length);
        if (!file.endsWith('.css') || !isColour(colour)) return nothing(request);
        return { status: 200, type: 'text/css; charset=utf-8', body: brandStyle(colour), headers: FOR_EVER };
      },
    },
    {
      method: 'GET',
      path: '/checkout/logo/:merchant/:version',
      async show(request) {
        const { merchant = '', version = '' } = request.params;
        const logo = await readLogo(deps, merchant, version);
        if (logo === undefined) return nothing(request);
        const headers = { ...FOR_EVER, 'Content-Security-Policy': "default-src 'none'; sandbox" };
        return { status: 200, type: logo.type, body: logo.bytes, headers };
      },
    },
    {
      method: 'GET',
      path: '/checkout/closed/:kind',
      show(request) {
        const { params, query } = request;
        const page = repeatedPage(assets, readerLanguage(request), params.kind ?? '', query);
        return withCookies(page, languageCookies(deps, request));
      },
    },
  ];
}

const FOR_EVER = { 'Cache-Control': 'public, max-age=31536000, immutable' };
