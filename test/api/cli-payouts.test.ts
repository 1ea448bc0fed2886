/**
 * `mbongo payout` and `mbongo merchant payouts`, as a shell sees them.
 */
import { afterAll, describe, expect, test } from 'vitest';
import type { PayoutBatch } from '../../src/domain/outgoing-records.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { openCommandWorld } from '../support/command-world.ts';
import { numberEnding } from '../support/flows.ts';
import { type BatchWish, countsNow, fund, makeBatch } from '../support/payout-batches.ts';
import { untilLater } from '../support/waiting.ts';

const DAY = 86_400_000;

// The command line uses the machine's clock.
const { world, cli, close } = await openCommandWorld({ start: Date.now() });
afterAll(close);

const date = (days: number): string => new Date(world.clock.now() + days * DAY).toISOString().slice(0, 10);
const weekly = (days = 3): BatchWish['schedule'] => ({
  sending_type: 'recurring',
  start: date(days),
  frequency: 'weekly',
  occurrences: 4,
});

/** A merchant whose batches from 15.00 on wait for approval, or from another amount. */
async function careful(from = '15.00'): Promise<MerchantCreated> {
  const merchant = await world.merchant();
  await fund(world, merchant, 100_00n);
  await cli.json(`merchant payouts --merchant ${merchant.merchant.id} --approval-from ${from} --currency usd`);
  return merchant;
}

async function refused(words: string, exit = 1): Promise<string> {
  const { status, out, err } = await cli.run(words);
  expect([status, out]).toEqual([exit, '']);
  return err;
}

/** Expects a command that changes a batch to print its document, and to log the operator and the reason. */
async function done(words: string, event: string): Promise<unknown> {
  const { status, out, err } = await cli.run([...words.split(' '), '--by', ' amina\n', '--json']);
  expect([status, err.trim().split('\n').length], err).toEqual([0, 1]);
  expect(JSON.parse(err)).toMatchObject({ event, by: expect.stringMatching(/^amina, as /), why: null });
  return JSON.parse(out) as unknown;
}

async function untilPaid(batch: PayoutBatch, lines: number): Promise<void> {
  await untilLater(world, async () => ((await countsNow(world, batch))[0]?.completed === lines ? true : undefined));
}

describe('mbongo merchant payouts', () => {
  test('sets hour, zone and approval, shows them as people write them, and resets them', async () => {
    const { merchant } = await world.merchant();
    const set = `merchant payouts --merchant ${merchant.id}`;
    const words = `${set} --hour 22 --time-zone Africa/Kinshasa --approval-from 500 --currency usd`;
    expect((await cli.json(words)).settings).toEqual({
      payout_hour: 22,
      payout_time_zone: 'Africa/Kinshasa',
      payout_approval_from: { usd: '500.00' },
    });
    await cli.json(`${set} --approval-from 900000 --currency cdf`);
    const { merchants } = await cli.json('merchant list');
    expect(merchants).toContainEqual(
      expect.objectContaining({
        merchant_id: merchant.id,
        settings: expect.objectContaining({ payout_approval_from: { usd: '500.00', cdf: '900000.00' } }),
      }),
    );
    const back = `${set} --hour default --time-zone default --approval-from default --currency usd`;
    expect((await cli.json(back)).settings).toEqual({ payout_approval_from: { cdf: '900000.00' } });
  });

  test.each([
    ['--hour 24', 'the hour must be a whole number from 0 to 23'],
    ['--hour 6.5', 'the hour must be a whole number from 0 to 23'],
    ['--time-zone Africa/Nowhere', '"Africa/Nowhere" is not a time zone: write it like Africa/Kinshasa, or UTC'],
    ['--time-zone +01:00', '"+01:00" is not a time zone'],
    ['--approval-from 500', '--approval-from and --currency belong together'],
    ['--currency usd', '--approval-from and --currency belong together'],
    ['--approval-from 0 --currency usd', '"0" is not a valid amount in usd'],
    ['--approval-from 5.001 --currency usd', '"5.001" is not a valid amount in usd'],
    ['--approval-from 5 --currency xyz', '"xyz" is not a currency'],
    ['', 'nothing to set'],
  ])('refuses %j', async (words, message) => {
    const { merchant } = await world.merchant();
    expect(await refused(`merchant payouts --merchant ${merchant.id} ${words}`.trim(), 2)).toContain(message);
  });
});

