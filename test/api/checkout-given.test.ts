/**
 * What the shop has given of its customer at collect: the hosted page offers it, and asks only for what is missing
 * (contract §4).
 */

import { afterAll, describe, expect, test } from 'vitest';
import { fillForm } from '../support/card-payments.ts';
import { elementsOf, host, type Shown, stepOf, textOf, titleOf, visitor } from '../support/checkout-flows.ts';
import { numberEnding } from '../support/flows.ts';
import { collectBody, mint, openWorld } from '../support/world.ts';

const world = await openWorld();
const merchant = await world.merchant();
afterAll(() => world.close());

const maskOf = (phone: string): string => `+243 ${phone.slice(4, 6)} ••• •• ${phone.slice(-2)}`;

/** Which radio button of a method's two numbers is selected; undefined if the page offers none. */
function pressedIn(page: Shown, method: string): string | undefined {
  const buttons = elementsOf(page).filter(({ attributes }) => attributes.get('name') === 'source');
  const pressed = buttons.filter(
    ({ attributes }) => attributes.get('id')?.startsWith(`${method}-`) === true && attributes.has('checked'),
  );
  expect(pressed.length).toBeLessThan(2);
  return pressed[0]?.attributes.get('value');
}

const attributeOf = (page: Shown, id: string, name: string): string | undefined =>
  elementsOf(page)
    .find(({ attributes }) => attributes.get('id') === id)
    ?.attributes.get(name);

const payerOf = async (transactionId: string): Promise<string | null | undefined> =>
  (await world.gateway.store.payment.get(merchant.merchant.shard, transactionId))?.msisdn;

