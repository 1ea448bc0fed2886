/** Minting sessions: the answer, the amount and currency that it binds, how long it lives, and its scope (contract §3). */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CURRENCIES, exponentOf } from '../../src/domain/currency.ts';
import { setFee } from '../../src/usecases/fee-set.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { type MerchantSettingsChange, setMerchant } from '../../src/usecases/merchant-set.ts';
import { expectRefusal } from '../support/envelope.ts';
import { bearerOf, collect, collectWith, type Fields, payFromWallet } from '../support/flows.ts';
import { MINT, sendMint } from '../support/mints.ts';
import { type Answer, collectBody, mint, openWorld, type World } from '../support/world.ts';

let world: World;
let merchant: MerchantCreated;

beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
  merchant = await world.merchant();
});
afterAll(() => world.close());

const mintWith = (more: Fields, of = merchant) => sendMint(world, of, { body: { ...MINT, ...more } });

/** A new merchant with those settings. */
async function merchantWith(wanted: MerchantSettingsChange): Promise<MerchantCreated> {
  const made = await world.merchant('Librairie Goma');
  await setMerchant(world.gateway.deps, made.merchant.id, wanted);
  return made;
}

function collectFrom(token: string, more: Fields = {}): Promise<Answer> {
  return world.call('POST', '/payments/collect', { bearer: token, body: collectBody(world, 'none', more) });
}

