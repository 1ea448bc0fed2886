/**
 * Delayed delivery: approved money is held, and released once.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { releaseForOperator } from '../../src/usecases/delivery-release.ts';
import { setFee } from '../../src/usecases/fee-set.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { approveProof } from '../../src/usecases/proof-decide.ts';
import { expectRefusal } from '../support/envelope.ts';
import {
  bearerOf,
  collect,
  neighbourOf,
  numberEnding,
  payByPhone,
  payFromWallet,
  untilStatus,
} from '../support/flows.ts';
import { expectNothingWritten } from '../support/rows.ts';
import { pngFile, promise, upload } from '../support/transfer-flows.ts';
import { type Answer, openWorld, type World } from '../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
});
afterAll(() => world.close());

const LATER = { delivery_behaviour: 'delayed_delivery' };

function release(
  merchant: MerchantCreated,
  transactionId: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return world.call('POST', `/internal/deliveries/${transactionId}/release`, { bearer: bearerOf(merchant), headers });
}

/** A merchant's balances in usd, minor units. */
async function balances({ merchant }: MerchantCreated): Promise<{ readonly [what: string]: bigint }> {
  const accounts = await world.gateway.store.accounts.ofMerchant(merchant.shard, merchant.id);
  const own = accounts.filter(({ currency }) => currency === 'usd');
  return Object.fromEntries(own.map(({ id, balance }) => [id.split(':')[1], balance]));
}

async function paid(merchant: MerchantCreated, body: Readonly<Record<string, unknown>> = LATER) {
  const paying = await collect(world, merchant, { body });
  const answer = await payFromWallet(world, paying, await world.wallet());
  expect(answer.json.status, answer.text).toBe('approved');
  return paying;
}

/** 2 % and 0.10. */
const fee = (merchant: MerchantCreated) =>
  setFee(world.gateway.deps, {
    merchantId: merchant.merchant.id,
    method: undefined,
    currency: 'usd',
    rate: '2',
    fixed: 10n,
    min: undefined,
    max: undefined,
  });

describe('a release', () => {
  test('makes held money available, and says when', async () => {
    const merchant = await world.merchant();
    const { transaction_id } = await paid(merchant);
    expect(await balances(merchant)).toEqual({ held: 1250n });
    const released = await release(merchant, transaction_id);
    expect(released.status, released.text).toBe(200);
    expect(released.json).toEqual({
      success: true,
      transaction_id,
      status: 'approved',
      amount: '12.50',
      currency: 'usd',
      released_at: new Date(world.clock.now()).toISOString(),
      message: 'The money of this payment has been released to the merchant.',
    });
    expect(await balances(merchant)).toEqual({ held: 0n, available: 1250n });
  });

  test('gives the same answer again, however often and by whichever process', async () => {
    const merchant = await world.merchant();
    const { transaction_id } = await paid(merchant);
    const answers = await Promise.all(Array.from({ length: 5 }, () => release(merchant, transaction_id)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    await world.pass(60_000);
    const later = await release(merchant, transaction_id);
    expect(new Set([...answers, later].map(({ text }) => text)).size).toBe(1);
    const { releasedAt, amountMinor } = await releaseForOperator(world.gateway.deps, transaction_id);
    expect([new Date(releasedAt).toISOString(), amountMinor]).toEqual([later.json.released_at, 1250n]);
    expect(await balances(merchant)).toEqual({ held: 0n, available: 1250n });
  });

  test('is refused for what is not held', async () => {
    const merchant = await world.merchant();
    const direct = await paid(merchant, {});
    const open = await collect(world, merchant, { body: LATER });
    const unpaid = await collect(world, merchant);
    await expectNothingWritten(world, async () => {
      const delivered = await release(merchant, direct.transaction_id);
      expectRefusal(delivered, 409, '1205', 'NOT_DELAYED');
      expect(delivered.json.message).toMatch(/^The payment is in state approved, .* there is nothing to release\.$/);
      const early = await release(merchant, open.transaction_id);
      expectRefusal(early, 409, '1205', 'STATE');
      expect(early.json.transaction_id).toBe(open.transaction_id);
      // None of it can be made available: it has not been paid.
      expectRefusal(await release(merchant, unpaid.transaction_id), 409, '1205', 'STATE');
    });
    await expect(releaseForOperator(world.gateway.deps, direct.transaction_id)).rejects.toThrow('nothing is held');
    await expect(releaseForOperator(world.gateway.deps, 'txn_x')).rejects.toThrow('the transaction id is not valid');
  });

  test('of another merchant’s payment is 1204, the same as of an unknown one', async () => {
    const merchant = await world.merchant();
    const stranger = await neighbourOf(world, merchant);
    const { transaction_id } = await paid(merchant);
    for (const id of [transaction_id, transaction_id.replace(/.{6}$/, '000000'), 'txn_nothing', 'x']) {
      expectRefusal(await release(stranger, id), 404, '1204');
    }
    expect(await balances(merchant)).toEqual({ held: 1250n });
  });
});

describe.each(['wallet', 'mobile_money', 'bank_transfer'] as const)('a fee on %s', (method) => {
  const pay = async (merchant: MerchantCreated, covered: 'buyer' | 'merchant') => {
    const body = { ...LATER, fee_covered_by: covered };
    if (method === 'bank_transfer') {
      const paying = await promise(world, merchant, { body });
      const { json } = await upload(world, paying, pngFile());
      await approveProof(world.gateway.deps, json.proof.id, null);
      return paying;
    }
    const paying = await collect(world, merchant, { body });
    const phone = numberEnding('01');
    const answer =
      method === 'wallet'
        ? await payFromWallet(world, paying, await world.wallet())
        : await payByPhone(world, paying, phone);
    expect(answer.status, answer.text).toBe(200);
    await untilStatus(world, paying, 'approved');
    return paying;
  };

  test('that the buyer covers comes on top; the merchant gets the amount', async () => {
    const merchant = await world.merchant();
    await fee(merchant);
    const { transaction_id, token } = await pay(merchant, 'buyer');
    const { json } = await world.call('GET', `/payments/transaction/${transaction_id}`, { bearer: token });
    expect(json).toMatchObject({ amount: '12.50', fee_amount: '0.35', total_amount: '12.85', payment_method: method });
    expect((await release(merchant, transaction_id)).json.amount).toBe('12.50');
    expect(await balances(merchant)).toEqual({ held: 0n, available: 1250n });
  });

  test('that the merchant covers is taken out of the amount', async () => {
    const merchant = await world.merchant();
    await fee(merchant);
    const { transaction_id, token } = await pay(merchant, 'merchant');
    const { json } = await world.call('GET', `/payments/transaction/${transaction_id}`, { bearer: token });
    expect(json).toMatchObject({ amount: '12.50', fee_amount: '0.35', total_amount: '12.50' });
    expect((await release(merchant, transaction_id)).json.amount).toBe('12.15');
    expect(await balances(merchant)).toEqual({ held: 0n, available: 1215n });
  });
});

test('the books balance after all of this', async () => {
  expect((await world.gateway.store.auditAll()).findings).toEqual([]);
});
