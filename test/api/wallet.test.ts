/** Payments from wallets and flash accounts: PIN, lock, balance and webhook (contract §4). */

import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Change } from '../../src/domain/change.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { until } from '../support/waiting.ts';
import { type Answer, collectBody, mint, openWorld, type World } from '../support/world.ts';

let world: World;
let merchant: MerchantCreated;

beforeAll(async () => {
  world = await openWorld();
  merchant = await world.merchant();
});
afterAll(() => world.close());

interface Paying {
  readonly token: string;
  readonly payment_id: string;
  readonly transaction_id: string;
}

async function collect(method: string, more: Record<string, unknown> = {}, minted: Record<string, unknown> = {}) {
  const { token } = await mint(world, merchant, minted);
  const fields = method === 'wallet' ? { wallet_number: '5707000000000000', wallet_pin: '1234' } : {};
  const made = await world.call('POST', '/payments/collect', {
    bearer: token,
    body: collectBody(world, method, { ...fields, ...more }),
  });
  expect(made.status, made.text).toBe(200);
  return { token, payment_id: made.json.payment_id, transaction_id: made.json.transaction_id } satisfies Paying;
}

function submit(paying: Paying, body: Record<string, unknown>): Promise<Answer> {
  return world.call('POST', '/payments/submit', {
    bearer: paying.token,
    body: { payment_id: paying.payment_id, ...body },
  });
}

async function balanceOf(number: string): Promise<bigint> {
  const account = await world.gateway.store.account.get(Number(number.slice(4, 6)), number);
  return account?.balance ?? -1n;
}

