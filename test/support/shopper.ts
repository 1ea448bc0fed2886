/**
 * Customers of the demo shop in a real browser: they fill the cart, pay on the hosted page, and come back.
 *
 * Invariant: a customer does only what a person can do with what is shown; what the shop sells and the carriers take is
 * only read, afterwards.
 */
import type { Browser, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { fill } from '../../sandbox/phone/words.ts';
import type { Good } from '../../sandbox/shop/goods.ts';
import type { Order } from '../../sandbox/shop/orders.ts';
import { shopWords } from '../../sandbox/shop/words.ts';
import { type CheckoutWord, checkoutText } from '../../src/messages/checkout/words.ts';
import type { Language } from '../../src/messages/messages.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { keepPicture, openBrowser, openWindow, type Watched } from './browser.ts';
import { networkOrigin } from './card-form.ts';
import { openWorld, type World } from './world.ts';

/** A world with an open shop, and a browser to buy with. */
export interface Market {
  readonly world: World;
  readonly merchant: MerchantCreated;
  readonly browser: Browser;
  /** Every open window, with what it has complained about. */
  readonly windows: Watched[];
  close(): Promise<void>;
}

export async function openMarket(browserPath: string): Promise<Market> {
  const [world, browser] = await Promise.all([openWorld(), openBrowser(browserPath)]);
  const merchant = await world.merchant();
  const { key_id, secret, webhook_secret } = merchant;
  const told = await fetch(`${world.sandboxUrl}/shop/credential`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ gateway_url: world.url, credential: `${key_id}:${secret}`, webhook_secret }),
  });
  expect(told.status).toBe(204);
  const close = async (): Promise<void> => {
    await browser.close();
    await world.close();
  };
  return { world, merchant, browser, windows: [], close };
}

/** Closes the windows of a test; returns their complaints, except those that the test provokes. */
export async function closeWindows({ windows }: Market, excused?: RegExp): Promise<string[]> {
  const closed = windows.splice(0);
  await Promise.all(closed.map((watched) => watched.close()));
  return closed.flatMap(({ complaints }) => complaints).filter((text) => excused?.test(text) !== true);
}

/** What kind of window a customer has: a phone's or a desktop's. */
export type Look = readonly [window: 'small' | 'desktop', language: Language, colorScheme: 'light' | 'dark'];

export interface Shopper {
  readonly page: Page;
  readonly language: Language;
  /** The shop's texts in the customer's language. */
  readonly shop: (typeof shopWords)[Language];
  say(word: CheckoutWord, values?: Readonly<Record<string, string>>): string;
  /** Another window of the same kind, in another browser session. */
  beside(url: string): Promise<Page>;
  /** Saves a picture for a person to look at. */
  picture(name: string, page?: Page): Promise<void>;
  readonly market: Market;
}

/** Browsers know no Lingala: its readers have a French browser, and choose their language in the shop. */
const LOCALES = { en: 'en-GB', fr: 'fr-CD', es: 'es-ES', ru: 'ru-RU', zh: 'zh-CN', ln: 'fr-CD' } as const;

export async function openShopper(market: Market, [window, language, colorScheme]: Look): Promise<Shopper> {
  const { world, browser, windows } = market;
  const open = async (): Promise<Page> => {
    const options = { locale: LOCALES[language], colorScheme, also: [world.sandboxUrl, networkOrigin(world)] };
    const watched = await openWindow(browser, window, world.url, options);
    windows.push(watched);
    return watched.page;
  };
  const page = await open();
  return {
    page,
    language,
    market,
    shop: shopWords[language],
    say: (word, values) => checkoutText(language, word, values),
    async beside(url) {
      const other = await open();
      await other.goto(url);
      return other;
    },
    picture: (name, of = page) => keepPicture(of, `${name}-${window}-${language}-${colorScheme}`),
  };
}

/** Fills the cart and buys it; the window ends at the gateway's page. */
export async function buy(shopper: Shopper, ...goods: readonly Good[]): Promise<Order> {
  await fillCart(shopper, goods);
  await pressBuy(shopper);
  return expectGateway(shopper);
}

/** Buys again what has not been paid, from the shop's page about it. */
export async function buyAgain(shopper: Shopper): Promise<Order> {
  const { page, shop } = shopper;
  await page.getByRole('button', { name: shop.buyAgain }).click();
  await page.getByRole('heading', { name: shop.cartTitle }).waitFor();
  await pressBuy(shopper);
  return expectGateway(shopper);
}

export async function fillCart({ page, shop, language, market }: Shopper, goods: readonly Good[]): Promise<void> {
  await page.goto(`${market.world.sandboxUrl}/shop?lang=${language}`);
  for (const good of goods) {
    await page.locator(`#${good}`).getByRole('button', { name: shop.add }).click();
    await page.locator(`#${good} .added`).waitFor();
  }
  await page.locator('.added a').first().click();
  await page.getByRole('heading', { name: shop.cartTitle }).waitFor();
}

export async function pressBuy({ page }: Shopper): Promise<void> {
  await page.locator('.till button.main').click();
}

/** Expects the customer to be at the gateway, in the shop's language. */
async function expectGateway(shopper: Shopper): Promise<Order> {
  const { page, language, market } = shopper;
  await page.waitForURL((url) => url.origin === market.world.url);
  expect(await page.locator('html').getAttribute('lang')).toBe(language);
  return newestOrder(shopper);
}

function newestOrder({ market }: Shopper): Order {
  const [order] = market.world.sandbox.orders.newest(1);
  if (order === undefined) throw new Error('the shop has sold nothing');
  return order;
}

/** The order as the shop knows it now. */
export function orderNow({ market }: Shopper, { id }: Order): Order {
  const order = market.world.sandbox.orders.get(id);
  if (order === undefined) throw new Error('the shop does not know its order');
  return order;
}

/** Chooses a payment method; returns the panel with the method's own fields. */
export async function choose({ page }: Shopper, method: string): Promise<Locator> {
  await page.locator(`label[for="m-${method}"]`).click();
  return page.locator(`#m-${method} ~ .panel`);
}

/** Waits for the gateway's page with that title. */
export async function expectTitle({ page, say }: Shopper, word: CheckoutWord): Promise<void> {
  await page.getByRole('heading', { level: 1, name: say(word) }).waitFor();
}

/** Returns from a payment that has ended to the shop, which shows the outcome. */
export async function comeBack(shopper: Shopper, state: keyof Shopper['shop']['outcome']): Promise<void> {
  const { page, say } = shopper;
  await page.getByRole('link', { name: say('return_button') }).click();
  await expectBack(shopper, state);
}

/** Expects the customer to be at the shop again, which knows the outcome. */
export async function expectBack(shopper: Shopper, state: keyof Shopper['shop']['outcome']): Promise<void> {
  const { page, shop } = shopper;
  await page.waitForURL(/\/shop\/return\//);
  await page.getByRole('heading', { level: 1, name: shop.outcome[state].title }).waitFor();
  expect(await page.locator('html').getAttribute('lang')).toBe(shopper.language);
  await shopper.picture(`shop-${state}`);
}

/** Expects the shop's list to say that the order is paid, and that a verified webhook said so. */
export async function expectSold(shopper: Shopper, order: Order): Promise<void> {
  const { page, shop, market } = shopper;
  await page.goto(`${market.world.sandboxUrl}/shop/orders`);
  const row = page.locator('tr', { hasText: order.reference });
  await row.getByText(fill(shop.byWebhook, { time: '' }).replace(/[,，\s]+$/, '')).waitFor();
  expect(await row.locator('.state').textContent()).toBe(shop.state.paid);
  await shopper.picture('shop-orders');
}