describe('a phone number that the shop has given', () => {
  test('is offered masked with its carrier, and pays without being typed', async () => {
    const phone = numberEnding('42');
    const { url, transaction_id } = await host(world, merchant, { body: { phone_number: phone } });
    const me = visitor(world);
    const page = await me.open(url);
    expect(pressedIn(page, 'mobile_money')).toBe('given');
    expect(textOf(page)).toContain(
      `Which number are you paying with? ${maskOf(phone)} Vodacom M-Pesa. A request for $12.50 will`,
    );
    expect(textOf(page)).toContain('Another number');
    expect(page.html).not.toContain(phone.slice(4));
    const waits = await me.send(stepOf(page, 'pay'), {
      method: 'mobile_money',
      source: 'given',
      phone: '',
      country: 'CD',
    });
    expect(titleOf(waits)).toBe('Confirm on your phone');
    expect(textOf(waits)).toContain(maskOf(phone));
    expect(await payerOf(transaction_id)).toBe(phone);
  });

  test('can be replaced by another number; a number that was typed and then given up is not paid with', async () => {
    const [given, typed] = [numberEnding('42'), numberEnding('43')];
    for (const [source, payer] of [
      ['other', typed],
      ['given', given],
    ] as const) {
      const { url, transaction_id } = await host(world, merchant, { body: { phone_number: given } });
      const me = visitor(world);
      const fields = { method: 'mobile_money', source, phone: typed, country: 'CD' };
      await me.send(stepOf(await me.open(url), 'pay'), fields);
      expect(await payerOf(transaction_id)).toBe(payer);
    }
  });

  test('stays on offer beside a wrongly typed number, whose field stays open', async () => {
    const phone = numberEnding('42');
    const { url } = await host(world, merchant, { body: { phone_number: phone } });
    const me = visitor(world);
    const fields = { method: 'mobile_money', source: 'other', phone: '12', country: 'CD' };
    const wrong = await me.send(stepOf(await me.open(url), 'pay'), fields);
    expect(pressedIn(wrong, 'mobile_money')).toBe('other');
    expect(textOf(wrong)).toContain('This is not a phone number of that country.');
    expect(attributeOf(wrong, 'mobile_money-phone', 'aria-describedby')).toContain('mobile_money-phone-fault');
    expect(attributeOf(wrong, 'mobile_money-phone', 'value')).toBe('12');
    const paying = await me.send(stepOf(wrong, 'pay'), { ...fields, source: 'given' });
    expect(titleOf(paying)).toBe('Confirm on your phone');
  });

  test('is not selected automatically after another number was refused', async () => {
    const { url, transaction_id } = await host(world, merchant, { body: { phone_number: numberEnding('42') } });
    const me = visitor(world);
    const fields = { method: 'mobile_money', source: 'other', phone: '5123450000000008', country: 'CD' };
    const refused = await me.send(stepOf(await me.open(url), 'pay'), fields);
    expect(textOf(refused)).toContain('Do not type a card number here.');
    expect(pressedIn(refused, 'mobile_money')).toBe('other');
    expect(attributeOf(refused, 'mobile_money-phone', 'aria-describedby')).toContain('mobile_money-phone-fault');
    expect(refused.html).not.toContain('5123450000000008');
    expect(await payerOf(transaction_id)).toBeNull();
  });

  test('stays selected if a card number was left in the other number’s field, and nothing is marked as wrong', async () => {
    const phone = numberEnding('42');
    const { url } = await host(world, merchant, { body: { phone_number: phone } });
    const me = visitor(world);
    const fields = { method: 'mobile_money', source: 'given', phone: '5123450000000008', country: 'CD' };
    const refused = await me.send(stepOf(await me.open(url), 'pay'), fields);
    expect(textOf(refused)).toContain('Do not type a card number here.');
    expect(pressedIn(refused, 'mobile_money')).toBe('given');
    expect(refused.html).not.toContain('aria-invalid');
  });

  test('and a country that was chosen with it stays chosen', async () => {
    const minted = { currency: 'xof', amount: '1500' };
    const { url } = await host(world, merchant, { minted, body: { phone_number: '+2250500000042' } });
    const me = visitor(world);
    const fields = { method: 'mobile_money', source: 'other', phone: '5123450000000008', country: 'BJ' };
    const refused = await me.send(stepOf(await me.open(url), 'pay'), fields);
    const chosen = elementsOf(refused).filter(
      ({ name, attributes }) => name === 'option' && attributes.has('selected'),
    );
    expect(chosen.map(({ attributes }) => attributes.get('value'))).toEqual(['BJ']);
  });

  test('that is submitted twice shows the outcome, as a typed one does', async () => {
    const phone = numberEnding('42');
    for (const fields of [{ source: 'given' }, { source: 'other', phone, country: 'CD' }]) {
      const { url } = await host(world, merchant, { body: { phone_number: phone } });
      const me = visitor(world);
      const pay = stepOf(await me.open(url), 'pay');
      const first = await me.send(pay, { method: 'mobile_money', ...fields });
      const second = await me.send(pay, { method: 'mobile_money', ...fields });
      expect([second.status, second.url, titleOf(second)]).toEqual([200, first.url, 'Confirm on your phone']);
    }
  });

  test('is on offer again when the customer tries again', async () => {
    const phone = numberEnding('42');
    const { url, transaction_id } = await host(world, merchant, { body: { phone_number: phone } });
    const me = visitor(world);
    const form = await me.send(stepOf(await me.open(url), 'card'), { method: 'card' });
    const payment = await world.gateway.store.payment.get(merchant.merchant.shard, transaction_id);
    await fillForm(world, payment?.hosted_session_id ?? '', 'declined');
    const declined = await me.send(stepOf(form, 'pay'), { method: 'card' });
    const again = await me.send(stepOf(declined, 'again'), {});
    expect(textOf(again)).toContain(maskOf(phone));
    const waits = await me.send(stepOf(again, 'pay'), { method: 'mobile_money', source: 'given' });
    expect(textOf(waits)).toContain(maskOf(phone));
  });

  test.each([
    ['of no carrier that takes the currency', { phone_number: '+33612345678' }],
    ['of another currency’s carrier', { phone_number: '+256772000042' }],
    ['that the shop says not to know', { phone_number: numberEnding('42'), user_info: 'none' }],
    ['that is none', {}],
  ])('is asked for if the page has one %s', async (_which, body) => {
    const { url, transaction_id } = await host(world, merchant, { body });
    const me = visitor(world);
    const page = await me.open(url);
    expect(pressedIn(page, 'mobile_money')).toBeUndefined();
    // The number typed into the field that was not selected is not paid with instead.
    const fields = { method: 'mobile_money', source: 'given', phone: numberEnding('43'), country: 'CD' };
    const refused = await me.send(stepOf(page, 'pay'), fields);
    expect(refused.status).toBe(400);
    expect(textOf(refused)).toContain('Enter the phone number that you are paying with.');
    expect(await payerOf(transaction_id)).toBeNull();
  });

  test('is also offered on the page of a collect whose method is open, and if only part is known', async () => {
    const phone = numberEnding('42');
    const { token } = await mint(world, merchant);
    const body = collectBody(world, 'none', { phone_number: phone, user_info: 'partial' });
    const { json } = await world.call('POST', '/payments/collect', { bearer: token, body });
    expect(textOf(await visitor(world).open(json.payment_url))).toContain(maskOf(phone));
  });
});

