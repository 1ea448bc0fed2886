/**
 * Money that comes after its payment has ended: a person is called, and books it, once.
 */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LateTarget } from '../../src/domain/late-money.ts';
import { manualClock } from '../../src/platform/testing/manual-clock.ts';
import { bookLateMoney, type LateRows, requireBookable } from '../../src/usecases/attempt-book.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { archive, DAY, growOld } from '../support/archive-scenes.ts';
import type { CommandLine, Document } from '../support/command-line.ts';
import type { FickleCarrier } from '../support/fickle-carrier.ts';
import {
  bearerOf,
  collect,
  hooksAbout,
  numberEnding,
  type Paying,
  payByPhone,
  payFromWallet,
  statusOf,
} from '../support/flows.ts';
import { type LateDesk, openLateDesk } from '../support/late-desk.ts';
import { bookedTo } from '../support/late-verdict.ts';
import { attemptOf, callBack } from '../support/phone-payments.ts';
import { refunded, untilRefund } from '../support/refund-flows.ts';
import { rowsOf } from '../support/rows.ts';
import { openSecond } from '../support/second-gateway.ts';
import type { World } from '../support/world.ts';

let late: LateDesk;
let carrier: FickleCarrier;
let world: World;
let merchant: MerchantCreated;
let cli: CommandLine;

beforeAll(async () => {
  late = await openLateDesk();
  ({ carrier, world, merchant, cli } = late);
});
afterAll(() => late.close());

const SAY = { by: 'amina', why: 'the shop has delivered' };
const book = (attemptId: string, to: LateTarget) =>
  bookLateMoney(world.gateway.deps, attemptId, bookedTo(to, attemptId));

async function balanceOf(account: string, shard = merchant.merchant.shard): Promise<bigint> {
  return (await world.gateway.store.account.get(shard, account))?.balance ?? 0n;
}

/** How much each account's balance changes while `act` runs. */
async function movedBy(act: () => Promise<unknown>): Promise<Record<string, bigint>> {
  const of = { available: `${merchant.merchant.id}:available:usd`, fees: 'fees:usd', suspense: 'suspense:usd' };
  const accounts = { ...of, transit: 'transit:mtn-momo:usd' };
  const before = new Map<string, bigint>();
  for (const id of Object.values(accounts)) before.set(id, await balanceOf(id));
  await act();
  const after = Object.entries(accounts).map(
    async ([name, id]) => [name, (await balanceOf(id)) - (before.get(id) ?? 0n)] as const,
  );
  return Object.fromEntries((await Promise.all(after)).filter(([, moved]) => moved !== 0n));
}

async function expectSoundBooks(): Promise<void> {
  expect((await world.gateway.store.auditAll()).findings).toEqual([]);
  expect((await world.gateway.store.suspenseSums({})).differences).toEqual([]);
}

describe('mbongo attempt list --late', () => {
  test('shows what is in suspense until it is booked, and no whole number', async () => {
    await world.clock.advance(1);
    const { paying, attempt } = await late.paidLate();
    const listed = async () => (await cli.json('attempt list --late')).attempts as Document[];
    expect((await listed()).filter(({ attempt_id }) => attempt_id === attempt.id)).toMatchObject([
      {
        transaction_id: paying.transaction_id,
        merchant_id: merchant.merchant.id,
        amount: '12.50',
        currency: 'usd',
        phone_number: expect.stringContaining('•••'),
        came_at: expect.stringMatching(/^2026-11-20T/),
      },
    ]);
    const { out } = await cli.run('attempt list --late');
    expect(out).toMatch(
      /^attempt +moved +upstream +for +amount +phone +transaction +merchant +reference +its reference\natt_/,
    );
    expect((await cli.json(`attempt list --late --after ${attempt.id}`)).attempts).toEqual([]);
    expect(await cli.json('attempt list')).toEqual({ attempts: [], next: null });
    await book(attempt.id, 'payer');
    expect((await listed()).map(({ attempt_id }) => attempt_id)).not.toContain(attempt.id);
  });
});

