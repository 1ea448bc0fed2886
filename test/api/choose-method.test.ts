/**
 * payment_method none: the customer chooses at submit, by a method's id or its name; and the contents of the list of methods.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { methodId } from '../../src/domain/method.ts';
import { PAYMENT_METHODS } from '../../src/domain/payment.ts';
import type { PaymentMethod } from '../../src/domain/records.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { setMerchant } from '../../src/usecases/merchant-set.ts';
import { setSettings } from '../support/checkout-flows.ts';
import { expectRefusal } from '../support/envelope.ts';
import { collect, detailOf, neighbourOf, numberEnding, payFromWallet } from '../support/flows.ts';
import { expectNothingWritten } from '../support/rows.ts';
import { addAccount } from '../support/transfer-flows.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
let merchant: MerchantCreated;
beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
  merchant = await world.merchant();
});
afterAll(() => world.close());

interface Listed {
  readonly id: string;
  readonly name: PaymentMethod;
  readonly icon_url: string;
  readonly fee_amount: string;
  readonly total_amount: string;
  readonly is_enabled: boolean;
  readonly is_selected: boolean;
  readonly configuration: { readonly [name: string]: unknown };
}

const listOf = async (paying: Parameters<typeof detailOf>[1]): Promise<Listed[]> =>
  (await detailOf(world, paying)).payment_methods;

/** The fields of each method besides its name. */
async function fieldsOf(method: PaymentMethod): Promise<Readonly<Record<string, string>>> {
  if (method === 'mobile_money') return { mobile_money_phone_number: numberEnding('42') };
  if (method === 'bank_transfer') return { bank_account_id: (await addAccount(world, merchant)).id };
  const kind = method === 'flash' ? 'flash' : 'wallet';
  const { number, pin } = await world.wallet({ kind });
  return method === 'flash' ? { flash_number: number, flash_pin: pin } : { ewallet_number: number, ewallet_pin: pin };
}

describe.each<[PaymentMethod, string]>([
  ['wallet', 'approved'],
  ['flash', 'approved'],
  ['mobile_money', 'pending_mobile_money_verification'],
  ['bank_transfer', 'pendingBankProofUpload'],
])('%s', (method, status) => {
  test.each(['its id', 'its name'])('is chosen by %s', async (by) => {
    const fields = await fieldsOf(method);
    const paying = await collect(world, merchant);
    const listed = (await listOf(paying)).find(({ name }) => name === method);
    expect(listed).toMatchObject({ id: methodId(merchant.merchant.id, method), is_enabled: true, is_selected: false });
    const payment_method_id = by === 'its id' ? listed?.id : method;
    const body = { payment_id: paying.payment_id, payment_method_id, ...fields };
    const submitted = await world.call('POST', '/payments/submit', { bearer: paying.token, body });
    expect(submitted.json.status, submitted.text).toBe(status);
    const after = await listOf(paying);
    expect(after.filter(({ is_selected }) => is_selected).map(({ name }) => name)).toEqual([method]);
    expect(after.some(({ is_enabled }) => is_enabled)).toBe(false);
  });
});

/** Nothing is missing, whichever method is chosen. */
const FILLED = { ewallet_number: '5707', ewallet_pin: '1234', bank_account_id: 'bka_x' };

test('a wrong method is 1103, and the refusal names those that would do', async () => {
  const bare = await world.merchant();
  const stranger = await neighbourOf(world, bare);
  const paying = await collect(world, bare);
  const submit = (payment_method_id: string, one = paying) =>
    world.call('POST', '/payments/submit', {
      bearer: one.token,
      body: { payment_id: one.payment_id, payment_method_id, ...FILLED },
    });
  const wrong: [string, string][] = [
    ['cheque', 'UNKNOWN_PAYMENT_METHOD'],
    ['none', 'UNKNOWN_PAYMENT_METHOD'],
    [methodId(stranger.merchant.id, 'wallet'), 'UNKNOWN_PAYMENT_METHOD'],
    ['bank_transfer', 'METHOD_NOT_AVAILABLE'],
    ['google_pay', 'METHOD_NOT_AVAILABLE'],
  ];
  await expectNothingWritten(world, async () => {
    for (const [method, code] of wrong) {
      const refused = await submit(method);
      expectRefusal(refused, 400, '1103', code);
      const [, options = ''] = String(refused.json.message).split(': ');
      expect(options).toContain('wallet');
      expect(options).not.toMatch(/bank_transfer|google_pay/);
    }
  });
  const flash = await collect(world, bare, { method: 'flash' });
  expectRefusal(await submit('wallet', flash), 400, '1103', 'METHOD_MISMATCH');
  // Missing fields are not named for another method; they are for the payment's own method, and for an unknown payment.
  for (const [method, payment_id, code, detail] of [
    ['mobile_money', flash.payment_id, '1103', 'METHOD_MISMATCH'],
    ['flash', flash.payment_id, '1109', 'REQUIRED'],
    ['mobile_money', paying.payment_id, '1109', 'REQUIRED'],
    ['mobile_money', `${flash.payment_id.slice(0, -4)}AAAA`, '1109', 'REQUIRED'],
  ] as const) {
    const body = { payment_id, payment_method_id: method };
    const refused = await world.call('POST', '/payments/submit', { bearer: flash.token, body });
    expectRefusal(refused, 400, code, detail);
  }
});