describe('a wallet number that the shop has given', () => {
  const given = async (body = {}) => {
    const wallet = await world.wallet();
    const { url, transaction_id } = await host(world, merchant, { body: { wallet_number: wallet.number, ...body } });
    const me = visitor(world);
    return { wallet, me, transaction_id, page: await me.open(url) };
  };

  test('is offered by its last digits, with only the PIN to type; a wrong PIN does not change that', async () => {
    const { wallet, me, page } = await given();
    expect(pressedIn(page, 'wallet')).toBe('given');
    expect(textOf(page)).toContain(`•••• ${wallet.number.slice(-2)}`);
    expect(pressedIn(page, 'flash')).toBeUndefined();
    const wrong = await me.send(stepOf(page, 'pay'), { method: 'wallet', source: 'given', number: '', pin: '7391' });
    expect(textOf(wrong)).toContain('The number or the PIN is not right. Tries left: 4.');
    expect(pressedIn(wrong, 'wallet')).toBe('given');
    const paid = await me.send(stepOf(wrong, 'pay'), { method: 'wallet', source: 'given', pin: wallet.pin });
    expect(titleOf(paid)).toBe('Paid');
    for (const { html } of [page, wrong, paid]) expect(html).not.toContain(wallet.number);
  });

  test('is a flash account’s if flash was chosen', async () => {
    const flash = await world.wallet({ kind: 'flash' });
    const body = { payment_method: 'flash', wallet_number: flash.number };
    const { url } = await host(world, merchant, { body });
    const me = visitor(world);
    const page = await me.open(url);
    expect(textOf(page)).toContain(`•••• ${flash.number.slice(-2)}`);
    const paid = await me.send(stepOf(page, 'pay'), { method: 'flash', source: 'given', pin: flash.pin });
    expect(titleOf(paid)).toBe('Paid');
    const again = await me.send(stepOf(page, 'pay'), { method: 'flash', source: 'given', pin: flash.pin });
    expect([again.status, titleOf(again)]).toEqual([200, 'Paid']);
  });

  test('is kept however its digits were grouped', async () => {
    const wallet = await world.wallet();
    const grouped = wallet.number.replaceAll(/(.{4})/g, '$1 ');
    const { url } = await host(world, merchant, { body: { wallet_number: grouped } });
    const me = visitor(world);
    const page = await me.open(url);
    const paid = await me.send(stepOf(page, 'pay'), { method: 'wallet', source: 'given', pin: wallet.pin });
    expect(titleOf(paid)).toBe('Paid');
  });

  test('has its error shown beside it', async () => {
    const francs = await world.wallet({ currency: 'cdf' });
    const { url } = await host(world, merchant, { body: { wallet_number: francs.number } });
    const me = visitor(world);
    const fields = { method: 'wallet', source: 'given', pin: francs.pin };
    const refused = await me.send(stepOf(await me.open(url), 'pay'), fields);
    expect(textOf(refused)).toContain('This account holds CDF.');
    const marked = elementsOf(refused).filter(({ attributes }) => attributes.get('aria-invalid') === 'true');
    expect(marked.map(({ attributes }) => attributes.get('aria-describedby'))).toEqual(['wallet-given-fault']);
    expect(attributeOf(refused, 'wallet-number', 'aria-describedby')).toBeUndefined();
  });

  test.each([
    ['that the shop says not to know', { payment_method_info: 'none' }],
    ['that cannot be one', { wallet_number: '5001' }],
  ])('is asked for if the page has one %s', async (_which, body) => {
    const { me, page, wallet } = await given(body);
    expect(pressedIn(page, 'wallet')).toBeUndefined();
    const refused = await me.send(stepOf(page, 'pay'), { method: 'wallet', source: 'given', pin: wallet.pin });
    expect(textOf(refused)).toContain('Enter the number.');
  });
});
