/**
 * Rows read partly before and partly after another commit: a payment that has just succeeded is not refused for its own cost.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Store } from '../../src/store/store.ts';
import { UNCOUNTED } from '../../src/usecases/code-calls.ts';
import { verifyCode } from '../../src/usecases/code-verify.ts';
import type { Deps } from '../../src/usecases/deps.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { readDetail } from '../../src/usecases/payment-read.ts';
import { submitPayment } from '../../src/usecases/payment-submit.ts';
import { callerOf, meansOf, plainly, submitOf } from '../support/direct-calls.ts';
import { codeOn, collect, payFromWallet } from '../support/flows.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
let merchant: MerchantCreated;
beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
  merchant = await world.merchant();
});
afterAll(() => world.close());

const withStore = (store: Partial<Store>): Deps => {
  const { deps } = world.gateway;
  return { ...deps, store: { ...deps.store, ...store } };
};

test('a second submit from a wallet whose balance the first submit has taken is refused for the session', async () => {
  const wallet = await world.wallet({ balance: 12_50n });
  const paying = await collect(world, merchant);
  const { store } = world.gateway.deps;
  let reading: Promise<unknown> = Promise.resolve();
  let first: Promise<void> | undefined;
  /** Once the payment has been read in its old state, the first submit pays it; the second then reads the rest. */
  const pay = async (): Promise<void> => {
    await reading;
    const paid = await payFromWallet(world, paying, wallet);
    expect(paid.json.status, paid.text).toBe('approved');
  };
  const payFirst = (): Promise<void> => {
    first ??= pay();
    return first;
  };
  /** The PIN is judged by reads of its own; the reads for the decision come after that. */
  const afterPin = <V>(get: (shard: number, id: string) => Promise<V>) => {
    let reads = 0;
    return async (shard: number, id: string): Promise<V> => {
      reads += 1;
      if (reads > 1) await payFirst();
      return get(shard, id);
    };
  };
  const deps = withStore({
    payment: {
      ...store.payment,
      get(shard, id) {
        const row = store.payment.get(shard, id);
        reading = row;
        return row;
      },
    },
    wallet: { ...store.wallet, get: afterPin(store.wallet.get) },
    account: { ...store.account, get: afterPin(store.account.get) },
  });
  const command = submitOf(paying, meansOf(wallet));
  const second = submitPayment(deps, await callerOf(world, merchant, paying), command, plainly);
  await expect(second).rejects.toMatchObject({ code: 1001 });
});

test('a second verification of a code whose payment has taken the balance is refused for the state', async () => {
  const wallet = await world.wallet({ balance: 150_00n, phone: '+243820000556' });
  const paying = await collect(world, merchant, { minted: { amount: '150.00' } });
  expect((await payFromWallet(world, paying, wallet)).json.status).toBe('pending_otp_verification');
  const command = { payment_id: paying.payment_id, otp_code: await codeOn(world, wallet.phone) };
  const { store } = world.gateway.deps;
  let first: Promise<unknown> | undefined;
  const afterFirst =
    <V>(get: (shard: number, id: string) => Promise<V>) =>
    async (shard: number, id: string): Promise<V> => {
      first ??= world.call('POST', '/payments/verify-otp', { bearer: paying.token, body: command });
      await first;
      return get(shard, id);
    };
  // Only the payment is from before the first one: nothing else tells that it is outdated.
  const rest = {
    code: { ...store.code, get: afterFirst(store.code.get) },
    wallet: { ...store.wallet, get: afterFirst(store.wallet.get) },
    account: { ...store.account, get: afterFirst(store.account.get) },
  };
  const caller = await callerOf(world, merchant, paying);
  const second = verifyCode(withStore(rest), caller, command, plainly, UNCOUNTED);
  await expect(second).rejects.toMatchObject({ code: 1205, more: { words: { state: 'approved' } } });
});

test('the timeline of a payment ends with the state that is read beside it', async () => {
  const wallet = await world.wallet();
  const paying = await collect(world, merchant);
  const { store } = world.gateway.deps;
  const caller = await callerOf(world, merchant, paying);
  const deps = withStore({
    payment: {
      ...store.payment,
      /** The payment has been read as pending, and is paid before its history is. */
      async history(shard, id) {
        expect((await payFromWallet(world, paying, wallet)).json).toMatchObject({ status: 'approved' });
        return store.payment.history(shard, id);
      },
    },
  });
  const torn = await readDetail(deps, caller, paying.transaction_id);
  expect(torn.payment.status).toBe('pending');
  expect(torn.timeline.map(({ status }) => status)).toEqual(['pending']);
  const whole = await readDetail(world.gateway.deps, caller, paying.transaction_id);
  expect(whole.timeline.at(-1)?.status).toBe('approved');
});
