/**
 * The demo shop in a real browser, with the gateway behind it: an order is bought by keyboard alone, and the page shows live
 * when it is paid; all this also works without script.
 *
 * If no browser is found these tests are left out; the tests of the virtual phone report that conspicuously.
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Order } from '../../sandbox/shop/orders.ts';
import { anOrder } from '../../sandbox/shop/testing/order.ts';
import { findBarriers, findBrowser, openBrowser, openWindow, type Watched, type WINDOWS } from '../support/browser.ts';
import { openWorld, type World } from '../support/world.ts';

const browserPath = findBrowser();

let world: World;
let browser: Browser;
let windows: Watched[] = [];
/** The complaints that the current test provokes. */
let excused: RegExp | undefined;

async function open(window: keyof typeof WINDOWS, path: string): Promise<Page> {
  const watched = await openWindow(browser, window, world.sandboxUrl);
  windows.push(watched);
  await watched.page.goto(`${world.sandboxUrl}${path}`);
  return watched.page;
}

/** Presses Tab until the focused element's text matches. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let presses = 0; presses < 60; presses += 1) {
    await page.keyboard.press('Tab');
    if (name.test(await page.evaluate<string>('document.activeElement.textContent.trim()'))) return;
  }
  throw new Error(`the keyboard does not lead to ${name}`);
}

function newest(): Order {
  const [order] = world.sandbox.orders.newest(1);
  if (order === undefined) throw new Error('the shop has sold nothing');
  return order;
}

/** Pays as the payment page would: by the order's own session. */
async function pay({ session_token: bearer, transaction_id }: Order): Promise<void> {
  const wallet = await world.wallet();
  const { json } = await world.call('GET', `/payments/transaction/${transaction_id}`, { bearer });
  const method = { payment_method_id: 'wallet', ewallet_number: wallet.number, ewallet_pin: wallet.pin };
  const paid = await world.call('POST', '/payments/submit', {
    bearer,
    body: { payment_id: json.payment_id, ...method },
  });
  expect(paid.json, paid.text).toMatchObject({ status: 'approved' });
}

/** Buys one packet of coffee; the window ends at the gateway. */
async function buyCoffee(page: Page): Promise<Order> {
  excused = new RegExp(`${new URL(world.url).host}|status of 40`);
  await tabTo(page, /^Add to cart: Kivu coffee/);
  await page.keyboard.press('Enter');
  await page.getByText('In your cart: 1').waitFor();
  await tabTo(page, /^See the cart/);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Your cart' }).waitFor();
  await tabTo(page, /^Buy for 9.50/);
  await Promise.all([page.waitForURL((url) => url.origin === world.url), page.keyboard.press('Enter')]);
  return newest();
}

