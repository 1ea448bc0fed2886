/**
 * The hosted page in a real browser: by keyboard alone, with and without scripts, on narrow and wide screens, in both
 * colour schemes and several languages.
 *
 * If no browser is found, the run reports conspicuously what it left out; on a build server (CI=true) that is a failure.
 */
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { amountText } from '../../src/checkout/amounts.ts';
import { amountLine } from '../../src/checkout/shown.ts';
import { LANGUAGES } from '../../src/messages/messages.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { findBrowser, keepPicture, mayLeaveOut } from '../support/browser.ts';
import { type Hosted, host, setSettings } from '../support/checkout-flows.ts';
import { answerPrompt, codeOn, numberEnding } from '../support/flows.ts';
import { expectUsable, holdBack, openPageDesk, type PageDesk } from '../support/page-desk.ts';
import { addAccount, pdfFile } from '../support/transfer-flows.ts';
import type { World } from '../support/world.ts';

const browserPath = findBrowser();

test.runIf(browserPath === undefined)('a browser to test the hosted page with', () => {
  expect(mayLeaveOut('every test of the hosted page in a browser'), 'a build server needs a browser').toBe(true);
});

let desk: PageDesk;
let world: World;
let merchant: MerchantCreated;
let open: PageDesk['open'];

/** Presses Tab until that element has the focus. */
async function tabTo(page: Page, selector: string): Promise<void> {
  for (let presses = 0; presses < 60; presses += 1) {
    const there = await page.evaluate<boolean>(`document.activeElement?.matches(${JSON.stringify(selector)}) === true`);
    if (there) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`the keyboard does not lead to ${selector}`);
}

function largePayment(more: object = {}): Promise<Hosted> {
  return host(world, merchant, { minted: { amount: '150.00', ...more } });
}

