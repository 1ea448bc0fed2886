/**
 * What goes wrong on the way from the shop to the money and back, as the customer meets it: cards that are refused, banks
 * that do not recognise them or fall silent, answers that are lost, limits, expiry, links that were opened.
 *
 * If no browser is found these tests are left out; those of every payment method report that conspicuously.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { stateOf } from '../../sandbox/shop/orders.ts';
import { findBrowser } from '../support/browser.ts';
import { typeCard } from '../support/card-form.ts';
import { CARDS, type CardName, capturesOf } from '../support/card-payments.ts';
import { setSettings } from '../support/checkout-flows.ts';
import { untilStatus } from '../support/flows.ts';
import {
  buy,
  buyAgain,
  choose,
  closeWindows,
  comeBack,
  expectBack,
  expectSold,
  expectTitle,
  fillCart,
  type Market,
  openMarket,
  openShopper,
  orderNow,
  pressBuy,
  type Shopper,
} from '../support/shopper.ts';

const browserPath = findBrowser();
const SESSION_MS = 1_800_000;
const MINUTE_MS = 60_000;

let market: Market;
/** The complaints that the current test provokes. */
let excused: RegExp | undefined;

async function payByCard(shopper: Shopper, card: CardName): Promise<void> {
  const { page } = shopper;
  const panel = await choose(shopper, 'card');
  await panel.getByRole('button').click();
  await typeCard(page, CARDS[card]);
}

