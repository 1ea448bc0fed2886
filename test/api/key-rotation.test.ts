/** A gateway that was given a new master key, before the old one: what was made before still counts. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bytesOfId, idOfBytes } from '../../src/domain/ids.ts';
import { openSecrets } from '../../src/platform/secrets.ts';
import { callbackUrl } from '../../src/usecases/callback-url.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { openWorld, WORLD_MASTER_KEY, type World } from '../support/world.ts';
import { codeOn, collect, payFromWallet } from './flows.ts';
import { attemptOf, callBack, pushed } from './phone-payments.ts';
import { openSecond, type Second } from './second-gateway.ts';

const NEW_KEY = Buffer.alloc(32, 8).toString('base64');

let world: World;
let merchant: MerchantCreated;
let renewed: Second;

beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
  merchant = await world.merchant();
  const secrets = openSecrets({
    masterKeys: [NEW_KEY, WORLD_MASTER_KEY],
    random: world.gateway.deps.random,
    transactionIds: { bytesOf: bytesOfId, idOf: (bytes) => idOfBytes('txn', bytes) },
  });
  renewed = await openSecond(world, world.clock, world.databaseUrl, {}, secrets);
});
afterAll(async () => {
  await renewed.close();
  await world.close();
});

test('a one-time code that was sent before pays, and a wrong one does not', async () => {
  const phone = '+243826540042';
  const wallet = await world.wallet({ balance: 500_00n, phone });
  const paying = await collect(world, merchant, { method: 'none', minted: { amount: '150.00' } });
  expect((await payFromWallet(world, paying, wallet)).json).toMatchObject({ status: 'pending_otp_verification' });
  const code = await codeOn(world, phone);
  const verify = async (otp_code: string): Promise<unknown> => {
    const answer = await fetch(`${renewed.url}/api/v1/payments/verify-otp`, {
      method: 'POST',
      headers: { authorization: `Bearer ${paying.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ payment_id: paying.payment_id, otp_code }),
    });
    return answer.json();
  };
  expect(await verify(code === '000000' ? '000001' : '000000')).toMatchObject({ error_code: '1302' });
  expect(await verify(code)).toMatchObject({ success: true, status: 'approved' });
});

test('an address that a carrier was given before is still called back at', async () => {
  const paying = await pushed(world, merchant, '42');
  const { pathname } = new URL(callbackUrl(world.gateway.deps, await attemptOf(world, paying)));
  expect(await callBack(`${renewed.url}${pathname}`, { status: 'PENDING' })).toBe(200);
  expect(await callBack(`${renewed.url}${pathname.slice(0, -1)}`, { status: 'PENDING' })).toBe(404);
});
