/**
 * How the hosted page looks where that is easily lost: amounts and names that fit into no line, labels of two lines, paper, logos.
 *
 * If no browser is found, the run reports conspicuously what it left out; on a build server (CI=true) that is a failure.
 */
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { LANGUAGES } from '../../src/messages/messages.ts';
import { setBrand } from '../../src/usecases/merchant-brand.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { findBrowser, keepPicture, mayLeaveOut } from '../support/browser.ts';
import { networkOrigin } from '../support/card-form.ts';
import { host } from '../support/checkout-flows.ts';
import { codeOn, numberEnding } from '../support/flows.ts';
import { expectUsable, openPageDesk, type PageDesk } from '../support/page-desk.ts';
import { addAccount, pngFile } from '../support/transfer-flows.ts';
import type { World } from '../support/world.ts';

const browserPath = findBrowser();

test.runIf(browserPath === undefined)('a browser to look at the hosted page with', () => {
  expect(mayLeaveOut('how the hosted page looks in a browser'), 'a build server needs a browser').toBe(true);
});

let desk: PageDesk;
let world: World;
let merchant: MerchantCreated;
let open: PageDesk['open'];

/** Chooses the transfer, and goes on to what it needs. */
async function promiseTransfer(page: Page): Promise<void> {
  await page.locator('label[for=m-bank_transfer]').click();
  await page.locator('form:has([name=account]) button').click();
  await page.locator('#file').waitFor();
}

/** On how many lines the amount in the heading of a transfer stands. */
const AMOUNT_LINES = `(() => {
  const text = (document.querySelector('h1 span') ?? document.querySelector('h1')).firstChild;
  const { index, 0: amount } = /(CDF.)?[0-9].*[0-9](.CDF)?/.exec(text.data);
  const range = document.createRange();
  range.setStart(text, index);
  range.setEnd(text, index + amount.length);
  return new Set([...range.getClientRects()].map(({ top }) => top)).size;
})()`;

/** On how many lines an amount stands: as the largest text of its page, and in the button that pays. */
const LINES_OF_AMOUNTS = `(() => {
  const linesOf = (element) => {
    const { firstChild: text } = element;
    const { index, 0: amount } = /[^ ]*[0-9].*/.exec(text.data);
    const range = document.createRange();
    range.setStart(text, index);
    range.setEnd(text, index + amount.trimEnd().length);
    return new Set([...range.getClientRects()].map(({ top }) => top)).size;
  };
  const button = document.querySelector('form:has(#wallet-pin) button');
  return { amount: linesOf(document.querySelector('.amount')), button: linesOf(button) };
})()`;

/** Enlarges the text alone to twice its size, as a browser's own setting does. */
async function enlargeText(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Page.enable');
  await devtools.send('Page.setFontSizes', { fontSizes: { standard: 32 } });
}

