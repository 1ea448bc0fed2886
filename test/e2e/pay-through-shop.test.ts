/**
 * Every payment method, through the shop and the hosted page: the cart is filled, Buy is pressed, the customer pays and comes
 * back to a shop that knows it by a verified webhook. In a phone's window and in a desktop's, in several languages, in
 * light and dark mode.
 *
 * If no browser is found, the run reports conspicuously what it left out; on a build server (CI=true) that is a failure.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Good } from '../../sandbox/shop/goods.ts';
import { type Order, stateOf } from '../../sandbox/shop/orders.ts';
import { approveProof } from '../../src/usecases/proof-decide.ts';
import { listProofs } from '../../src/usecases/proof-read.ts';
import { findBrowser, mayLeaveOut } from '../support/browser.ts';
import { typeCard } from '../support/card-form.ts';
import { CARDS } from '../support/card-payments.ts';
import { debitsOf, numberEnding } from '../support/flows.ts';
import {
  buy,
  choose,
  closeWindows,
  comeBack,
  expectBack,
  expectSold,
  expectTitle,
  type Look,
  type Market,
  openMarket,
  openShopper,
  orderNow,
  type Shopper,
} from '../support/shopper.ts';
import { addAccount, pdfFile } from '../support/transfer-flows.ts';

const browserPath = findBrowser();

test.runIf(browserPath === undefined)('a browser to pay through the shop with', () => {
  const what = 'every payment through the shop and the hosted page';
  expect(mayLeaveOut(what), 'a build server needs a browser').toBe(true);
});

let market: Market;

/** What a customer does between choosing a payment method and the shop's page. */
type Pay = (shopper: Shopper, order: Order) => Promise<void>;

/** Follows the receipt back to the shop. */
async function takeReceipt(shopper: Shopper): Promise<void> {
  await expectTitle(shopper, 'paid_title');
  await shopper.picture('paid');
  await comeBack(shopper, 'paid');
}

async function payByWallet(shopper: Shopper): Promise<void> {
  await payFromAccount(shopper, 'wallet', numberEnding('42'));
  await takeReceipt(shopper);
}

async function payByFlash(shopper: Shopper): Promise<void> {
  await payFromAccount(shopper, 'flash', numberEnding('42'));
  await takeReceipt(shopper);
}

async function payFromAccount(shopper: Shopper, kind: 'wallet' | 'flash', phone: string): Promise<void> {
  const { number, pin } = await market.world.wallet({ kind, phone, balance: 500_00n });
  const panel = await choose(shopper, kind);
  await panel.locator('[name=number]').fill(number);
  await panel.locator('[name=pin]').fill(pin);
  await shopper.picture(kind);
  await panel.getByRole('button').click();
}

/** Reads the code where it arrives: on the phone. */
async function payByWalletWithCode(shopper: Shopper): Promise<void> {
  const phone = numberEnding('42');
  await payFromAccount(shopper, 'wallet', phone);
  await expectTitle(shopper, 'code_title');
  await shopper.picture('code');
  const handset = await shopper.beside(`${market.world.sandboxUrl}/phone/${phone.slice(1)}`);
  const code = await handset.locator('.note .copy').first().getAttribute('data-copy');
  await shopper.picture('phone-code', handset);
  await shopper.page.bringToFront();
  await shopper.page.locator('#otp-code').pressSequentially(code ?? '');
  await shopper.page.locator('form:has(#otp-code) button').click();
  await takeReceipt(shopper);
}

async function sendRequestTo(shopper: Shopper, phone: string): Promise<void> {
  const panel = await choose(shopper, 'mobile_money');
  await panel.locator('[name=phone]').fill(phone.slice('+243'.length));
  await shopper.picture('mobile-money');
  await panel.getByRole('button').click();
  await expectTitle(shopper, 'wait_title');
  await shopper.picture('mobile-money-waits');
}

async function payByPhone(shopper: Shopper): Promise<void> {
  const phone = numberEnding('42');
  await sendRequestTo(shopper, phone);
  const handset = await shopper.beside(`${market.world.sandboxUrl}/phone/${phone.slice(1)}`);
  await shopper.picture('phone-prompt', handset);
  for (const box of await handset.locator('.boxes input').all()) await box.fill('0');
  await handset.locator('.sheet button.main').click();
  await handset.locator('.past .state.approved').waitFor();
  await shopper.page.bringToFront();
  await market.world.pass(10_000);
  expect(debitsOf(market.world, phone)).toHaveLength(1);
  await takeReceipt(shopper);
}

async function payByPhoneOfItself(shopper: Shopper): Promise<void> {
  const phone = numberEnding('01');
  await sendRequestTo(shopper, phone);
  await market.world.pass(10_000);
  expect(debitsOf(market.world, phone)).toHaveLength(1);
  await takeReceipt(shopper);
}

