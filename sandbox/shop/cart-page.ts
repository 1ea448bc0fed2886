/**
 * The cart, the button that buys, and the message when the payment could not be started.
 * Invariant: a button carries the quantity that it sets, so that pressing it twice has the same effect.
 */
import { html, type SafeHtml } from '../pages/html.ts';
import { fill } from '../phone/words.ts';
import type { Trouble } from './buying.ts';
import { mostOfOne, type Terms } from './carts.ts';
import { type Line, priceOf, totalOf } from './goods.ts';
import type { Visitor } from './visitor.ts';
import { drawing, moneyText } from './window-page.ts';
import { shopWords } from './words.ts';

function cartLine(visitor: Visitor, { good, quantity }: Line): SafeHtml {
  const words = shopWords[visitor.language];
  const { name } = words.goods[good];
  const price = priceOf(good, visitor.currency);
  const each = fill(words.each, { amount: moneyText(visitor, price, visitor.currency) });
  const hidden = html`<input type="hidden" name="good" value="${good}"><input type="hidden" name="from" value="cart">`;
  return html`<li class="line" id="${good}">${drawing(good)}
    <div class="line-text"><h2>${name}</h2><p class="soft">${each}</p></div>
    <form class="amounts" method="post" action="/shop/cart">${hidden}
      <button class="quiet" name="quantity" value="${quantity - 1}" aria-label="${fill(words.less, { name })}">−</button><span class="quantity">${quantity}</span><button class="quiet" name="quantity" value="${quantity + 1}" aria-label="${fill(words.more, { name })}"${quantity >= mostOfOne && html` disabled`}>+</button>
      <button class="plain" name="quantity" value="0">${words.remove}<span class="hush">: ${name}</span></button></form>
    <p class="price">${moneyText(visitor, price * BigInt(quantity), visitor.currency)}</p></li>`;
}

type Choice = { readonly value: string; readonly label: string };

function radios(name: string, legend: string, choices: readonly Choice[], chosen: string): SafeHtml {
  return html`<fieldset><legend>${legend}</legend>${choices.map(
    ({ value, label }) =>
      html`<label class="radio"><input type="radio" name="${name}" value="${value}"${value === chosen && html` checked`}>${label}</label>`,
  )}</fieldset>`;
}

function advanced(visitor: Visitor, terms: Terms): SafeHtml {
  const words = shopWords[visitor.language];
  const { buyer, merchant } = words.feesBy;
  const { direct_delivery, delayed_delivery } = words.deliveries;
  const changed = terms.fee_covered_by !== 'buyer' || terms.delivery_behaviour !== 'direct_delivery';
  return html`<details class="advanced"${changed && html` open`}><summary>${words.advanced}</summary><div class="stack">
    ${radios(
      'fee_covered_by',
      words.fees,
      [
        { value: 'buyer', label: buyer },
        { value: 'merchant', label: merchant },
      ],
      terms.fee_covered_by,
    )}
    ${radios(
      'delivery_behaviour',
      words.delivery,
      [
        { value: 'direct_delivery', label: direct_delivery },
        { value: 'delayed_delivery', label: delayed_delivery },
      ],
      terms.delivery_behaviour,
    )}</div></details>`;
}

function totalLine(visitor: Visitor, lines: readonly Line[]): SafeHtml {
  const words = shopWords[visitor.language];
  const total = moneyText(visitor, totalOf(lines, visitor.currency), visitor.currency);
  return html`<p class="till-line"><span>${words.total}</span><strong class="amount">${total}</strong></p>
    <p class="soft">${words.feesMayCome}</p>`;
}

function buyForm(visitor: Visitor, lines: readonly Line[], terms: Terms, label: string): SafeHtml {
  return html`<form class="card stack till" method="post" action="/shop/buy">${totalLine(visitor, lines)}
    <button class="main wide">${label}</button>
    <p class="soft">${shopWords[visitor.language].thenPay}</p>
    ${advanced(visitor, terms)}</form>`;
}

export type CartView = {
  readonly visitor: Visitor;
  readonly lines: readonly Line[];
  readonly terms: Terms;
  /** Shown in place of the button while no gateway is known. */
  readonly setup: SafeHtml | undefined;
};

export function cartMain({ visitor, lines, terms, setup }: CartView): SafeHtml {
  const words = shopWords[visitor.language];
  if (lines.length === 0) {
    return html`<div class="shop-page"><h1>${words.cartTitle}</h1><section class="card stack"><h2>${words.cartEmpty.title}</h2>
      <p class="soft">${words.cartEmpty.about}</p><p><a class="button" href="/shop">${words.toShop}</a></p></section></div>`;
  }
  const amount = moneyText(visitor, totalOf(lines, visitor.currency), visitor.currency);
  return html`<div class="shop-page"><h1>${words.cartTitle}</h1><div class="counter">
    <ul class="card lines">${lines.map((line) => cartLine(visitor, line))}</ul>
    ${
      setup === undefined
        ? buyForm(visitor, lines, terms, fill(words.buy, { amount }))
        : html`<div class="stack"><section class="card stack till">${totalLine(visitor, lines)}</section>${setup}</div>`
    }</div></div>`;
}

/** Shows the gateway's own message if it gave one; the button begins the same purchase again. */
export function troubleMain({ visitor, lines, terms }: CartView, { message }: Trouble): SafeHtml {
  const words = shopWords[visitor.language];
  return html`<div class="shop-page narrow"><h1>${words.trouble}</h1>
    <p class="said" role="alert">${message ?? words.noAnswer}</p><p class="soft">${words.notCharged}</p>
    ${buyForm(visitor, lines, terms, words.tryAgain)}
    <p><a class="back" href="/shop/cart">${words.cartTitle}</a></p></div>`;
}
