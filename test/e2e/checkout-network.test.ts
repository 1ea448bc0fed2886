/**
 * The hosted page on a poor network and a phone that sleeps: nothing that was typed is lost, and the page finds back by itself.
 *
 * If no browser is found these tests are left out; those of the hosted page report that conspicuously.
 */
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { findBrowser } from '../support/browser.ts';
import { networkOrigin } from '../support/card-form.ts';
import { host } from '../support/checkout-flows.ts';
import { answerPrompt, numberEnding } from '../support/flows.ts';
import { expectUsable, holdBack, openPageDesk, type PageDesk } from '../support/page-desk.ts';
import { pdfFile } from '../support/transfer-flows.ts';

const browserPath = findBrowser();

let desk: PageDesk;

/** A page whose browser's time is moved by the test. */
async function openTimed(url: string): Promise<Page> {
  const page = await desk.open('small', 'about:blank');
  await page.clock.install();
  await page.goto(url);
  return page;
}

describe.runIf(browserPath !== undefined)('in a browser', () => {
  beforeAll(async () => {
    desk = await openPageDesk(browserPath ?? '');
  });
  afterAll(() => desk?.close());
  afterEach(() => desk.endTest());

  test('a payment that is pressed without a connection stays on the page, with all that was typed', async () => {
    const { world, merchant } = desk;
    const wallet = await world.wallet();
    const page = await desk.open('small', (await host(world, merchant)).url);
    await page.locator('label[for=m-wallet]').click();
    await page.fill('#wallet-number', wallet.number);
    await page.fill('#wallet-pin', wallet.pin);
    await page.context().setOffline(true);
    desk.excuse(/ERR_INTERNET_DISCONNECTED/);
    await page.keyboard.press('Enter');
    await page.getByText('There is no connection').waitFor();
    expect(await page.inputValue('#wallet-number')).toBe(wallet.number);
    expect(await page.locator('[aria-busy=true]').count()).toBe(0);
    await expectUsable(page);
    await page.context().setOffline(false);
    await page.getByText('There is no connection').waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    await page.locator('.receipt').waitFor();
  });

  test('a customer who has changed the language, and then gone to the card form, can go back', async () => {
    const { world, merchant } = desk;
    const page = await desk.open('small', (await host(world, merchant)).url, { also: [networkOrigin(world)] });
    await page.locator('label[for=m-mobile_money]').click();
    await page.fill('#mobile_money-phone', '0812345642');
    await page.locator('.languages summary').click();
    await page.locator('.languages a[lang=ru]').click();
    await page.locator('html[lang=ru]').waitFor();
    await page.locator('label[for=m-card]').click();
    await page.locator('form[action$="/card"] button').click();
    await page.locator('form[data-card] button:enabled').waitFor();
    await page.goBack();
    expect(await page.locator('html').getAttribute('lang')).toBe('ru');
    expect(await page.locator('#m-mobile_money').count()).toBe(1);
    const again = await page.reload();
    expect(again?.request().method()).toBe('GET');
  });

  test('what was typed survives a change of the language, except a PIN, and without appearing in an address', async () => {
    const { world, merchant } = desk;
    const wallet = await world.wallet();
    const page = await desk.open('small', (await host(world, merchant)).url);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    const change = async (language: string): Promise<void> => {
      await page.locator('.languages summary').click();
      await page.locator(`.languages a[lang=${language}]`).click();
      await page.locator(`html[lang=${language}]`).waitFor();
    };
    await page.locator('label[for=m-mobile_money]').click();
    await page.fill('#mobile_money-phone', '0812345642');
    await change('ru');
    expect(await page.inputValue('#mobile_money-phone')).toBe('0812345642');
    await page.locator('label[for=m-wallet]').click();
    await page.fill('#wallet-number', wallet.number);
    await page.fill('#wallet-pin', wallet.pin);
    await change('fr');
    expect(await page.locator('#m-wallet').isChecked()).toBe(true);
    expect(await page.inputValue('#wallet-number')).toBe(wallet.number);
    expect(await page.inputValue('#wallet-pin')).toBe('');
    expect(asked.filter((url) => url.includes('0812345642') || url.includes(wallet.number))).toEqual([]);
    await expectUsable(page);
    await page.fill('#wallet-pin', wallet.pin);
    await page.keyboard.press('Enter');
    await page.locator('.receipt').waitFor();
    expect(await page.locator('html').getAttribute('lang')).toBe('fr');
  });

  test('a page whose time is over without a connection stays in sight until there is one', async () => {
    const { world, merchant } = desk;
    const page = await openTimed((await host(world, merchant, { minted: { ttl_seconds: 600 } })).url);
    await page.context().setOffline(true);
    desk.excuse(/ERR_INTERNET_DISCONNECTED/);
    await page.clock.runFor(630_000);
    expect(await page.locator('.amount').isVisible()).toBe(true);
    await world.pass(601_000);
    await page.context().setOffline(false);
    await page.clock.runFor(5_000);
    await page.getByText('The time to pay is over').waitFor();
  });

  test('a page whose time is over is not given up for a network that its browser takes for one', async () => {
    const { world, merchant } = desk;
    const page = await openTimed((await host(world, merchant, { minted: { ttl_seconds: 600 } })).url);
    await world.pass(601_000);
    // As on a phone with a signal and no data, or while the gateway is started anew.
    await page.route(/\/checkout\//, (route) => route.abort('connectionrefused'));
    desk.excuse(/ERR_CONNECTION_REFUSED/);
    const refused = page.waitForEvent('requestfailed', (request) => /chk_[0-9a-z]+$/.test(request.url()));
    await page.clock.runFor(630_000);
    await refused;
    expect(await page.locator('.amount').isVisible()).toBe(true);
    await page.unroute(/\/checkout\//);
    await page.clock.runFor(20_000);
    await page.getByText('The time to pay is over').waitFor();
  });

  test('a browser that never says that it has a connection pays, and shows what is new', async () => {
    const { world, merchant } = desk;
    const phone = numberEnding('42');
    const page = await desk.open('small', 'about:blank');
    await page.addInitScript("Object.defineProperty(navigator, 'onLine', { get: () => false })");
    await page.goto((await host(world, merchant)).url);
    await page.locator('label[for=m-mobile_money]').click();
    await page.fill('#mobile_money-phone', phone);
    await page.keyboard.press('Enter');
    await page.locator('.ring').waitFor({ timeout: 20_000 });
    await answerPrompt(world, phone, 'approve');
    await world.pass(10_000);
    await page.locator('.receipt').waitFor({ timeout: 20_000 });
  });

  test('a wall clock that is set forward takes no answer away that is on its way', async () => {
    const { world, merchant } = desk;
    const wallet = await world.wallet();
    const page = await desk.open('small', 'about:blank');
    await page.addInitScript(
      "const now = Date.now; addEventListener('submit', () => { Date.now = () => now() + 86_400_000; })",
    );
    await page.goto((await host(world, merchant)).url);
    await page.locator('label[for=m-wallet]').click();
    await page.fill('#wallet-number', wallet.number);
    await page.fill('#wallet-pin', wallet.pin);
    const held = holdBack();
    const sent = holdBack();
    await page.route(/\/pay$/, async (route) => {
      sent.end();
      await held.over;
      await route.continue();
    });
    const pressed = page.keyboard.press('Enter');
    await sent.over;
    // The page checks every second whether its time is over, and asks for news every three.
    await page.waitForResponse(/\/state$/);
    held.end();
    await pressed;
    await page.locator('.receipt').waitFor({ timeout: 20_000 });
  });

  test('a poll that is never answered is given up, and the page learns the result from the next one', async () => {
    const { world, merchant } = desk;
    const phone = numberEnding('42');
    const page = await openTimed((await host(world, merchant)).url);
    await page.locator('label[for=m-mobile_money]').click();
    await page.fill('#mobile_money-phone', phone);
    await page.keyboard.press('Enter');
    await page.locator('.ring').waitFor();
    const held = holdBack();
    const asked = holdBack();
    await page.route(
      /\/state$/,
      async (route) => {
        asked.end();
        await held.over;
        await route.abort();
      },
      { times: 1 },
    );
    await page.clock.runFor(4_000);
    await asked.over;
    await answerPrompt(world, phone, 'approve');
    await world.pass(10_000);
    await page.clock.runFor(20_000);
    await page.locator('.receipt').waitFor({ timeout: 20_000 });
    held.end();
  });

  test('a page that is looked at again, or has its connection again, asks for news at once', async () => {
    const { world, merchant } = desk;
    const phone = numberEnding('42');
    const page = await openTimed((await host(world, merchant)).url);
    await page.locator('label[for=m-mobile_money]').click();
    await page.fill('#mobile_money-phone', phone);
    await page.keyboard.press('Enter');
    await page.locator('.ring').waitFor();
    await page.context().setOffline(true);
    await page.clock.pauseAt(Date.now() + 60_000);
    desk.excuse(/ERR_INTERNET_DISCONNECTED/);
    await answerPrompt(world, phone, 'approve');
    await world.pass(10_000);
    // The browser's time stands still: no poll is due.
    await page.context().setOffline(false);
    await page.locator('.receipt').waitFor({ timeout: 20_000 });
  });

  test('a waiting page whose script did not arrive offers what is new by a link, which the script takes away', async () => {
    const { world, merchant } = desk;
    const phone = numberEnding('42');
    const page = await desk.open('small', (await host(world, merchant)).url);
    await page.locator('label[for=m-mobile_money]').click();
    await page.fill('#mobile_money-phone', phone);
    await page.keyboard.press('Enter');
    await page.locator('.ring').waitFor();
    const link = page.getByRole('link', { name: 'Refresh this page' });
    await link.waitFor({ state: 'detached' });
    await page.route(/\/page\..*\.js$/, (route) => route.abort());
    desk.excuse(/ERR_FAILED/);
    await page.reload();
    await expectUsable(page);
    await answerPrompt(world, phone, 'approve');
    await world.pass(10_000);
    await link.click();
    await page.locator('.receipt').waitFor();
  });

  test('a card page whose script did not arrive says so, and its button loads it again', async () => {
    const { world, merchant } = desk;
    const { url } = await host(world, merchant);
    const page = await desk.open('small', url, { also: [networkOrigin(world)] });
    await page.locator('label[for=m-card]').click();
    await page.route(/\/card\..*\.js$/, (route) => route.abort(), { times: 1 });
    desk.excuse(/ERR_FAILED/);
    await page.locator('.panel:visible button').click();
    await page.getByText('The card form could not be loaded').waitFor();
    await expectUsable(page);
    await page.getByRole('button', { name: 'Open a new card form' }).click();
    await page.locator('form[data-card] button:enabled').waitFor();
  });

  test('what is left is counted down also while the phone sleeps', async () => {
    const { world, merchant } = desk;
    const { url } = await host(world, merchant, { minted: { ttl_seconds: 36_000 } });
    const page = await desk.open('small', 'about:blank');
    await page.clock.install();
    // As browsers on Linux and Android count it: without the time asleep.
    await page.addInitScript('performance.now = () => 1_000');
    await page.goto(url);
    await page.clock.fastForward('03:30:00');
    await page.locator('.time', { hasText: '6 hr' }).waitFor({ timeout: 20_000 });
  });

  test('a file on its way keeps its button pressed for as long as the gateway waits for it', async () => {
    const { world, merchant } = desk;
    const page = await openTimed((await host(world, merchant)).url);
    await page.locator('label[for=m-bank_transfer]').click();
    await page.locator('form:has([name=account]) button').click();
    await page.locator('#file').setInputFiles({ name: 'proof.pdf', mimeType: 'application/pdf', buffer: pdfFile() });
    // The file never arrives: the browser stays on the page.
    await page.evaluate("document.addEventListener('submit', (event) => event.preventDefault())");
    await page.locator('form:has(#file) button').click();
    const busy = (): Promise<number> => page.locator('[aria-busy=true]').count();
    expect(await busy()).toBe(1);
    await page.clock.runFor(120_000);
    expect(await busy()).toBe(1);
    await page.clock.runFor(10_000);
    expect(await busy()).toBe(0);
  });

  test('a file that is too large is refused before it is sent, and a smaller one is taken', async () => {
    const { world, merchant } = desk;
    const page = await desk.open('narrow', (await host(world, merchant)).url);
    await page.locator('label[for=m-bank_transfer]').click();
    await page.locator('form:has([name=account]) button').click();
    let sent = 0;
    page.on('request', (request) => {
      if (request.url().endsWith('/proof')) sent += 1;
    });
    const large = { name: 'photo.jpg', mimeType: 'image/jpeg', buffer: Buffer.alloc(5 * 1024 * 1024 + 1) };
    await page.locator('#file').setInputFiles(large);
    await page.locator('form:has(#file) button').click();
    await page.locator('#file-fault', { hasText: 'The file is too large: 5 MB at most.' }).waitFor();
    await page.locator('#file[aria-invalid][aria-describedby=file-fault]:focus').waitFor();
    expect(sent).toBe(0);
    await expectUsable(page);
    await page.locator('#file').setInputFiles({ name: 'proof.pdf', mimeType: 'application/pdf', buffer: pdfFile() });
    expect(await page.locator('.fault, [aria-invalid]').count()).toBe(0);
    await page.locator('form:has(#file) button').click();
    await page.getByText('We have your proof').waitFor();
    expect(sent).toBe(1);
  });
});
