/**
 * Money that leaves for a payout line after that has failed: it is listed until a person decides who bears it.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bookLateMoney } from '../../src/usecases/attempt-book.ts';
import { settleBalance } from '../../src/usecases/balance-settle.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { archive, DAY, growOld } from '../support/archive-scenes.ts';
import { expectRefusal } from '../support/envelope.ts';
import { bearerOf, type Fields, numberEnding } from '../support/flows.ts';
import { type OutDesk, openOutDesk } from '../support/late-out-desk.ts';
import { availableOf, commitBatch, lineNow, openPayer, payoutHooks } from '../support/payout-lines.ts';
import { rowsOf } from '../support/rows.ts';
import { until } from '../support/waiting.ts';
import { TURNED_AWAY } from '../support/wavering-carrier.ts';
import type { Answer, World } from '../support/world.ts';

let desk: OutDesk;
let world: World;
beforeAll(async () => {
  desk = await openOutDesk();
  ({ world } = desk);
});
afterAll(() => desk.close());

const inEnglish = (merchant: MerchantCreated) => ({
  bearer: bearerOf(merchant),
  headers: { 'accept-language': 'en' },
});

/** How much waits according to the metrics. */
async function waitingOut(): Promise<number> {
  await world.clock.advance(6_000);
  const text = await (await fetch(`${world.url}/metrics`)).text();
  return Number(/^mbongo_late_money_waiting\{way="out"\} (\d+)$/m.exec(text)?.[1]);
}

