/**
 * What the hosted page says in places that are easily forgotten: the window's title, which a screen reader reads first, and what comes
 * after the payment.
 */
import { afterAll, expect, test } from 'vitest';
import { host, type Shown, stepOf, textOf, titleOf, visitor } from '../support/checkout-flows.ts';
import { codeOn, numberEnding } from '../support/flows.ts';
import { addAccount } from '../support/transfer-flows.ts';
import { openWorld } from '../support/world.ts';

const world = await openWorld();
afterAll(() => world.close());

/** What the window is called, without the shop's name. */
function windowOf({ html }: Shown): string {
  return (/<title>(.*) · [^<]*<\/title>/.exec(html)?.[1] ?? '').replaceAll(/[\u00a0\u202f]/g, ' ');
}

test('a window is called what its page says: how to pay, what to transfer, whom the page still waits for', async () => {
  const merchant = await world.merchant();
  const account = await addAccount(world, merchant);
  const called = async (shown: Shown, title: string): Promise<void> => {
    expect([windowOf(shown), titleOf(shown)]).toEqual([title, title]);
  };
  const customer = visitor(world);
  const page = await customer.open((await host(world, merchant)).url);
  await called(page, 'How would you like to pay?');
  await called(
    await customer.send(stepOf(page, 'pay'), { method: 'bank_transfer', account: account.id }),
    'Transfer $12.50',
  );
  const wallet = await world.wallet();
  const chosen = { payment_method: 'wallet', wallet_number: wallet.number, wallet_pin: wallet.pin };
  await called(await visitor(world).open((await host(world, merchant, { body: chosen })).url), 'Wallet');

  const byPhone = { method: 'mobile_money', phone: numberEnding('42') };
  const payer = visitor(world);
  const asking = await payer.open((await host(world, merchant)).url);
  await called(await payer.send(stepOf(asking, 'pay'), byPhone), 'Confirm on your phone');
  const silent = await payer.open((await host(world, merchant)).url);
  // The carrier fails after it has let the gateway in, so that nobody knows whether it has the request.
  world.sandbox.faults.set('mtn', { error_rate: 1 });
  await called(await payer.send(stepOf(silent, 'pay'), byPhone), 'Confirm on your phone');
  await world.clock.advance(21_000);
  await called(await payer.open(silent.url), 'We are still waiting for Vodacom M-Pesa');
  world.sandbox.faults.clear();
});

test('what is yet to come is called so, and without an address of the shop there is no return to it', async () => {
  const merchant = await world.merchant();
  const waiting = async (body: object): Promise<string> => {
    const customer = visitor(world);
    const page = await customer.open((await host(world, merchant, { body: { ...body } })).url);
    const pay = { method: 'mobile_money', phone: numberEnding('42') };
    return textOf(await customer.send(stepOf(page, 'pay'), pay));
  };
  expect(await waiting({})).toMatch(/3 Next: Payment confirmed Leave this page open/);
  const returning = await waiting({ success_redirect_url: 'https://shop.example/thanks' });
  expect(returning).toMatch(/3 Next: Payment confirmed You return to the shop Leave this page open/);
});

test('a page that is loaded again once its code has expired no longer says that a new code is on its way', async () => {
  const phone = numberEnding('43');
  const wallet = await world.wallet({ balance: 500_00n, phone });
  const customer = visitor(world);
  const page = await customer.open((await host(world, await world.merchant(), { minted: { amount: '150.00' } })).url);
  const asked = await customer.send(stepOf(page, 'pay'), { method: 'wallet', number: wallet.number, pin: wallet.pin });
  const resent = await customer.send(stepOf(asked, 'resend'), {});
  expect(textOf(resent)).toContain('A new code is on its way.');
  await codeOn(world, phone, 2);
  await world.clock.advance(10 * 60_000);
  const over = textOf(await customer.open(resent.url));
  expect(over).toContain('This code has expired.');
  expect(over).not.toContain('on its way');
});
