/**
 * What every page shares: the frame with the merchant's name and colour, the language menu, the headers that guard it.
 *
 * Invariant: no page runs inline script or style, none asks a third party for anything, and none is kept or framed. Only
 * the card form may load the network's script and frames, and only a challenge may post beyond us.
 */

import type { Merchant } from '../domain/records.ts';
import { checkoutText } from '../messages/checkout/words.ts';
import { type Html, html, type Piece } from '../messages/html.ts';
import { LANGUAGE_NAMES, LANGUAGES, type Language } from '../messages/messages.ts';
import type { PageAnswer } from '../messages/page.ts';
import type { Assets } from './assets.ts';
import { isColour } from './brand.ts';

/** One page: what it shows, and how the frame around it is drawn. */
export interface Frame {
  readonly language: Language;
  readonly title: string;
  /** Whose page it is; undefined on pages that belong to no merchant. */
  readonly merchant: Merchant | undefined;
  /** The address of this page by GET, to which the language menu leads; without its query. */
  readonly path: string;
  /** The query that this address has to keep. */
  readonly query?: Readonly<Record<string, string>>;
  /** Where the script posts what has been typed when the language is changed; undefined on pages on which nothing is typed. */
  readonly keeps?: string;
  readonly main: Html;
  /** Two columns where there is room: what is paid beside how. */
  readonly wide?: boolean;
  readonly scripts?: readonly ('page.js' | 'card.js')[];
  /** For the script: where it asks for the state, and which version is shown. */
  readonly live?: { readonly state: string; readonly version: string };
  /** Seconds after which the page is reloaded if there is no script. */
  readonly reloads?: number;
  /** A script of the card network, by address. */
  readonly foreignScript?: string;
}

/**
 * In what the answer's head differs from that of most pages: they have status 200, and load, frame and post to nothing but ours.
 */
export interface Headers {
  /** The card network's origin: its script, frames and requests. */
  readonly network?: string | undefined;
  /** Where a form may post to besides us: sources, as the content security policy writes them. */
  readonly posts?: string | undefined;
  /** After how many seconds the browser goes on, and to which address. */
  readonly goes?: { readonly seconds: number; readonly url: string } | undefined;
  readonly status?: number;
}

/** A whole page as HTML, with the headers that guard it. Its status is 200 unless `headers` says otherwise. */
export function documentAnswer(assets: Assets, frame: Frame, headers: Headers = {}): PageAnswer {
  const { goes, status = 200 } = headers;
  return {
    status,
    type: 'text/html; charset=utf-8',
    body: documentOf(assets, frame).markup,
    headers: {
      ...guardHeaders(headers),
      'Content-Language': frame.language,
      ...(goes === undefined ? {} : { Refresh: `${goes.seconds};url=${goes.url}` }),
    },
  };
}

function guardHeaders({ network, posts }: Headers): { [name: string]: string } {
  const also = (origin: string | undefined): string => (origin === undefined ? '' : ` ${origin}`);
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    `script-src 'self'${also(network)}`,
    "img-src 'self'",
    `connect-src 'self'${also(network)}`,
    `frame-src ${network ?? "'none'"}`,
    `form-action 'self'${also(posts)}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    'Content-Security-Policy': policy.join('; '),
    'X-Frame-Options': 'DENY',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'X-Robots-Tag': 'noindex, nofollow',
  };
}

function documentOf(assets: Assets, frame: Frame): Html {
  const { language, merchant, live, main, path, query = {} } = frame;
  const name = merchant === undefined ? 'Mbongo' : merchant.name;
  const attributes = live === undefined ? undefined : html` data-state="${live.state}" data-version="${live.version}"`;
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${frame.title} · ${name}</title>
<link rel="stylesheet" href="${assets.address('page.css') ?? ''}">
${colourLink(merchant)}
<link rel="icon" type="image/svg+xml" href="${assets.address('icon.svg') ?? ''}">
${scripts(assets, frame.scripts ?? [], frame.foreignScript)}
${frame.reloads === undefined ? undefined : html`<noscript><meta http-equiv="refresh" content="${frame.reloads}"></noscript>`}
</head>
<body data-page="${addressOf(path, query)}"${attributes}>
<a class="skip" href="#main">${checkoutText(language, 'skip')}</a>
<header class="top"><div class="shop">${badge(merchant)}<span class="name" title="${name}">${name}</span></div>
${languageMenu(language, frame)}</header>
<main id="main" tabindex="-1" class="${frame.wide === true ? 'wide' : 'narrow'}">
${main}
</main>
<p class="hush" role="status" data-sending="${checkoutText(language, 'sending')}" data-offline="${checkoutText(language, 'offline')}"></p>
<footer>${lock()} ${checkoutText(language, 'footer')}</footer>
</body>
</html>
`;
}

