/**
 * `mbongo balance credit` and `mbongo wallet credit`: under one reference money is credited once.
 */
import { afterAll, describe, expect, test } from 'vitest';
import { merchantAccount, walletAccount } from '../../src/domain/ledger.ts';
import { CommitUnknown } from '../../src/store/errors.ts';
import { creditBalance } from '../../src/usecases/balance-credit.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { openCommandWorld } from '../support/command-world.ts';
import { bearerOf } from '../support/flows.ts';
import { rowsOf } from '../support/rows.ts';

const { world, cli, close } = await openCommandWorld();
afterAll(close);

const wordsFor = ({ merchant }: MerchantCreated, amount: string, ...more: string[]): string[] => [
  ...`balance credit --merchant ${merchant.id} --currency usd --amount ${amount}`.split(' '),
  ...more,
];

async function balance({ merchant }: MerchantCreated): Promise<bigint | undefined> {
  const ref = merchantAccount(merchant.id, 'available', 'usd');
  return (await world.gateway.store.account.get(ref.shard, ref.id))?.balance;
}

async function document(words: string[]) {
  const { status, out, err } = await cli.run([...words, '--json']);
  expect([status, err]).toEqual([0, '']);
  return JSON.parse(out) as { readonly [name: string]: unknown };
}

describe('balance credit', () => {
  test('credits once under a reference, and says of a repetition when it was credited', async () => {
    const merchant = await world.merchant();
    const { id } = merchant.merchant;
    const words = wordsFor(merchant, '100.00', '--reference', ' ACME 11 ');
    const first = await document(words);
    const credited_at = expect.stringMatching(/^2\d{3}-.*Z$/);
    const credited = { merchant_id: id, currency: 'usd', available: '100.00', reference: 'ACME 11', credited_at };
    expect(first).toEqual({ ...credited, repeated: false });
    // Much later, when a remembered reply has been forgotten.
    await rowsOf(world, 'delete from idempotency');
    expect(await document(words)).toEqual({ ...first, repeated: true });
    expect((await cli.run(words)).out).toBe(
      `${id}  100.00 usd available\n` +
        `Nothing was credited now: this amount was already credited as ACME 11 at ${first.credited_at}.\n`,
    );
    expect(await balance(merchant)).toBe(100_00n);
    expect(await cli.json(`journal list --about ${id}`)).toMatchObject({ entries: [{ command: 'balance credit' }] });
  });

  test('refuses another amount under the same reference', async () => {
    const merchant = await world.merchant();
    await document(wordsFor(merchant, '100.00', '--reference', 'ACME 11'));
    const { status, out, err } = await cli.run(wordsFor(merchant, '10.00', '--reference', 'ACME 11'));
    expect([status, out]).toEqual([1, '']);
    expect(err).toMatch(
      /^mbongo: 100\.00 usd were credited under ACME 11 at 2.*Z, and nothing now: for another credit, use another reference\n$/,
    );
    expect(await balance(merchant)).toBe(100_00n);
  });

  test('takes the same reference for another merchant, another currency, and another reference for the same', async () => {
    const [merchant, other] = [await world.merchant(), await world.merchant()];
    const reference = ['--reference', 'ACME 11'];
    await document(wordsFor(merchant, '100.00', ...reference));
    expect(await document(wordsFor(other, '7.00', ...reference))).toMatchObject({ available: '7.00' });
    expect(await document(wordsFor(merchant, '1.00', '--reference', 'ACME 12'))).toMatchObject({ available: '101.00' });
    const francs = `balance credit --merchant ${merchant.merchant.id} --currency cdf --amount 5`.split(' ');
    expect(await document([...francs, ...reference])).toMatchObject({ available: '5.00' });
    expect((await world.gateway.store.auditAll()).findings).toEqual([]);
  });

  test('without a reference credits each time, and says so', async () => {
    const merchant = await world.merchant();
    const { id } = merchant.merchant;
    expect(await document(wordsFor(merchant, '1.00'))).toEqual({
      merchant_id: id,
      currency: 'usd',
      available: '1.00',
    });
    expect((await cli.run(wordsFor(merchant, '1.00'))).out).toBe(
      `${id}  2.00 usd available\nGiven again, this command credits again: with --reference it would credit once.\n`,
    );
  });

  test('shows the reference in the merchant’s statement', async () => {
    const merchant = await world.merchant();
    await document(wordsFor(merchant, '2.00'));
    await document(wordsFor(merchant, '3.00', '--reference', 'txn_ of the bank'));
    // The command line uses the machine's clock.
    await world.clock.advance(Math.max(0, Date.now() - world.clock.now()) + 1_000);
    const { json, text } = await world.call('GET', '/internal/statement?currency=usd&from=2026-01-01&to=2030-01-01', {
      bearer: bearerOf(merchant),
    });
    expect(json.success, text).toBe(true);
    const named = { cause: 'balance_credit', transaction_id: null, refund_id: null };
    expect(json.lines).toMatchObject([
      { ...named, amount: '2.00', reference: null },
      { ...named, amount: '3.00', reference: 'txn_ of the bank' },
    ]);
  });

  test('takes a reference for the same whatever blanks are in it: a bank’s page has others than a keyboard', async () => {
    const merchant = await world.merchant();
    const first = await document(wordsFor(merchant, '100.00', '--reference', 'ACME 11'));
    for (const reference of ['ACME\u00a011', 'ACME  11', 'ACME\u202f 11']) {
      const again = await document(wordsFor(merchant, '100.00', '--reference', reference));
      expect(again).toEqual({ ...first, repeated: true });
    }
    expect(await balance(merchant)).toBe(100_00n);
  });

  test('refuses a reference that is not one line of text', async () => {
    const merchant = await world.merchant();
    for (const reference of ['', 'a\nb', 'AC\u202eME', 'x'.repeat(141)]) {
      const { status, err } = await cli.run(wordsFor(merchant, '1.00', '--reference', reference));
      expect([status, err]).toEqual([2, expect.stringContaining('the reference must be one line of 1 to 140')]);
    }
    expect(await balance(merchant)).toBeUndefined();
  });

  test('credits once however many give the command at the same moment', async () => {
    const merchant = await world.merchant();
    const { deps } = world.gateway;
    const all = await Promise.all(
      Array.from({ length: 8 }, () => creditBalance(deps, merchant.merchant.id, 'usd', 5_00n, 'ACME 11')),
    );
    expect(all.filter(({ isRepeated }) => !isRepeated)).toHaveLength(1);
    expect(await balance(merchant)).toBe(5_00n);
  });

  test('is not a repetition of itself if the database’s answer is lost', async () => {
    const merchant = await world.merchant();
    const { deps } = world.gateway;
    let lost = 0;
    const commit: typeof deps.store.commit = async (change) => {
      const outcome = await deps.store.commit(change);
      lost += 1;
      if (lost < 3) throw new CommitUnknown();
      return outcome;
    };
    const store = { ...deps.store, commit };
    const crediting = creditBalance({ ...deps, store }, merchant.merchant.id, 'usd', 5_00n, 'ACME 11');
    while (lost < 3) await world.clock.advance(100);
    expect(await crediting).toMatchObject({ available: 5_00n, isRepeated: false });
    expect(await balance(merchant)).toBe(5_00n);
  });
});

describe('wallet credit', () => {
  test('credits once under a reference, which another wallet may have too', async () => {
    const [{ number }, other] = [await world.wallet(), await world.wallet()];
    const words = (wallet: string, amount: string) => [
      ...`wallet credit --number ${wallet} --amount ${amount} --reference`.split(' '),
      'receipt 7',
    ];
    const before = (await world.gateway.store.account.get(walletAccount(number).shard, number))?.balance ?? 0n;
    const first = await document(words(number, '5.00'));
    expect(first).toMatchObject({ wallet_number: number, reference: 'receipt 7', repeated: false });
    expect(await document(words(number, '5.00'))).toEqual({ ...first, repeated: true });
    const refused = await cli.run(words(number, '6.00'));
    expect([refused.status, refused.err]).toEqual([
      1,
      expect.stringContaining('5.00 usd were credited under receipt 7 at'),
    ]);
    expect((await world.gateway.store.account.get(walletAccount(number).shard, number))?.balance).toBe(before + 5_00n);
    expect(await document(words(other.number, '6.00'))).toMatchObject({ repeated: false });
  });
});