describe('mbongo attempt book', () => {
  test('--to merchant: it becomes available, and nothing else changes', async () => {
    const { paying, attempt } = await late.paidLate();
    const told = hooksAbout(world, paying.transaction_id).length;
    const words = ['attempt', 'book', attempt.id, '--to', 'merchant', '--by', ' amina', '--why', `${SAY.why}\n`];
    const asked = await cli.run(words);
    expect(asked).toMatchObject({ status: 1, out: '' });
    expect(asked.err).toMatch(
      /^mbongo: 12\.50 usd from \+243 81 ••• •• 42 by Vodacom M-Pesa came at [^\n]+, failed: add --yes [^\n]+\n$/,
    );
    const moved = await movedBy(async () => {
      const { status, out, err } = await cli.run([...words, '--yes', '--json']);
      expect(status, err).toBe(0);
      expect(JSON.parse(out)).toMatchObject({
        attempt_id: attempt.id,
        transaction_id: paying.transaction_id,
        payment_status: 'failed',
        booked_to: 'merchant',
        amount: '12.50',
      });
      expect(JSON.parse(err)).toMatchObject({
        event: 'late_money_booked_by_operator',
        attempt_id: attempt.id,
        transaction_id: paying.transaction_id,
        to: 'merchant',
        by: expect.stringMatching(/^amina, as /),
        why: SAY.why,
      });
    });
    expect(moved).toEqual({ suspense: -12_50n, available: 12_50n });
    expect(await statusOf(world, paying)).toBe('failed');
    await world.pass(60_000);
    await world.gateway.courier.idle();
    expect(hooksAbout(world, paying.transaction_id)).toHaveLength(told);
    const lines = await rowsOf(
      world,
      'select cause, amount_minor::int from ledger_transfer where cause_id = $1 order by at, id',
      [paying.transaction_id],
    );
    expect(lines).toEqual([
      { cause: 'late_success', amount_minor: 12_50 },
      { cause: 'late_payment', amount_minor: 12_50 },
    ]);
    await expectSoundBooks();
  });

  test.each([
    ['merchant', { suspense: -12_50n, available: 12_00n, fees: 50n }],
    ['buyer', { suspense: -13_00n, available: 12_50n, fees: 50n }],
  ] as const)('the fee is ours, as for any payment: covered by the %s', async (covered, moves) => {
    await cli.json(`fee set --merchant ${merchant.merchant.id} --currency usd --rate 4`);
    const { attempt } = await late.paidLate({ fee_covered_by: covered });
    await cli.json(`fee set --merchant ${merchant.merchant.id} --currency usd --remove`);
    expect(await movedBy(() => book(attempt.id, 'merchant'))).toEqual(moves);
    await expectSoundBooks();
  });

  test('--to payer: the carrier no longer owes it, and its statement agrees', async () => {
    const from = world.clock.now();
    const { paying, attempt } = await late.paidLate();
    expect(await movedBy(() => book(attempt.id, 'payer'))).toEqual({ suspense: -12_50n, transit: 12_50n });
    expect(await statusOf(world, paying)).toBe('failed');
    await expectSoundBooks();
    const file = join(cli.dataDir, 'statement.csv');
    const attempts = await rowsOf<{ reference: string; total: string }>(
      world,
      `select reference, (amount_minor / 100.0)::numeric(9, 2)::text as total from attempt
       where status = 'approved' and connector = 'mtn-momo'`,
    );
    expect(attempts.map(({ reference }) => reference)).toContain(attempt.reference);
    const lines = attempts.map(({ reference, total }) => `${reference},${total},usd,SUCCESSFUL`);
    await writeFile(file, ['reference,amount,currency,status', ...lines, ''].join('\n'));
    const span = `--from ${new Date(from - DAY).toISOString()} --to ${new Date(from + DAY).toISOString()}`;
    const said = await cli.run(`reconcile ${file} --connector mtn-momo ${span} --json`);
    expect(said.status, said.out).toBe(0);
    expect(JSON.parse(said.out)).toMatchObject({ agrees: true, totals: [{ currency: 'usd', booked: true }] });
  });

  test('one movement returns one attempt’s money to its payer', async () => {
    const [one, two] = [(await late.paidLate()).attempt.id, (await late.paidLate()).attempt.id];
    const booking = (id: string, reference: string, end = '') =>
      cli.run(`attempt book ${id} --to payer --reference ${reference} --why given-back${end}`);
    expect((await booking(one, 'PORTAL-48213', ' --yes')).status).toBe(0);
    // As a refund by hand of such money would be named.
    const named = 'select id from transfer_reference where shard = 0';
    expect((await rowsOf(world, named)).map(({ id }) => id)).toContain('refund:transit:mtn-momo:usd:PORTAL48213');
    for (const end of ['', ' --yes']) {
      const { status, err } = await booking(two, 'portal48213', end);
      expect([status, err]).toEqual([1, expect.stringContaining('portal48213 already names 12.50 usd for txn_')]);
    }
    expect((await booking(two, 'PORTAL-48213/2', ' --yes')).status).toBe(0);
    await expectSoundBooks();
  });

  test('a movement that the carrier has named for a refund is none that returned late money', async () => {
    const paid = await late.submitted();
    carrier.say('SUCCESSFUL');
    expect(await callBack(carrier.callbackUrl(), {})).toBe(200);
    const made = await refunded(world, merchant, paid);
    await untilRefund(world, merchant, made.refund_id, 'completed');
    const named = 'select id, reference from attempt where payment_id = $1';
    const [refund] = await rowsOf<{ id: string; reference: string }>(world, named, [made.refund_id]);
    const { attempt } = await late.paidLate();
    const verdict = { to: 'payer', reference: refund?.reference, ...SAY } as const;
    const why = `is the reference of ${refund?.id}, approved, for ${made.refund_id}: if one movement is for both`;
    const { deps } = world.gateway;
    await expect(requireBookable(deps, attempt.id, verdict)).rejects.toThrow(why);
    await expect(bookLateMoney(deps, attempt.id, verdict)).rejects.toThrow(why);
    await book(attempt.id, 'payer');
  });

  test('twenty commands at once book it once; the others report where it went', async () => {
    const { attempt } = await late.paidLate();
    const second = await openSecond(world, manualClock(0));
    const targets = Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? ('merchant' as const) : ('payer' as const)));
    let said: PromiseSettledResult<LateRows>[] = [];
    const moved = await movedBy(async () => {
      said = await Promise.allSettled(
        targets.map((to, at) => {
          const { deps } = at % 3 === 0 ? second.gateway : world.gateway;
          return bookLateMoney(deps, attempt.id, bookedTo(to, attempt.id));
        }),
      );
    });
    await second.cut();
    await second.close();
    const won = said.findIndex(({ status }) => status === 'fulfilled');
    const to = targets[won];
    expect(said.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const one of said) {
      if (one.status === 'rejected') expect(String(one.reason)).toContain(`has been booked already, to the ${to}`);
    }
    expect(moved).toEqual({ suspense: -12_50n, [to === 'merchant' ? 'available' : 'transit']: 12_50n });
    await expectSoundBooks();
  });

  test('a booking stays as it is, whatever the carrier says later', async () => {
    const { attempt } = await late.paidLate();
    await book(attempt.id, 'payer');
    expect(
      await movedBy(async () => {
        for (const word of ['SUCCESSFUL', 'FAILED', 'SUCCESSFUL']) {
          carrier.say(word);
          expect(await callBack(carrier.callbackUrl(), {})).toBe(200);
        }
        await world.pass(DAY);
      }),
    ).toEqual({});
    const again = await cli.run(['attempt', 'book', attempt.id, '--to', 'merchant', '--why', 'x', '--yes']);
    expect(again).toMatchObject({ status: 1, out: '' });
    expect(again.err).toContain(`${attempt.id} has been booked already, to the payer`);
  });
});

