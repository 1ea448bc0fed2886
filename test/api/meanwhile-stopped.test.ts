/** A credential is revoked, a merchant suspended or a session over while a call is in progress: what effect the call still has. */

import { once } from 'node:events';
import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { revokeCredential } from '../../src/usecases/credential-revoke.ts';
import { setMerchantStatus } from '../../src/usecases/merchant-status.ts';
import { submitPayment } from '../../src/usecases/payment-submit.ts';
import { callerOf, meansOf, plainly, submitOf } from '../support/direct-calls.ts';
import { bearerOf, collect, freshKey, numberEnding, type Paying, payByPhone, statusOf } from '../support/flows.ts';
import { carrierAsked } from '../support/phone-payments.ts';
import { whileTimePasses } from '../support/waiting.ts';
import { type Answer, openWorld, type World } from '../support/world.ts';

let world: World;

beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
});
afterAll(() => world.close());

/** A mint whose body comes in two parts, with `between` run in between. Resolves to its status. */
async function mintInTwo(bearer: string, between: () => Promise<unknown>): Promise<number> {
  const body = JSON.stringify({ amount: '10.00', currency: 'usd', customer_reference: 'order-1' });
  const headers = {
    authorization: `Bearer ${bearer}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  };
  const reached = once(world.gateway.app.server, 'request');
  const call = request(`${world.url}/api/v1/internal/sessions/create`, { method: 'POST', headers });
  call.write(body.slice(0, 10));
  await reached;
  await between();
  call.end(body.slice(10));
  const [response] = await once(call, 'response');
  response.resume();
  return response.statusCode;
}

test('a slow body is judged by its credential’s state when it has arrived', async () => {
  const merchant = await world.merchant();
  const slowly = () => world.clock.advance(500);
  expect(await mintInTwo(bearerOf(merchant), slowly)).toBe(201);
  const revoked = async (): Promise<void> => {
    await revokeCredential(world.gateway.deps, merchant.key_id);
    await slowly();
  };
  expect(await mintInTwo(bearerOf(merchant), revoked)).toBe(401);
});

test('a slow body is judged like that even if the clock is set back meanwhile', async () => {
  const merchant = await world.merchant();
  const revoked = async (): Promise<void> => {
    await revokeCredential(world.gateway.deps, merchant.key_id);
    world.clock.setBack(1_000);
  };
  expect(await mintInTwo(bearerOf(merchant), revoked)).toBe(401);
});

test('a merchant that is suspended while a PIN waits for its turn is paid nothing', async () => {
  const merchant = await world.merchant();
  const wallet = await world.wallet();
  const paying = await collect(world, merchant, {
    method: 'wallet',
    body: { wallet_number: wallet.number, wallet_pin: wallet.pin },
  });
  const { deps } = world.gateway;
  const { id } = merchant.merchant;
  const caller = await callerOf(world, merchant, paying);
  const secrets: typeof deps.secrets = {
    ...deps.secrets,
    async verifyPin(...asked) {
      await setMerchantStatus(deps, id, 'SUSPENDED');
      return deps.secrets.verifyPin(...asked);
    },
  };
  const command = submitOf(paying, meansOf(wallet));
  const submitted = submitPayment({ ...deps, secrets }, caller, command, plainly);
  await expect(submitted).rejects.toMatchObject({ code: 1004 });
  await setMerchantStatus(deps, id, 'ALLOWED');
  expect(await statusOf(world, paying)).toBe('pending');
});

/** Two submits of one key whose carrier takes two seconds; `between` happens once the second one waits behind the first. */
async function submitTwice(paying: Paying, between: () => Promise<unknown>): Promise<Answer[]> {
  const [msisdn, key] = [numberEnding('42'), freshKey()];
  world.sandbox.faults.set('mtn', { delay_ms: 2_000 });
  const asked = carrierAsked(world);
  const submit = () => payByPhone(world, paying, msisdn, key);
  const first = submit();
  await asked;
  const reached = once(world.gateway.app.server, 'request');
  const second = submit();
  await reached;
  // It has been admitted, by the credential's state at that time.
  await world.call('GET', '/health');
  await between();
  const answers = await whileTimePasses(world, Promise.all([first, second]), 250);
  world.sandbox.faults.clear();
  return answers;
}

test('a call that waits behind the first one of its key is judged by its credential’s state when its turn comes', async () => {
  const merchant = await world.merchant();
  const paying = await collect(world, merchant, { method: 'mobile_money' });
  const answers = await submitTwice(paying, () => revokeCredential(world.gateway.deps, merchant.key_id));
  expect(answers.map(({ status }) => status)).toEqual([200, 401]);
});

test('a call that waits behind the first one of its key gets its answer, even if their session expires meanwhile', async () => {
  const minted = { ttl_seconds: 60 };
  const paying = await collect(world, await world.merchant(), { method: 'mobile_money', minted });
  await world.clock.advance(59_000);
  const [first, second] = await submitTwice(paying, () => world.clock.advance(1_000));
  expect([first?.status, second?.status, second?.text]).toEqual([200, 200, first?.text]);
});
