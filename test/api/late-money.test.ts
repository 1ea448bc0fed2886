/**
 * Money that comes after its payment has ended: a person is called, and settles it, once.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Attempt } from '../../src/domain/records.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { openWorld, type World } from '../support/world.ts';
import { type FickleCarrier, openFickleCarrier } from './fickle-carrier.ts';
import { collect, numberEnding, type Paying, payByPhone, statusOf } from './flows.ts';
import { attemptOf, callBack } from './phone-payments.ts';

let carrier: FickleCarrier;
let world: World;
let merchant: MerchantCreated;

beforeAll(async () => {
  carrier = await openFickleCarrier();
  world = await openWorld({ env: { MTN_MOMO_BASE_URL: carrier.url, RATE_LIMIT_SCALE: '0' } });
  merchant = await world.merchant();
});
afterAll(async () => {
  await world.close();
  await carrier.close();
});

/** A payment that failed, and was paid after that. */
async function paidLate(of = merchant): Promise<{ readonly paying: Paying; readonly attempt: Attempt }> {
  const paying = await collect(world, of);
  carrier.say('PENDING');
  expect((await payByPhone(world, paying, numberEnding('42'))).status).toBe(200);
  for (const word of ['FAILED', 'SUCCESSFUL']) {
    carrier.say(word);
    expect(await callBack(carrier.callbackUrl(), {})).toBe(200);
  }
  expect(await statusOf(world, paying)).toBe('failed');
  return { paying, attempt: await attemptOf(world, paying) };
}

/** The alarms' numbers by their kind. */
async function alarms(): Promise<Record<string, number>> {
  const page = await (await fetch(`${world.url}/metrics`)).text();
  const samples = page.matchAll(/^mbongo_attempt_alarms_total\{alarm="(\w+)"\} (\d+)$/gm);
  return Object.fromEntries([...samples].map(([, alarm = '', count]) => [alarm, Number(count)]));
}

test('every kind of alarm is counted, from 0 on', async () => {
  const none = { late_success: 0, late_acceptance: 0, contradiction: 0, overdue: 0 };
  expect(await alarms()).toEqual(none);
  await paidLate();
  expect(await alarms()).toEqual({ ...none, late_success: 1 });
});