describe.runIf(browserPath !== undefined)('in a browser', () => {
  beforeAll(async () => {
    desk = await openPageDesk(browserPath ?? '');
    ({ world, merchant, open } = desk);
  });
  afterAll(() => desk?.close());
  afterEach(() => desk.endTest());

  test.each([
    ['small', 'fr-CD'],
    ['wide', 'en-GB'],
    ['small', 'ru-RU'],
    ['wide', 'zh-CN'],
  ] as const)('every page is accessible: %s, %s', async (window, locale) => {
    const phone = numberEnding('42');
    const wallet = await world.wallet({ balance: 500_00n, phone });
    const page = await open(window, (await largePayment()).url, { locale });
    await expectUsable(page);
    for (const method of ['mobile_money', 'card', 'flash', 'bank_transfer', 'wallet']) {
      await page.locator(`label[for=m-${method}]`).click();
      await expectUsable(page);
    }
    desk.excuse(/^400 for .*\/pay$|status of 400/);
    await page.fill('#wallet-number', wallet.number);
    await page.fill('#wallet-pin', '9876');
    await page.locator('form:has(#wallet-pin) button').click();
    await page.locator('.fault').waitFor();
    await expectUsable(page);
    await page.fill('#wallet-pin', wallet.pin);
    await page.locator('form:has(#wallet-pin) button').click();
    await page.locator('#otp-code').waitFor();
    await expectUsable(page);
    await page.locator('#otp-code').pressSequentially(await codeOn(world, phone));
    await page.locator('form:has(#otp-code) button').click();
    await page.locator('.receipt').waitFor();
    await expectUsable(page);
  });

  test.each([
    ['narrow', 'fr-CD', 'light', true],
    ['wide', 'en-GB', 'dark', true],
    ['phone', 'ru-RU', 'light', false],
  ] as const)('a number that the shop has given, or another: %s, %s, %s, scripts: %s', async (...look) => {
    const [window, locale, colorScheme, javaScriptEnabled] = look;
    const wallet = await world.wallet({ balance: 500_00n });
    const body = { phone_number: numberEnding('42'), wallet_number: wallet.number };
    const { url } = await host(world, merchant, { body });
    const page = await open(window, url, { locale, colorScheme, javaScriptEnabled });
    const usable = async (state: string): Promise<void> => {
      if (javaScriptEnabled) await expectUsable(page);
      await keepPicture(page, `given-${window}-${state}`);
    };
    await usable('offered');
    await tabTo(page, '#mobile_money-given');
    expect(await page.locator('#mobile_money-phone').isVisible()).toBe(false);
    await page.keyboard.press('ArrowDown');
    expect(await page.locator('#mobile_money-phone').isVisible()).toBe(true);
    await tabTo(page, '#mobile_money-phone');
    await usable('other');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('ArrowUp');
    expect(await page.locator('#mobile_money-phone').isVisible()).toBe(false);
    await page.locator('label[for=m-wallet]').click();
    desk.excuse(/^400 for .*\/pay$|status of 400/);
    await page.fill('#wallet-pin', '9876');
    await page.keyboard.press('Enter');
    await page.locator('.fault').waitFor();
    await usable('refused');
    await page.fill('#wallet-pin', wallet.pin);
    await page.keyboard.press('Enter');
    await page.locator('.receipt').waitFor();
  });

  test('a wallet pays by keyboard alone', async () => {
    const wallet = await world.wallet();
    const { url } = await host(world, merchant);
    const page = await open('wide', url);
    // The first method is selected, and the arrow keys move on.
    await tabTo(page, '#m-mobile_money');
    await page.keyboard.press('ArrowDown');
    expect(await page.locator('#m-card').isChecked()).toBe(true);
    await page.keyboard.press('ArrowDown');
    expect(await page.locator('#m-wallet').isChecked()).toBe(true);
    await tabTo(page, '#wallet-number');
    await page.keyboard.type(wallet.number);
    await tabTo(page, '#wallet-pin');
    await page.keyboard.type(wallet.pin);
    await page.keyboard.press('Enter');
    await page.locator('.receipt').waitFor();
  });

  test('after a submit whose loading was stopped, the form can be submitted again once something is changed', async () => {
    const wallet = await world.wallet();
    const page = await open('narrow', (await host(world, merchant)).url);
    await page.locator('label[for=m-wallet]').click();
    await page.fill('#wallet-number', wallet.number);
    await page.fill('#wallet-pin', wallet.pin);
    const pay = page.locator('form:has(#wallet-pin) button');
    const told = (): Promise<readonly unknown[]> =>
      page.evaluate(
        "[document.querySelector('[data-sending]').textContent, document.querySelectorAll('[aria-busy=true]').length]",
      );
    // An answer without a page leaves this page in place, like a loading that is stopped.
    await page.route('**/pay', (route) => route.fulfill({ status: 204 }), { times: 1 });
    await pay.click();
    expect(await told()).toEqual(['One moment, please.', 1]);
    await page.fill('#wallet-pin', wallet.pin);
    expect(await told()).toEqual(['', 0]);
    await pay.click();
    await page.locator('.receipt').waitFor();
  });

  test('text enlarged to twice its size needs no sideways scrolling', async () => {
    const wallet = await world.wallet();
    const page = await open('narrow', (await host(world, merchant)).url, { locale: 'ru-RU' });
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('Page.enable');
    await devtools.send('Page.setFontSizes', { fontSizes: { standard: 32 } });
    const size = (selector: string) =>
      page.evaluate<string>(`getComputedStyle(document.querySelector('${selector}')).fontSize`);
    expect([await size('body'), await size('h1'), await size('.help')]).toEqual(['32px', '44px', '30px']);
    const beyond = (): Promise<number> =>
      page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    for (const method of ['mobile_money', 'bank_transfer', 'wallet']) {
      await page.locator(`label[for=m-${method}]`).click();
      expect(await beyond(), method).toBe(0);
    }
    await page.fill('#wallet-number', wallet.number);
    await page.fill('#wallet-pin', wallet.pin);
    await page.keyboard.press('Enter');
    await page.locator('.receipt').waitFor();
    expect(await beyond(), 'receipt').toBe(0);
  });

  test('a long amount is the largest text of its page, and is broken nowhere', async () => {
    const large = await world.merchant();
    await addAccount(world, large, { currency: 'cdf' });
    const { url } = await host(world, large, { minted: { amount: '12345678.90', currency: 'cdf' } });
    const page = await open('narrow', url, { locale: 'ru-RU' });
    const linesOf = (selector: string): Promise<number> =>
      page.evaluate(`(() => {
        const range = document.createRange();
        range.selectNodeContents(document.querySelector('${selector}'));
        return new Set([...range.getClientRects()].map(({ top }) => top)).size;
      })()`);
    const sizeOf = (selector: string): Promise<number> =>
      page.evaluate(`Number(getComputedStyle(document.querySelector('${selector}')).fontSize.replace('px', ''))`);
    expect(await sizeOf('.amount')).toBeGreaterThan(await sizeOf('h1'));
    expect(await linesOf('.amount')).toBe(1);
    await page.locator('label[for=m-bank_transfer]').click();
    await page.locator('form:has([name=account]) button').click();
    await page.locator('#file').waitFor();
    expect(await linesOf('.facts dd span')).toBe(1);
    await expectUsable(page);
    await keepPicture(page, 'long-amount');
  });

  test('a receipt breaks no amount in two, however many characters it has', async () => {
    const wallet = await world.wallet();
    const page = await open('narrow', (await host(world, merchant)).url);
    await page.locator('label[for=m-wallet]').click();
    await page.fill('#wallet-number', wallet.number);
    await page.fill('#wallet-pin', wallet.pin);
    await page.keyboard.press('Enter');
    await page.locator('.receipt').waitFor();
    const broken: string[] = [];
    for (const currency of ['usd', 'cdf', 'ugx'] as const) {
      for (const language of LANGUAGES) {
        for (let minor = 888n; minor < 10n ** 12n; minor = minor * 10n + 8n) {
          const text = amountText(language, minor, currency);
          const lines = await page.evaluate(
            `(() => {
              const amount = document.querySelector('.receipt .amount');
              amount.outerHTML = ${JSON.stringify(amountLine(text).markup)};
              const range = document.createRange();
              range.selectNodeContents(document.querySelector('.receipt .amount'));
              return new Set([...range.getClientRects()].map(({ top }) => top)).size;
            })()`,
          );
          if (lines !== 1) broken.push(text);
        }
      }
    }
    expect(broken).toEqual([]);
  });

  test('the first faulty field gets the focus, and its error disappears once it is changed', async () => {
    const wallet = await world.wallet({ balance: 1_00n });
    const page = await open('small', (await host(world, merchant)).url);
    desk.excuse(/^40[02] for .*\/pay$|status of 40[02]/);
    // The browser applies `autofocus` when it next draws the page, which may be after the element is there.
    const focusOn = (selector: string) =>
      page.waitForFunction(`document.activeElement.matches(${JSON.stringify(selector)})`);
    await page.locator('label[for=m-mobile_money]').click();
    await page.fill('#mobile_money-phone', '12');
    await page.keyboard.press('Enter');
    await page.locator('#mobile_money-phone-fault').waitFor();
    await focusOn('#mobile_money-phone');
    await page.keyboard.type('3');
    expect(await page.locator('#mobile_money-phone-fault').count()).toBe(0);
    const phone = page.locator('#mobile_money-phone');
    expect(await phone.getAttribute('aria-invalid')).toBeNull();
    expect(await phone.getAttribute('aria-describedby')).toBe('mobile_money-phone-help');
    await page.locator('label[for=m-wallet]').click();
    await page.fill('#wallet-number', wallet.number);
    await page.fill('#wallet-pin', wallet.pin);
    await page.keyboard.press('Enter');
    await page.locator('.notice.bad').waitFor();
    await focusOn('.notice.bad');
    await expectUsable(page);
  });

  test('the language menu opens, closes and chooses by keyboard', async () => {
    const page = await open('small', (await host(world, merchant)).url);
    await tabTo(page, '.languages summary');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Escape');
    expect(await page.locator('.languages details').getAttribute('open')).toBeNull();
    await page.keyboard.press('Enter');
    // Moving the focus on reveals what the menu covers.
    await tabTo(page, '#main *');
    expect(await page.locator('.languages details').getAttribute('open')).toBeNull();
    await tabTo(page, '.languages summary');
    await page.keyboard.press('Enter');
    await tabTo(page, '.languages a[lang=es]');
    await page.keyboard.press('Enter');
    await page.getByText('¿Cómo quiere pagar?').waitFor();
    expect(await page.locator('html').getAttribute('lang')).toBe('es');
  });

  test('a waiting page names the carrier, counts down, and shows the result by itself', async () => {
    const phone = numberEnding('42');
    const page = await open('small', (await host(world, merchant)).url);
    await page.locator('label[for=m-mobile_money]').click();
    await page.fill('#mobile_money-phone', phone.slice('+243'.length));
    await page.getByText('Vodacom M-Pesa. A request').waitFor();
    await page.locator('form:has(#mobile_money-phone) button').click();
    await page.locator('.ring').waitFor();
    await expectUsable(page);
    const first = await page.locator('.clock').textContent();
    await page.locator('.clock', { hasNotText: first ?? '' }).waitFor();
    const [clock, label] = await page.evaluate<string[]>(
      `['.clock', '.ring'].map((one) => document.querySelector(one)).map((one) => one.ariaLabel ?? one.textContent)`,
    );
    expect(label, 'is heard as it is seen').toBe(`${clock} left`);
    await answerPrompt(world, phone, 'approve');
    await world.pass(10_000);
    await page.locator('.receipt').waitFor();
    await expectUsable(page);
  });

  test('the carrier shown for a number disappears when the number or its country changes, and stays in another language', async () => {
    const page = await open(
      'small',
      (await host(world, merchant, { minted: { currency: 'xof', amount: '5000' } })).url,
    );
    await page.locator('label[for=m-mobile_money]').click();
    const line = page.locator('[data-carrier]');
    await page.selectOption('#mobile_money-country', 'CI');
    await page.fill('#mobile_money-phone', '0507080910');
    await line.getByText(/^MTN MoMo\. A request/).waitFor();
    await page.fill('#mobile_money-phone', '05');
    await line.getByText(/^A request/).waitFor();
    await page.fill('#mobile_money-phone', '0507080910');
    await line.getByText(/^MTN MoMo\. A request/).waitFor();
    await page.selectOption('#mobile_money-country', 'SN');
    await line.getByText(/^A request/).waitFor();
    await page.selectOption('#mobile_money-country', 'CI');
    await line.getByText(/^MTN MoMo\. A request/).waitFor();
    await page.locator('.languages summary').click();
    await page.locator('.languages a[lang=fr]').click();
    await page.locator('html[lang=fr]').waitFor();
    await line.getByText(/^MTN MoMo/).waitFor();
  });

  test('the hours of a long session are counted down too', async () => {
    const { url } = await host(world, merchant, { minted: { ttl_seconds: 36_000 } });
    const page = await open('small', 'about:blank');
    await page.clock.install();
    await page.goto(url);
    await page.locator('.time', { hasText: '10 hr' }).waitFor();
    await page.clock.fastForward('03:30:00');
    await page.locator('.time', { hasText: '6 hr' }).waitFor();
  });

  test('a page whose time is over is loaded once, however slow the network is', async () => {
    const { url } = await host(world, merchant, { minted: { ttl_seconds: 1 } });
    const page = await open('small', url);
    const held = holdBack();
    let loads = 0;
    await page.route(/\/checkout\/chk_[0-9a-z]+$/, async (route) => {
      if (!route.request().isNavigationRequest()) return route.continue();
      loads += 1;
      await held.over;
      await route.continue();
    });
    // The page asks for news every three seconds, and checks every second whether its time is over.
    for (let asked = 0; asked < 2; asked += 1) await page.waitForResponse(/\/state$/);
    expect(loads).toBe(1);
    await world.pass(2_000);
    held.end();
    await page.getByText('The time to pay is over').waitFor();
  });

  test('without scripts a phone can pay too, and the page refreshes by itself', async () => {
    const phone = numberEnding('42');
    const page = await open('small', (await host(world, merchant)).url, { javaScriptEnabled: false });
    await page.locator('label[for=m-mobile_money]').click();
    await page.fill('#mobile_money-phone', phone);
    await page.locator('form:has(#mobile_money-phone) button').click();
    await page.locator('.ring').waitFor();
    await answerPrompt(world, phone, 'approve');
    await world.pass(10_000);
    await page.locator('.receipt').waitFor();
  });

  test('without scripts a transfer can be promised and proved', async () => {
    const page = await open('wide', (await host(world, merchant)).url, { javaScriptEnabled: false });
    await page.locator('label[for=m-bank_transfer]').click();
    await page.locator('form:has([name=account]) button').click();
    await page.locator('#file').setInputFiles({ name: 'proof.pdf', mimeType: 'application/pdf', buffer: pdfFile() });
    await page.locator('form:has(#file) button').click();
    await page.getByText('We have your proof').waitFor();
  });

  test('what a transfer needs can be copied by keyboard in the form that a bank accepts, and the copy is announced', async () => {
    const page = await open('small', (await host(world, merchant, { minted: { amount: '1234.50' } })).url);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.locator('label[for=m-bank_transfer]').click();
    await page.locator('form:has([name=account]) button').click();
    const amount = page.locator('.facts > div', { hasText: 'Amount' });
    expect(await amount.locator('dd > span').textContent()).toBe('$1,259.19');
    await tabTo(page, '[aria-label="Copy: Amount"]');
    await page.keyboard.press('Enter');
    await page.getByRole('status').filter({ hasText: 'Copied: Amount' }).waitFor({ state: 'attached' });
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('1259.19');
  });

  test('totals follow the selected method if its fee differs', async () => {
    const dear = await world.merchant('Marché Virunga');
    const fees = [
      { currency: 'usd', rate_ppm: 20_000, method: 'wallet' },
      { currency: 'usd', rate_ppm: 40_000 },
    ] as const;
    await setSettings(world, dear, { fees, brand: { colour: '#7a1fa2' } });
    const page = await open('wide', (await host(world, dear)).url);
    const amount = page.locator('.amount:visible');
    expect(await amount.allTextContents()).toEqual(['$13.00']);
    await page.locator('label[for=m-wallet]').click();
    expect(await amount.allTextContents()).toEqual(['$12.75']);
    await expectUsable(page);
  });
});
