/**
 * What an operator sets for a merchant: limits, also by method, the methods that customers may choose, and the branding.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { merchantBrand, merchantSet } from '../../src/commands/merchant.ts';
import { setFee } from '../../src/usecases/fee-set.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { expectRefusal } from '../support/envelope.ts';
import { collect, detailOf, payFromWallet } from '../support/flows.ts';
import { addAccount, jpegFile, payByTransfer, pngFile } from '../support/transfer-flows.ts';
import { type Answer, collectBody, mint, openWorld, type World } from '../support/world.ts';

let world: World;
let folder: string;
beforeAll(async () => {
  world = await openWorld();
  folder = await mkdtemp(join(tmpdir(), 'mbongo-brand-'));
});
afterAll(async () => {
  await world.close();
  await rm(folder, { recursive: true, force: true });
});

async function start(merchant: MerchantCreated, method: string, amount: string): Promise<Answer> {
  const { token } = await mint(world, merchant, { amount });
  const more = method === 'wallet' ? { wallet_number: '1', wallet_pin: '1234' } : {};
  return world.call('POST', '/payments/collect', { bearer: token, body: collectBody(world, method, more) });
}

const set = (merchant: MerchantCreated, options: Readonly<Record<string, string>>) =>
  merchantSet({ deps: world.gateway.deps }, { merchant: merchant.merchant.id, ...options });

describe('limits', () => {
  test('a fee on top makes no amount longer than any may be', async () => {
    const merchant = await world.merchant();
    const most = '999999999999999.99';
    expect((await start(merchant, 'mobile_money', most)).status).toBe(200);
    await setFee(world.gateway.deps, {
      merchantId: merchant.merchant.id,
      method: 'mobile_money',
      currency: 'usd',
      rate: '10',
      fixed: 0n,
      min: undefined,
      max: undefined,
    });
    const refused = await start(merchant, 'mobile_money', most);
    expectRefusal(refused, 402, '1202', 'AMOUNT_ABOVE_MAXIMUM');
    expect(refused.json.message).toContain(`The most is ${most} usd`);
  });

  test('of the merchant and of the method both apply, and the refusal names the bound', async () => {
    const merchant = await world.merchant();
    await addAccount(world, merchant);
    const { document } = await set(merchant, { limit: 'usd:2-100', methodLimit: 'wallet:usd:5..50,flash:usd:20-20' });
    expect(document.settings).toEqual({
      limits: { usd: { min: '2.00', max: '100.00' } },
      method_limits: { wallet: { usd: { min: '5.00', max: '50.00' } }, flash: { usd: { min: '20.00', max: '20.00' } } },
    });
    const bounds: [string, string, string | undefined][] = [
      ['wallet', '1.99', 'The least is 2.00 usd'],
      ['wallet', '4.99', 'The least is 5.00 usd'],
      ['wallet', '5.00', undefined],
      ['wallet', '50.00', undefined],
      ['wallet', '50.01', 'The most is 50.00 usd'],
      ['flash', '19.99', 'The least is 20.00 usd'],
      ['flash', '20.00', undefined],
      ['flash', '20.01', 'The most is 20.00 usd'],
      ['bank_transfer', '100.00', undefined],
      ['bank_transfer', '100.01', 'The most is 100.00 usd'],
      ['none', '60.00', undefined],
    ];
    for (const [method, amount, refusal] of bounds) {
      const answer = await start(merchant, method, amount);
      if (refusal === undefined) expect(answer.status, answer.text).toBe(200);
      else {
        expectRefusal(answer, 402, '1202');
        expect(answer.json.message).toContain(refusal);
      }
    }
  });

  test('of a method apply at submit too, if it is chosen there', async () => {
    const merchant = await world.merchant();
    const account = await addAccount(world, merchant);
    await set(merchant, { methodLimit: 'wallet:usd:-10,bank_transfer:usd:20-' });
    const paying = await collect(world, merchant);
    expectRefusal(await payFromWallet(world, paying, await world.wallet()), 402, '1202', 'AMOUNT_ABOVE_MAXIMUM');
    expectRefusal(await payByTransfer(world, paying, account.id), 402, '1202', 'AMOUNT_BELOW_MINIMUM');
    const enabled = (await detailOf(world, paying)).payment_methods.filter(
      ({ is_enabled }: { is_enabled: boolean }) => is_enabled,
    );
    expect(enabled.map(({ name }: { name: string }) => name)).not.toContain('wallet');
    await set(merchant, { methodLimit: 'wallet:usd:none' });
    expect((await payFromWallet(world, paying, await world.wallet())).json.status).toBe('approved');
  });

  test('are refused if they make no sense', async () => {
    const merchant = await world.merchant();
    for (const methodLimit of ['usd:1-2', 'cheque:usd:1-2', 'wallet:usd:', 'wallet:usd:-', 'wallet:usd:1', 'wallet']) {
      await expect(set(merchant, { methodLimit })).rejects.toThrow(/write it like|not a payment method/);
    }
    await expect(set(merchant, { methodLimit: 'wallet:usd:5-1' })).rejects.toThrow('above the largest');
    await expect(set(merchant, { methodLimit: 'wallet:eur2:5-1' })).rejects.toThrow('not a currency');
  });
});

describe('methods', () => {
  test('are those that the merchant offers, or all of them again', async () => {
    const merchant = await world.merchant();
    await set(merchant, { methods: 'flash, wallet' });
    const paying = await collect(world, merchant);
    const names = async () =>
      (await detailOf(world, paying)).payment_methods.map(({ name }: { name: string }) => name) as string[];
    expect(await names()).toEqual(['wallet', 'flash']);
    const refused = await start(merchant, 'mobile_money', '12.50');
    expectRefusal(refused, 400, '1103', 'METHOD_NOT_AVAILABLE');
    expect(refused.json.message).toContain('wallet, flash');
    await set(merchant, { methods: 'all' });
    expect(await names()).toContain('mobile_money');
    await expect(set(merchant, { methods: 'cheque' })).rejects.toThrow('not a payment method');
    await expect(set(merchant, { methods: ',' })).rejects.toThrow('at least one');
  });
});

describe('a brand', () => {
  const brand = (merchant: MerchantCreated, options: { colour?: string; logo?: string | false }) =>
    merchantBrand({ deps: world.gateway.deps }, { merchant: merchant.merchant.id, ...options });
  const file = async (name: string, bytes: Uint8Array) => {
    const path = join(folder, name);
    await writeFile(path, bytes);
    return path;
  };

  test('is a colour and a logo, whose version only increases', async () => {
    const merchant = await world.merchant();
    const { shard, id } = merchant.merchant;
    const png = pngFile();
    const first = await brand(merchant, { colour: '#0B6E4F', logo: await file('a.png', png) });
    expect(first.document.settings).toEqual({ brand: { colour: '#0b6e4f', logo: 1 } });
    const stored = await world.gateway.store.merchantLogo.get(shard, id);
    expect(stored).toMatchObject({ content_type: 'image/png', content: png.toString('base64'), version: 1 });
    expect((await brand(merchant, { logo: false })).document.settings).toEqual({ brand: { colour: '#0b6e4f' } });
    const jpeg = jpegFile();
    const logo = await file('b.jpg', Buffer.concat([jpeg, Buffer.from('<svg/>')]));
    const again = await brand(merchant, { logo, colour: 'default' });
    expect(again.document.settings).toEqual({ brand: { logo: 2 } });
    expect(await world.gateway.store.merchantLogo.get(shard, id)).toMatchObject({
      content_type: 'image/jpeg',
      content: jpeg.toString('base64'),
      version: 2,
    });
  });

  test('is refused by the file’s content and the colour’s form', async () => {
    const merchant = await world.merchant();
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>');
    const bad: [Uint8Array, string][] = [
      [svg, 'PNG, JPEG or WebP'],
      [Buffer.alloc(0), 'PNG, JPEG or WebP'],
      [pngFile().subarray(0, -1), 'is damaged'],
      [pngFile(64 * 1024 + 1), 'at most 64 KiB'],
    ];
    for (const [bytes, message] of bad) {
      await expect(brand(merchant, { logo: await file('bad', bytes) })).rejects.toThrow(message);
    }
    await expect(brand(merchant, { logo: join(folder, 'none') })).rejects.toThrow('cannot be read');
    await expect(brand(merchant, { colour: 'green' })).rejects.toThrow('not a colour');
    await expect(brand(merchant, {})).rejects.toThrow('nothing to set');
  });
});