/** Scripts run in their order: our own page's needs nothing of the network's, and does not wait for it. */
function scripts(assets: Assets, names: readonly ('page.js' | 'card.js')[], foreign: string | undefined): Piece {
  const own = (name: 'page.js' | 'card.js'): Piece => {
    const address = names.includes(name) ? assets.address(name) : undefined;
    return address === undefined ? undefined : html`<script type="module" src="${address}"></script>`;
  };
  return html`${own('page.js')}${foreign === undefined ? undefined : html`<script src="${foreign}" defer></script>`}${own('card.js')}`;
}

/** A link to the stylesheet of the merchant's colour; undefined when none is set that we could use. */
function colourLink(merchant: Merchant | undefined): Html | undefined {
  const colour = merchant?.settings.brand?.colour?.slice(1).toLowerCase();
  if (colour === undefined || !isColour(colour)) return undefined;
  return html`<link rel="stylesheet" href="/checkout/brand/${colour}.css">`;
}

/** The merchant's logo, or the first letters of its name. */
function badge(merchant: Merchant | undefined): Html {
  const logo = merchant?.settings.brand?.logo;
  if (merchant !== undefined && logo !== undefined) {
    return html`<img class="badge" src="/checkout/logo/${merchant.id}/${logo}" alt="" width="40" height="40">`;
  }
  return html`<span class="badge" aria-hidden="true">${initials(merchant?.name ?? 'Mbongo')}</span>`;
}

function initials(name: string): string {
  const words = name.split(/[\s'’-]+/).filter((word) => /\p{L}|\p{N}/u.test(word));
  const letters = words.slice(0, 2).map((word) => /[\p{L}\p{N}]/u.exec(word)?.[0] ?? '');
  return letters.join('').toUpperCase() || 'M';
}

/** A list of links that opens without a script, but then loses what has been typed; each language is called by its own name. */
function languageMenu(current: Language, { path, query = {}, keeps }: Pick<Frame, 'path' | 'query' | 'keeps'>): Html {
  const links = LANGUAGES.map((one) => {
    const mark = one === current ? html` aria-current="true"` : undefined;
    return html`<li><a href="${addressOf(path, { ...query, lang: one })}" lang="${one}" hreflang="${one}"${mark}>${LANGUAGE_NAMES[one]}</a></li>`;
  });
  const label = checkoutText(current, 'language');
  return html`<nav class="languages" aria-label="${label}"${keeps === undefined ? undefined : html` data-keeps="${keeps}"`}><details><summary><span class="hush">${label}: </span>${LANGUAGE_NAMES[current]}</summary><ul>${links}</ul></details></nav>`;
}

function addressOf(path: string, query: Readonly<Record<string, string>>): string {
  const text = new URLSearchParams(query).toString();
  return text === '' ? path : `${path}?${text}`;
}

function lock(): Html {
  return html`<svg class="lock" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><path d="M4.5 7V5a3.5 3.5 0 0 1 7 0v2M3 7h10v7H3z" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linejoin="round"/></svg>`;
}