describe('what is not late is refused, with what to do', () => {
  const refusal = async (attemptId: string, exit = 1): Promise<string> => {
    const { status, out, err } = await cli.run(`attempt book ${attemptId} --to merchant --why x --yes`);
    expect([status, out]).toEqual([exit, '']);
    expect(err).toMatch(/^mbongo: [^\n]+\n$/);
    return err;
  };

  test('an attempt that is open, one that brought its money in time, and an unknown one', async () => {
    const paying = await late.submitted();
    const { id } = await attemptOf(world, paying);
    expect(await refusal(id)).toContain('is waiting, and none of its money is in suspense: close it with `mbongo att');
    carrier.say('SUCCESSFUL');
    expect(await callBack(carrier.callbackUrl(), {})).toBe(200);
    expect(await refusal(id)).toContain(
      'is approved, and none of its money is in suspense: see `mbongo suspense list`',
    );
    const unknown = id.replace(/^att_.{20}/, 'att_00000000000000000000');
    expect(await refusal(unknown)).toContain('there is no attempt');
    expect(await refusal(paying.transaction_id, 2)).toContain('the attempt id is not valid');
    expect(await cli.run(`attempt book ${id} --why x --yes`)).toMatchObject({ status: 2 });
    expect(await cli.run(`attempt book ${id} --to me --why x --yes`)).toMatchObject({ status: 2 });
    expect(await cli.run(`attempt book ${id} --to payer --reference R-1 --yes`)).toMatchObject({ status: 2 });
    for (const [to, what] of [
      ['payer', 'add --reference'],
      ['payer --reference -/-', 'letters or digits'],
      ['merchant --reference R-1', 'with --to merchant there is none'],
    ]) {
      for (const end of ['', ' --yes']) {
        const { status, err } = await cli.run(`attempt book ${id} --to ${to} --why x${end}`);
        expect([status, err], to).toEqual([2, expect.stringContaining(what ?? '')]);
      }
    }
  });

  test('the merchant does not keep it for a payment that was paid otherwise', async () => {
    const paying = await collect(world, merchant);
    carrier.holdNext().answer({ status: 429, body: '' });
    await payByPhone(world, paying, numberEnding('42'));
    const [attempt] = await rowsOf<{ id: string; status: string }>(
      world,
      'select id, status from attempt where payment_id = $1',
      [paying.transaction_id],
    );
    if (attempt === undefined) throw new Error('no attempt was made');
    expect(attempt.status).toBe('not_sent');
    expect((await payFromWallet(world, paying, await world.wallet())).json.status).toBe('approved');
    carrier.say('SUCCESSFUL');
    expect(await callBack(carrier.callbackUrl(), {})).toBe(200);
    expect(await refusal(attempt.id)).toContain('return the money to the payer and use --to payer');
    await book(attempt.id, 'payer');
    await expectSoundBooks();
  });
});

