/**
 * The shop window: what is sold, and what it costs in the chosen currency.
 * Invariant: every button is a form, so that the shop sells without script.
 */
import { html, type SafeHtml } from '../pages/html.ts';
import { formatAmount } from '../pages/languages.ts';
import { fill } from '../phone/words.ts';
import { mostOfOne } from './carts.ts';
import { type Currency, decimalOf, type Good, goods, type Line, priceOf } from './goods.ts';
import type { Visitor } from './visitor.ts';
import { shopWords } from './words.ts';

/** Minor units in the notation of the reader's language. */
export function moneyText({ language }: Visitor, minor: bigint, currency: Currency): string {
  return formatAmount(language, decimalOf(minor, currency), currency);
}

/** A drawing adds nothing to the name beside it, so it is hidden from screen readers. */
export function drawing(good: Good): SafeHtml {
  return html`<span class="drawing ${good}"><img src="/shop/files/${good}.svg" alt="" width="240" height="180"></span>`;
}

function goodCard(visitor: Visitor, good: Good, inCart: number): SafeHtml {
  const words = shopWords[visitor.language];
  const { name, about } = words.goods[good];
  const quantity = Math.min(inCart + 1, mostOfOne);
  return html`<li class="good" id="${good}">${drawing(good)}
    <div class="good-text"><h2>${name}</h2><p class="soft">${about}</p></div>
    <div class="good-foot"><p class="price">${moneyText(visitor, priceOf(good, visitor.currency), visitor.currency)}</p>
      <form method="post" action="/shop/cart"><input type="hidden" name="good" value="${good}"><input type="hidden" name="from" value="shop">
        <button class="main" name="quantity" value="${quantity}">${words.add}<span class="hush">: ${name}</span></button></form></div>
    ${inCart > 0 && html`<p class="added"><span>${fill(words.added, { n: inCart })}</span> <a href="/shop/cart">${words.toCart}</a></p>`}
  </li>`;
}

export function windowMain(visitor: Visitor, lines: readonly Line[], setup: SafeHtml | undefined): SafeHtml {
  const words = shopWords[visitor.language];
  const inCart = (good: Good) => lines.find((line) => line.good === good)?.quantity ?? 0;
  return html`<div class="shop-page"><div class="welcome"><h1>${words.title}</h1><p class="lead">${words.lead}</p></div>
    ${setup}
    <ul class="goods">${goods.map((good) => goodCard(visitor, good, inCart(good)))}</ul></div>`;
}

/** What a shop without a gateway shows: which program connects it, and how to do that by hand. */
export function setupCard({ language }: Visitor, shopUrl: string, gatewayUrl: string): SafeHtml {
  const { title, about } = shopWords[language].noGateway;
  return html`<section class="card stack"><h2>${title}</h2><p class="soft">${about}</p>
    <pre tabindex="0">curl -X PUT ${shopUrl}/shop/credential \\
  -H 'Content-Type: application/json' \\
  -d '{"gateway_url":"${gatewayUrl}","credential":"key_…:sk_test_…","webhook_secret":"whsec_…"}'</pre></section>`;
}