describe.runIf(browserPath !== undefined)('in a browser', () => {
  beforeAll(async () => {
    world = await openWorld();
    browser = await openBrowser(browserPath ?? '');
  });
  afterAll(async () => {
    await browser?.close();
    await world?.close();
  });
  afterEach(async () => {
    const complaints = windows.flatMap((watched) => watched.complaints).filter((text) => excused?.test(text) !== true);
    excused = undefined;
    await Promise.all(windows.map((watched) => watched.close()));
    windows = [];
    expect(complaints).toEqual([]);
  });

  async function expectUsable(page: Page): Promise<void> {
    expect(await page.locator('h1').count()).toBe(1);
    expect(await findBarriers(page)).toEqual([]);
    for (const width of [320, 390, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      const wide = await page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');
      expect(wide, `nothing has to be scrolled sideways at ${width}`).toBe(false);
    }
  }

  test('a shop without a gateway says how to connect one', async () => {
    const page = await open('phone', '/shop');
    expect(await page.locator('pre').textContent()).toContain('/shop/credential');
    await expectUsable(page);
  });

  test('with a gateway, a cart is bought by keyboard alone, and the order page shows live when it is paid', async () => {
    const { key_id, secret, webhook_secret } = await world.merchant();
    const told = await fetch(`${world.sandboxUrl}/shop/credential`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ gateway_url: world.url, credential: `${key_id}:${secret}`, webhook_secret }),
    });
    expect(told.status).toBe(204);
    const page = await open('desktop', '/shop');
    const order = await buyCoffee(page);
    await page.goto(`${world.sandboxUrl}/shop/return/${order.id}`);
    await page.getByRole('heading', { name: 'Not paid yet' }).waitFor();
    const list = await open('phone', '/shop/orders');
    for (const one of [page, list]) await one.evaluate("document.documentElement.setAttribute('data-first', 'yes')");
    await page.bringToFront();
    await pay(order);
    await page.getByRole('heading', { name: 'Thank you, it is paid' }).waitFor();
    await page.locator('.count').waitFor({ state: 'detached' });
    await list.bringToFront();
    await list.getByText('verified webhook').waitFor();
    for (const one of [page, list]) {
      const first = await one.evaluate("document.documentElement.getAttribute('data-first')");
      expect(first, 'no page was loaded anew').toBe('yes');
    }
  });

  test('a wallet pays on the payment page, and its customer comes back to a receipt', async () => {
    const wallet = await world.wallet();
    const page = await open('phone', '/shop');
    const { id } = await buyCoffee(page);
    await page.locator('label[for="m-wallet"]').click();
    const form = page.locator('#m-wallet ~ .panel');
    await form.getByLabel('Wallet number').fill(wallet.number);
    await form.getByLabel('PIN').fill(wallet.pin);
    await form.getByRole('button').click();
    await page.locator(`a[href*="/shop/return/${id}"]`).click();
    await page.getByRole('heading', { name: 'Thank you, it is paid' }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/shop/return/${id}`);
    await page.goto(`${world.sandboxUrl}/shop/cart`);
    await page.getByRole('heading', { name: 'Nothing in it yet' }).waitFor();
  });

  test('without script, the page of a waiting order reloads itself until it is paid', async () => {
    const page = await open('phone', '/shop');
    const order = await buyCoffee(page);
    const context = await browser.newContext({ javaScriptEnabled: false, locale: 'en-GB' });
    const plain = await context.newPage();
    await plain.goto(`${world.sandboxUrl}/shop/return/${order.id}`);
    await plain.getByRole('heading', { name: 'Not paid yet' }).waitFor();
    await pay(order);
    await plain.getByRole('heading', { name: 'Thank you, it is paid' }).waitFor();
    await context.close();
  });

  test('the window, the cart and the list are accessible', async () => {
    const page = await open('desktop', '/shop');
    await page.locator('#basket button').click();
    for (const path of ['/shop?lang=ru', '/shop/cart?lang=fr&currency=cdf', '/shop/orders?lang=ln', '/shop?lang=zh']) {
      await page.goto(`${world.sandboxUrl}${path}`);
      for (const summary of await page.locator('summary').all()) await summary.click();
      await expectUsable(page);
    }
  });

  test('the list of a narrow window sets colons as its language does', async () => {
    world.sandbox.orders.add(anOrder({ id: 'listed', reference: 'BK-LISTED' }));
    const page = await open('narrow', '/shop/orders');
    for (const [language, colon] of [
      ['en', ': '],
      ['fr', '\u00a0: '],
      ['zh', '：'],
    ]) {
      await page.goto(`${world.sandboxUrl}/shop/orders?lang=${language}`);
      const said = await page.evaluate<string>(
        'getComputedStyle(document.querySelector(".orders td:nth-child(4)"), "::before").content',
      );
      expect(said, language).toMatch(new RegExp(`\\p{L}${colon}"$`, 'u'));
    }
  });

  test.each(['approved', 'failed', 'cancelled', 'expired', 'refunded'])(
    'an order that is %s is accessible',
    async (status) => {
      const order = anOrder({ id: status, reference: `BK-${status}`, transaction_id: `txn_${status}` });
      world.sandbox.orders.add(order);
      const read = { ...order, customer_reference: order.reference, status };
      world.sandbox.orders.answered(order.id, read, world.clock.now());
      await expectUsable(await open('phone', `/shop/return/${order.id}?lang=es`));
    },
  );
});