describe('mbongo payout', () => {
  test('list and show: what waits for whom, without any whole phone number', async () => {
    const merchant = await careful();
    const msisdns = [numberEnding('11'), numberEnding('12')];
    const waiting = await makeBatch(world, merchant, { msisdns });
    await world.clock.advance(1);
    const scheduled = await makeBatch(world, merchant, { msisdns: msisdns.slice(1), schedule: weekly() });
    const of = `payout list --merchant ${merchant.merchant.id}`;
    const { payouts } = await cli.json(of);
    expect(payouts).toMatchObject([
      {
        batch_id: waiting.id,
        state: 'waiting_for_approval',
        status: 'pending',
        sending_type: 'immediate',
        beneficiary_count: 2,
        total_amount: '20.00',
        total_fee: '0.00',
        pending_count: 2,
        next_run_at: null,
      },
      { batch_id: scheduled.id, state: 'scheduled', occurrences: 4, occurrences_run: 0, approval: 'none' },
    ]);
    expect(await cli.json(`${of} --status waiting-for-approval`)).toMatchObject({
      payouts: [{ batch_id: waiting.id }],
    });
    // One spelling, wherever it is shown.
    for (const words of [of, `payout show ${waiting.id}`]) {
      const { out } = await cli.run(words);
      expect([words, out]).toEqual([words, expect.stringContaining('waiting_for_approval')]);
      expect(out).not.toContain('waiting-for-approval');
    }
    expect((await cli.run('payout list --help')).out).toContain('waiting_for_approval');
    expect(await cli.json(`${of} --status scheduled`)).toMatchObject({ payouts: [{ batch_id: scheduled.id }] });
    for (const status of ['paused', 'started', 'rejected', 'cancelled']) {
      expect(await cli.json(`${of} --status ${status}`)).toEqual({ payouts: [], next: null });
    }
    expect(await cli.json(`${of} --limit 1`)).toMatchObject({ payouts: [{ batch_id: waiting.id }], next: waiting.id });
    expect((await cli.run(`${of} --limit 1`)).out).toContain(`list them with --after ${waiting.id}`);
    expect(await cli.json(`${of} --after ${waiting.id} --limit 2`)).toMatchObject({
      payouts: [{ batch_id: scheduled.id }],
      next: null,
    });
    expect(await cli.json(`payout show ${scheduled.id}`)).toMatchObject({
      batch_id: scheduled.id,
      frequency: 'weekly',
      run_hour: 6,
      time_zone: 'UTC',
      dates: scheduled.dates,
      runs: [
        { occurrence: 1, scheduled_date: scheduled.dates?.[0], pending: 1, processing: 0, completed: 0, failed: 0 },
      ],
      beneficiaries: [{ receiver: expect.stringMatching(/^\+243 81 ••• •• 12$/), amount: '10.00', fee_amount: '0.00' }],
    });
    expect(await cli.json(`${of} --status waiting_for_approval`)).toMatchObject({
      payouts: [{ batch_id: waiting.id }],
    });
    const line = { transaction_id: expect.stringMatching(/^txn_/), status: 'pending', attempt_id: null, reason: null };
    expect(await cli.json(`payout show ${waiting.id}`)).toMatchObject({ occurrence: 1, lines: [line, line] });
    expect((await cli.run(`payout show ${scheduled.id} --occurrence 2`)).out).toContain('receiver');
    expect(await refused(`payout show ${scheduled.id} --occurrence 5`, 2)).toContain('a whole number from 1 to 4');
    const { lines } = (await cli.json(`payout show ${waiting.id}`)) as { lines: { transaction_id: string }[] };
    const lineId = String(lines[0]?.transaction_id);
    expect(await refused(`delivery release ${lineId}`)).toContain(`${lineId} is a line of a payout: name a payment`);
    for (const words of [of, `payout show ${scheduled.id}`, `payout show ${waiting.id}`]) {
      const { status, out } = await cli.run(words);
      expect(status).toBe(0);
      for (const msisdn of msisdns) expect(out).not.toContain(msisdn.slice(4));
    }
  });

  test('approve asks for confirmation first, then pays', async () => {
    const merchant = await careful();
    const batch = await makeBatch(world, merchant, { msisdns: [numberEnding('11'), numberEnding('11')] });
    expect(await refused(`payout approve ${batch.id}`)).toBe(
      `mbongo: ${batch.id} of ${merchant.merchant.id} pays 20.00 usd and 0.00 in fees to 2 people: add --yes to approve it\n`,
    );
    expect(await done(`payout approve ${batch.id} --yes`, 'payout_approved')).toMatchObject({
      state: 'started',
      approval: 'approved',
      pending_count: 2,
    });
    expect(await refused(`payout approve ${batch.id} --yes`)).toContain('has already been approved');
    await untilPaid(batch, 2);
    expect(await refused(`payout cancel ${batch.id}`)).toContain('there is nothing to cancel');
  });

  test('approve says which dates it will pay at once, because they passed while the batch waited', async () => {
    const batch = await makeBatch(world, await careful('5.00'), {
      msisdns: [numberEnding('11')],
      schedule: weekly(-10),
    });
    expect(await refused(`payout approve ${batch.id}`)).toContain(
      '; 2 dates passed while it waited, and will be paid at once: add --yes to approve it\n',
    );
  });

  test('approve says that a suspended merchant’s batch is held; one person is not “1 people”', async () => {
    const merchant = await careful('5.00');
    const id = merchant.merchant.id;
    const batch = await makeBatch(world, merchant, { msisdns: [numberEnding('11')] });
    await cli.json(`merchant suspend --merchant ${id}`);
    expect(await refused(`payout approve ${batch.id}`)).toContain(' in fees to 1 person: add --yes');
    const { status, out } = await cli.run(`payout approve ${batch.id} --yes`);
    expect([status, out.split('\n')[1]]).toEqual([
      0,
      `held: ${id} is suspended, and nothing is paid until mbongo merchant allow --merchant ${id}`,
    ]);
  });

  test('reject, pause, resume and cancel report the batch’s new state', async () => {
    const merchant = await careful();
    const batch = await makeBatch(world, merchant, { msisdns: [numberEnding('11'), numberEnding('11')] });
    expect(await refused(`payout reject ${batch.id}`)).toContain('add --yes to reject it, for good');
    expect(await refused(`payout resume ${batch.id}`)).toContain('cannot be resumed: it is waiting for approval');
    expect(await done(`payout reject ${batch.id} --yes`, 'payout_rejected')).toMatchObject({
      state: 'rejected',
      status: 'failed',
      failed_count: 2,
    });
    expect(await refused(`payout pause ${batch.id}`)).toContain('cannot be paused: it has been rejected');
    expect(await refused(`payout cancel ${batch.id}`)).toContain('has been rejected: nothing of it is paid');
    const dated = await makeBatch(world, merchant, { msisdns: [numberEnding('11')], schedule: weekly() });
    for (const words of ['pause', 'cancel --yes']) {
      const [verb = '', ...yes] = words.split(' ');
      // The first would reverse the text for a reader of the log.
      for (const [by, ...confirmed] of [['a\u202eb', ...yes], [' ', ...yes], [' ']]) {
        const { status, err } = await cli.run(['payout', verb, dated.id, ...confirmed, '--by', by ?? '']);
        expect([status, err]).toEqual([
          2,
          'mbongo: --by must be one line of 1 to 500 characters in UTF-8, without invisible characters\n',
        ]);
      }
    }
    expect(await done(`payout pause ${dated.id}`, 'payout_paused')).toMatchObject({
      state: 'paused',
      next_run_at: null,
    });
    expect(await refused(`payout pause ${dated.id}`)).toContain('it is paused already');
    expect(await done(`payout resume ${dated.id}`, 'payout_resumed')).toMatchObject({
      state: 'scheduled',
      next_run_at: `${dated.dates?.[0]}T06:00:00.000Z`,
      left_out: 0,
    });
    expect(await refused(`payout resume ${dated.id}`)).toContain('it is not paused');
    expect(await refused(`payout cancel ${dated.id}`)).toContain('4 times: add --yes to cancel');
    const { out, err } = await cli.run(`payout cancel ${dated.id} --yes`);
    expect(out).toBe(`${dated.id}  cancelled; lines: 0 pending, 0 processing, 0 completed, 1 failed\n`);
    // Nobody has said that a carrier took nothing.
    expect(err.match(/"event":"\w+"/g)).toEqual(['"event":"payout_cancelled"']);
    expect(await refused(`payout cancel ${dated.id}`)).toContain('has already been cancelled');
    expect(await done(`payout cancel ${dated.id} --not-taken --yes`, 'payout_not_taken')).toMatchObject({
      state: 'cancelled',
    });
  });

  test.each([
    ['payout show batch_1', 2, 'the batch id is not valid'],
    ['payout show batch_00000000000000000000000000', 1, 'there is no batch'],
    ['payout list --status open', 2, '"open" is not a status of a batch: use one of waiting_for_approval'],
    ['payout list --limit 0', 2, 'the limit must be a whole number from 1 to 1000'],
    ['payout list --merchant mch_1', 2, 'the merchant id is not valid'],
  ])('refuses %j', async (words, exit, message) => {
    expect(await refused(words, exit)).toContain(message);
  });
});
