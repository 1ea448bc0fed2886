/**
 * `mbongo settle`: money out to a merchant's bank, once, and one line of its statement.
 */
import { afterAll, describe, expect, test } from 'vitest';
import { merchantAccount } from '../../src/domain/ledger.ts';
import { CommitUnknown } from '../../src/store/errors.ts';
import { creditBalance } from '../../src/usecases/balance-credit.ts';
import { settleBalance } from '../../src/usecases/balance-settle.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { openCommandWorld } from '../support/command-world.ts';
import { bearerOf, collect, neighbourOf } from '../support/flows.ts';
import { rowsOf } from '../support/rows.ts';

const { world, cli, close } = await openCommandWorld();
afterAll(close);

/** A merchant with 100.00 usd. */
async function rich(): Promise<MerchantCreated> {
  const merchant = await world.merchant();
  await creditBalance(world.gateway.deps, merchant.merchant.id, 'usd', 100_00n);
  return merchant;
}

const wordsFor = ({ merchant }: MerchantCreated, amount: string, ...more: string[]): string[] => [
  ...`settle --merchant ${merchant.id} --currency usd --amount ${amount}`.split(' '),
  ...more,
];

async function balance({ merchant }: MerchantCreated): Promise<bigint | undefined> {
  const ref = merchantAccount(merchant.id, 'available', 'usd');
  return (await world.gateway.store.account.get(ref.shard, ref.id))?.balance;
}

async function linesOf(merchant: MerchantCreated) {
  // The command line uses the machine's clock.
  await world.clock.advance(Math.max(0, Date.now() - world.clock.now()) + 1_000);
  const { json, text } = await world.call('GET', '/internal/statement?currency=usd&from=2026-01-01&to=2030-01-01', {
    bearer: bearerOf(merchant),
  });
  expect(json.success, text).toBe(true);
  return json.lines.filter(({ cause }: { readonly cause: string }) => cause === 'settlement');
}

