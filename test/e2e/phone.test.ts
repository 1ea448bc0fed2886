/**
 * The sandbox's pages in a real browser, with the gateway behind them: a payment is approved by keyboard alone on the
 * virtual phone, and its signed webhook is read in the inbox.
 *
 * If no browser is found, the run reports conspicuously what it left out; on a build server (CI=true) that is a failure.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { LANGUAGES } from '../../src/messages/messages.ts';
import { seededRandom } from '../../src/platform/testing/seeded-random.ts';
import {
  findBarriers,
  findBrowser,
  mayLeaveOut,
  openBrowser,
  openWindow,
  type Watched,
  type WINDOWS,
} from '../support/browser.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type FaultyWorld, openFaultyWorld } from '../support/faulty-world.ts';
import { type Running, startGateway } from '../support/processes.ts';
import { findSecrets, secretsOf } from '../support/secrets-in-logs.ts';
import { type Order, openShop, type Shop } from '../support/shop.ts';

const browserPath = findBrowser();
const INBOX = 'kivu';
const LOOKS = 2_400;
const LOOK_EVERY_MS = 50;

test.runIf(browserPath === undefined)('a browser to test the pages with', () => {
  const what = 'every test of pages (phone, inbox, start, control)';
  expect(mayLeaveOut(what), 'a build server needs a browser').toBe(true);
});

let database: TestDatabase;
let world: FaultyWorld;
let gateway: Running;
let url: string;
let shop: Shop;
let browser: Browser;
let windows: Watched[] = [];
const codes: string[] = [];
/** The complaints that the current test provokes. */
let excused: RegExp | undefined;

async function open(window: keyof typeof WINDOWS, path: string): Promise<Page> {
  const watched = await openWindow(browser, window, world.sandboxUrl);
  windows.push(watched);
  await watched.page.goto(`${world.sandboxUrl}${path}`);
  return watched.page;
}

/** Reads until `done` accepts the value. */
async function until<T>(read: () => Promise<T>, done: (value: T) => boolean): Promise<T> {
  for (let looks = 0; ; looks += 1) {
    const value = await read();
    if (done(value) || looks >= LOOKS) return value;
    await pause(LOOK_EVERY_MS);
  }
}