describe.runIf(browserPath !== undefined)('in a browser', () => {
  beforeAll(async () => {
    desk = await openPageDesk(browserPath ?? '');
    ({ world, merchant, open } = desk);
  });
  afterAll(() => desk?.close());
  afterEach(() => desk.endTest());

  test('the heading of a transfer breaks no amount in two, in any language', async () => {
    const large = await world.merchant();
    await addAccount(world, large, { currency: 'cdf' });
    const { url } = await host(world, large, { minted: { amount: '1299999999.99', currency: 'cdf' } });
    const page = await open('narrow', url);
    await promiseTransfer(page);
    const address = page.url();
    for (const language of LANGUAGES) {
      await page.goto(`${address}?lang=${language}`);
      expect(await page.evaluate(AMOUNT_LINES), language).toBe(1);
    }
    await expectUsable(page);
  });

  test('an IBAN is shown in groups, broken only between two of them, and selected without the gaps', async () => {
    const iban = 'FR1420041010050500013M02606';
    const abroad = await world.merchant();
    await addAccount(world, abroad, { iban });
    const page = await open('narrow', (await host(world, abroad)).url);
    await promiseTransfer(page);
    const seen = await page.evaluate(`(() => {
      const value = [...document.querySelectorAll('.facts dt')].find((one) => one.textContent === 'IBAN')
        .nextElementSibling.firstElementChild;
      const range = document.createRange();
      const groups = [...value.children].filter((one) => one.textContent !== '');
      const whole = groups.filter((one) => {
        range.selectNodeContents(one);
        return range.getClientRects().length === 1;
      });
      getSelection().selectAllChildren(value);
      return { selected: String(getSelection()), groups: groups.map((one) => one.textContent), whole: whole.length };
    })()`);
    expect(seen).toEqual({
      selected: iban,
      groups: ['FR14', '2004', '1010', '0505', '0001', '3M02', '606'],
      whole: 7,
    });
    expect(await page.locator('[aria-label="Copy: IBAN"]').getAttribute('data-copy')).toBe(iban);
    await expectUsable(page);
    await keepPicture(page, 'iban');
  });

  test('what a browser refuses to copy is selected instead', async () => {
    const page = await open('small', (await host(world, merchant)).url);
    await promiseTransfer(page);
    const holder = page.locator('.facts > div', { hasText: 'Account name' });
    await page.evaluate("navigator.clipboard.writeText = () => Promise.reject(new Error('not allowed'))");
    await holder.getByRole('button').click();
    await expect.poll(() => page.evaluate('String(getSelection())')).toBe('Boutique Kivu');
    expect(await holder.getByRole('button').textContent()).toBe('Copy');
  });

  test('the largest amounts are broken nowhere: not as the amount, and not in a button', async () => {
    const large = await world.merchant();
    for (const [currency, amount] of [
      ['xof', '999999999999999'],
      ['cdf', '999999999999999.99'],
    ] as const) {
      await addAccount(world, large, { currency });
      const { url } = await host(world, large, { minted: { amount, currency } });
      const page = await open('narrow', url);
      await page.locator('label[for=m-wallet]').click();
      const address = page.url();
      for (const language of LANGUAGES) {
        await page.goto(`${address}&lang=${language}`);
        await page.locator('label[for=m-wallet]').click();
        const lines = await page.evaluate(LINES_OF_AMOUNTS);
        expect(lines, `${currency} ${language}`).toEqual({ amount: 1, button: 1 });
      }
      await keepPicture(page, `largest-${currency}`);
      await expectUsable(page);
    }
  });

  test('in text of twice the size a shop’s name is not cut, and a long one has three lines beside the languages', async () => {
    const shown = (page: Page): Promise<{ name: number; seen: number; row: number; menu: number }> =>
      page.evaluate(`(() => {
        const name = document.querySelector('.shop .name');
        const menu = document.querySelector('.languages').getBoundingClientRect();
        const { top } = document.querySelector('.shop').getBoundingClientRect();
        return { name: name.scrollHeight, seen: name.clientHeight, row: top, menu: menu.top };
      })()`);
    const page = await open('narrow', (await host(world, merchant)).url, { locale: 'fr-FR' });
    await enlargeText(page);
    const enlarged = await shown(page);
    expect(enlarged.name).toBe(enlarged.seen);
    await page.locator('.languages summary').click();
    expect((await page.locator('.languages ul').boundingBox())?.x).toBeGreaterThan(0);
    const lines = await page.evaluate(`[...document.querySelectorAll('.languages a')].map((link) => {
      const range = document.createRange();
      range.selectNodeContents(link);
      return range.getClientRects().length;
    })`);
    expect(lines, 'every language in one line').toEqual(LANGUAGES.map(() => 1));
    await keepPicture(page, 'enlarged-name');

    const long = await world.merchant('Établissements Mutombo-Kabongo et Fils, Matériaux de Construction');
    const beside = await open('narrow', (await host(world, long)).url, { locale: 'fr-FR' });
    const { seen, row, menu } = await shown(beside);
    expect(menu, 'the languages stand beside the name').toBeLessThan(row + seen);
    expect(seen, 'three lines of the name').toBe(72);
    await keepPicture(beside, 'long-name');
  });

  test('in colours that the system sets, what turns is seen to turn, and the present step is marked', async () => {
    const page = await open('phone', (await host(world, merchant)).url);
    await page.emulateMedia({ forcedColors: 'active' });
    await page.locator('label[for=m-mobile_money]').click();
    await page.fill('#mobile_money-phone', numberEnding('04'));
    await page.keyboard.press('Enter');
    await page.locator('.ring').waitFor();
    const borderOf = (selector: string, side: 'Top' | 'Left'): Promise<string> =>
      page.evaluate(`(({ border${side}Color, border${side}Width }) => border${side}Width + ' ' + border${side}Color)(
        getComputedStyle(document.querySelector('${selector}')))`);
    expect(await borderOf('.now .step', 'Top')).toBe(
      `2px ${await page.evaluate('getComputedStyle(document.body).color')}`,
    );
    expect(await borderOf('.later .step', 'Top')).toContain('0px');
    await keepPicture(page, 'forced-steps');
    await page.evaluate("document.querySelector('.ring').outerHTML = '<span class=spinner></span>'");
    expect(await borderOf('.spinner', 'Top')).not.toBe(await borderOf('.spinner', 'Left'));
    await keepPicture(page, 'forced-spinner');
  });

  test('a transfer to none of several accounts focuses them, and its fault disappears once one is chosen', async () => {
    const several = await world.merchant();
    await addAccount(world, several);
    await addAccount(world, several);
    const page = await open('narrow', (await host(world, several)).url);
    desk.excuse(/^400 for .*\/pay$|status of 400/);
    await page.locator('label[for=m-bank_transfer]').click();
    await page.locator('form:has([name=account]) button').click();
    await page.locator('#account-fault').waitFor();
    // The browser applies `autofocus` when it next draws the page.
    await expect.poll(() => page.evaluate('document.activeElement.getAttribute("name")')).toBe('account');
    await expectUsable(page);
    await keepPicture(page, 'no-account');
    await page.keyboard.press('Space');
    expect(await page.locator('.fault').count()).toBe(0);
    await page.keyboard.press('Enter');
    await page.locator('#file').waitFor();
  });

  test('that another code was sent is read out, and the next key press leads to its field, which takes a pasted code', async () => {
    const wallet = await world.wallet({ balance: 500_00n });
    const page = await open('phone', (await host(world, merchant, { minted: { amount: '150.00' } })).url);
    await page.locator('label[for=m-wallet]').click();
    await page.fill('#wallet-number', wallet.number);
    await page.fill('#wallet-pin', wallet.pin);
    await page.keyboard.press('Enter');
    await page.locator('#otp-code').waitFor();
    await page.locator('form[action$="/resend"] button').click();
    await page.locator('.notice:focus').waitFor();
    await expectUsable(page);
    await page.keyboard.press('Tab');
    await page.locator('#otp-code:focus').waitFor();
    // As a messenger copies it: grouped, and with blanks around it.
    await page.keyboard.insertText((await codeOn(world, wallet.phone)).replace(/(...)(...)/, ' $1 $2 '));
    await page.keyboard.press('Enter');
    await page.locator('.receipt').waitFor();
  });

  test('what can only be pressed is not printed', async () => {
    const wallet = await world.wallet();
    const body = { success_redirect_url: 'https://shop.example/thanks' };
    const page = await open('small', (await host(world, merchant, { body })).url);
    await page.locator('label[for=m-wallet]').click();
    await page.fill('#wallet-number', wallet.number);
    await page.fill('#wallet-pin', wallet.pin);
    await page.keyboard.press('Enter');
    await page.locator('.receipt').waitFor();
    const soon = page.getByText('Stay on this page');
    expect(await soon.isVisible()).toBe(true);
    await page.emulateMedia({ media: 'print' });
    expect(await soon.isVisible()).toBe(false);
    expect(await page.getByText('Transaction').isVisible()).toBe(true);

    const transfer = await open('small', (await host(world, merchant, { body })).url);
    await promiseTransfer(transfer);
    await transfer.emulateMedia({ media: 'print' });
    expect(await transfer.locator('button:visible, input:visible, a:visible:not(.skip)').count()).toBe(0);
    expect(await transfer.getByText('Account number').isVisible()).toBe(true);
  });

  test('the inputs of an expiry date stand level, with labels of two lines and with a fault', async () => {
    const page = await open('phone', (await host(world, merchant)).url, {
      locale: 'fr-FR',
      also: [networkOrigin(world)],
    });
    await page.locator('label[for=m-card]').click();
    await page.locator('form[action$="/card"] button').click();
    const button = page.locator('form[data-card] button:enabled');
    await button.waitFor();
    const top = async (field: string): Promise<number | undefined> =>
      (await page.locator(`.${field} .box`).boundingBox())?.y;
    const heightOf = async (field: string) => (await page.locator(`.${field} .label`).boundingBox())?.height ?? 0;
    expect(await heightOf('expiry-year'), 'one label is longer').toBeGreaterThan(await heightOf('expiry-month'));
    expect(await top('expiry-month')).toBe(await top('expiry-year'));
    await button.click();
    await page.locator('#card-expiry-month-fault:visible').waitFor();
    expect(await top('expiry-month')).toBe(await top('expiry-year'));
    const said = await page.locator('#card-expiry-month-fault').boundingBox();
    const fields = await page.locator('.card-fields').boundingBox();
    expect(said?.width, 'what is said about both has the room of both').toBeCloseTo(fields?.width ?? 0, 0);
    expect(await page.locator('#card-number-fault svg').isVisible(), 'a fault has its sign').toBe(true);
    await expectUsable(page);
    await keepPicture(page, 'expiry-level');
  });

  test('a field with a fault is marked as that while it has the focus, too', async () => {
    const page = await open('phone', (await host(world, merchant)).url);
    desk.excuse(/^400 for .*\/pay$|status of 400/);
    await page.locator('#m-mobile_money ~ .panel button').click();
    const input = page.locator('#mobile_money-phone[aria-invalid]:focus');
    await input.waitFor();
    const ring = "getComputedStyle(document.activeElement.closest('.box')).outlineColor";
    const fault = "getComputedStyle(document.querySelector('.fault')).color";
    expect(await page.evaluate(ring)).toBe(await page.evaluate(fault));
  });

  test('a number that the shop has given is marked if it is at fault, and the other choice is not', async () => {
    const { number, pin } = await world.wallet({ currency: 'cdf' });
    const page = await open('phone', (await host(world, merchant, { body: { wallet_number: number } })).url);
    desk.excuse(/^400 for .*\/pay$|status of 400/);
    await page.locator('label[for=m-wallet]').click();
    await page.fill('#wallet-pin', pin);
    await page.keyboard.press('Enter');
    await page.locator('#wallet-given-fault').waitFor();
    const fault = await page.evaluate("getComputedStyle(document.querySelector('#wallet-given-fault')).color");
    const edgeOf = (source: string): Promise<unknown> =>
      page.evaluate(`getComputedStyle(document.querySelector('.source:has(> #wallet-${source})')).borderTopColor`);
    expect(await edgeOf('given')).toBe(fault);
    expect(await edgeOf('other')).not.toBe(fault);
  });

  test('a shop’s name that is written from right to left leaves the amount beside it in one piece', async () => {
    const arabic = await world.merchant('متجر كيفو');
    const page = await open('phone', (await host(world, arabic)).url, { locale: 'fr-FR' });
    await page.locator('label[for=m-mobile_money]').click();
    await page.fill('#mobile_money-phone', numberEnding('42'));
    await page.keyboard.press('Enter');
    await page.locator('.ring').waitFor();
    const line = await page.evaluate<{ amount: number[]; name: number }>(`(() => {
      const range = document.createRange();
      const line = document.querySelector('.wait > p');
      const rightOf = (node, from, to) => {
        range.setStart(node, from);
        range.setEnd(node, to);
        return range.getBoundingClientRect().right;
      };
      const { lastChild: amount } = line;
      const name = line.querySelector('span')?.firstChild ?? line.firstChild;
      const from = amount.data.search(/[0-9]/);
      const places = [...amount.data].keys();
      return {
        amount: [...places].filter((place) => place >= from).map((place) => rightOf(amount, place, place + 1)),
        name: rightOf(name, 0, 4),
      };
    })()`);
    expect(line.amount).toEqual([...line.amount].sort((a, b) => a - b));
    expect(line.name).toBeLessThan(line.amount[0] ?? 0);
  });

  test('a logo is seen on a dark page too, whatever it leaves transparent', async () => {
    const branded = await world.merchant();
    await setBrand(world.gateway.deps, branded.merchant.id, { logo: pngFile() });
    const page = await open('phone', (await host(world, branded)).url, { colorScheme: 'dark' });
    const behind = await page.evaluate('getComputedStyle(document.querySelector("img.badge")).backgroundColor');
    expect(behind).toBe('rgb(255, 255, 255)');
  });
});
