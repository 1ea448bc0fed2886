/**
 * `mbongo wallet list` and `show`: whose account it is, what is in it, and why it does not pay.
 */
import { afterAll, expect, test } from 'vitest';
import { walletList, walletShow } from '../../src/commands/wallet.ts';
import type { Document } from '../support/command-line.ts';
import { openCommandWorld } from '../support/command-world.ts';
import { collect, payFromWallet } from '../support/flows.ts';

const { world, cli, merchant, close } = await openCommandWorld();
afterAll(close);

const PHONE = '+243810000777';
const list = async (options: Document): Promise<Document[]> =>
  (await walletList({ deps: world.gateway.deps }, { limit: '50', ...options })).document.wallets as Document[];
/** By the clock of the world, which stands still. */
const show = async (number: string): Promise<Document> =>
  (await walletShow({ deps: world.gateway.deps }, number)).document;

test('finds the accounts of a phone, a page at a time, without showing the phone', async () => {
  const numbers = [await world.wallet({ phone: PHONE }), await world.wallet({ phone: PHONE })]
    .map(({ number }) => number)
    .toSorted();
  await world.wallet({ phone: '+243810000778' });
  const found = await list({ phone: '+243 810 000 777' });
  expect(found.map(({ wallet_number }) => wallet_number)).toEqual(numbers);
  expect(found[0]).toMatchObject({ kind: 'wallet', currency: 'usd', phone_number: '+243 81 ••• •• 77' });
  const first = await walletList({ deps: world.gateway.deps }, { limit: '1', phone: PHONE });
  expect(first.document.next).toBe(numbers[0]);
  expect(await list({ phone: PHONE, after: numbers[0] })).toMatchObject([{ wallet_number: numbers[1] }]);
  expect(await list({ phone: PHONE, currency: 'cdf' })).toEqual([]);
  expect((await cli.run(['wallet', 'list', '--phone', PHONE])).out).not.toContain(PHONE.slice(1));
});

test('shows the balance, and until when a PIN that was wrong five times is locked', async () => {
  const wallet = await world.wallet({ balance: 50_00n, phone: PHONE });
  const grouped = wallet.number.replaceAll(/(\d{4})(?=\d)/g, '$1 ');
  expect(await show(grouped)).toMatchObject({
    wallet_number: wallet.number,
    balance: '50.00',
    pin_locked_until: null,
    codes_locked_until: null,
  });
  for (let tries = 0; tries < 5; tries += 1) {
    await payFromWallet(world, await collect(world, merchant), { ...wallet, pin: '9999' });
  }
  const locked = await show(wallet.number);
  expect(Date.parse(String(locked.pin_locked_until)) - world.clock.now()).toBeGreaterThan(0);
  expect(locked.codes_locked_until).toBeNull();
  expect(JSON.stringify(locked)).not.toMatch(/hash|argon/);
  await world.clock.advance(60 * 60_000);
  expect(await show(wallet.number)).toMatchObject({ pin_locked_until: null });
});

test('says what is wrong with a number', async () => {
  const said = async (words: string): Promise<[number, string]> => {
    const { status, err } = await cli.run(`wallet ${words}`);
    return [status, err];
  };
  expect(await said('show 1234')).toEqual([2, expect.stringContaining('begins with 5707')]);
  const { number } = await world.wallet({ phone: PHONE });
  expect(await said(`list --after ${number.slice(1)}`)).toEqual([2, expect.stringContaining('begins with 5707')]);
});
