/**
 * What paying costs on the hosted page: each method's fee, a fee that has changed meanwhile, and what of it is refunded.
 */

import { afterAll, describe, expect, test } from 'vitest';
import { LANGUAGES } from '../../src/messages/messages.ts';
import { fillForm } from '../support/card-payments.ts';
import {
  elementsOf,
  host,
  type Shown,
  setSettings,
  stepOf,
  textOf,
  titleOf,
  visitor,
} from '../support/checkout-flows.ts';
import { bearerOf } from '../support/flows.ts';
import { openWorld } from '../support/world.ts';

const world = await openWorld();
afterAll(() => world.close());

test('a fee that the customer pays is shown by method, and paid', async () => {
  const dear = await world.merchant('Marché Virunga');
  await setSettings(world, dear, {
    fees: [
      { currency: 'usd', rate_ppm: 20_000, method: 'wallet' },
      { currency: 'usd', rate_ppm: 40_000 },
    ],
  });
  const wallet = await world.wallet();
  const { url } = await host(world, dear);
  const me = visitor(world);
  const page = await me.open(url);
  expect(textOf(page)).toContain('Fee $0.25');
  expect(textOf(page)).toContain('Fee $0.50');
  expect(textOf(page)).toContain('Pay $12.75');
  expect(textOf(page)).toContain('Pay $13.00');
  const paid = await me.send(stepOf(page, 'pay'), { method: 'wallet', number: wallet.number, pin: wallet.pin });
  expect(textOf(paid)).toMatch(/\$12\.75.*Amount\s+\$12\.50\s+Fee\s+\$0\.25/s);
});

test('the card form shows what a card costs, if other methods cost less', async () => {
  const dear = await world.merchant('Marché Virunga');
  await setSettings(world, dear, {
    fees: [
      { currency: 'usd', rate_ppm: 40_000, method: 'card' },
      { currency: 'usd', rate_ppm: 20_000 },
    ],
  });
  const { url } = await host(world, dear);
  const me = visitor(world);
  const form = await me.send(stepOf(await me.open(url), 'card'), { method: 'card' });
  expect(textOf(form)).toMatch(/ \$13\.00 30 min left to pay Amount \$12\.50 Fee \$0\.50 Total \$13\.00 /);
});

test('a chosen method’s fee stays as it was collected, though the merchant’s fee has changed since', async () => {
  const dear = await world.merchant('Marché Virunga');
  await setSettings(world, dear, { fees: [{ currency: 'usd', rate_ppm: 20_000 }] });
  const wallet = await world.wallet();
  const body = { payment_method: 'wallet', wallet_number: wallet.number, wallet_pin: wallet.pin };
  const { url } = await host(world, dear, { body });
  await setSettings(world, dear, { fees: [{ currency: 'usd', rate_ppm: 40_000 }] });
  const me = visitor(world);
  const page = await me.open(url);
  expect(textOf(page)).toContain('Pay $12.75');
  const paid = await me.send(stepOf(page, 'pay'), { method: 'wallet', number: wallet.number, pin: wallet.pin });
  expect(textOf(paid)).toContain('$12.75');
});

test('a customer who tries again does so on the terms that the merchant has fixed since', async () => {
  const dear = await world.merchant('Marché Virunga');
  await setSettings(world, dear, { fees: [{ currency: 'usd', rate_ppm: 20_000 }] });
  const me = visitor(world);
  const { url, transaction_id } = await host(world, dear, { body: { fee_covered_by: 'merchant' } });
  const page = await me.open(url);
  expect(textOf(page)).toContain('Pay $12.50');
  const form = await me.send(stepOf(page, 'card'), { method: 'card' });
  const payment = await world.gateway.store.payment.get(dear.merchant.shard, transaction_id);
  await fillForm(world, payment?.hosted_session_id ?? '', 'declined');
  const ended = await me.send(stepOf(form, 'pay'), { method: 'card' });
  await setSettings(world, dear, { fee_covered_by: 'buyer' });
  const again = await me.send(stepOf(ended, 'again'), {});
  expect(textOf(again)).toContain('Pay $12.75');
});