async function payByTransfer(shopper: Shopper, order: Order): Promise<void> {
  const { page } = shopper;
  const panel = await choose(shopper, 'bank_transfer');
  await panel.getByRole('radio').check();
  await shopper.picture('bank');
  await panel.getByRole('button').click();
  await page.locator('#file').setInputFiles({ name: 'proof.pdf', mimeType: 'application/pdf', buffer: pdfFile() });
  await shopper.picture('bank-proof');
  await page.locator('form:has(#file) button').click();
  await expectTitle(shopper, 'proof_wait_title');
  await shopper.picture('bank-proof-sent');
  const { deps } = market.world.gateway;
  const waiting = await listProofs(deps, { merchantId: market.merchant.merchant.id, status: 'waiting', limit: 10 });
  const [found] = waiting.filter(({ payment }) => payment.id === order.transaction_id);
  await approveProof(deps, found?.proof.id ?? '', null);
  // The operator's process has written the event but not posted it: the gateway's next round does.
  await market.world.pass(60_000);
  await takeReceipt(shopper);
}

async function openCardForm(shopper: Shopper): Promise<void> {
  const panel = await choose(shopper, 'card');
  await panel.getByRole('button').click();
  await shopper.page.locator('form[data-card] button:enabled').waitFor();
  await shopper.picture('card');
}

async function payByCard(shopper: Shopper): Promise<void> {
  await openCardForm(shopper);
  await typeCard(shopper.page, CARDS.frictionless);
  await takeReceipt(shopper);
}

/** The bank sends the customer straight to the shop. */
async function payByCardWithChallenge(shopper: Shopper): Promise<void> {
  await openCardForm(shopper);
  await typeCard(shopper.page, CARDS.challenge);
  await shopper.page.waitForURL(/\/cardnet\/acs\//);
  await shopper.picture('challenge');
  await shopper.page.locator('button[value=pass]').click();
}

interface Way {
  readonly goods: readonly Good[];
  readonly pay: Pay;
  readonly looks: readonly Look[];
}

const WAYS: { readonly [way: string]: Way } = {
  'a wallet': {
    goods: ['coffee'],
    pay: payByWallet,
    looks: [
      ['small', 'fr', 'light'],
      ['desktop', 'zh', 'dark'],
    ],
  },
  // Expensive enough for a code.
  'a wallet with a one-time code': {
    goods: ['solar'],
    pay: payByWalletWithCode,
    looks: [
      ['small', 'en', 'dark'],
      ['desktop', 'fr', 'light'],
    ],
  },
  flash: {
    goods: ['honey', 'tea'],
    pay: payByFlash,
    looks: [
      ['small', 'zh', 'light'],
      ['desktop', 'en', 'dark'],
    ],
  },
  // Lingala is chosen in the shop: the browser is set to French.
  'mobile money, approved on the phone': {
    goods: ['wax'],
    pay: payByPhone,
    looks: [
      ['small', 'ln', 'dark'],
      ['desktop', 'fr', 'light'],
    ],
  },
  'mobile money that is approved by itself': {
    goods: ['charger'],
    pay: payByPhoneOfItself,
    looks: [
      ['small', 'zh', 'dark'],
      ['desktop', 'en', 'light'],
    ],
  },
  'a bank transfer whose proof is approved': {
    goods: ['basket'],
    pay: payByTransfer,
    looks: [
      ['small', 'en', 'light'],
      ['desktop', 'zh', 'dark'],
    ],
  },
  'a card without a challenge': {
    goods: ['chocolate'],
    pay: payByCard,
    looks: [
      ['small', 'fr', 'dark'],
      ['desktop', 'ru', 'light'],
    ],
  },
  'a card after the bank has asked': {
    goods: ['coffee', 'wax'],
    pay: payByCardWithChallenge,
    looks: [
      ['small', 'es', 'light'],
      ['desktop', 'en', 'dark'],
    ],
  },
};

const CASES = Object.entries(WAYS).flatMap(([way, { looks }]) => looks.map((look) => [way, ...look] as const));

describe.runIf(browserPath !== undefined)('in a browser', () => {
  beforeAll(async () => {
    market = await openMarket(browserPath ?? '');
    await addAccount(market.world, market.merchant);
  });
  afterAll(() => market?.close());
  afterEach(async () => expect(await closeWindows(market)).toEqual([]));

  test.each(CASES)('an order is paid by %s (%s, %s, %s)', async (way, ...look) => {
    const { goods, pay } = WAYS[way] ?? { goods: [], pay: () => Promise.reject(new Error(`no way is called ${way}`)) };
    const shopper = await openShopper(market, look);
    const order = await buy(shopper, ...goods);
    await shopper.picture('choose');
    await pay(shopper, order);
    await expectBack(shopper, 'paid');
    await expectSold(shopper, order);
    expect(stateOf(orderNow(shopper, order))).toBe('paid');
  });

  test('the page does not offer methods that need a third party’s button', async () => {
    const shopper = await openShopper(market, ['small', 'en', 'light']);
    await buy(shopper, 'tea');
    const offered = await shopper.page.locator('.pick').evaluateAll((picks) => picks.map((pick) => pick.id.slice(2)));
    expect(offered.toSorted()).toEqual(['bank_transfer', 'card', 'flash', 'mobile_money', 'wallet']);
  });
});