describe('who reads the payment is told of it', () => {
  const before = 'The account’s limit has been reached.';
  const english = { 'accept-language': 'en' };

  async function readBy(paying: Paying) {
    const { token: bearer, transaction_id, payment_id } = paying;
    const read = (path: string) => world.call('GET', path, { bearer, headers: english });
    const { json: detail } = await read(`/payments/transaction/${transaction_id}`);
    const { json: polled } = await read(`/payments/mobile-money/status/${payment_id}`);
    expect(polled.message).toBe(detail.message);
    return { message: detail.message, status: detail.status, late_payments: detail.late_payments };
  }

  test.each([
    ['merchant', 'and has been booked to the shop. Do not pay again.'],
    ['payer', 'and has been given back.'],
  ] as const)('while it waits, and once it has been booked to the %s, also from the archive', async (to, end) => {
    const { paying, attempt } = await late.paidLate();
    const { transaction_id } = paying;
    const received_at = expect.stringMatching(/^20\d\d-/);
    const late_payment = { transaction_id, amount: '12.50', currency: 'usd', received_at };
    const waiting = await readBy(paying);
    expect(waiting).toMatchObject({ status: 'failed', late_payments: [{ ...late_payment, booked_to: null }] });
    expect(waiting.message).toBe(
      `Money came for this order too late to count. Do not pay again: it waits for the gateway’s operator, who gives it back or books it to the shop.`,
    );
    await book(attempt.id, to);
    const booked = await readBy(paying);
    expect(booked).toMatchObject({ status: 'failed', late_payments: [{ ...late_payment, booked_to: to }] });
    const why = to === 'payer' ? `${before} ` : '';
    expect(booked.message).toBe(`${why}Money came for this order too late to count, ${end}`);
    await growOld(world);
    await archive(world);
    const bearer = bearerOf(merchant);
    const archived = await world.call('GET', `/internal/transactions/${paying.transaction_id}`, {
      bearer,
      headers: english,
    });
    expect(archived.json).toMatchObject(booked);
  });

  test('of a payment that nothing came for, nothing is said', async () => {
    const paying = await late.submitted();
    carrier.say('FAILED');
    expect(await callBack(carrier.callbackUrl(), {})).toBe(200);
    expect(await readBy(paying)).toEqual({ status: 'failed', message: before, late_payments: [] });
  });
});

test('the archive leaves it where it is until it is booked', async () => {
  const { paying, attempt } = await late.paidLate();
  const places = () =>
    rowsOf(
      world,
      `select 'live' as place, id from payment where id = $1 union all select 'archive', id from archive.payment where id = $1
       union all select 'live', id from attempt where id = $2 union all select 'archive', id from archive.attempt where id = $2`,
      [paying.transaction_id, attempt.id],
    );
  const both = (place: string) => [paying.transaction_id, attempt.id].map((id) => ({ place, id }));
  await growOld(world);
  await archive(world);
  expect(await places()).toEqual(both('live'));
  await book(attempt.id, 'merchant');
  await archive(world);
  expect(await places()).toEqual(both('archive'));
  const span = `from=${new Date(world.gateway.deps.clock.now() - DAY).toISOString()}`;
  const statement = await world.call('GET', `/internal/statement?currency=usd&${span}`, { bearer: bearerOf(merchant) });
  expect(statement.json.lines).toMatchObject([
    { cause: 'late_payment', transaction_id: paying.transaction_id, customer_reference: paying.reference },
  ]);
  await expectSoundBooks();
});
