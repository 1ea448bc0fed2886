/**
 * A hosted page whose payer has paid too late to count: nobody is told that nothing was charged, or to pay again.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { declineProof } from '../../src/usecases/proof-decide.ts';
import { host, type Shown, stepOf, textOf, visitor } from '../support/checkout-flows.ts';
import { numberEnding } from '../support/flows.ts';
import { addAccount, pdfFile, upload } from '../support/transfer-flows.ts';
import { TURNED_AWAY } from '../support/wavering-carrier.ts';
import { openWaveringDesk, type WaveringDesk } from '../support/wavering-desk.ts';

let desk: WaveringDesk;
beforeAll(async () => {
  desk = await openWaveringDesk();
});
afterAll(() => desk.close());

/** The shop's addresses, and where a page leads back to. */
const ADDRESSES = {
  success_redirect_url: 'http://127.0.0.1:9/paid',
  fail_redirect_url: 'http://127.0.0.1:9/failed',
};
const wayBack = ({ html }: Shown): string | undefined => /href="http:\/\/127\.0\.0\.1:9(\/[a-z]+)\?/.exec(html)?.[1];

test('after the time to pay is over, the page of a payer whose money came says so', async () => {
  const { world, carrier } = desk;
  const hosted = await host(world, await world.merchant(), { body: ADDRESSES, minted: { ttl_seconds: 600 } });
  const customer = visitor(world);
  const page = await customer.open(hosted.url);
  carrier.answer(TURNED_AWAY);
  await customer.send(stepOf(page, 'pay'), { method: 'mobile_money', phone: numberEnding('42') });
  const first = await desk.attemptOf(hosted.transaction_id, 0);
  expect(first.status).toBe('not_sent');
  await world.pass(601_000);
  await world.pass(1_000);
  const over = await customer.open(page.url);
  expect(textOf(over)).toContain('Nothing has been charged');
  expect(wayBack(over)).toBe('/failed');
  await desk.hearOf(first, 'SUCCESSFUL');
  expect(await desk.attemptOf(hosted.transaction_id, 0)).toMatchObject({ status: 'approved' });
  const late = await customer.open(page.url);
  expect(textOf(late)).not.toContain('Nothing has been charged');
  expect(textOf(late)).toContain('Do not pay again: ask the shop');
  expect(wayBack(late), 'where the shop checks, and does not ask for it again').toBe('/paid');
  expect(late.html).toContain('status=expired');
});

test('a page that asks for a bank transfer asks for none once the money has come by phone', async () => {
  const { world, carrier } = desk;
  const merchant = await world.merchant();
  const account = await addAccount(world, merchant);
  const hosted = await host(world, merchant);
  const customer = visitor(world);
  const page = await customer.open(hosted.url);
  carrier.answer(TURNED_AWAY);
  await customer.send(stepOf(page, 'pay'), { method: 'mobile_money', phone: numberEnding('42') });
  await customer.send(stepOf(page, 'pay'), { method: 'bank_transfer', account: account.id });
  const asked = await customer.open(page.url);
  expect(textOf(asked)).toContain(account.account_number);
  await desk.hearOf(await desk.attemptOf(hosted.transaction_id, 0), 'SUCCESSFUL');
  const late = await customer.open(page.url);
  expect(textOf(late)).toContain('Do not pay again: ask the shop');
  expect(textOf(late)).not.toContain(account.account_number);
  // A customer who had made the transfer before can still send its proof.
  expect(stepOf(late, 'proof')).toBeDefined();
});

test('a page whose last code has expired says so, once the money has come by phone', async () => {
  const { world, carrier } = desk;
  const merchant = await world.merchant();
  const wallet = await world.wallet({ balance: 500_00n, phone: numberEnding('43') });
  const hosted = await host(world, merchant, { minted: { amount: '150.00' } });
  const customer = visitor(world);
  const page = await customer.open(hosted.url);
  carrier.answer(TURNED_AWAY);
  await customer.send(stepOf(page, 'pay'), { method: 'mobile_money', phone: numberEnding('42') });
  await customer.send(stepOf(page, 'pay'), { method: 'wallet', number: wallet.number, pin: wallet.pin });
  for (let resent = 0; resent < 3; resent += 1) {
    await world.pass(60_000);
    await customer.send(stepOf(await customer.open(page.url), 'resend'), {});
  }
  await world.pass(601_000);
  const over = await customer.open(page.url);
  expect(textOf(over)).toContain('Nothing has been charged');
  expect(over.html).toContain('<title>This code has expired. ·');
  await desk.hearOf(await desk.attemptOf(hosted.transaction_id, 0), 'SUCCESSFUL');
  const late = await customer.open(page.url);
  expect(textOf(late)).not.toContain('Nothing has been charged');
  expect(textOf(late)).toContain('Do not pay again: ask the shop');
  // Nor does the window's title ask for a code.
  expect(late.html).toContain('<title>An earlier try went through. Do not pay again: ask the shop. ·');
  for (const { html } of [over, late]) expect(html).toContain('class="narrow"');
});

test('a proof that cannot be read tells nobody that nothing was charged, or to pay another way', async () => {
  const { world } = desk;
  const merchant = await world.merchant();
  const account = await addAccount(world, merchant);
  const customer = visitor(world);
  const page = await customer.open((await host(world, merchant)).url);
  await customer.send(stepOf(page, 'pay'), { method: 'bank_transfer', account: account.id });
  const asked = await customer.open(page.url);
  const refused = await customer.send(
    stepOf(asked, 'proof'),
    {},
    { 'content-type': 'multipart/form-data; boundary=x' },
  );
  expect(refused.status).toBe(400);
  expect(textOf(refused)).not.toContain('Nothing has been charged');
  expect(textOf(refused)).toContain('Send the file again');
});

test('a customer whose proof was declined is told not to make a transfer again that was made', async () => {
  const { world } = desk;
  const merchant = await world.merchant();
  const account = await addAccount(world, merchant);
  const hosted = await host(world, merchant);
  const customer = visitor(world);
  const page = await customer.open(hosted.url);
  await customer.send(stepOf(page, 'pay'), { method: 'bank_transfer', account: account.id });
  const uploaded = await upload(world, hosted, pdfFile());
  await declineProof(world.gateway.deps, uploaded.json.proof.id, 'cannot be read');
  const declined = textOf(await customer.open(page.url));
  expect(declined).toContain('If you have made the transfer, do not make it again');
  expect(declined).not.toContain('try again, or pay another way');
});
