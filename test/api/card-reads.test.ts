/** Reads of card payments: cardnet/status and check-status, and what they ask of the network. */

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import {
  answerChallenge,
  capturesOf,
  challenged,
  collectByCard,
  postCallback,
  readyToPay,
  submitCard,
} from '../support/card-payments.ts';
import { expectRefusal } from '../support/envelope.ts';
import { collect, collectWith, neighbourOf, payFromWallet } from '../support/flows.ts';
import { mint, openWorld, type World } from '../support/world.ts';

let world: World;
let merchant: MerchantCreated;

beforeAll(async () => {
  world = await openWorld();
  merchant = await world.merchant();
});
afterEach(() => world.sandbox.faults.clear());
afterAll(async () => {
  expect((await world.gateway.store.auditAll()).findings).toEqual([]);
  await world.close();
});

describe('reads', () => {
  test('cardnet/status and its alias report the authentication, and its address, while it is open', async () => {
    const paying = await readyToPay(world, merchant, 'challenge');
    const read = async (network: string) => {
      const answer = await world.call('GET', `/payments/${network}/status/${paying.transaction_id}`, {
        bearer: paying.token,
      });
      expect(answer.status, answer.text).toBe(200);
      return answer.json;
    };
    const none = { status: null, eci: null, challenge_url: null };
    expect(await read('cardnet')).toMatchObject({ status: 'pending', three_ds: none });
    const submitted = await submitCard(world, paying);
    expect(await read('cardnet')).toMatchObject({
      transaction_id: paying.transaction_id,
      status: 'processing',
      amount: '12.50',
      three_ds: { status: 'AUTHENTICATION_PENDING', eci: null, challenge_url: submitted.json.redirect_url },
    });
    await postCallback(world, await answerChallenge(world, paying, 'pass'));
    const after = await read('mastercard');
    expect(after).toMatchObject({
      status: 'approved',
      three_ds: { status: 'AUTHENTICATION_SUCCESSFUL', eci: '05', challenge_url: null },
    });
    expect(await read('cardnet')).toEqual(after);
  });

  test.each(['the callback', 'a read'] as const)(
    'a customer who has failed the challenge is reported so, whether %s finds it',
    async (by) => {
      const paying = await challenged(world, merchant);
      const fields = await answerChallenge(world, paying, 'fail');
      const get = (path: string) => world.call('GET', `/payments/${path}`, { bearer: paying.token });
      if (by === 'the callback') await postCallback(world, fields);
      else await get(`check-status/${paying.transaction_id}`);
      expect((await get(`cardnet/status/${paying.transaction_id}`)).json).toMatchObject({
        status: 'declined',
        three_ds: { status: 'AUTHENTICATION_FAILED', eci: null, challenge_url: null },
      });
    },
  );

  test('check-status knows no payment of another merchant, not even of the same shard, by any of its names', async () => {
    const paying = await challenged(world, merchant);
    for (const other of [await neighbourOf(world, merchant), await world.merchant()]) {
      const { token: bearer } = await mint(world, other);
      for (const name of [paying.transaction_id, paying.reference])
        expectRefusal(await world.call('GET', `/payments/check-status/${name}`, { bearer }), 404, '1204');
    }
  });

  test('check-status inquires at the network again, under each of its names, and settles the answer', async () => {
    const paying = await challenged(world, merchant);
    const check = async (name: string) => {
      const answer = await world.call('GET', `/payments/check-status/${encodeURIComponent(name)}`, {
        bearer: paying.token,
      });
      expect(answer.status, answer.text).toBe(200);
      return answer.json;
    };
    const open = { status: 'processing', upstream_status: 'AUTHENTICATION_INITIATED' };
    expect(await check(paying.reference)).toMatchObject(open);
    expect(await check(paying.transaction_id)).toMatchObject(open);
    await answerChallenge(world, paying, 'pass');
    expect(await check(paying.reference)).toMatchObject({ status: 'approved', upstream_status: 'CAPTURED' });
    // Final: answered from the database, even if the network is unreachable.
    world.sandbox.faults.set('cardnet', { refuse_rate: 1 });
    expect(await check(paying.transaction_id)).toMatchObject({ status: 'approved', upstream_status: 'CAPTURED' });
    expect(capturesOf(world, paying)).toMatchObject([{ times: 1 }]);
  });

  test('an order that ended without money is reported in the network’s term for it, without an inquiry', async () => {
    const [refused, rejected] = [
      await readyToPay(world, merchant, 'declined'),
      await readyToPay(world, merchant, 'rejected'),
    ];
    for (const paying of [refused, rejected]) expectRefusal(await submitCard(world, paying), 402, '1502');
    world.sandbox.faults.set('cardnet', { refuse_rate: 1 });
    const check = async ({ transaction_id, token }: typeof refused) =>
      (await world.call('GET', `/payments/check-status/${transaction_id}`, { bearer: token })).json;
    expect(await check(refused)).toMatchObject({ status: 'declined', upstream_status: 'FAILED' });
    expect(await check(rejected)).toMatchObject({
      status: 'declined',
      upstream_status: 'AUTHENTICATION_UNSUCCESSFUL',
    });
  });

  test('an unknown order is 1204, and so is another merchant’s; one of another method is 1205', async () => {
    const paying = await collectByCard(world, merchant);
    const stranger = await collectByCard(world, await world.merchant('Librairie Goma'));
    const wallet = await collect(world, merchant, {
      method: 'wallet',
      body: { wallet_number: '1', wallet_pin: '1234' },
    });
    const get = (path: string) => world.call('GET', path, { bearer: paying.token });
    for (const name of ['nothing', stranger.reference, stranger.transaction_id]) {
      expectRefusal(await get(`/payments/check-status/${name}`), 404, '1204');
    }
    expectRefusal(await get(`/payments/cardnet/status/${stranger.transaction_id}`), 404, '1204');
    expectRefusal(await get(`/payments/cardnet/status/${wallet.transaction_id}`), 409, '1205', 'NOT_A_CARD');
  });

  test('a payment by another method is read under each of its names, and no network has a word for it', async () => {
    const wallet = await world.wallet();
    const paying = await collect(world, merchant);
    expect((await payFromWallet(world, paying, wallet)).json).toMatchObject({ status: 'approved' });
    const [byReference, byId] = await Promise.all(
      [paying.reference, paying.transaction_id].map((name) =>
        world.call('GET', `/payments/check-status/${name}`, { bearer: paying.token }),
      ),
    );
    expect(byId?.status, byId?.text).toBe(200);
    expect(byId?.json).toMatchObject({
      transaction_id: paying.transaction_id,
      status: 'approved',
      upstream_status: null,
    });
    expect(byId?.json).toEqual(byReference?.json);
  });

  test('a payment whose method has not been chosen yet may still be by card: its authentication can be read', async () => {
    const { transaction_id, token } = await collect(world, merchant);
    const read = await world.call('GET', `/payments/cardnet/status/${transaction_id}`, { bearer: token });
    const three_ds = { status: null, eci: null, challenge_url: null };
    expect([read.status, read.json]).toMatchObject([200, { status: 'pending', three_ds }]);
  });

  test('a reference means its newest payment, of whatever method', async () => {
    const mobile = await collect(world, merchant, { method: 'mobile_money' });
    const check = (reference: string) =>
      world.call('GET', `/payments/check-status/${reference}`, { bearer: mobile.token });
    const { status, json } = await check(mobile.reference);
    expect([status, json]).toMatchObject([200, { transaction_id: mobile.transaction_id, upstream_status: null }]);
    const paying = await collectByCard(world, merchant);
    expect((await check(paying.reference)).json).toMatchObject({ transaction_id: paying.transaction_id });
    // Ids sort by their milliseconds.
    await world.pass(5);
    const later = await collectWith(world, paying.token, 'mobile_money');
    expect((await check(paying.reference)).json).toMatchObject({
      transaction_id: later.transaction_id,
      status: 'pending',
      upstream_status: null,
    });
  });
});
