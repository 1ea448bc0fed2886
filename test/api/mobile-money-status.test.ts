import { afterAll, beforeAll, expect, test } from 'vitest';
import { setFee } from '../../src/usecases/fee-set.ts';
import { openWorld, type World } from '../support/world.ts';
import { collect, mobileStatusOf, numberEnding, payByPhone, untilStatus } from './flows.ts';

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

test('what was bound is echoed as the amount, also where the buyer pays a fee', async () => {
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
