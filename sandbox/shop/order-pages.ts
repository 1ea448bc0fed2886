/**
 * The outcome of an order, for the customer who comes back, and the list of all orders for the shop itself.
 * Invariant: both show only what a verified webhook or an answer of the gateway said; neither contains tokens or secrets.
 */
import { html, type SafeHtml } from '../pages/html.ts';
import { formatAmount, formatMoment, type Language } from '../pages/languages.ts';
import { fill } from '../phone/words.ts';
import type { Trouble } from './buying.ts';
import { priceOf } from './goods.ts';
import { isWaiting, type Order, type State, stateOf } from './orders.ts';
import type { Visitor } from './visitor.ts';
import { moneyText } from './window-page.ts';
import type { ShopWords } from './words/shop-words.ts';
import { shopWords } from './words.ts';

/** 4 seconds between two inquiries about an order that waits. */
export const lookEvery = 4;

function amountOf(language: Language, { amount, currency }: Order): string {
  return formatAmount(language, amount, currency);
}

function stateWord(words: ShopWords, state: State): SafeHtml {
  return html`<span class="state ${state}">${words.state[state]}</span>`;
}

/** How and when the shop learned of the present status. */
function learnedFrom(words: ShopWords, language: Language, { webhook_at, asked_at }: Order): string {
  const ways = [
    webhook_at !== null && fill(words.byWebhook, { time: formatMoment(language, webhook_at) }),
    asked_at !== null && fill(words.byAsking, { time: formatMoment(language, asked_at) }),
  ].filter((way) => way !== false);
  return ways.length > 0 ? ways.join(' · ') : words.notYet;
}

function receipt(visitor: Visitor, order: Order): SafeHtml {
  const { language } = visitor;
  const words = shopWords[language];
  const lines = order.lines.map(
    ({ good, quantity }) =>
      html`<li><span>${quantity} × ${words.goods[good].name}</span><span class="figure">${moneyText(visitor, priceOf(good, order.currency) * BigInt(quantity), order.currency)}</span></li>`,
  );
  return html`<section class="card receipt"><h2>${stateOf(order) === 'paid' ? words.receipt : fill(words.order, { reference: order.reference })}</h2>
    <ul>${lines}<li class="sum"><span>${words.total}</span><span class="figure">${amountOf(language, order)}</span></li></ul>
    <dl><dt>${words.transaction}</dt><dd><code>${order.transaction_id}</code></dd>
      <dt>${words.learned}</dt><dd>${learnedFrom(words, language, order)}</dd></dl></section>`;
}

function waiting(words: ShopWords, order: Order, trouble: Trouble | undefined): SafeHtml {
  const { status } = order;
  return html`<p>${isWaiting(status) && words.waitsFor[status]} ${words.outcome.waiting.about}</p>
    ${trouble && html`<p class="said">${words.cannotAsk} ${trouble.message ?? words.noAnswer}</p>`}
    <p class="actions"><a class="button" href="${order.redirect_url}">${words.goOn}</a><a class="back" href="/shop/return/${order.id}">${words.look}</a></p>
    <p class="soft">${words.looksAgain}</p>`;
}

function ended(words: ShopWords, order: Order, state: Exclude<State, 'waiting'>): SafeHtml {
  const again =
    state === 'paid'
      ? html`<p class="actions"><a class="button" href="/shop">${words.toShop}</a></p>`
      : html`<form class="actions" method="post" action="/shop/return/${order.id}/again"><button class="main">${words.buyAgain}</button></form>`;
  return html`<p>${words.outcome[state].about}</p>${again}`;
}

/** The part that is fetched again while the order waits. */
export function orderPart(visitor: Visitor, order: Order, trouble: Trouble | undefined): SafeHtml {
  const words = shopWords[visitor.language];
  const state = stateOf(order);
  const version = [order.status, order.asked_at, order.webhook_at, trouble && (trouble.message ?? 'silent')].join('-');
  const every = state === 'waiting' && html` data-every="${lookEvery}"`;
  return html`<div data-screen><div data-part="order" data-version="${version}"${every}><div class="stack outcome">
    <span class="disc ${state}" aria-hidden="true"></span>
    <p class="soft">${fill(words.order, { reference: order.reference })} · ${stateWord(words, state)}</p>
    <h1>${words.outcome[state].title}</h1>
    <p class="amount">${amountOf(visitor.language, order)}</p>
    ${state === 'waiting' ? waiting(words, order, trouble) : ended(words, order, state)}
    ${receipt(visitor, order)}</div></div>
    <p class="hush" role="status" aria-live="polite" data-announce>${words.outcome[state].title}</p></div>`;
}

export function orderMain(visitor: Visitor, order: Order, trouble: Trouble | undefined): SafeHtml {
  return html`<div class="shop-page narrow">${orderPart(visitor, order, trouble)}</div>`;
}

export function noOrderMain({ language }: Visitor): SafeHtml {
  const words = shopWords[language];
  return html`<div class="shop-page narrow"><h1>${words.noOrder.title}</h1><p>${words.noOrder.about}</p>
    <p class="actions"><a class="button" href="/shop">${words.toShop}</a></p></div>`;
}

function orderLine(words: ShopWords, language: Language, order: Order): SafeHtml {
  return html`<tr><th scope="row"><a href="/shop/return/${order.id}">${order.reference}</a></th>
    <td class="figure right" data-name="${words.amount}">${amountOf(language, order)}</td>
    <td data-name="${words.status}">${stateWord(words, stateOf(order))}</td>
    <td data-name="${words.learned}">${learnedFrom(words, language, order)}</td>
    <td class="soft" data-name="${words.ordered}">${formatMoment(language, order.at)}</td></tr>`;
}

/** The part of the list that is fetched again when an order has changed. */
export function ordersPart({ language }: Visitor, orders: readonly Order[]): SafeHtml {
  const words = shopWords[language];
  const version = orders.map(({ id, status, webhook_at, asked_at }) => `${id}${status}${webhook_at}${asked_at}`).join();
  const newest = orders[0];
  const content =
    newest === undefined
      ? html`<section class="card stack"><h2>${words.noOrders.title}</h2><p class="soft">${words.noOrders.about}</p><p><a class="button" href="/shop">${words.toShop}</a></p></section>`
      : html`<div class="card"><table class="orders"><thead><tr><th scope="col">${words.reference}</th><th scope="col" class="right">${words.amount}</th><th scope="col">${words.status}</th><th scope="col">${words.learned}</th><th scope="col">${words.ordered}</th></tr></thead>
        <tbody>${orders.map((order) => orderLine(words, language, order))}</tbody></table></div>`;
  return html`<div data-screen><div data-part="orders" data-version="${version}">${content}</div>
    <p class="hush" role="status" aria-live="polite" data-announce>${newest && `${newest.reference}: ${words.state[stateOf(newest)]}`}</p></div>`;
}

export function ordersMain(visitor: Visitor, orders: readonly Order[]): SafeHtml {
  const words = shopWords[visitor.language];
  return html`<div class="shop-page"><h1>${words.ordersTitle}</h1><p class="lead">${words.ordersLead}</p>${ordersPart(visitor, orders)}</div>`;
}
