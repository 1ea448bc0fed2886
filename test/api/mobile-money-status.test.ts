/** What the reads of a mobile-money payment say of its amount, its carrier and the upstream's reference. */

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { LANGUAGES, say } from '../../src/messages/messages.ts';
import { setFee } from '../../src/usecases/fee-set.ts';
import {
  answerPrompt,
  collect,
  mobileStatusOf,
  numberEnding,
  type Paying,
  payByPhone,
  payFromWallet,
  phoneState,
  untilStatus,
} from '../support/flows.ts';
import { attemptOf } from '../support/phone-payments.ts';
import { openSecond, submitAt } from '../support/second-gateway.ts';
import { addAccount, promise } from '../support/transfer-flows.ts';
import { until } from '../support/waiting.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterEach(() => world.sandbox.faults.clear());
afterAll(() => world.close());

test('the bound amount is echoed, even if the buyer pays a fee', async () => {
  const rule = {
    method: 'mobile_money',
    currency: 'usd',
    rate: '2',
    fixed: 0n,
    min: undefined,
    max: undefined,
  } as const;
  const charging = await world.merchant('Librairie Goma');
  await setFee(world.gateway.deps, { merchantId: charging.merchant.id, ...rule });
  const paying = await collect(world, charging, { method: 'mobile_money', minted: { amount: '12.5' } });
  const submitted = await payByPhone(world, paying, numberEnding('01'));
  expect(submitted.json, submitted.text).toMatchObject({ amount: '12.5', total_amount: '12.75' });
  await untilStatus(world, paying, 'approved');
  expect((await mobileStatusOf(world, paying)).data.payment_info).toMatchObject({ amount: '12.5', currency: 'usd' });
});

/** The message about it in each language. */
function messagesOf({ token, payment_id }: Paying): Promise<string[]> {
  const path = `/payments/mobile-money/status/${payment_id}`;
  const asked = LANGUAGES.map(async (language) => {
    const read = await world.call('GET', path, { bearer: token, headers: { 'accept-language': language } });
    expect(read.json.data.message).toBe(read.json.message);
    return read.json.message;
  });
  return Promise.all(asked);
}

test('while a carrier is being called, every sentence is complete without its name; once it is silent, all name it', async () => {
  const merchant = await world.merchant();
  const paying = await collect(world, merchant);
  const msisdn = numberEnding('05');
  // The gateway that calls uses the world's clock.
  const second = await openSecond(world, world.clock);
  world.sandbox.faults.set('mtn', { lose_callback_rate: 1 });
  const submitting = submitAt(second.url, paying, msisdn);
  await until(async () => ((await phoneState(world, msisdn)).prompts.length > 0 ? true : undefined));
  expect(await messagesOf(paying)).toEqual(LANGUAGES.map((language) => say(language, 'progress.processing')));
  await world.pass(1_000);
  await world.pass(10_000);
  expect(JSON.parse((await submitting).text)).toMatchObject({ status: 'processing' });
  const carrier = 'Vodacom M-Pesa';
  const silent = LANGUAGES.map((language) => say(language, 'progress.carrier_silent', { carrier }));
  expect(await messagesOf(paying)).toEqual(silent);
  await second.close();
});

test('the upstream reference is empty before the submit, then our own, and in the end the carrier’s', async () => {
  const merchant = await world.merchant();
  const paying = await collect(world, merchant, { method: 'mobile_money' });
  expect((await mobileStatusOf(world, paying)).data.provider_reference).toBe('');
  // A number that waits for its owner.
  const msisdn = numberEnding('42');
  await payByPhone(world, paying, msisdn);
  const { reference } = await attemptOf(world, paying);
  expect((await mobileStatusOf(world, paying)).data.provider_reference).toBe(reference);
  // A process that has not written it reads it.
  const second = await openSecond(world, world.clock);
  const path = `/api/v1/payments/mobile-money/status/${paying.payment_id}`;
  const read = await fetch(`${second.url}${path}`, { headers: { authorization: `Bearer ${paying.token}` } });
  expect(await read.json()).toMatchObject({ data: { provider_reference: reference } });
  await second.close();
  await answerPrompt(world, msisdn, 'approve');
  await untilStatus(world, paying, 'approved');
  const { data } = await mobileStatusOf(world, paying);
  expect(data.provider_reference).not.toBe(reference);
  expect(data.provider_reference).toMatch(/\S/);
  expect(data.payment_info.provider_reference).toBe(data.provider_reference);
});

test('a failed payment keeps its upstream reference', async () => {
  const merchant = await world.merchant();
  const paying = await collect(world, merchant, { method: 'mobile_money' });
  await payByPhone(world, paying, numberEnding('02'));
  await untilStatus(world, paying, 'failed');
  const { data } = await mobileStatusOf(world, paying);
  expect(data.provider_reference).toMatch(/\S/);
  expect(data.payment_info.provider_reference).toBe(data.provider_reference);
});

test('a phone number is required only if a phone pays, or no method is chosen yet', async () => {
  const merchant = await world.merchant();
  await addAccount(world, merchant);
  const wallet = await world.wallet({ balance: 500_00n, phone: '+243826540043' });
  const byWallet = await collect(world, merchant, { method: 'none', minted: { amount: '150.00' } });
  expect((await payFromWallet(world, byWallet, wallet)).json).toMatchObject({ status: 'pending_otp_verification' });
  const started = [await collect(world, merchant), await collect(world, merchant, { method: 'none' })];
  for (const paying of started) expect((await mobileStatusOf(world, paying)).message).toMatch(/phone number/);
  for (const paying of [byWallet, await promise(world, merchant)]) {
    expect((await mobileStatusOf(world, paying)).message).toBe(say('en', 'progress.started'));
    expect(new Set(await messagesOf(paying)).size).toBe(LANGUAGES.length);
  }
});