describe('a wallet payment', () => {
  test.each([
    [' ', 'wallet', 'ewallet'],
    ['-', 'flash', 'flash'],
  ] as const)(
    'takes a number whose digits are grouped by “%s” (%s), as every other door does',
    async (mark, kind, field) => {
      const account = await world.wallet({ kind });
      const grouped = account.number.replaceAll(/(.{4})(?=.)/g, `$1${mark}`);
      const paying = await collect('none');
      const paid = await submit(paying, {
        payment_method_id: kind,
        [`${field}_number`]: grouped,
        [`${field}_pin`]: account.pin,
      });
      expect(paid.json.status, paid.text).toBe('approved');
    },
  );

  test('is approved, debited once, and told by a signed webhook', async () => {
    const wallet = await world.wallet();
    const paying = await collect('wallet', { wallet_number: wallet.number });
    const paid = await submit(paying, {
      payment_method_id: 'wallet',
      ewallet_number: wallet.number,
      ewallet_pin: wallet.pin,
    });
    expect(paid.json).toMatchObject({
      success: true,
      status: 'approved',
      amount: '12.50',
      fee_amount: '0.00',
      total_amount: '12.50',
      summary_code: 'lok000',
    });
    expect(await balanceOf(wallet.number)).toBe(37_50n);
    const hook = await world.receiver.about(paying.transaction_id);
    expect(Object.keys(hook.body).sort()).toEqual(
      ['amount', 'completed_at', 'currency', 'customer_reference', 'status', 'transaction_id'].sort(),
    );
    const headers = Object.fromEntries(Object.entries(hook.headers).map(([name, value]) => [name, String(value)]));
    // The library compares the timestamp with the machine's clock; the world's clock shows another time.
    const seconds = Number(headers['webhook-timestamp']);
    expect(seconds).toBe(Math.floor(world.clock.now() / 1000));
    const signed = new Webhook(merchant.webhook_secret).sign(
      String(headers['webhook-id']),
      new Date(seconds * 1000),
      hook.raw,
    );
    expect(headers['webhook-signature']?.split(' ')).toContain(signed);
    expect(headers).toMatchObject({ 'webhook-event': 'payment.approved', 'webhook-sequence': '1' });
  });

  test('a wrong PIN is counted down, the fifth locks for fifteen minutes, then the right one pays', async () => {
    const wallet = await world.wallet();
    const paying = await collect('wallet', { wallet_number: wallet.number });
    const body = { payment_method_id: 'wallet', ewallet_number: wallet.number };
    for (const left of ['4 attempts', '3 attempts', '2 attempts', '1 attempt', 'No attempt']) {
      const wrong = await submit(paying, { ...body, ewallet_pin: '9999' });
      expect(wrong.json).toMatchObject({ error_code: '1302', details: [{ code: 'INVALID_PIN' }] });
      expect(wrong.json.details[0].message).toContain(left);
    }
    const locked = await submit(paying, { ...body, ewallet_pin: wallet.pin });
    expect(locked.status).toBe(403);
    expect(locked.json).toMatchObject({ error_code: '1303', retry_after: 900 });
    expect(locked.headers.get('retry-after')).toBe('900');
    await world.clock.advance(15 * 60_000);
    const paid = await submit(paying, { ...body, ewallet_pin: wallet.pin });
    expect(paid.json).toMatchObject({ status: 'approved' });
  });

  test('the right PIN gives all tries back', async () => {
    const wallet = await world.wallet();
    const body = { payment_method_id: 'wallet', ewallet_number: wallet.number };
    for (const times of [1, 2]) {
      const paying = await collect('wallet', { wallet_number: wallet.number });
      const wrong = await submit(paying, { ...body, ewallet_pin: '9999' });
      expect(wrong.json.details[0].message, `payment ${times}`).toContain('4 attempts');
      const paid = await submit(paying, { ...body, ewallet_pin: wallet.pin });
      expect(paid.json, paid.text).toMatchObject({ status: 'approved' });
    }
  });

  test('thirty parallel wrong guesses count as five', async () => {
    const wallet = await world.wallet();
    const paying = await collect('wallet', { wallet_number: wallet.number });
    const guesses = await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        submit(paying, {
          payment_method_id: 'wallet',
          ewallet_number: wallet.number,
          ewallet_pin: String(2000 + i),
        }),
      ),
    );
    const codes = guesses.map((guess) => guess.json.error_code);
    expect(codes.filter((code) => code === '1302')).toHaveLength(5);
    expect(codes.filter((code) => code === '1303')).toHaveLength(25);
  });

  test('a right PIN beside five wrong ones reveals nothing, though it is refused for another reason', async () => {
    const wallet = await world.wallet({ balance: 1_00n });
    const paying = await collect('wallet', { wallet_number: wallet.number });
    const guess = (pin: string) =>
      submit(paying, { payment_method_id: 'wallet', ewallet_number: wallet.number, ewallet_pin: pin });
    const { store } = world.gateway.deps;
    const { commit } = store;
    const held: (() => void)[] = [];
    const isOfWallet = ({ updates = [] }: Change) => updates.some(({ id }) => id === wallet.number);
    Object.assign(store, {
      commit: async (change: Change) => {
        if (isOfWallet(change)) await new Promise<void>((go) => held.push(go));
        return commit(change);
      },
    });
    const isHeld = (count: number) =>
      until(async () => {
        await world.call('GET', '/health');
        return held.length >= count ? true : undefined;
      });
    const wrong = ['2000', '2001', '2002', '2003', '2004'].map(guess);
    await isHeld(5);
    // All find the account unlocked, and the right one is written last.
    const right = guess(wallet.pin);
    await Promise.race([isHeld(6), right]);
    Object.assign(store, { commit });
    for (const go of held.splice(0, 5)) go();
    expect((await Promise.all(wrong)).map(({ json }) => json.error_code)).toEqual(Array(5).fill('1302'));
    held[0]?.();
    expect((await right).json).toMatchObject({ error_code: '1303' });
  });

  test('an unknown wallet, one of another kind and a wrong PIN get the same answer', async () => {
    const flash = await world.wallet({ kind: 'flash' });
    const paying = await collect('wallet');
    for (const number of ['5707000000000000', flash.number, 'nothing']) {
      const refused = await submit(paying, {
        payment_method_id: 'wallet',
        ewallet_number: number,
        ewallet_pin: '1234',
      });
      expect(refused.json).toMatchObject({ error_code: '1302', details: [{ code: 'INVALID_PIN' }] });
    }
  });

  test('too little money is 1201: the session stays, nothing moves', async () => {
    const wallet = await world.wallet({ balance: 1_00n });
    const paying = await collect('wallet', { wallet_number: wallet.number });
    const body = { payment_method_id: 'wallet', ewallet_number: wallet.number, ewallet_pin: wallet.pin };
    const refused = await submit(paying, body);
    expect(refused.status).toBe(402);
    expect(refused.json).toMatchObject({ error_code: '1201', transaction_id: paying.transaction_id });
    const read = await world.call('GET', `/payments/status/${paying.transaction_id}`, { bearer: paying.token });
    expect(read.json.status).toBe('pending');
    expect(await balanceOf(wallet.number)).toBe(1_00n);
  });

  test('of twenty payments that race for the money of ten, ten pay', async () => {
    const wallet = await world.wallet({ balance: 10_00n });
    const payings = await Promise.all(Array.from({ length: 20 }, () => collect('wallet', {}, { amount: '1.00' })));
    const answers = await Promise.all(
      payings.map((paying) =>
        submit(paying, { payment_method_id: 'wallet', ewallet_number: wallet.number, ewallet_pin: wallet.pin }),
      ),
    );
    expect(answers.filter((answer) => answer.json.status === 'approved')).toHaveLength(10);
    expect(answers.filter((answer) => answer.json.error_code === '1201')).toHaveLength(10);
    expect(await balanceOf(wallet.number)).toBe(0n);
  });

  test('ten racing submits on one session pay once', async () => {
    const wallet = await world.wallet();
    const paying = await collect('wallet', { wallet_number: wallet.number });
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        submit(paying, { payment_method_id: 'wallet', ewallet_number: wallet.number, ewallet_pin: wallet.pin }),
      ),
    );
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1);
    for (const answer of answers.filter((one) => one.status !== 200)) {
      expect(answer.json).toMatchObject({ error_code: '1001', details: [{ code: 'SESSION_CONSUMED' }] });
    }
    expect(await balanceOf(wallet.number)).toBe(37_50n);
  });

  test('flash accepts its own field names and the wallet’s', async () => {
    for (const names of [
      ['flash_number', 'flash_pin'],
      ['ewallet_number', 'ewallet_pin'],
    ] as const) {
      const flash = await world.wallet({ kind: 'flash' });
      const paying = await collect('flash');
      const paid = await submit(paying, {
        payment_method_id: 'flash',
        [names[0]]: flash.number,
        [names[1]]: flash.pin,
      });
      expect(paid.json).toMatchObject({ status: 'approved' });
    }
  });

  test('a wallet of another currency is refused by name', async () => {
    const wallet = await world.wallet({ currency: 'cdf' });
    const paying = await collect('wallet');
    const refused = await submit(paying, {
      payment_method_id: 'wallet',
      ewallet_number: wallet.number,
      ewallet_pin: wallet.pin,
    });
    expect(refused.json).toMatchObject({ error_code: '1102', details: [{ code: 'WALLET_CURRENCY' }] });
  });
});

