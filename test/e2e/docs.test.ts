/**
 * The documentation in a real browser: every page is accessible, and a call can be tried in the explorer.
 *
 * If no browser is found, the run reports conspicuously what it left out; on a build server (CI=true) that is a failure.
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  findBarriers,
  findBrowser,
  keepPicture,
  mayLeaveOut,
  openBrowser,
  openWindow,
  type Watched,
  type WINDOWS,
  type WindowOptions,
} from '../support/browser.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type FaultyWorld, openFaultyWorld } from '../support/faulty-world.ts';
import { startGateway } from '../support/processes.ts';

const browserPath = findBrowser();

test.runIf(browserPath === undefined)('a browser to read the documentation with', () => {
  expect(mayLeaveOut('every test of the documentation in a browser'), 'a build server needs a browser').toBe(true);
});

let database: TestDatabase;
let world: FaultyWorld;
/** The address of the gateway as built. */
let url: string;
let browser: Browser;
let windows: Watched[] = [];

async function open(window: keyof typeof WINDOWS, path: string, options: WindowOptions = {}): Promise<Page> {
  const watched = await openWindow(browser, window, url, options);
  windows.push(watched);
  await watched.page.goto(url + path);
  return watched.page;
}

const PAGES = [
  '/docs',
  '/docs/payments',
  '/docs/refunds',
  '/docs/payouts',
  '/docs/reconcile',
  '/docs/webhooks',
  '/docs/idempotency',
  '/docs/test-numbers',
  '/docs/errors',
  '/docs/errors/1103',
  '/docs/going-live',
  '/docs/reference',
] as const;

/** Opens what is folded, and keeps only the first calls of the reference: all look alike, and thirty take a minute. */
const PREPARE = `for (const folded of document.querySelectorAll('main details')) folded.open = true;
for (const call of [...document.querySelectorAll('.op')].slice(3)) call.remove();
for (const link of document.querySelectorAll('.contents a[href^="#"]')) link.parentElement.remove();`;

describe.runIf(browserPath !== undefined)('in a browser', () => {
  beforeAll(async () => {
    database = await createTestDatabase();
    world = await openFaultyWorld(database.url);
    const address = await world.address();
    url = address.url;
    await startGateway(world.gatewayEnv(address.port));
    browser = await openBrowser(browserPath ?? '');
  });
  afterAll(async () => {
    await browser?.close();
    await world?.close();
    await database?.drop();
  });
  afterEach(async () => {
    const complaints = windows.flatMap((watched) => watched.complaints);
    await Promise.all(windows.map((watched) => watched.close()));
    windows = [];
    expect(complaints).toEqual([]);
  });

  test.each(PAGES.flatMap((path) => [[path, 'small'] as const, [path, 'wide'] as const]))(
    '%s is accessible: %s',
    async (path, window) => {
      const page = await open(window, path, { locale: 'en-GB' });
      expect(await page.locator('h1').count()).toBe(1);
      const wide = await page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');
      expect(wide, 'nothing has to be scrolled sideways').toBe(false);
      if (path === '/docs/reference') await page.evaluate(PREPARE);
      expect(await findBarriers(page)).toEqual([]);
      for (const scheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme: scheme });
        await keepPicture(page, `${path.slice(1).replaceAll('/', '-')}-${window}-${scheme}`);
      }
    },
  );

  test('in a narrow window no table is wider than it, and enlarged text grows and needs no sideways scrolling', async () => {
    const page = await open('narrow', '/docs');
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('Page.enable');
    const wider = (selector: string): Promise<string[]> =>
      page.evaluate(`[...document.querySelectorAll('${selector}')]
        .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
        .map((one) => one.getAttribute('aria-label') ?? one.tagName)`);
    for (const path of PAGES.filter((one) => one !== '/docs/reference')) {
      await page.goto(url + path);
      expect(await wider('.table'), path).toEqual([]);
      await devtools.send('Page.setFontSizes', { fontSizes: { standard: 32 } });
      const size = await page.evaluate('getComputedStyle(document.querySelector("main p")).fontSize');
      expect(Number.parseInt(String(size), 10), path).toBeGreaterThanOrEqual(32);
      expect(await wider('html'), path).toEqual([]);
      await devtools.send('Page.setFontSizes', { fontSizes: { standard: 16 } });
    }
  });

  test('the menu of a narrow window leads to a call without a script', async () => {
    const page = await open('small', '/docs/reference', { javaScriptEnabled: false });
    await page.getByText('Contents', { exact: true }).click();
    await page.locator('.menu').getByRole('link', { name: 'Pay', exact: true }).click();
    expect(new URL(page.url()).hash).toBe('#submitPayment');
    expect(await page.locator('#submitPayment h3').isVisible()).toBe(true);
  });

  test('the menu of a narrow window opens at the reader’s place, and closes after a choice', async () => {
    const page = await open('small', '/docs/payouts');
    await page.evaluate('scrollTo(0, 1500)');
    await page.getByText('Contents', { exact: true }).click();
    const link = page.locator('.menu').getByRole('link', { name: 'Idempotency', exact: true });
    const { y = -1 } = (await link.boundingBox()) ?? {};
    expect(y).toBeGreaterThan(0);
    expect(y).toBeLessThan(page.viewportSize()?.height ?? 0);
    await page.locator('.menu').getByRole('link', { name: 'On dates', exact: true }).click();
    expect(await page.locator('.menu').getAttribute('open')).toBeNull();
    expect(new URL(page.url()).hash).toBe('#dates');
  });

  test('a block of code is copied by keyboard', async () => {
    const page = await open('wide', '/docs');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    // The button says so for two seconds, which must not pass before the text is read.
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 3_600_000);
    const block = page.locator('.code').first();
    await block.getByRole('button', { name: 'Copy' }).focus();
    await page.keyboard.press('Enter');
    await block.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('npm start');
  });

  test('the explorer shows the document, makes a call, and contacts nobody else', async () => {
    const page = await open('wide', '/docs/explorer');
    await page.getByRole('heading', { name: 'Mint a session' }).first().waitFor();
    // What a field says beside a reference, which is not what the part that it refers to says.
    await page.getByText('What it may do. Default: both.').first().waitFor();
    await keepPicture(page, 'docs-explorer-wide-light');
    const { key_id, secret } = world.merchant;
    await page.getByPlaceholder('Token').first().fill(`${key_id}:${secret}`);
    await page
      .getByRole('button', { name: /Test Request/ })
      .first()
      .click();
    const [answer] = await Promise.all([
      page.waitForResponse((response) => response.url().endsWith('/internal/sessions/create')),
      page.getByRole('button', { name: /^Send/ }).first().click(),
    ]);
    expect([answer.status(), answer.url()]).toEqual([201, `${url}/api/v1/internal/sessions/create`]);
    expect(await answer.json()).toMatchObject({ success: true, amount: '45.90' });
    await page.getByText('201', { exact: false }).last().waitFor();
    await keepPicture(page, 'docs-explorer-answer');
  });

  test('a reader without script is led from the explorer to the reference', async () => {
    const page = await open('small', '/docs/explorer', { javaScriptEnabled: false });
    await page.getByRole('link', { name: 'reference' }).last().click();
    expect(await page.locator('h1').textContent()).toBe('Reference');
  });
});