async function atTheBank(shopper: Shopper, card: 'challenge' | 'lost' = 'challenge'): Promise<void> {
  await payByCard(shopper, card);
  await shopper.page.waitForURL(/\/cardnet\/acs\//);
}

async function payByWallet(shopper: Shopper): Promise<void> {
  const { number, pin } = await market.world.wallet();
  const panel = await choose(shopper, 'wallet');
  await panel.locator('[name=number]').fill(number);
  await panel.locator('[name=pin]').fill(pin);
  await panel.getByRole('button').click();
}

describe.runIf(browserPath !== undefined)('in a browser', () => {
  beforeAll(async () => {
    market = await openMarket(browserPath ?? '');
  });
  afterAll(() => market?.close());
  afterEach(async () => {
    const complaints = await closeWindows(market, excused);
    excused = undefined;
    expect(complaints).toEqual([]);
  });

  test.each([
    ['small', 'fr', 'light'],
    ['desktop', 'en', 'dark'],
  ] as const)(
    'a customer who fails the bank’s challenge buys again and pays another way (%s, %s, %s)',
    async (...look) => {
      const shopper = await openShopper(market, look);
      const order = await buy(shopper, 'coffee');
      await atTheBank(shopper);
      await shopper.page.locator('button[value=fail]').click();
      await expectBack(shopper, 'refused');
      expect(capturesOf(market.world, order)).toEqual([]);
      const next = await buyAgain(shopper);
      await payByWallet(shopper);
      await comeBack(shopper, 'paid');
      await expectSold(shopper, next);
      expect(stateOf(orderNow(shopper, order))).toBe('refused');
    },
  );

  test.each([
    ['small', 'zh', 'dark'],
    ['desktop', 'fr', 'light'],
  ] as const)(
    'a bank that falls silent ends the payment in time, and the page says so (%s, %s, %s)',
    async (...look) => {
      const shopper = await openShopper(market, look);
      const { page, shop } = shopper;
      const order = await buy(shopper, 'tea');
      await atTheBank(shopper);
      await page.locator('button[value=timeout]').click();
      await shopper.picture('bank-silent');
      await page.goto(`${market.world.sandboxUrl}/shop/return/${order.id}`);
      await expectBack(shopper, 'waiting');
      await page.getByRole('link', { name: shop.goOn }).click();
      await expectTitle(shopper, 'challenge_title');
      await shopper.picture('challenge-open');
      const paying = { ...order, token: order.session_token };
      await untilStatus(market.world, paying, 'expired', MINUTE_MS);
      await expectTitle(shopper, 'expired_title');
      await shopper.picture('challenge-over');
      await comeBack(shopper, 'expired');
      expect(capturesOf(market.world, order)).toEqual([]);
    },
  );

  test.each([
    ['small', 'en', 'light'],
    ['desktop', 'zh', 'dark'],
  ] as const)('after a declined card another one pays the same order (%s, %s, %s)', async (...look) => {
    const shopper = await openShopper(market, look);
    const { page, say } = shopper;
    const order = await buy(shopper, 'charger');
    await payByCard(shopper, 'declined');
    await expectTitle(shopper, 'declined_title');
    await shopper.picture('declined');
    await page.getByRole('button', { name: say('again_button') }).click();
    await payByCard(shopper, 'frictionless');
    await expectTitle(shopper, 'paid_title');
    await comeBack(shopper, 'paid');
    await expectSold(shopper, order);
    const paid = orderNow(shopper, order);
    expect(paid.transaction_id).not.toBe(order.transaction_id);
    expect([capturesOf(market.world, order), capturesOf(market.world, paid)]).toEqual([[], [expect.anything()]]);
  });

  test.each([
    ['small', 'ln', 'light'],
    ['desktop', 'en', 'light'],
  ] as const)('a payment whose answer is lost is found, and the money is taken once (%s, %s, %s)', async (...look) => {
    const shopper = await openShopper(market, look);
    const order = await buy(shopper, 'wax');
    await atTheBank(shopper, 'lost');
    await shopper.page.locator('button[value=pass]').click();
    // It is not certain yet whether it is paid: the customer waits on the hosted page, and not on the shop's success page.
    await shopper.page.waitForURL(/\/checkout\/chk_/);
    await shopper.picture('found-later');
    await market.world.pass(MINUTE_MS);
    await expectTitle(shopper, 'paid_title');
    await comeBack(shopper, 'paid');
    await expectSold(shopper, order);
    expect(capturesOf(market.world, order)).toHaveLength(1);
  });

  test.each([
    ['small', 'fr', 'dark'],
    ['desktop', 'zh', 'light'],
  ] as const)('a cart above the shop’s limit is refused in words, and stays as it is (%s, %s, %s)', async (...look) => {
    const shopper = await openShopper(market, look);
    const { page, shop } = shopper;
    await setSettings(market.world, market.merchant, { limits: { usd: { max: '10000' } } });
    excused = /^502 for .*\/shop\/buy$|status of 502/;
    await fillCart(shopper, ['solar']);
    await pressBuy(shopper);
    await page.getByRole('heading', { name: shop.trouble }).waitFor();
    expect(await page.getByRole('alert').textContent()).toContain('100.00 usd');
    await shopper.picture('limit');
    await setSettings(market.world, market.merchant, { limits: {} });
    await page.getByRole('button', { name: shop.tryAgain }).click();
    await expectTitle(shopper, 'choose_title');
  });

  test.each([
    ['small', 'en', 'dark'],
    ['desktop', 'fr', 'light'],
  ] as const)(
    'a page that expires says so by itself, and the cart can be bought again (%s, %s, %s)',
    async (...look) => {
      const shopper = await openShopper(market, look);
      const order = await buy(shopper, 'honey');
      await expectTitle(shopper, 'choose_title');
      await market.world.pass(SESSION_MS + 1_000);
      await expectTitle(shopper, 'expired_title');
      await shopper.picture('expired');
      await comeBack(shopper, 'expired');
      expect(stateOf(orderNow(shopper, order))).toBe('expired');
      await buyAgain(shopper);
      await expectTitle(shopper, 'choose_title');
    },
  );

  test.each([
    ['small', 'zh', 'light'],
    ['desktop', 'en', 'light'],
  ] as const)(
    'a link that was opened works in no other browser, but still in its own (%s, %s, %s)',
    async (...look) => {
      const shopper = await openShopper(market, look);
      const order = await buy(shopper, 'basket');
      excused = /^410 for .*\/collect-redirect\?|status of 410/;
      const other = await shopper.beside(order.redirect_url);
      await other.getByRole('heading', { name: shopper.say('used_title') }).waitFor();
      await shopper.picture('used', other);
      await shopper.page.goto(order.redirect_url);
      await payByWallet(shopper);
      await comeBack(shopper, 'paid');
      await expectSold(shopper, order);
    },
  );
});