describe('a session with several payments', () => {
  test('the one that is paid cancels the others, with an event each', async () => {
    const wallet = await world.wallet();
    const { token } = await mint(world, merchant);
    const body = collectBody(world, 'none');
    const [first, second] = await Promise.all([
      world.call('POST', '/payments/collect', { bearer: token, body }),
      world.call('POST', '/payments/collect', { bearer: token, body }),
    ]);
    const paid = await world.call('POST', '/payments/submit', {
      bearer: token,
      body: {
        payment_id: first.json.payment_id,
        payment_method_id: 'wallet',
        ewallet_number: wallet.number,
        ewallet_pin: wallet.pin,
      },
    });
    expect(paid.json).toMatchObject({ status: 'approved' });
    const hook = await world.receiver.about(second.json.transaction_id);
    expect(hook.body.status).toBe('cancelled');
    const detail = await world.call('GET', `/payments/transaction/${second.json.transaction_id}`, { bearer: token });
    expect(detail.json.timeline).toMatchObject([
      { status: 'pending', reason: null },
      { status: 'cancelled', reason: 'sibling_paid' },
    ]);
  });

  test('payments that were never submitted expire with the session, and are told', async () => {
    const paying = await collect('wallet', {}, { ttl_seconds: 60 });
    const other = await mint(world, merchant);
    await world.pass(61_000);
    const hook = await world.receiver.about(paying.transaction_id);
    expect(hook.body.status).toBe('expired');
    const late = await world.call('GET', `/payments/status/${paying.transaction_id}`, { bearer: paying.token });
    expect(late.json).toMatchObject({ error_code: '1005' });
    const read = await world.call('GET', `/payments/status/${paying.transaction_id}`, { bearer: other.token });
    expect(read.json).toMatchObject({ status: 'expired' });
    expect(read.json.completed_at).toBeDefined();
  });
});

test('the books balance after all of this', async () => {
  expect((await world.gateway.store.auditAll()).findings).toEqual([]);
});
