/**
 * What every page of the shop shares: its frame, the headers that guard it, and how it is sent.
 * Invariant: no page runs inline script or style, none loads anything from a third party, and a form leads only to the shop and
 * the gateway.
 */
import type { FastifyReply } from 'fastify';
import { html, type Part, type SafeHtml } from '../pages/html.ts';
import { languageLinks } from '../phone/page.ts';
import { fill } from '../phone/words.ts';
import { currencies } from './goods.ts';
import type { Visitor } from './visitor.ts';
import { shopWords } from './words.ts';

export type ShopPage = {
  readonly visitor: Visitor;
  readonly title: string;
  readonly main: SafeHtml;
  readonly current?: '/shop' | '/shop/cart' | '/shop/orders';
  /** How many things are in the cart. */
  readonly inCart: number;
  /** The gateway's origin as browsers reach it: buying redirects there, and browsers apply `form-action` to redirects too. */
  readonly gatewayOrigin: string | undefined;
  /** Seconds after which a page without script reloads itself. */
  readonly refresh?: number | undefined;
  /** Where the script fetches the page's parts again, and where it learns that it should. */
  readonly live?: { readonly parts: string; readonly events: string };
};

function policy(gatewayOrigin: string | undefined): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    ["form-action 'self'", ...(gatewayOrigin === undefined ? [] : [gatewayOrigin])].join(' '),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** Part of the live pages: what was paid for leaves the cart while its customer is looking. */
export function cartCount({ visitor, inCart }: Pick<ShopPage, 'visitor' | 'inCart'>): SafeHtml {
  const sentence = fill(shopWords[visitor.language].inCart, { n: inCart });
  return html`<span data-part="cart" data-version="${inCart}">${
    inCart > 0 && html`<span class="count" aria-hidden="true">${inCart}</span><span class="hush">, ${sentence}</span>`
  }</span>`;
}

function rooms(page: ShopPage): SafeHtml {
  const words = shopWords[page.visitor.language];
  const link = (address: string, content: Part) =>
    html`<a href="${address}"${address === page.current && html` aria-current="page"`}>${content}</a>`;
  return html`<nav class="rooms" aria-label="Boutique Kivu">${link('/shop', words.shop)}${link('/shop/orders', words.orders)}${link('/shop/cart', html`${words.cart} ${cartCount(page)}`)}</nav>`;
}

function choices({ language, currency }: Visitor): SafeHtml {
  const words = shopWords[language];
  const money = currencies.map(
    (one) => html`<a href="?currency=${one}"${one === currency && html` aria-current="true"`}>${one.toUpperCase()}</a>`,
  );
  return html`<div class="choices"><nav aria-label="${words.currency}">${money}</nav>${languageLinks(language, words.language)}</div>`;
}

export function sendShopPage(reply: FastifyReply, page: ShopPage, status = 200): FastifyReply {
  const { visitor, title, main, refresh, live } = page;
  const words = shopWords[visitor.language];
  const document = html`<!doctype html>
<html lang="${visitor.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Boutique Kivu</title>
<link rel="icon" href="/shop/files/mark.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/style.css">
<link rel="stylesheet" href="/shop/files/shop.css">
<link rel="stylesheet" href="/shop/files/shop-orders.css">
${live && html`<script type="module" src="/assets/shop.js"></script>`}
${refresh !== undefined && html`<noscript><meta http-equiv="refresh" content="${refresh}"></noscript>`}
</head>
<body${live && html` data-live="${live.parts}" data-events="${live.events}"`}>
<a class="skip" href="#main">${words.skip}</a>
<header class="shop-top"><a class="brand" href="/shop"><img src="/shop/files/mark.svg" alt="" width="40" height="40"><span>Boutique Kivu</span></a>
${rooms(page)}${choices(visitor)}</header>
<main id="main" tabindex="-1">${main}${live && html`<p class="said offline" role="status" data-offline="${words.offline}"></p>`}</main>
<footer class="shop-foot"><p>${words.demo} <a href="/">${words.sandbox}</a></p></footer>
</body>
</html>
`;
  return send(reply, document, page.gatewayOrigin, status);
}

/** Sends the parts of a page that its script fetches again. */
export function sendShopParts(reply: FastifyReply, content: SafeHtml): FastifyReply {
  return send(reply, content, undefined, 200);
}

function send(reply: FastifyReply, content: SafeHtml, gatewayOrigin: string | undefined, status: number): FastifyReply {
  return reply
    .code(status)
    .header('content-type', 'text/html; charset=utf-8')
    .header('content-security-policy', policy(gatewayOrigin))
    .header('x-content-type-options', 'nosniff')
    .header('referrer-policy', 'no-referrer')
    .header('cache-control', 'no-store')
    .send(content.text);
}