describe('the list of methods', () => {
  test('follows merchant, currency and country', async () => {
    const own = await world.merchant();
    await addAccount(world, own, { currency: 'cdf', bank: 'Banque Nyota' });
    await addAccount(world, own, { currency: 'cdf', bank: 'Banque Okapi' });
    const names = async (currency: string) => {
      const paying = await collect(world, own, { minted: { currency, amount: '1200' } });
      return listOf(paying);
    };
    const cdf = await names('cdf');
    const transfer = cdf.find(({ name }) => name === 'bank_transfer');
    expect(transfer?.configuration).toEqual({ currency: 'cdf', banks: ['Banque Nyota', 'Banque Okapi'] });
    const mobile = cdf.find(({ name }) => name === 'mobile_money')?.configuration.carriers;
    expect(mobile).toEqual(world.gateway.deps.connectors.carriersFor('cdf'));
    expect(mobile).toContainEqual({ carrier: expect.any(String), country: 'CD' });
    const zar = (await names('zar')).map(({ name }) => name);
    expect(zar).not.toContain('bank_transfer');
    expect(zar.includes('mobile_money')).toBe(world.gateway.deps.connectors.servesMobileMoney('zar'));
    await setMerchant(world.gateway.deps, own.merchant.id, { methods: ['bank_transfer'] });
    expect((await names('cdf')).map(({ name }) => name)).toEqual(['bank_transfer']);
  });

  test('has a drawing for each, which any page may show', async () => {
    const listed = await listOf(await collect(world, merchant));
    expect(listed.map(({ icon_url }) => icon_url)).toEqual(
      listed.map(({ name }) => `${world.gateway.deps.publicUrl}/checkout/methods/${name}.svg`),
    );
    for (const method of PAYMENT_METHODS) {
      const drawn = await fetch(new URL(`/checkout/methods/${method}.svg`, world.url));
      expect(drawn.status, method).toBe(200);
      expect(drawn.headers.get('content-type')).toBe('image/svg+xml');
      expect(drawn.headers.get('cross-origin-resource-policy')).toBe('cross-origin');
      expect(await drawn.text()).toMatch(/^<svg .*<\/svg>$/s);
    }
    for (const other of ['none.svg', 'wallet', 'wallet.svg.svg', '__proto__.svg'])
      expect((await fetch(new URL(`/checkout/methods/${other}`, world.url))).status).toBe(404);
  });

  test('enables only what was collected, and nothing after the expiry', async () => {
    const { session, ...paying } = await collect(world, merchant, {
      method: 'flash',
      minted: { ttl_seconds: 60 },
    }).then((made) => ({ ...made, session: made.token }));
    const enabled = async (token: string) =>
      (await listOf({ ...paying, token })).filter(({ is_enabled }) => is_enabled).map(({ name }) => name);
    expect(await enabled(session)).toEqual(['flash']);
    const other = await collect(world, merchant, { minted: { ttl_seconds: 3_600 } });
    await world.clock.advance(60_000);
    expect(await enabled(other.token)).toEqual([]);
  });

  test('never enables what is paid at collect', async () => {
    const paying = await collect(world, merchant);
    const native = (await listOf(paying)).filter(({ name }) => name === 'google_pay' || name === 'apple_pay');
    expect(native.some(({ is_enabled }) => is_enabled)).toBe(false);
  });

  test('does not change for a payment that is over', async () => {
    const paying = await collect(world, merchant);
    await payFromWallet(world, paying, await world.wallet());
    const list = await listOf(paying);
    expect(list.length).toBeGreaterThan(2);
    expect(list.filter(({ is_selected }) => is_selected).map(({ name }) => name)).toEqual(['wallet']);
  });
});

test('the list says what each method costs, and a submit by it takes that', async () => {
  const dear = await world.merchant();
  const fees = [
    { currency: 'usd', rate_ppm: 20_000, method: 'wallet' },
    { currency: 'usd', rate_ppm: 40_000 },
  ] as const;
  await setSettings(world, dear, { fees });
  const paying = await collect(world, dear);
  const prices = (await detailOf(world, paying)).payment_methods.map((one: Listed) => [
    one.name,
    one.fee_amount,
    one.total_amount,
  ]);
  expect(prices).toContainEqual(['wallet', '0.25', '12.75']);
  expect(prices).toContainEqual(['mobile_money', '0.50', '13.00']);
  const covered = await listOf(await collect(world, dear, { body: { fee_covered_by: 'merchant' } }));
  for (const one of covered) expect([one.fee_amount, one.total_amount]).toEqual(['0.00', '12.50']);
  const paid = await payFromWallet(world, paying, await world.wallet());
  expect(paid.json).toMatchObject({ status: 'approved', fee_amount: '0.25', total_amount: '12.75' });
});
