/**
 * Refunds to our wallets, and what holds for every refund: its bounds, its idempotency, its events.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { shardOfWallet } from '../../src/domain/wallet.ts';
import type { Store } from '../../src/store/store.ts';
import { creditBalance } from '../../src/usecases/balance-credit.ts';
import { setFee } from '../../src/usecases/fee-set.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { setMerchantStatus } from '../../src/usecases/merchant-status.ts';
import { makeRefundForMerchant } from '../../src/usecases/refund-make.ts';
import { plainly } from '../support/direct-calls.ts';
import { expectRefusal } from '../support/envelope.ts';
import {
  bearerOf,
  collect,
  collectWith,
  detailOf,
  freshKey,
  neighbourOf,
  payFromWallet,
  statusOf,
} from '../support/flows.ts';
import {
  balancesOf,
  expectSound,
  minted,
  paidByWallet,
  readBack,
  refund,
  refunded,
  refundHooks,
} from '../support/refund-flows.ts';
import { expectNothingWritten } from '../support/rows.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
let merchant: MerchantCreated;

beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
});
afterAll(async () => {
  await expectSound(world);
  await world.close();
});

const walletBalance = async (number: string): Promise<bigint | undefined> =>
  (await world.gateway.store.account.get(shardOfWallet(number), number))?.balance;

describe('to a wallet', () => {
  beforeAll(async () => {
    merchant = await world.merchant();
  });

  test('all of it, at once: money, state, timeline and webhook', async () => {
    const paid = await paidByWallet(world, merchant);
    expect(await walletBalance(paid.wallet)).toBe(37_50n);
    await world.clock.advance(60_000);
    const made = await refunded(world, merchant, paid, { reason: 'Returned the goods' });
    expect(made).toEqual({
      success: true,
      refund_id: expect.stringMatching(/^rfd_[0-9a-z]{26}$/),
      transaction_id: paid.transaction_id,
      status: 'completed',
      message: 'The money has been given back.',
      amount: '12.50',
      currency: 'usd',
      method: 'wallet',
      by_hand: false,
      reason: 'Returned the goods',
      failure: null,
      taken_after_all: false,
      refunded_amount: '12.50',
      provider_reference: null,
      summary_code: 'lok000',
      created_at: new Date(world.clock.now()).toISOString(),
      completed_at: new Date(world.clock.now()).toISOString(),
    });
    expect(await readBack(world, merchant, made.refund_id)).toEqual(made);
    expect(await walletBalance(paid.wallet)).toBe(50_00n);
    expect(await balancesOf(world, merchant)).toEqual({});
    const detail = await detailOf(world, paid);
    expect(detail).toMatchObject({ status: 'refunded', amount: '12.50', refunded_amount: '12.50' });
    expect(detail.timeline.at(-1)).toMatchObject({ status: 'refunded', at: made.completed_at });
    const [hook] = await refundHooks(world, paid, 1);
    expect(hook?.body).toEqual({
      transaction_id: paid.transaction_id,
      customer_reference: paid.reference,
      status: 'refunded',
      amount: '12.50',
      currency: 'usd',
      completed_at: made.completed_at,
    });
    expect(hook?.headers['webhook-sequence']).toBe('2');
  });

  test('in parts, until nothing is left: each part is told, with its amount', async () => {
    const paid = await paidByWallet(world, merchant);
    expect((await refunded(world, merchant, paid, { amount: '2.5' })).amount).toBe('2.5');
    expect(await statusOf(world, paid)).toBe('approved');
    expect(await detailOf(world, paid)).toMatchObject({ refunded_amount: '2.50', status: 'approved' });
    await refunded(world, merchant, paid, { amount: '4.00' });
    const last = await refunded(world, merchant, paid);
    expect(last).toMatchObject({ amount: '6.00', refunded_amount: '12.50' });
    expect(await statusOf(world, paid)).toBe('refunded');
    const hooks = await refundHooks(world, paid, 3);
    const told = hooks.map(({ raw, headers }) => [headers['webhook-sequence'], JSON.parse(raw).amount]);
    expect(told.sort()).toEqual([
      ['2', '2.5'],
      ['3', '4.00'],
      ['4', '6.00'],
    ]);
    const over = await refund(world, merchant, { transaction_id: paid.transaction_id, amount: '0.01' });
    expectRefusal(over, 409, '1205', 'NOTHING_LEFT');
    expect(over.json.transaction_id).toBe(paid.transaction_id);
    expect(await walletBalance(paid.wallet)).toBe(50_00n);
  });

  test('is limited to what is left, and says how much that is', async () => {
    const paid = await paidByWallet(world, merchant);
    await refunded(world, merchant, paid, { amount: '10.00' });
    const over = await refund(world, merchant, { transaction_id: paid.transaction_id, amount: '2.51' });
    expectRefusal(over, 402, '1202', 'ABOVE_REFUNDABLE');
    expect(over.json.details[0].message).toContain('2.50 usd');
  });

  test('of twenty at once for half each, two win', async () => {
    const paid = await paidByWallet(world, merchant);
    const half = { transaction_id: paid.transaction_id, amount: '6.25' };
    const answers = await Promise.all(Array.from({ length: 20 }, () => refund(world, merchant, half)));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses.filter((status) => status === 201)).toHaveLength(2);
    expect(statuses.filter((status) => status === 409)).toHaveLength(18);
    expect(await walletBalance(paid.wallet)).toBe(50_00n);
    expect(await statusOf(world, paid)).toBe('refunded');
    expect(await refundHooks(world, paid, 2)).toHaveLength(2);
  });

  test('a flash account gets its money back too', async () => {
    const paying = await collect(world, merchant, { method: 'flash', minted });
    const flash = await world.wallet({ kind: 'flash' });
    const body = {
      payment_id: paying.payment_id,
      payment_method_id: 'flash',
      flash_number: flash.number,
      flash_pin: flash.pin,
    };
    expect((await world.call('POST', '/payments/submit', { bearer: paying.token, body })).json.status).toBe('approved');
    expect(await refunded(world, merchant, paying)).toMatchObject({ status: 'completed', method: 'flash' });
    expect(await walletBalance(flash.number)).toBe(50_00n);
  });
});

describe('under an Idempotency-Key', () => {
  beforeAll(async () => {
    merchant = await world.merchant();
  });

  test('is made once, and answered with the same bytes, whichever call wins', async () => {
    const paid = await paidByWallet(world, merchant);
    const key = freshKey();
    const body = { transaction_id: paid.transaction_id, amount: '5.00' };
    const answers = await Promise.all(Array.from({ length: 20 }, () => refund(world, merchant, body, key)));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(201));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    const again = await refund(world, merchant, { amount: '5.00', transaction_id: paid.transaction_id }, key);
    expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([answers[0]?.text, 'true']);
    expect(await walletBalance(paid.wallet)).toBe(42_50n);
    expectRefusal(await refund(world, merchant, { ...body, amount: '6.00' }, key), 409, '1203', 'IDEMPOTENCY_BODY');
  });

  test('a refusal that rests on state is remembered, one about the request is not', async () => {
    const paid = await paidByWallet(world, merchant);
    const { transaction_id } = paid;
    const key = freshKey();
    const over = await refund(world, merchant, { transaction_id, amount: '99.00' }, key);
    expectRefusal(over, 402, '1202');
    expect((await refund(world, merchant, { transaction_id, amount: '99.00' }, key)).text).toBe(over.text);
    const other = freshKey();
    expectRefusal(await refund(world, merchant, { transaction_id, amount: 'x' }, other), 400, '1101');
    expect((await refund(world, merchant, { transaction_id, amount: '1.00' }, other)).status).toBe(201);
  });
});

/** A percentage fee. */
const percent = (own: MerchantCreated, rate: string) =>
  setFee(world.gateway.deps, {
    merchantId: own.merchant.id,
    method: undefined,
    currency: 'usd',
    rate,
    fixed: 0n,
    min: undefined,
    max: undefined,
  });