describe('a fee that was changed while the page was open', () => {
  const fee = (rate_ppm: number) => ({ fees: [{ currency: 'usd', rate_ppm }] as const });
  /** The total that the form of that method carries. */
  const totalIn = (page: Shown, method: string): string => {
    const fields = elementsOf(page).filter(({ name }) => name === 'input');
    const at = fields.findIndex(({ attributes: a }) => a.get('type') === 'hidden' && a.get('value') === method);
    expect(fields[at + 1]?.attributes.get('name')).toBe('total');
    return fields[at + 1]?.attributes.get('value') ?? '';
  };

  test.each(LANGUAGES)('%s: nothing is paid, the new total is shown and said, and is paid next', async (language) => {
    const dear = await world.merchant('Marché Virunga');
    await setSettings(world, dear, fee(20_000));
    const wallet = await world.wallet();
    const { url, transaction_id } = await host(world, dear);
    const me = visitor(world, language);
    const page = await me.open(url);
    await setSettings(world, dear, fee(40_000));
    const fields = { method: 'wallet', number: wallet.number, pin: wallet.pin };
    const refused = await me.send(stepOf(page, 'pay'), { ...fields, total: totalIn(page, 'wallet') });
    expect(refused.status).toBe(400);
    const said = /role="alert"[^>]*>.*?<p>(.*?)<\/p>/s.exec(refused.html)?.[1]?.replaceAll(/[\u00a0\u202f]/g, ' ');
    expect(said).toMatchSnapshot();
    expect(textOf(refused)).not.toContain('12.75');
    const { shard } = dear.merchant;
    expect((await world.gateway.store.payment.get(shard, transaction_id))?.status).toBe('pending');
    await me.send(stepOf(refused, 'pay'), { ...fields, total: totalIn(refused, 'wallet') });
    const paid = await world.gateway.store.payment.get(shard, transaction_id);
    expect(paid).toMatchObject({ status: 'approved', total_minor: 13_00n });
  });

  test('a card form that was opened for the older total is not paid, and another can be opened', async () => {
    const dear = await world.merchant('Marché Virunga');
    await setSettings(world, dear, fee(20_000));
    const { url, transaction_id } = await host(world, dear);
    const me = visitor(world);
    const form = await me.send(stepOf(await me.open(url), 'card'), { method: 'card' });
    expect(textOf(form)).toContain('Pay $12.75');
    await setSettings(world, dear, fee(40_000));
    const refused = await me.send(stepOf(form, 'pay'), { method: 'card', total: totalIn(form, 'card') });
    expect(textOf(refused)).toContain('new total of $13.00');
    const found = await world.gateway.store.payment.get(dear.merchant.shard, transaction_id);
    expect(found).toMatchObject({ status: 'pending', attempt_id: null });
    expect(textOf(await me.send(stepOf(refused, 'card'), { method: 'card' }))).toContain('Pay $13.00');
  });
});

test('a page shows what has been sent back, in part or whole, without a fee that was on top of it', async () => {
  const dear = await world.merchant('Marché Virunga');
  await setSettings(world, dear, { fees: [{ currency: 'usd', rate_ppm: 20_000 }] });
  const wallet = await world.wallet();
  const { url, transaction_id } = await host(world, dear);
  const me = visitor(world);
  const page = await me.open(url);
  const paid = await me.send(stepOf(page, 'pay'), { method: 'wallet', number: wallet.number, pin: wallet.pin });
  expect(textOf(paid)).toContain('$12.75');
  expect(textOf(paid)).not.toContain('Refunded');
  const refund = async (amount: string) => {
    const body = { transaction_id, amount };
    const { json, text } = await world.call('POST', '/internal/refunds', { bearer: bearerOf(dear), body });
    expect(json, text).toMatchObject({ amount, status: 'completed' });
  };
  await refund('4.00');
  const inPart = await me.open(paid.url);
  expect(titleOf(inPart)).toBe('Paid');
  expect(textOf(inPart)).toMatch(/\$12\.75.*Fee\s+\$0\.25\s+Refunded\s+\$4\.00/s);
  await refund('8.50');
  const refunded = await me.open(paid.url);
  expect(titleOf(refunded)).toBe('Refunded');
  expect(textOf(refunded)).toContain('$12.50');
  expect(textOf(refunded)).not.toContain('$12.75');
  // The only time that is shown is that of the payment, not of the refund.
  expect(textOf(paid)).toMatch(/ Date Nov 20, 2026, /);
  expect(textOf(refunded)).toMatch(/ Paid Nov 20, 2026, /);
});