describe('a payout line that failed, and was paid after that', () => {
  test('is listed and counted until it is booked, and its merchant pays for it as if in time', async () => {
    const payer = await openPayer(world, 100_00n);
    const before = await waitingOut();
    const { line, attempt } = await desk.paidLate(payer);
    expect(await waitingOut()).toBe(before + 1);
    const { out } = await desk.cli.run('attempt list --late');
    expect(out).toMatch(new RegExp(`^${attempt.id} .* payout +10\\.00 usd `, 'm'));
    const words = ['attempt', 'book', attempt.id, '--to', 'merchant', '--by', 'amina', '--why', 'it had come'];
    const asked = await desk.cli.run(words);
    expect(asked).toMatchObject({ status: 1, out: '' });
    expect(asked.err).toMatch(
      /^mbongo: 10\.00 usd to \+243 81 ••• •• 42 by Vodacom M-Pesa left at [^\n]+, failed: add --yes to book it to the merchant, and the fee of 0\.10 usd, for good\n$/,
    );
    const told = (await payoutHooks(world, line)).length;
    const moved = await desk.movedBy(payer, async () => {
      const { status, out: said, err } = await desk.cli.run([...words, '--yes']);
      expect(status, err).toBe(0);
      expect(said).toContain('  10.00 usd booked to the merchant, and the fee of 0.10 usd; ');
      expect(JSON.parse(err)).toMatchObject({
        event: 'late_money_booked_by_operator',
        purpose: 'payout',
        by: expect.stringMatching(/^amina, as /),
      });
    });
    expect(moved).toEqual({ available: -10_10n, suspense: 10_00n, fees: 10n });
    expect(await lineNow(world, line)).toMatchObject({ status: 'failed', late_attempt_id: attempt.id });
    expect(await payoutHooks(world, line)).toHaveLength(told);
    expect(await waitingOut()).toBe(before);
    expectRefusal(await desk.retry(payer, line.batch_id), 409, '1205', 'TAKEN_AFTER_ALL');
    await expect(desk.book(attempt, 'upstream')).rejects.toThrow('has been booked already, to the merchant');
    await desk.expectSoundBooks();
  });

  /** A batch of two lines that their carrier refused, and of which it paid the first after that. */
  async function paidOneOfTwo(payer: MerchantCreated) {
    const payees = [{ msisdn: numberEnding('42') }, { msisdn: numberEnding('42') }];
    const [line, other] = await commitBatch(world, payer, payees);
    if (other === undefined) throw new Error('there is one line');
    const attempt = await desk.lastAttempt(line.id, 'waiting');
    for (const one of [attempt, await desk.lastAttempt(other.id, 'waiting')]) await desk.hearOf(one, 'FAILED');
    await desk.hearOf(attempt, 'SUCCESSFUL');
    return { line, other };
  }

  test('is left out when all failed lines are paid again, and is named when it is asked for', async () => {
    const payer = await openPayer(world, 100_00n);
    const { line, other } = await paidOneOfTwo(payer);
    const named = await desk.retry(payer, line.batch_id, [other.id, line.id]);
    expectRefusal(named, 409, '1205', 'TAKEN_AFTER_ALL');
    expect(named.json.details.map(({ field }: Fields) => field)).toEqual(['transaction_ids[1]']);
    const again = await desk.retry(payer, line.batch_id);
    expect(again.json, again.text).toMatchObject({ pending_count: 1, beneficiaries: [{ phone_number: other.msisdn }] });
    await desk.expectSoundBooks();
  });

  test('does not keep its beneficiary’s line of a later date from being paid again', async () => {
    const payer = await openPayer(world, 100_00n);
    const { line, other } = await paidOneOfTwo(payer);
    await rowsOf(world, 'update payout_line set occurrence = 2, position = 0 where id = $1 returning id', [other.id]);
    const again = await desk.retry(payer, line.batch_id);
    expect(again.json, again.text).toMatchObject({ pending_count: 1, beneficiaries: [{ phone_number: other.msisdn }] });
  });

  test('and was given back: the upstream owes it again, and the line can be paid again', async () => {
    const payer = await openPayer(world, 100_00n);
    const { line, attempt } = await desk.paidLate(payer);
    expectRefusal(await desk.retry(payer, line.batch_id), 409, '1205', 'TAKEN_AFTER_ALL');
    const read = async () => {
      const { json } = await world.call('GET', `/internal/payouts/${line.batch_id}`, inEnglish(payer));
      const { json: alone } = await world.call('GET', `/internal/transactions/${line.id}`, inEnglish(payer));
      const { message, taken_after_all } = (json.beneficiaries as Fields[])[0] ?? {};
      expect(alone).toMatchObject({ message, taken_after_all, status: 'failed' });
      return [taken_after_all, message];
    };
    expect(await read()).toEqual([true, expect.stringContaining('its carrier has taken it up after all')]);
    expect(await desk.movedBy(payer, () => desk.book(attempt, 'upstream'))).toEqual({
      suspense: 10_00n,
      transit: -10_00n,
    });
    expect((await lineNow(world, line)).late_attempt_id).toBeNull();
    expect(await read()).toEqual([false, expect.stringMatching(/^The payout did not go through\. /)]);
    const again = await desk.retried(payer, line);
    await desk.hearOf(await desk.lastAttempt(again.id, 'waiting'), 'SUCCESSFUL');
    expect((await lineNow(world, again)).status).toBe('completed');
    expect(await availableOf(world, payer)).toBe(90_00n);
    await desk.expectSoundBooks();
  });

  test('and which nobody gives back is borne by us, and the line is not paid again', async () => {
    const payer = await openPayer(world, 100_00n);
    const { line, attempt } = await desk.paidLate(payer);
    expect(await desk.movedBy(payer, () => desk.book(attempt, 'gateway'))).toEqual({ suspense: 10_00n, fees: -10_00n });
    expectRefusal(await desk.retry(payer, line.batch_id), 409, '1205', 'TAKEN_AFTER_ALL');
    expect(await availableOf(world, payer)).toBe(100_00n);
    await desk.expectSoundBooks();
  });

  test('is booked once by twenty commands at once', async () => {
    const payer = await openPayer(world, 100_00n);
    const { attempt } = await desk.paidLate(payer);
    const targets = ['merchant', 'upstream', 'gateway'] as const;
    const said: PromiseSettledResult<unknown>[] = [];
    const moved = await desk.movedBy(payer, async () => {
      const all = Array.from({ length: 20 }, (_, at) => desk.book(attempt, targets[at % 3] ?? 'gateway'));
      said.push(...(await Promise.allSettled(all)));
    });
    expect(said.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const one of said) if (one.status === 'rejected') expect(String(one.reason)).toContain('booked already');
    expect(moved.suspense).toBe(10_00n);
    await desk.expectSoundBooks();
  });

  test('is not charged to the merchant if its balance is too low, or if the line was paid in time', async () => {
    const payer = await openPayer(world, 100_00n);
    const { attempt } = await desk.paidLate(payer);
    const settled = { merchantId: payer.merchant.id, currency: 'usd', amountMinor: 95_00n } as const;
    await settleBalance(world.gateway.deps, { ...settled, reference: 'bank-1', by: 'amina', why: null });
    await expect(desk.book(attempt, 'merchant')).rejects.toThrow('has 5.00 usd available, and this costs 10.10 usd');
    await expect(desk.book(attempt, 'payer')).rejects.toThrow(
      'belongs to a payout: use --to merchant, upstream or gateway',
    );
    await desk.book(attempt, 'upstream');
    const twice = await openPayer(world, 100_00n);
    const { line, one, two } = await desk.attemptedTwice(twice);
    await desk.hearOf(two, 'SUCCESSFUL');
    expect((await lineNow(world, line)).status).toBe('completed');
    await desk.hearOf(one, 'SUCCESSFUL');
    expect(await desk.listed()).toContain(one.id);
    await expect(desk.book(one, 'merchant')).rejects.toThrow('is completed, so it was paid without this money');
    await desk.book(one, 'gateway');
    expect(await availableOf(world, twice)).toBe(89_90n);
    await desk.expectSoundBooks();
  });

  test('stays out of the archive until it is booked', async () => {
    const payer = await openPayer(world, 100_00n);
    const { line, attempt } = await desk.paidLate(payer);
    const [free] = await commitBatch(world, payer, [{ msisdn: numberEnding('42'), fee: '0' }]);
    const freely = await desk.lastAttempt(free.id, 'waiting');
    for (const said of ['FAILED', 'SUCCESSFUL'] as const) await desk.hearOf(freely, said);
    for (const one of [line, free]) await payoutHooks(world, one);
    const place = async (): Promise<string> => {
      const [row] = await rowsOf<{ places: string }>(
        world,
        `select (select count(*) from payout_line where id = $1) || '/' || (select count(*) from attempt where id = $2)
          || '/' || (select count(*) from archive.payout_line where id = $1) as places`,
        [line.id, attempt.id],
      );
      return row?.places ?? '';
    };
    await growOld(world);
    await archive(world);
    expect(await place()).toBe('1/1/0');
    await desk.book(freely, 'merchant');
    await world.clock.advance(1);
    await desk.book(attempt, 'merchant');
    await archive(world);
    expect(await place()).toBe('0/0/1');
    const from = new Date(world.gateway.deps.clock.now() - DAY).toISOString();
    // Page by page, so that no line gets its reference only because another one of its page was looked for in the archive.
    const pageAfter = async (cursor?: string): Promise<Answer['json'][]> => {
      const query = new URLSearchParams({ currency: 'usd', from, limit: '1', ...(cursor ? { cursor } : {}) });
      const { json, text } = await world.call('GET', `/internal/statement?${query}`, { bearer: bearerOf(payer) });
      expect(json.success, text).toBe(true);
      return [...json.lines, ...(json.next_cursor === null ? [] : await pageAfter(json.next_cursor))];
    };
    expect(await pageAfter()).toMatchObject([
      { cause: 'late_payout', amount: '-10.00', transaction_id: free.id, customer_reference: 'salaries' },
      { cause: 'late_payout', amount: '-10.00', transaction_id: line.id, customer_reference: 'salaries' },
      { cause: 'late_payout_fee', amount: '-0.10', transaction_id: line.id, customer_reference: 'salaries' },
    ]);
    await desk.expectSoundBooks();
  });
});