describe('is paid by the merchant', () => {
  test('whose available balance has to cover it', async () => {
    const own = await world.merchant();
    await percent(own, '10');
    const paid = await paidByWallet(world, own, { fee_covered_by: 'merchant' });
    expect(await balancesOf(world, own)).toEqual({ available: 11_25n });
    await expectNothingWritten(world, async () => {
      const short = await refund(world, own, { transaction_id: paid.transaction_id });
      expectRefusal(short, 402, '1201', 'BALANCE_SHORT');
      expect(short.json.details[0].message).toContain('12.50 usd');
      expect(short.json.details[0].message).toContain('11.25 usd');
    });
    await creditBalance(world.gateway.deps, own.merchant.id, 'usd', 1_25n);
    await refunded(world, own, paid);
    expect(await balancesOf(world, own)).toEqual({});
  });

  test('and the fee that the buyer paid on top is not refunded', async () => {
    const own = await world.merchant();
    await percent(own, '10');
    const paid = await paidByWallet(world, own);
    expect(await walletBalance(paid.wallet)).toBe(36_25n);
    await refunded(world, own, paid);
    expect(await walletBalance(paid.wallet)).toBe(48_75n);
    expect(await detailOf(world, paid)).toMatchObject({
      status: 'refunded',
      total_amount: '13.75',
      refunded_amount: '12.50',
    });
  });

  test('of two refunds that race for a balance that covers one, one wins, and nothing goes below zero', async () => {
    const own = await world.merchant();
    await percent(own, '50');
    const covered = { fee_covered_by: 'merchant' };
    const [first, second] = [await paidByWallet(world, own, covered), await paidByWallet(world, own, covered)];
    expect(await balancesOf(world, own)).toEqual({ available: 12_50n });
    const answers = await Promise.all(
      [first, second].map(({ transaction_id }) => refund(world, own, { transaction_id })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 402]);
    expect(await balancesOf(world, own)).toEqual({});
  });
});