async function call(method: string, path: string, order: Order, body?: object) {
  const response = await fetch(`${url}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${order.token}`,
      'accept-language': 'en',
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  return (await response.json()) as { status: string; data: { status: string; payment_info: unknown } };
}

function mobileMoneyStatus(order: Order, wanted: string) {
  return until(
    async () => (await call('GET', `/payments/mobile-money/status/${order.payment_id}`, order)).data,
    ({ status }) => status === wanted,
  );
}

/** Marks the open document: one that was loaded again has no mark. */
function mark(page: Page): Promise<void> {
  return page.evaluate("document.documentElement.setAttribute('data-first', 'yes')");
}

function isMarked(page: Page): Promise<boolean> {
  return page.evaluate<boolean>("document.documentElement.getAttribute('data-first') === 'yes'");
}

/** Presses Tab until an element of that name has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 40; presses += 1) {
    const focused = await page.evaluate<string>('document.activeElement.textContent.trim()');
    if (focused === name) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`the keyboard does not lead to ${name}`);
}

async function expectWebhook(page: Page, order: Order, event: string): Promise<void> {
  // A webhook that was acknowledged too slowly arrives once more.
  const card = page.locator('article', { hasText: order.transaction_id }).first();
  await card.locator('.verdict.verified').waitFor();
  expect(await card.locator('h2').textContent()).toContain(event);
}

describe.runIf(browserPath !== undefined)('in a browser', () => {
  beforeAll(async () => {
    database = await createTestDatabase();
    world = await openFaultyWorld(database.url);
    const address = await world.address();
    url = address.url;
    gateway = await startGateway(world.gatewayEnv(address.port));
    browser = await openBrowser(browserPath ?? '');
    const told = await fetch(`${world.sandboxUrl}/inbox/${INBOX}/secret`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ secret: world.merchant.webhook_secret }),
    });
    expect(told.status).toBe(204);
    shop = openShop({
      ...world,
      notifyUrl: `${world.sandboxUrl}/inbox/${INBOX}`,
      random: seededRandom(1),
      kinds: ['wallet'],
      url: () => url,
    });
  });
  afterAll(async () => {
    await browser?.close();
    await world?.close();
    await database?.drop();
  });
  afterEach(async () => {
    const complaints = windows.flatMap((watched) => watched.complaints).filter((text) => excused?.test(text) !== true);
    excused = undefined;
    await Promise.all(windows.map((watched) => watched.close()));
    windows = [];
    expect(complaints).toEqual([]);
  });

  const approved = { phone: '243810000142', desktop: '243810000143' };
  test.each(['phone', 'desktop'] as const)(
    'a prompt appears by itself and is approved by keyboard (%s)',
    async (window) => {
      const msisdn = approved[window];
      const page = await open(window, `/phone/${msisdn}?lang=en`);
      await page.getByText('No request yet').waitFor();
      const inbox = await open(window, `/inbox/${INBOX}`);
      await mark(page);
      await mark(inbox);
      await page.bringToFront();
      const order = await shop.pay({ msisdn: `+${msisdn}`, wallet: undefined, amount: '45.90' });
      await page.locator('.amount', { hasText: '45.90' }).waitFor();
      expect(await page.locator('.sheet').textContent()).toContain('Boutique Kivu');
      expect(await findBarriers(page)).toEqual([]);
      await page.keyboard.type('0000');
      await page.keyboard.press('Enter');
      await page.locator('.past .state.approved').waitFor();
      const paid = await mobileMoneyStatus(order, 'completed');
      expect(paid).toMatchObject({ status: 'completed', payment_info: { amount: '45.90', currency: 'usd' } });
      expect(JSON.stringify(paid)).not.toContain(msisdn);
      await expectWebhook(inbox, order, 'payment.approved');
      expect(await findBarriers(inbox)).toEqual([]);
      expect(await findBarriers(page)).toEqual([]);
      expect([await isMarked(page), await isMarked(inbox)], 'neither page was loaded anew').toEqual([true, true]);
    },
  );

  test('a wrong PIN says what to do, and a rejected prompt cancels the payment', async () => {
    const page = await open('phone', '/phone/243810000144?lang=en');
    const order = await shop.pay({ msisdn: '+243810000144', wallet: undefined, amount: '7.25', ending: 'cancelled' });
    await page.locator('.amount', { hasText: '7.25' }).waitFor();
    // A refused answer is an error status, which browsers report.
    excused = /^400 for .*\/prompts\/|status of 400/;
    await page.keyboard.type('1111');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').textContent()).toContain('0000');
    expect(await findBarriers(page)).toEqual([]);
    await tabTo(page, 'Reject');
    await page.keyboard.press('Enter');
    await page.locator('.past .state.rejected').waitFor();
    expect(await mobileMoneyStatus(order, 'cancelled')).toMatchObject({ status: 'cancelled' });
    const inbox = await open('phone', `/inbox/${INBOX}`);
    await expectWebhook(inbox, order, 'payment.cancelled');
  });

  test('both answers fit into the prompt in a narrow window, in every language', async () => {
    const order = await shop.pay({ msisdn: '+243810000145', wallet: undefined, amount: '8.75' });
    for (const language of LANGUAGES) {
      const page = await open('narrow', `/phone/243810000145?lang=${language}`);
      await page.locator('.choice').waitFor();
      const outside = await page.locator('.choice button').evaluateAll((buttons) =>
        buttons.flatMap((button) => {
          const [inner, outer] = [button, button.closest('.sheet')].map((one) => one?.getBoundingClientRect());
          const fits = inner && outer && inner.left >= outer.left && inner.right <= outer.right;
          return fits ? [] : [button.textContent];
        }),
      );
      expect(outside, language).toEqual([]);
    }
    const page = await open('narrow', '/phone/243810000145?lang=en');
    await page.locator('[name=pin]').first().focus();
    await page.keyboard.type('0000');
    await page.keyboard.press('Enter');
    expect(await mobileMoneyStatus(order, 'completed')).toMatchObject({ status: 'completed' });
  });

  test('a large amount fits into the prompt, in a narrow window and a wide one', async () => {
    await shop.pay({ msisdn: '+243810000146', wallet: undefined, amount: '99999999.99' });
    for (const window of ['narrow', 'desktop'] as const) {
      const page = await open(window, '/phone/243810000146?lang=fr');
      await page.locator('.choice').waitFor();
      const [inner = 0, outer = 0] = await page
        .locator('.sheet .amount')
        .evaluate(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth]);
      expect(inner, window).toBeLessThanOrEqual(outer);
    }
  });

  test('a code arrives live for a large wallet payment, and completes it', async () => {
    const page = await open('desktop', '/phone/243810000040?lang=en');
    await mark(page);
    const order = await shop.pay({ wallet: world.wallets[0], msisdn: undefined, amount: '150.00' });
    expect(await shop.status(order)).toMatchObject({ status: 'pending_otp_verification' });
    await page.locator('.note').first().waitFor();
    const text = (await page.locator('.note .copy').first().getAttribute('data-copy')) ?? '';
    expect(text).toMatch(/^\d{6}$/);
    codes.push(text);
    expect(await isMarked(page)).toBe(true);
    expect(await findBarriers(page)).toEqual([]);
    const verified = await call('POST', '/payments/verify-otp', order, {
      payment_id: order.payment_id,
      otp_code: text,
    });
    expect(verified).toMatchObject({ status: 'approved', debit_amount: '150.00' });
    const inbox = await open('desktop', `/inbox/${INBOX}`);
    await expectWebhook(inbox, order, 'payment.approved');
  });

  test.each(['/', '/phone', '/inbox', '/control', '/phone/243810000142?lang=fr', '/phone/243810000101?lang=zh'])(
    '%s is accessible',
    async (path) => {
      for (const window of ['phone', 'desktop'] as const) {
        const page = await open(window, path);
        expect(await page.locator('h1').count()).toBe(1);
        expect(await findBarriers(page)).toEqual([]);
        const wide = await page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');
        expect(wide, 'nothing has to be scrolled sideways').toBe(false);
      }
    },
  );

  test('in a narrow window no table of the start page scrolls sideways, and no number is cut off', async () => {
    const page = await open('narrow', '/');
    const wide = '({ scrollWidth, parentElement }) => scrollWidth > parentElement.clientWidth';
    expect(await page.evaluate(`[...document.querySelectorAll('table')].some(${wide})`)).toBe(false);
    const phones = await open('phone', '/phone');
    const cut = "(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)(document.querySelector('#number'))";
    expect(await phones.evaluate(cut)).toBe(false);
  });

  test('the logs contain no secret', async () => {
    expect(shop.wrongs).toEqual([]);
    await gateway.stop();
    const secrets = secretsOf(world.merchant, shop.orders, {
      'one-time code': codes,
      'phone number of a wallet': ['+243810000040', '+243810000041', '+243810000042'],
    });
    expect(findSecrets(gateway.printed(), secrets)).toEqual([]);
  });
});
