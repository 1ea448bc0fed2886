/**
 * What every page of the documentation shares: the bar, the contents beside it or in a menu, and the headers that guard it.
 *
 * Invariant: a page can be read whole without its script; it loads nothing from elsewhere, and no page may frame it.
 */

import { type Html, html, type Piece } from '../../messages/html.ts';
import { LANGUAGE_NAMES, LANGUAGES, type Language } from '../../messages/messages.ts';
import type { DocsAssets } from './assets.ts';

/** One page of the documentation. */
export interface DocsPage {
  readonly path: string;
  readonly title: string;
  readonly language: Language;
  /** Whether the same page exists in the other languages. */
  readonly translated?: boolean;
  /** The page's sections, listed in the contents below its own name. */
  readonly sections: readonly Section[];
  readonly main: Html;
  /** The text of the link that skips the contents, in the reader's language. */
  readonly skip: string;
}

/** A part of a page that can be linked to, for the contents. `id`: the anchor. */
export interface Section {
  readonly id: string;
  readonly title: string;
  readonly sections?: readonly Section[];
}

/** What a browser may load on these pages: their own stylesheet, script and icon. */
export const DOCS_HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Frame-Options': 'DENY',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  // Cached, but revalidated each time: a release changes it.
  'Cache-Control': 'no-cache',
};

/** The pages, in the order of the contents. */
const PAGES = [
  { path: '/docs', title: 'Start' },
  { path: '/docs/payments', title: 'Ways to pay' },
  { path: '/docs/refunds', title: 'Give money back' },
  { path: '/docs/payouts', title: 'Pay people' },
  { path: '/docs/reconcile', title: 'Reconcile' },
  { path: '/docs/webhooks', title: 'Webhooks' },
  { path: '/docs/idempotency', title: 'Idempotency' },
  { path: '/docs/test-numbers', title: 'Test numbers' },
  { path: '/docs/errors', title: 'Errors' },
  { path: '/docs/going-live', title: 'Going live' },
  { path: '/docs/reference', title: 'Reference' },
] as const;

/** A whole page of the documentation as HTML; it is sent with `DOCS_HEADERS`. */
export function renderDocument(assets: DocsAssets, page: DocsPage): string {
  const { language, title, main, skip } = page;
  const contents = contentsOf(page);
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Mbongo</title>
<link rel="stylesheet" href="${assets.style}">
<link rel="icon" type="image/svg+xml" href="${assets.icon}">
<script src="${assets.page}" defer></script>
</head>
<body>
<a class="skip" href="#text">${skip}</a>
<header class="bar"><a class="home" href="/docs">Mbongo <span lang="en">documentation</span></a>
<nav class="doors" aria-label="More" lang="en"><a href="/docs/explorer">Explorer</a><a href="/openapi.json">OpenAPI</a></nav></header>
<details class="menu" lang="en"><summary>Contents</summary><nav class="contents" aria-label="Contents">${contents}</nav></details>
<div class="body">
<aside lang="en"><nav class="contents" aria-label="Documentation">${contents}</nav></aside>
<main id="text" tabindex="-1">
${page.translated === true ? languagesOf(page) : undefined}
${main}
</main>
</div>
</body>
</html>
`.markup;
}

function contentsOf({ path, sections }: DocsPage): Html {
  const items = PAGES.map((page) => {
    const isHere = page.path === path;
    // A page below another one, of a single error, marks where it belongs.
    const isBelow = page.path !== '/docs' && path.startsWith(`${page.path}/`);
    const mark = isHere || isBelow ? html` aria-current="${isHere ? 'page' : 'location'}"` : undefined;
    return html`<li><a href="${page.path}"${mark}>${page.title}</a>${isHere ? listOf(sections) : undefined}</li>`;
  });
  return html`<ul>${items}</ul>`;
}

function listOf(sections: readonly Section[]): Piece {
  if (sections.length === 0) return undefined;
  return html`<ul>${sections.map(
    ({ id, title, sections: below = [] }) => html`<li><a href="#${id}">${title}</a>${listOf(below)}</li>`,
  )}</ul>`;
}

function languagesOf({ path, language }: DocsPage): Html {
  const links = LANGUAGES.map((one) => {
    const mark = one === language ? html` aria-current="true"` : undefined;
    return html`<li><a href="${path}?lang=${one}" lang="${one}" hreflang="${one}"${mark}>${LANGUAGE_NAMES[one]}</a></li>`;
  });
  return html`<nav aria-label="Languages"><ul class="languages">${links}</ul></nav>`;
}