test('a refund that another one overtakes while it reads is refused for the payment’s state, not for the balance', async () => {
  const own = await world.merchant();
  const paid = await paidByWallet(world, own);
  const { deps } = world.gateway;
  const get: Store['account']['get'] = async (...given) => {
    if ((await statusOf(world, paid)) === 'approved') await refunded(world, own, paid);
    return deps.store.account.get(...given);
  };
  const behind = { ...deps, store: { ...deps.store, account: { ...deps.store.account, get } } };
  const caller = { kind: 'merchant', merchant: own.merchant, credentialId: own.key_id } as const;
  const command = { transaction_id: paid.transaction_id, amount: undefined, reason: undefined };
  await expect(makeRefundForMerchant(behind, caller, command, plainly)).rejects.toMatchObject({ code: 1205 });
});

describe('is refused', () => {
  beforeAll(async () => {
    merchant = await world.merchant();
  });

  test.each(['none', 'wallet', 'flash', 'mobile_money'])(
    'for what has not been paid, by %s, and names its state',
    async (method) => {
      const wallet = await world.wallet();
      const body = { wallet_number: wallet.number, wallet_pin: wallet.pin };
      const open = await collect(world, merchant, { method, body, minted });
      const early = await refund(world, merchant, { transaction_id: open.transaction_id });
      expectRefusal(early, 409, '1205', 'NOT_PAID');
      expect(early.json.message).toContain('pending');
      // Another payment of the session takes over.
      const other = await collectWith(world, open.token);
      await payFromWallet(world, { ...open, ...other }, wallet);
      const late = await refund(world, merchant, { transaction_id: open.transaction_id });
      expectRefusal(late, 409, '1205', 'NOT_PAID');
      expect(late.json).toMatchObject({ transaction_id: open.transaction_id });
      expect(late.json.message).toContain('cancelled');
    },
  );

  test('for another merchant’s payment, with the same bytes as for an unknown one', async () => {
    const paid = await paidByWallet(world, merchant);
    const stranger = await neighbourOf(world, merchant);
    for (const id of [paid.transaction_id, paid.transaction_id.replace(/.{6}$/, '000000'), 'txn_nothing', 'x']) {
      expectRefusal(await refund(world, stranger, { transaction_id: id }), 404, '1204');
    }
    const made = await refunded(world, merchant, paid);
    for (const id of [made.refund_id, made.refund_id.replace(/.{6}$/, '000000'), 'rfd_x', paid.transaction_id]) {
      const read = await world.call('GET', `/internal/refunds/${id}`, { bearer: bearerOf(stranger) });
      expectRefusal(read, 404, '1204');
    }
  });

  const AMOUNTS = [
    '0',
    '0.00',
    '-1',
    '1,00',
    '1.005',
    '1e2',
    '',
    ' 1',
    '01.00',
    'NaN',
    '9'.repeat(16),
    1,
    1.5,
    true,
    {},
  ];
  test.each(AMOUNTS)('for the amount %j', async (amount) => {
    const paid = await paidByWallet(world, merchant);
    await expectNothingWritten(world, async () => {
      const { transaction_id } = paid;
      const answer = await refund(world, merchant, { transaction_id, amount });
      expectRefusal(answer, 400, '1101');
      expect(answer.json.details[0].field).toBe('amount');
    });
  });

  test('for everything that is wrong at once, missing fields first', async () => {
    const answer = await refund(world, merchant, { amount: 'x', reason: 'a\nb' });
    expectRefusal(answer, 400, '1109', 'REQUIRED');
    expect(answer.json.details.map(({ field, code }: { field: string; code: string }) => [field, code])).toEqual([
      ['transaction_id', 'REQUIRED'],
      ['amount', 'INVALID_AMOUNT'],
      ['reason', 'INVALID_TEXT'],
    ]);
    expectRefusal(await refund(world, merchant, { transaction_id: 7 }), 400, '1110', 'WRONG_TYPE');
    expectRefusal(
      await refund(world, merchant, { transaction_id: 'x', reason: 'x'.repeat(256) }),
      400,
      '1110',
      'TOO_LONG',
    );
  });

  test('for a session’s token, and for a suspended merchant', async () => {
    const own = await world.merchant();
    const paid = await paidByWallet(world, own);
    const body = { transaction_id: paid.transaction_id };
    expectRefusal(await world.call('POST', '/internal/refunds', { bearer: paid.token, body }), 403, '1003');
    await setMerchantStatus(world.gateway.deps, own.merchant.id, 'SUSPENDED');
    expectRefusal(await refund(world, own, body), 403, '1004');
  });
});

test('a refund is answered in the caller’s language', async () => {
  const own = await world.merchant();
  const paid = await paidByWallet(world, own);
  const answer = await refund(world, own, { transaction_id: paid.transaction_id }, { 'accept-language': 'fr' });
  expect(answer.json.message).toBe('L’argent a été rendu.');
  await world.receiver.about(paid.transaction_id);
});