describe('a payout line that failed, and was paid twice after that', () => {
  /** A line whose second attempt was refused, and of which both attempts have paid since. The line remembers the first. */
  async function paidTwice(payer: MerchantCreated) {
    const { line, one, two } = await desk.attemptedTwice(payer);
    await desk.hearOf(two, 'FAILED');
    await desk.hearOf(one, 'SUCCESSFUL');
    await desk.hearOf(two, 'SUCCESSFUL');
    expect(await lineNow(world, line)).toMatchObject({ status: 'failed', late_attempt_id: one.id });
    return { line, one, two };
  }

  test.each([0, 1])('is charged to its merchant once, whichever is booked first (%i)', async (at) => {
    const payer = await openPayer(world, 100_00n);
    const { line, one, two } = await paidTwice(payer);
    const [first, last] = at === 0 ? [one, two] : [two, one];
    await desk.book(first, 'merchant');
    await expect(desk.book(last, 'merchant')).rejects.toThrow(`was paid by ${first.id}`);
    await desk.book(last, 'upstream');
    expectRefusal(await desk.retry(payer, line.batch_id), 409, '1205', 'TAKEN_AFTER_ALL');
    expect(await availableOf(world, payer)).toBe(89_90n);
    await desk.expectSoundBooks();
  });

  test.each(['merchant', 'gateway'] as const)(
    'and given back once, and borne once by the %s, is not paid again',
    async (to) => {
      const payer = await openPayer(world, 100_00n);
      const { line, one, two } = await paidTwice(payer);
      await desk.book(one, 'upstream');
      expect((await lineNow(world, line)).late_attempt_id).toBe(two.id);
      expectRefusal(await desk.retry(payer, line.batch_id), 409, '1205', 'TAKEN_AFTER_ALL');
      await desk.book(two, to);
      expectRefusal(await desk.retry(payer, line.batch_id), 409, '1205', 'TAKEN_AFTER_ALL');
      await desk.expectSoundBooks();
    },
  );

  test('and given back twice, can be paid again', async () => {
    const payer = await openPayer(world, 100_00n);
    const { line, one, two } = await paidTwice(payer);
    for (const attempt of [two, one]) await desk.book(attempt, 'upstream');
    await desk.lastAttempt((await desk.retried(payer, line)).id, 'waiting');
    await desk.expectSoundBooks();
  });

  /** A line whose first two attempts were turned away, and whose third was refused. */
  async function refusedThird(payer: MerchantCreated) {
    desk.carrier.answer(TURNED_AWAY, TURNED_AWAY);
    const [line] = await commitBatch(world, payer, [{ msisdn: numberEnding('42') }]);
    const one = await desk.lastAttempt(line.id, 'not_sent');
    await desk.passMinutes(1);
    const two = await until(async () => {
      await world.pass(5_000);
      const found = (await desk.attemptsOf(line.id))[1];
      return found?.status === 'not_sent' ? found : undefined;
    });
    await desk.passMinutes(2);
    await desk.hearOf(await desk.lastAttempt(line.id, 'waiting'), 'FAILED');
    return { line, one, two };
  }

  test('or may still be, by two of its attempts, is not paid again before both have ended', async () => {
    const payer = await openPayer(world, 100_00n);
    const { line, one, two } = await refusedThird(payer);
    for (const attempt of [one, two]) await desk.hearOf(attempt, 'PENDING');
    await desk.hearOf(one, 'FAILED');
    expect(await lineNow(world, line)).toMatchObject({ status: 'failed', late_attempt_id: two.id });
    expectRefusal(await desk.retry(payer, line.batch_id), 409, '1205', 'TAKEN_AFTER_ALL');
    await desk.hearOf(two, 'FAILED');
    await desk.lastAttempt((await desk.retried(payer, line)).id, 'waiting');
  });

  test('or may still be, though one attempt’s money was given back, is not paid again before the other has ended', async () => {
    const payer = await openPayer(world, 100_00n);
    const { line, one, two } = await refusedThird(payer);
    await desk.hearOf(one, 'SUCCESSFUL');
    await desk.hearOf(two, 'PENDING');
    await desk.book(one, 'upstream');
    expectRefusal(await desk.retry(payer, line.batch_id), 409, '1205', 'TAKEN_AFTER_ALL');
    await desk.hearOf(two, 'FAILED');
    await desk.lastAttempt((await desk.retried(payer, line)).id, 'waiting');
    await desk.expectSoundBooks();
  });

  test('and borne once, by the merchant or the gateway: the archive leaves that attempt beside it until both are booked', async () => {
    const payer = await openPayer(world, 100_00n);
    const scenes = [];
    for (const to of ['merchant', 'gateway'] as const) {
      const { line, one, two } = await refusedThird(payer);
      await payoutHooks(world, line);
      for (const attempt of [two, one]) await desk.hearOf(attempt, 'SUCCESSFUL');
      await desk.book(one, to);
      scenes.push({ line, one, two });
    }
    const left = async (id: string): Promise<string[]> => (await desk.attemptsOf(id)).map((attempt) => attempt.id);
    await growOld(world);
    await archive(world);
    for (const { line, one } of scenes) expect(await left(line.id)).toContain(one.id);
    for (const { two } of scenes) await desk.book(two, 'upstream');
    // What is left of an order's attempts follows it in the next run.
    for (let runs = 0; runs < 2; runs += 1) await archive(world);
    for (const { line } of scenes) expect(await left(line.id)).toEqual([]);
    await desk.expectSoundBooks();
  });

  test('and completed while it is booked, is not charged to its merchant', async () => {
    const payer = await openPayer(world, 100_00n);
    const { one, two } = await desk.attemptedTwice(payer);
    await desk.hearOf(one, 'SUCCESSFUL');
    const { deps } = world.gateway;
    const payoutLineFamily: typeof deps.store.payoutLineFamily = async (key) => {
      const family = await deps.store.payoutLineFamily(key);
      await desk.hearOf(two, 'SUCCESSFUL');
      return family;
    };
    const verdict = { to: 'merchant', by: 'amina', why: 'they wrote' } as const;
    const booked = bookLateMoney({ ...deps, store: { ...deps.store, payoutLineFamily } }, one.id, verdict);
    await expect(booked).rejects.toThrow('is completed, so it was paid without this money');
    expect(await availableOf(world, payer)).toBe(89_90n);
  });

  test('and by the line that was sent in its place, is charged to its merchant once, even if both are booked at once', async () => {
    const payer = await openPayer(world, 100_00n);
    const { line, attempt } = await desk.failed(payer);
    const second = await desk.lastAttempt((await desk.retried(payer, line)).id, 'waiting');
    await desk.hearOf(second, 'FAILED');
    for (const one of [attempt, second]) await desk.hearOf(one, 'SUCCESSFUL');
    const { deps } = world.gateway;
    let isFirst = true;
    // Another operator books the second line's money between the read and the write.
    const commit: typeof deps.store.commit = async (change) => {
      if (isFirst) await desk.book(second, 'merchant');
      isFirst = false;
      return deps.store.commit(change);
    };
    const verdict = { to: 'merchant', by: 'amina', why: 'they wrote' } as const;
    const booked = bookLateMoney({ ...deps, store: { ...deps.store, commit } }, attempt.id, verdict);
    await expect(booked).rejects.toThrow(`was paid by ${second.id}`);
    // The fee of a line that is sent in another's place is set anew: this merchant has none.
    expect(await availableOf(world, payer)).toBe(90_00n);
    await desk.book(attempt, 'upstream');
    await desk.expectSoundBooks();
  });

  test('remembers the other attempt’s money that comes while the first is booked', async () => {
    const payer = await openPayer(world, 100_00n);
    const { line, one, two } = await desk.attemptedTwice(payer);
    await desk.hearOf(two, 'FAILED');
    await desk.hearOf(one, 'SUCCESSFUL');
    const { deps } = world.gateway;
    let isFirst = true;
    // The other attempt's money comes between the read and the write.
    const commit: typeof deps.store.commit = async (change) => {
      if (isFirst) await desk.hearOf(two, 'SUCCESSFUL');
      isFirst = false;
      return deps.store.commit(change);
    };
    const verdict = { to: 'upstream', reference: 'BACK-7', by: 'amina', why: 'they wrote' } as const;
    await bookLateMoney({ ...deps, store: { ...deps.store, commit } }, one.id, verdict);
    const named = 'select id from transfer_reference where payment_id = $1';
    expect(await rowsOf(world, named, [line.id])).toEqual([{ id: 'payment:transit:mtn-momo-disbursement:usd:BACK7' }]);
    expect((await lineNow(world, line)).late_attempt_id).toBe(two.id);
  });
});