describe('settle', () => {
  test('takes money out when confirmed, and shows it in the statement under its reference', async () => {
    const merchant = await rich();
    const asked = await cli.run(wordsFor(merchant, '40.00'));
    expect([asked.status, asked.err]).toEqual([
      1,
      `mbongo: this pays 40.00 usd of ${merchant.merchant.id} (Boutique Kivu) out to its bank: add --yes to do it\n`,
    ]);
    expect(await balance(merchant)).toBe(100_00n);
    const reference = 'txn_ of the 20th, =1+1';
    const { status, out, err } = await cli.run(
      wordsFor(
        merchant,
        '40.00',
        '--reference',
        ` ${reference} `,
        '--by',
        ' amina ',
        '--why',
        'due\n',
        '--yes',
        '--json',
      ),
    );
    // The log names the operator.
    expect(status, err).toBe(0);
    expect(JSON.parse(err)).toMatchObject({
      event: 'balance_settled_by_operator',
      by: expect.stringMatching(/^amina, as /),
      why: 'due',
    });
    expect(JSON.parse(out)).toEqual({
      merchant_id: merchant.merchant.id,
      currency: 'usd',
      amount: '40.00',
      reference,
      available: '60.00',
      settled_at: expect.stringMatching(/Z$/),
      repeated: false,
    });
    expect(await linesOf(merchant)).toMatchObject([
      { amount: '-40.00', balance: 'available', reference, transaction_id: null, refund_id: null },
    ]);
    expect((await world.gateway.store.auditAll()).findings).toEqual([]);
  });

  test('shows no other merchant’s customer reference, whatever the settlement is called', async () => {
    const merchant = await rich();
    const { transaction_id } = await collect(world, await neighbourOf(world, merchant));
    const { status, err } = await cli.run(wordsFor(merchant, '4.00', '--reference', transaction_id, '--yes'));
    expect(status, err).toBe(0);
    expect(await linesOf(merchant)).toMatchObject([{ amount: '-4.00', customer_reference: null }]);
  });

  test('says, before it pays, that the merchant is suspended', async () => {
    const merchant = await rich();
    const asked = async () => (await cli.run(wordsFor(merchant, '1.00', '--reference', 'susp-1'))).err;
    expect(await asked()).not.toContain('suspended');
    await cli.json(`merchant suspend --merchant ${merchant.merchant.id}`);
    expect(await asked()).toContain('), which is suspended, out to its bank: add --yes');
  });

  test('refuses more than the balance, and what is not an amount or not one line of text', async () => {
    const merchant = await rich();
    const refusals: [string, string[], 1?][] = [
      ['only 100.00 usd are available', wordsFor(merchant, '100.01', '--yes'), 1],
      ['not a valid amount', wordsFor(merchant, '0', '--yes')],
      ['not a valid amount', wordsFor(merchant, '1.001', '--yes')],
      ['the reference must be one line', wordsFor(merchant, '1', '--yes', '--reference', 'a\nb')],
      ['the reference must be one line', wordsFor(merchant, '1', '--yes', '--reference', 'AC\u202eME')],
      ['--by must be one line', wordsFor(merchant, '1', '--yes', '--by', ' ')],
      ['the merchant id is not valid', 'settle --currency usd --amount 1 --yes --merchant mch_x'.split(' ')],
    ];
    for (const [reason, words, exit = 2] of refusals) {
      const { status, err } = await cli.run(words);
      expect([status, err]).toEqual([exit, expect.stringContaining(reason)]);
    }
    expect(await balance(merchant)).toBe(100_00n);
    expect((await cli.run(wordsFor(merchant, '100.00', '--yes'))).out).toContain('0.00 usd available');
  });

  test('without --yes says what would be refused with it', async () => {
    const merchant = await rich();
    const previews: [string, string[]][] = [
      ['only 100.00 usd are available', wordsFor(merchant, '100.01')],
      ['this pays 100.00 usd', wordsFor(merchant, '100.00')],
      ['add --yes to do it', wordsFor(merchant, '40.00', '--reference', 'ACME 11')],
    ];
    for (const [reason, words] of previews) {
      const { status, err } = await cli.run(words);
      expect([status, err]).toEqual([1, expect.stringContaining(reason)]);
    }
    for (const said of ['--by', '--why']) {
      const { status, err } = await cli.run(wordsFor(merchant, '40.00', said, ' '));
      expect([status, err]).toEqual([2, expect.stringContaining(`${said} must be one line`)]);
    }
    const words = wordsFor(merchant, '40.00', '--reference', 'ACME 11');
    expect((await cli.run([...words, '--yes'])).status).toBe(0);
    const already = /\nNothing was taken now: this amount was already settled as ACME 11 at 2\S+Z\.\n$/;
    const other = /^mbongo: 40\.00 usd were settled as ACME 11 at 2\S+Z, as the merchant's statement shows: /;
    const another = wordsFor(merchant, '40.01', '--reference', 'ACME 11');
    for (const more of [[], ['--yes']]) {
      const again = await cli.run([...words, ...more]);
      expect([again.status, again.err, again.out]).toEqual([0, '', expect.stringMatching(already)]);
      const refused = await cli.run([...another, ...more]);
      expect([refused.status, refused.err]).toEqual([1, expect.stringMatching(other)]);
    }
    expect(await balance(merchant)).toBe(60_00n);
  });

  test('happens once, even if the database’s answer is lost', async () => {
    const merchant = await rich();
    const { deps } = world.gateway;
    let lost = 0;
    const commit: typeof deps.store.commit = async (change) => {
      const outcome = await deps.store.commit(change);
      lost += 1;
      if (lost < 3) throw new CommitUnknown();
      return outcome;
    };
    const settling = settleBalance(
      { ...deps, store: { ...deps.store, commit } },
      { merchantId: merchant.merchant.id, currency: 'usd', amountMinor: 30_00n, reference: null, by: 'us', why: null },
    );
    while (lost < 3) await world.clock.advance(100);
    const settled = await settling;
    expect([settled.available, await balance(merchant)]).toEqual([70_00n, 70_00n]);
    expect(await linesOf(merchant)).toMatchObject([{ amount: '-30.00', reference: settled.reference }]);
    expect(world.log.lines.filter((line) => line.includes('balance_settled_by_operator'))).toHaveLength(1);
  });

  test('happens once under one reference, however often and however much later it is requested', async () => {
    const merchant = await rich();
    const words = wordsFor(merchant, '10.00', '--yes', '--reference', 'ACME 11');
    expect((await cli.run(words)).status).toBe(0);
    // After a day a remembered command is forgotten.
    await rowsOf(world, 'delete from idempotency');
    const again = await cli.run([...words, '--json']);
    expect([again.status, again.err]).toEqual([0, '']);
    expect(JSON.parse(again.out)).toMatchObject({
      amount: '10.00',
      available: '90.00',
      reference: 'ACME 11',
      repeated: true,
    });
    expect(await balance(merchant)).toBe(90_00n);
    expect((await cli.run(wordsFor(merchant, '10.00', '--yes', '--reference', 'ACME 12'))).status).toBe(0);
    const tooMuch = await cli.run(wordsFor(merchant, '99.00', '--yes', '--reference', 'ACME 13'));
    expect([tooMuch.status, tooMuch.err]).toEqual([1, expect.stringContaining('only 80.00 usd are available')]);
    expect((await cli.run(wordsFor(merchant, '80.00', '--yes', '--reference', 'ACME 13'))).status).toBe(0);
  });

  test('of three that race under one reference, one takes the money, and the others say that it has been taken', async () => {
    const merchant = await rich();
    const order = {
      merchantId: merchant.merchant.id,
      currency: 'usd' as const,
      amountMinor: 60_00n,
      reference: 'race',
      by: 'us',
      why: null,
    };
    const ends = await Promise.all([1, 2, 3].map(() => settleBalance(world.gateway.deps, order)));
    expect(ends.map(({ isRepeated }) => isRepeated).toSorted()).toEqual([false, true, true]);
    expect(await balance(merchant)).toBe(40_00n);
    const rivals = await Promise.allSettled(
      ['one', 'two'].map((reference) =>
        settleBalance(world.gateway.deps, { ...order, amountMinor: 40_00n, reference }),
      ),
    );
    expect(rivals.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(await balance(merchant)).toBe(0n);
  });
});