describe('the answer to a mint', () => {
  test('is 201, with the token and the bound values', async () => {
    const minted = await mintWith({});
    expect(minted.status, minted.text).toBe(201);
    expect(minted.json).toMatchObject({
      success: true,
      status: 'ACTIVE',
      amount: '12.50',
      currency: 'usd',
      customer_reference: 'order-1',
    });
    expect(minted.json.session_token).toMatch(/^sess_[A-Za-z0-9_-]{64,}$/);
    expect(minted.json.session_id).toMatch(/^ses_[0-9a-z]{26}$/);
    expect(Date.parse(minted.json.issued_at)).toBe(world.clock.now());
    for (const at of [minted.json.issued_at, minted.json.expires_at]) {
      expect(at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    }
  });

  test('never repeats a token', async () => {
    const minted = await Promise.all(Array.from({ length: 50 }, () => mintWith({})));
    expect(new Set(minted.map(({ json }) => json.session_token.slice(31))).size).toBe(50);
  });
});

describe('amount and currency', () => {
  test.each(CURRENCIES.map((currency) => [currency, exponentOf(currency)] as const))(
    '%s takes %i fraction digits and no more',
    async (currency, digits) => {
      const fraction = digits === 0 ? '' : `.${'1'.repeat(digits)}`;
      const taken = await mintWith({ currency, amount: `7${fraction}` });
      expect(taken.status, taken.text).toBe(201);
      const more = digits === 0 ? '7.0' : `7${fraction}0`;
      expectRefusal(await mintWith({ currency, amount: more }), 400, '1101', 'INVALID_AMOUNT');
    },
  );

  test.each(['USD', 'Usd', 'usdt', 'us', '', ' usd', 'usd ', 'xxx', 'gbp', '840', '__proto__', 'constructor'])(
    '%j is not a currency (1102)',
    async (currency) => {
      expectRefusal(await mintWith({ currency }), 400, '1102', 'INVALID_CURRENCY');
    },
  );

  test('a merchant that is limited to some currencies is told which', async () => {
    const limited = await merchantWith({ currencies: ['cdf', 'xof'] });
    const refused = await mintWith({}, limited);
    expectRefusal(refused, 400, '1102', 'CURRENCY_NOT_ALLOWED');
    expect(refused.json.message).toContain('cdf, xof');
    expect((await mintWith({ currency: 'cdf' }, limited)).status).toBe(201);
    await setMerchant(world.gateway.deps, limited.merchant.id, { currencies: null });
    expect((await mintWith({}, limited)).status).toBe(201);
  });

  test('a bad amount and a bad currency are reported together, the amount first', async () => {
    const refused = await mintWith({ amount: 'x', currency: 'xxx' });
    expectRefusal(refused, 400, '1101');
    expect(refused.json.details.map(({ field }: { field: string }) => field)).toEqual(['amount', 'currency']);
  });
});

describe('ttl_seconds', () => {
  test.each([
    [1, 1],
    [60, 60],
    [86_400, 86_400],
    [undefined, 1_800],
    [null, 1_800],
  ])('%j gives %i seconds', async (ttl_seconds, seconds) => {
    const { json } = await mintWith({ ttl_seconds });
    expect(Date.parse(json.expires_at) - Date.parse(json.issued_at)).toBe(seconds * 1_000);
  });

  test.each([0, -1, 86_401, 1e15, 1.5, '60', true, [60], {}])('%j is refused', async (ttl_seconds) => {
    const refused = await mintWith({ ttl_seconds });
    expectRefusal(refused, 400, '1110');
    expect(refused.json.details[0].field).toBe('ttl_seconds');
  });

  test('the last millisecond still counts, the next one is 1005', async () => {
    const { token } = await mint(world, merchant, { ttl_seconds: 1 });
    const { transaction_id } = await collectWith(world, token);
    await world.clock.advance(999);
    const read = () => world.call('GET', `/payments/status/${transaction_id}`, { bearer: token });
    expect((await read()).status).toBe(200);
    await world.clock.advance(1);
    expectRefusal(await read(), 401, '1005', 'SESSION_EXPIRED');
  });
});

describe('scope', () => {
  test('an absent one means both, and is answered as null; a collect scope collects', async () => {
    expect((await mintWith({})).json.scope).toBeNull();
    const minted = await mintWith({ scope: 'collect' });
    expect(minted.json.scope).toBe('collect');
    expect((await collectFrom(minted.json.session_token)).status).toBe(200);
  });

  test('a payout scope cannot collect (1003)', async () => {
    const minted = await mintWith({ scope: 'payout' });
    expectRefusal(await collectFrom(minted.json.session_token), 403, '1003', 'WRONG_SCOPE');
    // The body's own faults are not reported.
    const faulty = { payment_method: 'cheque', amount: 'much' };
    expectRefusal(await collectFrom(minted.json.session_token, faulty), 403, '1003', 'WRONG_SCOPE');
  });

  test('anything else is refused, and so is an absent one if the merchant demands one', async () => {
    for (const scope of ['all', '', 'Collect', 5, []]) expectRefusal(await mintWith({ scope }), 400, '1110');
    const strict = await merchantWith({ scope_required: true });
    for (const scope of [undefined, null])
      expectRefusal(await mintWith({ scope }, strict), 400, '1109', 'SCOPE_MISSING');
    expect((await mintWith({ scope: 'collect' }, strict)).status).toBe(201);
  });
});

describe('what a merchant may set', () => {
  test('smallest and largest amounts: 1202 at collect, with the limit in the message', async () => {
    const limited = await merchantWith({ limits: new Map([['usd', { min: 5_00n, max: 20_00n }]]) });
    for (const [amount, detail, limit] of [
      ['4.99', 'AMOUNT_BELOW_MINIMUM', '5.00'],
      ['20.01', 'AMOUNT_ABOVE_MAXIMUM', '20.00'],
    ] as const) {
      const { token } = await mint(world, limited, { amount });
      const refused = await collectFrom(token);
      expectRefusal(refused, 402, '1202', detail);
      expect(refused.json.message).toContain(limit);
    }
    for (const amount of ['5.00', '20']) {
      const { token } = await mint(world, limited, { amount });
      expect((await collectFrom(token)).status).toBe(200);
    }
  });

  test('hosts of notify and redirect addresses', async () => {
    const limited = await merchantWith({ url_hosts: ['127.0.0.1'] });
    const { token } = await mint(world, limited);
    expect((await collectFrom(token)).status).toBe(200);
    for (const field of ['notify_url', 'success_redirect_url', 'fail_redirect_url']) {
      const refused = await collectFrom(token, { [field]: 'http://elsewhere.example/x' });
      expectRefusal(refused, 400, '1110', 'URL_NOT_ALLOWED');
      expect(refused.json.details[0].field).toBe(field);
    }
  });

  test('who covers the fee, and when the funds are available', async () => {
    const fixed = await merchantWith({ fee_covered_by: 'buyer', delivery_behaviour: 'delayed_delivery' });
    const { token } = await mint(world, fixed);
    const agreed = { fee_covered_by: 'buyer', delivery_behaviour: 'delayed_delivery' };
    const both = await collectFrom(token, { fee_covered_by: 'merchant', delivery_behaviour: 'direct_delivery' });
    expectRefusal(both, 400, '1110', 'NOT_AN_OPTION');
    expect(both.json.details).toMatchObject([
      { field: 'fee_covered_by', message: expect.stringContaining('buyer') },
      { field: 'delivery_behaviour', message: expect.stringContaining('delayed_delivery') },
    ]);
    expectRefusal(await collectFrom(token, { ...agreed, fee_covered_by: 'merchant' }), 400, '1110', 'NOT_AN_OPTION');
    expect((await collectFrom(token, agreed)).status).toBe(200);
    await setMerchant(world.gateway.deps, fixed.merchant.id, { fee_covered_by: null, delivery_behaviour: null });
    expect((await collectFrom(token, { ...agreed, fee_covered_by: 'merchant' })).status).toBe(200);
  });

  test('fees: on top for the buyer, deducted for the merchant, half-even, to the exact digit', async () => {
    const shop = await world.merchant('Pharmacie Bukavu');
    const rule = { merchantId: shop.merchant.id, method: undefined, currency: 'usd' as const };
    await setFee(world.gateway.deps, { ...rule, rate: '2.5', fixed: 10n, min: undefined, max: undefined });
    // 2.5 % of 12.50 is 0.3125: 0.31, and 0.10 fixed.
    for (const [fee_covered_by, total, received] of [
      ['buyer', '12.91', 12_50n],
      ['merchant', '12.50', 12_09n],
    ] as const) {
      const before = await available(shop);
      const wallet = await world.wallet();
      const paying = await collect(world, shop, { body: { fee_covered_by } });
      const paid = await payFromWallet(world, paying, wallet);
      expect(paid.json, paid.text).toMatchObject({ amount: '12.50', fee_amount: '0.41', total_amount: total });
      expect((await available(shop)) - before).toBe(received);
    }
  });

  test('the amount from which a code is required', async () => {
    const careful = await merchantWith({ code_thresholds: new Map([['usd', 1_00n]]) });
    const statuses = [];
    for (const amount of ['0.99', '1.00']) {
      const wallet = await world.wallet();
      const paying = await collect(world, careful, { minted: { amount } });
      statuses.push((await payFromWallet(world, paying, wallet)).json.status);
    }
    expect(statuses).toEqual(['approved', 'pending_otp_verification']);
  });
});

async function available({ merchant: { id, shard } }: MerchantCreated): Promise<bigint> {
  return (await world.gateway.store.account.get(shard, `${id}:available:usd`))?.balance ?? 0n;
}

test('delayed delivery, which holds the money', async () => {
  const wallet = await world.wallet();
  const paying = await collect(world, merchant, { body: { delivery_behaviour: 'delayed_delivery' } });
  const before = await available(merchant);
  expect((await payFromWallet(world, paying, wallet)).json).toMatchObject({ status: 'approved' });
  expect(await available(merchant)).toBe(before);
  const { id, shard } = merchant.merchant;
  expect((await world.gateway.store.account.get(shard, `${id}:held:usd`))?.balance).toBe(12_50n);
});

test('a method that the merchant does not offer is refused by name, with those that it does', async () => {
  const own = await world.merchant();
  await setMerchant(world.gateway.deps, own.merchant.id, { methods: ['wallet', 'mobile_money'] });
  const { token } = await mint(world, own);
  const needs = { cardnet_payment_method: 'HOSTED_SESSION', native_pay_token: 'x', native_pay_token_type: 'x' };
  for (const payment_method of ['card', 'bank_transfer', 'google_pay', 'apple_pay']) {
    const refused = await collectFrom(token, { ...needs, payment_method });
    expectRefusal(refused, 400, '1103', 'METHOD_NOT_AVAILABLE');
    expect(refused.json.message).toContain('mobile_money');
  }
});

test('payment_method_id is a name, or an id of the method list; another merchant’s is 1103', async () => {
  const detail = async (shop: MerchantCreated) => {
    const paying = await collect(world, shop);
    const read = await world.call('GET', `/payments/transaction/${paying.payment_id}`, { bearer: paying.token });
    return { paying, methods: read.json.payment_methods as { id: string; name: string }[] };
  };
  const [mine, theirs] = [await detail(merchant), await detail(await world.merchant('Librairie Goma'))];
  expect(mine.methods.map(({ name }) => name)).toEqual([
    'wallet',
    'mobile_money',
    'card',
    'flash',
    'google_pay',
    'apple_pay',
  ]);
  const idOf = ({ methods }: typeof mine) => methods.find(({ name }) => name === 'wallet')?.id ?? '';
  const wallet = await world.wallet();
  const submit = (payment_method_id: string) =>
    world.call('POST', '/payments/submit', {
      bearer: mine.paying.token,
      body: {
        payment_id: mine.paying.payment_id,
        payment_method_id,
        ewallet_number: wallet.number,
        ewallet_pin: wallet.pin,
      },
    });
  const refused = await submit(idOf(theirs));
  expectRefusal(refused, 400, '1103', 'UNKNOWN_PAYMENT_METHOD');
  expect(refused.json.message).toContain(`wallet (${idOf(mine)})`);
  expect((await submit(idOf(mine))).json).toMatchObject({ status: 'approved' });
});

test('the books balance after all of this', async () => {
  expect((await world.gateway.store.auditAll()).findings).toEqual([]);
});

test('in production a session lives a minute at least, and secrets are marked as live', async () => {
  const live = await openWorld({
    // In production the clock has to be the database's.
    start: Date.now(),
    env: {
      GATEWAY_MODE: 'production',
      PUBLIC_URL: 'https://pay.example',
      MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    },
  });
  try {
    const shop = await live.merchant();
    expect(shop.secret).toMatch(/^sk_live_[A-Za-z0-9_-]{43}$/);
    expect(merchant.secret).toMatch(/^sk_test_[A-Za-z0-9_-]{43}$/);
    const body = (ttl_seconds: number) => ({ bearer: bearerOf(shop), body: { ...MINT, ttl_seconds } });
    const short = await live.call('POST', '/internal/sessions/create', body(59));
    expectRefusal(short, 400, '1110', 'OUT_OF_RANGE');
    expect(short.json.message).toContain('60');
    expect((await live.call('POST', '/internal/sessions/create', body(60))).status).toBe(201);
  } finally {
    await live.close();
  }
});
