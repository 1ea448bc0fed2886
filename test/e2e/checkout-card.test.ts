/**
 * Cards on the hosted page in a real browser: the network's own frames, its form that expires, its script that is slow.
 *
 * If no browser is found, the run reports conspicuously what it left out; on a build server (CI=true) that is a failure.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { findBrowser, mayLeaveOut } from '../support/browser.ts';
import { networkOrigin, typeCard } from '../support/card-form.ts';
import { host } from '../support/checkout-flows.ts';
import { expectUsable, holdBack, openPageDesk, type PageDesk } from '../support/page-desk.ts';
import { collectBody, mint, type World } from '../support/world.ts';

const browserPath = findBrowser();

test.runIf(browserPath === undefined)('a browser to test cards on the hosted page with', () => {
  expect(mayLeaveOut('every test of cards on the hosted page in a browser'), 'a build server needs a browser').toBe(
    true,
  );
});

let desk: PageDesk;
let world: World;
let merchant: MerchantCreated;
let open: PageDesk['open'];

describe.runIf(browserPath !== undefined)('in a browser', () => {
  beforeAll(async () => {
    desk = await openPageDesk(browserPath ?? '');
    ({ world, merchant, open } = desk);
  });
  afterAll(() => desk?.close());
  afterEach(() => desk.endTest());

  test('a collected card payment is paid at once, in the network’s own frames, after the bank has asked', async () => {
    const { token } = await mint(world, merchant);
    const body = collectBody(world, 'card', { cardnet_payment_method: 'HOSTED_SESSION' });
    const made = await world.call('POST', '/payments/collect', { bearer: token, body });
    const page = await open('small', made.json.payment_url, { also: [networkOrigin(world)] });
    await page.locator('form[data-card] button:enabled').waitFor();
    await expectUsable(page);
    await typeCard(page, '1234');
    await page.getByText('Check the card number.').waitFor();
    // Each error is beside its field, and the first faulty field has the focus.
    const faults = await page.locator('.card-fields .fault:visible').evaluateAll((all) => all.map(({ id }) => id));
    expect(faults).toEqual(['card-number-fault']);
    await page.waitForFunction('document.activeElement?.closest(".field.number") !== null');
    await typeCard(page, '4508750015741019');
    await page.waitForURL(/\/cardnet\/acs\//);
    await page.locator('button').first().click();
    await page.locator('.receipt').waitFor();
    const payment = await world.call('GET', `/payments/status/${made.json.transaction_id}`, { bearer: token });
    expect(payment.json.status).toBe('approved');
  });

  test('what was said about a card’s field disappears once the field was changed, and its date’s with it', async () => {
    const page = await open('small', (await host(world, merchant)).url, { also: [networkOrigin(world)] });
    await page.locator('label[for=m-card]').click();
    await page.locator('form[action$="/card"] button').click();
    await page.locator('form[data-card] button:enabled').click();
    const faults = page.locator('.card-fields .fault:visible');
    await page.locator('#card-number-fault:visible').waitFor();
    expect(await faults.count()).toBe(3);
    const type = async (field: string, value: string): Promise<void> => {
      await page.frameLocator(`iframe[src*="field=${field}"]`).locator('input').fill(value);
      await page.keyboard.press('Tab');
    };
    await type('expiryYear', '39');
    await page.locator('#card-expiry-month-fault').waitFor({ state: 'hidden' });
    expect(await page.locator('.field:has([aria-invalid])').count(), 'neither half of the date is marked').toBe(2);
    await type('cardNumber', '5123-4500-0000-0008');
    await page.locator('#card-number-fault').waitFor({ state: 'hidden' });
    await expectUsable(page);
    // The code is still missing, and the month is wrong by now.
    await page.locator('form[data-card] button').click();
    await page.locator('#card-expiry-month-fault:visible').waitFor();
    expect(await faults.count()).toBe(2);
  });

  test('a press of the button counts, also if it leaves a field that was changed, and so takes back its fault', async () => {
    const page = await open('small', (await host(world, merchant)).url, { also: [networkOrigin(world)] });
    await page.locator('label[for=m-card]').click();
    await page.locator('form[action$="/card"] button').click();
    const button = page.locator('form[data-card] button:enabled');
    await button.waitFor();
    await typeCard(page, '1234');
    await page.locator('#card-number-fault:visible').waitFor();
    await page.frameLocator('iframe[src*="field=cardNumber"]').locator('input').fill('4508750015741019');
    // Near its lower edge, which anything that vanishes above it would take away from under the pointer.
    await button.hover({ position: { x: 9, y: (await button.evaluate((one) => one.clientHeight)) - 4 } });
    await page.mouse.down();
    await page.locator('#card-number-fault').waitFor({ state: 'hidden' });
    await page.mouse.up();
    await page.waitForURL(/\/cardnet\/acs\//);
  });

  test('a card form that has expired while it was filled is opened again, and pays', async () => {
    const page = await open('small', (await host(world, merchant)).url, { also: [networkOrigin(world)] });
    await page.locator('label[for=m-card]').click();
    await page.locator('form[action$="/card"] button').click();
    await page.locator('form[data-card] button:enabled').waitFor();
    const another = page.getByRole('button', { name: 'Open a new card form' });
    expect(await another.isVisible()).toBe(false);
    await world.clock.advance(15 * 60_000);
    await typeCard(page, '5123450000000008');
    await another.waitFor();
    await expectUsable(page);
    await another.click();
    await another.waitFor({ state: 'hidden' });
    await typeCard(page, '5123450000000008');
    await page.locator('.receipt').waitFor();
  });

  test('while the network’s script is slow to come, the card page says what it waits for and stays responsive', async () => {
    const page = await open('small', (await host(world, merchant)).url, { also: [networkOrigin(world)] });
    const held = holdBack();
    await page.route(`${networkOrigin(world)}/**/session.js`, async (route) => {
      await held.over;
      await route.continue();
    });
    await page.locator('label[for=m-card]').click();
    await page.locator('form[action$="/card"] button').click({ noWaitAfter: true });
    await page.getByText('The card form is being loaded.').waitFor();
    await page.locator('.languages summary').click();
    await page.keyboard.press('Escape');
    expect(await page.locator('.languages details').getAttribute('open')).toBeNull();
    held.end();
    await page.locator('form[data-card] button:enabled').waitFor();
    expect(await page.locator('[data-card-status]').textContent()).toBe('');
  });

  test('a declined card is reported, and another one pays the same order', async () => {
    const page = await open('wide', (await host(world, merchant)).url, { also: [networkOrigin(world)] });
    await page.locator('label[for=m-card]').click();
    await page.locator('form[action$="/card"] button').click();
    await typeCard(page, '5111111111111118');
    await page.locator('.ended').waitFor();
    await expectUsable(page);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('label[for=m-card]').click();
    await page.locator('form[action$="/card"] button').click();
    await typeCard(page, '5123450000000008');
    await page.locator('.receipt').waitFor();
  });

  test('a card page that submitted a form and is restored from the browser’s cache submits nothing again', async () => {
    const page = await open('small', (await host(world, merchant)).url, { also: [networkOrigin(world)] });
    await page.locator('label[for=m-card]').click();
    await page.locator('form[action$="/card"] button').click();
    await page.locator('form[data-card] button:enabled').waitFor();
    desk.excuse(/^4\d\d for .*\/pay$|status of 4\d\d/);
    const answered = page.waitForEvent('domcontentloaded');
    await page.evaluate('document.querySelector("form[data-card]").submit()');
    await answered;
    await page.locator('form[data-card] button:enabled').waitFor();
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.isNavigationRequest() && request.frame() === page.mainFrame()) asked.push(request.method());
    });
    // The answer has its page's address by now, so that only a load tells that the page is loaded anew.
    const loaded = page.waitForEvent('domcontentloaded');
    await page.evaluate('dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }))');
    await loaded;
    expect(page.url()).toMatch(/\/card$/);
    expect(asked).toEqual(['GET']);
  });

  test('a card form whose submit brought no answer can be submitted again: after a while, or shown from the cache', async () => {
    const page = await open('small', 'about:blank', { also: [networkOrigin(world)] });
    await page.clock.install();
    await page.goto((await host(world, merchant)).url);
    await page.locator('label[for=m-card]').click();
    await page.locator('form[action$="/card"] button').click();
    await page.locator('form[data-card] button:enabled').waitFor();
    desk.excuse(/ERR_CONNECTION_REFUSED/);
    // An answer without a page leaves this page in place, like a load that is stopped.
    await page.route('**/pay', (route) => route.fulfill({ status: 204 }), { times: 2 });
    const button = page.locator('form[data-card] button');
    const pressed = async (press: () => Promise<void>): Promise<void> => {
      const sent = page.waitForRequest(/\/pay$/);
      await press();
      await sent;
      expect(await button.isEnabled()).toBe(false);
    };
    await pressed(() => typeCard(page, '5123450000000008'));
    await page.clock.runFor(20_000);
    await pressed(() => button.click());
    // While the gateway does not answer, a page that is shown again cannot be loaded.
    await page.route(/\/card$/, (route) => route.abort('connectionrefused'));
    await page.evaluate('dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }))');
    expect(await button.isEnabled()).toBe(true);
    expect(await page.locator('[data-card-status]').textContent()).toBe('');
    await button.click();
    await page.locator('.receipt').waitFor();
  });

  test('without scripts the card page says what is needed', async () => {
    const { token } = await mint(world, merchant);
    const body = collectBody(world, 'card', { cardnet_payment_method: 'HOSTED_SESSION' });
    const made = await world.call('POST', '/payments/collect', { bearer: token, body });
    const options = { also: [networkOrigin(world)], javaScriptEnabled: false };
    const page = await open('small', made.json.payment_url, options);
    await page.locator('noscript .notice', { hasText: 'The card form needs JavaScript.' }).waitFor();
    expect(await page.locator('form[data-card]').isVisible()).toBe(false);
  });
});
