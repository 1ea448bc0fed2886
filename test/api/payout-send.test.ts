/** Payouts from the call to the webhooks: lines, fees, the balance, and the carrier's own book (contract §5). */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { creditBalance } from '../../src/usecases/balance-credit.ts';
import { setFee } from '../../src/usecases/fee-set.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { setMerchant } from '../../src/usecases/merchant-set.ts';
import { approvePayout } from '../../src/usecases/payout-approve.ts';
import { expectRefusal } from '../support/envelope.ts';
import { bearerOf, hooksAbout } from '../support/flows.ts';
import {
  balances,
  createPayout,
  faultsOf,
  hookOf,
  lines,
  payee,
  payoutBody,
  readBatch,
  sendPayout,
  settled,
} from '../support/payout-flows.ts';
import { openPayer } from '../support/payout-lines.ts';
import { expectNothingWritten } from '../support/rows.ts';
import { mint, NOON, openWorld, type World } from '../support/world.ts';

let world: World;
let payer: MerchantCreated;

beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
  payer = await openPayer(world);
});
afterAll(() => world.close());

/** A merchant with fees on payouts: 1 % and 0.05 by mobile money, 0.20 to wallets. */
async function openFeePayer(balance?: bigint): Promise<MerchantCreated> {
  const merchant = await openPayer(world, balance);
  const place = { merchantId: merchant.merchant.id, currency: 'usd', min: undefined, max: undefined } as const;
  await setFee(world.gateway.deps, { ...place, method: undefined, rate: '50', fixed: 0n });
  await setFee(world.gateway.deps, { ...place, method: 'payout_mobile_money', rate: '1', fixed: 5n });
  await setFee(world.gateway.deps, { ...place, method: 'payout_wallet', rate: '0', fixed: 20n });
  return merchant;
}

describe('an immediate payout', () => {
  test('answers with the batch and its lines, which add up', async () => {
    const merchant = await openFeePayer();
    const sent = await sendPayout(world, merchant, {
      beneficiaries: [
        { phone_number: '00243 81 000 12 50', amount: '10.00' },
        { phone_number: payee(2), amount: '2.5' },
      ],
      note: 'October',
      merchant: { id: 'of an older client' },
    });
    expect(sent.status, sent.text).toBe(200);
    const { json } = sent;
    expect(json).toMatchObject({
      success: true,
      customer_reference: 'salaries-11',
      currency: 'usd',
      receipt_mode: 'mobile_money',
      sending_type: 'immediate',
      total_amount: '12.50',
      total_fee: '0.23',
      successful_count: 0,
      failed_count: 0,
      pending_count: 2,
      status: 'pending',
      occurrences: 1,
      next_run_at: null,
      approval: 'none',
      retry_of: null,
      completed_at: null,
      summary_code: 'lok000',
    });
    expect(json.batch_id).toMatch(/^batch_/);
    expect(json.created_at).toMatch(/^2026-.*Z$/);
    expect(json.message).toMatch(/accepted/);
    expect(json.beneficiaries).toEqual([
      {
        phone_number: '+243810001250',
        amount: '10.00',
        currency: 'usd',
        status: 'pending',
        transaction_id: expect.stringMatching(/^txn_/),
        message: 'The payout has been accepted and will be sent shortly.',
        fee_amount: '0.15',
      },
      expect.objectContaining({ amount: '2.5', fee_amount: '0.08' }),
    ]);
  });

  test('is paid, sends two webhooks per line, and costs amounts and fees', async () => {
    const merchant = await openFeePayer();
    const before = await balances(world, merchant);
    const { json } = await sendPayout(world, merchant, { beneficiaries: lines(3, '5.00') });
    const batch = await settled(world, merchant, json.batch_id);
    expect(batch).toMatchObject({ status: 'completed', successful_count: 3, failed_count: 0, pending_count: 0 });
    expect(batch.completed_at).toMatch(/Z$/);
    for (const { transaction_id: id } of json.beneficiaries) {
      await hookOf(world, id, 'completed');
      const hooks = hooksAbout(world, id);
      expect(hooks.map(({ body }) => body.status)).toEqual(['pending', 'completed']);
      expect(hooks.map(({ headers }) => headers['webhook-sequence'])).toEqual(['1', '2']);
      expect(hooks[0]?.body).toMatchObject({ batch_id: json.batch_id, occurrence: 1, scheduled_date: null });
    }
    const after = await balances(world, merchant);
    expect(after).toEqual({ available: before.available - 15_00n - 30n, reserved: 0n });
    expect((await world.gateway.store.auditAll()).findings).toEqual([]);
  });

  test('goes to wallets, with the fee for wallets; an unknown one fails alone', async () => {
    const merchant = await openFeePayer();
    const wallet = await world.wallet({ balance: 0n });
    const { json, text, status } = await sendPayout(world, merchant, {
      receipt_mode: 'wallet',
      beneficiaries: [
        { wallet_number: wallet.number.replaceAll(/(.{4})(?=.)/g, '$1 '), amount: '7.00' },
        { wallet_number: '5707000000000000', amount: '1.00' },
      ],
    });
    expect(status, text).toBe(200);
    expect(json).toMatchObject({ total_fee: '0.40' });
    expect(json.beneficiaries[0]).toMatchObject({ wallet_number: wallet.number });
    expect(json.beneficiaries[0]).not.toHaveProperty('phone_number');
    const batch = await settled(world, merchant, json.batch_id);
    expect(batch).toMatchObject({ status: 'partial_success', successful_count: 1, failed_count: 1 });
    expect(await balances(world, merchant)).toEqual({ available: 10_000_00n - 7_20n, reserved: 0n });
  });

  test('may be sent again on the same session, under the same reference, as another batch', async () => {
    const first = await sendPayout(world, payer);
    const again = await sendPayout(world, payer);
    expect(again.json.customer_reference).toBe(first.json.customer_reference);
    expect(again.json.batch_id).not.toBe(first.json.batch_id);
  });

  test('that the balance does not cover with its fees is 1201, and nothing is made', async () => {
    const merchant = await openFeePayer(10_00n);
    await expectNothingWritten(world, async () => {
      const sent = await createPayout(world, merchant, { beneficiaries: lines(1, '10.00') });
      expectRefusal(sent, 402, '1201', 'PAYOUT_FUNDS');
      expect(sent.json.details[0].message).toContain('10.15');
      expect(sent.json.summary_code).toBe('lok005');
    });
    const exactly = await createPayout(world, merchant, { beneficiaries: lines(1, '9.85') });
    expect(exactly.json.total_fee).toBe('0.15');
    expect(await balances(world, merchant)).toMatchObject({ available: 0n });
  });

  test('accepts exactly a million in total, and a hundred beneficiaries', async () => {
    const merchant = await openPayer(world, 1_000_000_00n);
    const sent = await createPayout(world, merchant, { beneficiaries: lines(100, '10000') });
    expect(sent.status, sent.text).toBe(200);
    expect(sent.json).toMatchObject({ total_amount: '1000000.00', pending_count: 100 });
    await settled(world, merchant, sent.json.batch_id);
    expect(await balances(world, merchant)).toEqual({ available: 0n, reserved: 0n });
  });

  test('may cost more with its fees than an integer of the database holds', async () => {
    const most = 10n ** 17n - 1n;
    const merchant = await openPayer(world, most);
    const { id: merchantId } = merchant.merchant;
    const place = { merchantId, currency: 'usd', min: undefined, max: undefined } as const;
    await setFee(world.gateway.deps, { ...place, method: 'payout_mobile_money', rate: '0', fixed: most });
    for (let n = 0; n < 100; n += 1) await creditBalance(world.gateway.deps, merchantId, 'usd', most);
    const sent = await createPayout(world, merchant, { beneficiaries: lines(100) });
    expect([sent.status, sent.json.total_fee], sent.text).toEqual([200, '99999999999999999.00']);
    await settled(world, merchant, sent.json.batch_id);
    expect((await world.gateway.store.auditAll()).findings).toEqual([]);
  });
});

test('a wallet is one wallet however its number is grouped', async () => {
  const { number } = await world.wallet({ balance: 0n });
  const grouped = number.replace(/(....)(?=.)/g, '$1\u00a0');
  const to = (...numbers: string[]) => ({
    receipt_mode: 'wallet',
    beneficiaries: numbers.map((wallet_number) => ({ wallet_number, amount: '2.00' })),
  });
  expectRefusal(await sendPayout(world, payer, to(number, grouped)), 400, '1110', 'DUPLICATE_BENEFICIARY');
  const sent = await createPayout(world, payer, to(grouped));
  const lines = await settled(world, payer, sent.json.batch_id);
  expect(lines.beneficiaries).toMatchObject([{ status: 'completed' }]);
});

describe('a dated payout', () => {
  test('is accepted, reserves nothing, and says when it runs', async () => {
    const merchant = await openFeePayer(1n);
    const sent = await sendPayout(world, merchant, {
      sending_type: 'scheduled',
      scheduled_dates: ['2027-02-28', '2026-12-24'],
      beneficiaries: lines(2),
    });
    expect(sent.status, sent.text).toBe(200);
    expect(sent.json).toMatchObject({
      sending_type: 'scheduled',
      occurrences: 2,
      next_run_at: '2026-12-24T06:00:00.000Z',
      status: 'pending',
      pending_count: 2,
    });
    expect(sent.json.message).toContain('2026-12-24');
    expect(await balances(world, merchant)).toEqual({ available: 1n, reserved: 0n });
    const [{ transaction_id: id }] = sent.json.beneficiaries;
    expect((await hookOf(world, id, 'pending')).body).toMatchObject({ occurrence: 1, scheduled_date: '2026-12-24' });
  });

  test('runs monthly from the month’s end, at the merchant’s hour and zone', async () => {
    const merchant = await openPayer(world);
    await setMerchant(world.gateway.deps, merchant.merchant.id, {
      payout_hour: 9,
      payout_time_zone: 'Africa/Kinshasa',
    });
    const sent = await createPayout(world, merchant, {
      sending_type: 'recurring',
      recurring_frequency: 'monthly',
      recurring_start_date: '2027-01-31',
      recurring_occurrences: 3,
    });
    expect(sent.json).toMatchObject({ occurrences: 3, next_run_at: '2027-01-31T08:00:00.000Z' });
    const { json } = await readBatch(world, merchant, sent.json.batch_id);
    expect(json).toMatchObject({ dates: ['2027-01-31', '2027-02-28', '2027-03-31'], frequency: 'monthly' });
    expect(json.runs).toEqual([
      expect.objectContaining({ occurrence: 1, scheduled_date: '2027-01-31', status: 'pending', pending_count: 1 }),
    ]);
  });

  test('ignores the fields of the other kinds, whatever their values', async () => {
    const sent = await sendPayout(world, payer, {
      sending_type: 'immediate',
      scheduled_dates: 'never',
      recurring_frequency: 7,
      recurring_start_date: null,
      recurring_occurrences: [],
    });
    expect(sent.status, sent.text).toBe(200);
    expect(sent.json.sending_type).toBe('immediate');
  });

  test('that come without a sending_type are refused: the payout would be made at once', async () => {
    const one = { scheduled_dates: ['2027-02-28'] };
    const other = { sending_type: null, recurring_frequency: 'monthly' };
    const malformed = [
      { scheduled_dates: [20270228] },
      { scheduled_dates: { first: '2027-02-28' } },
      { recurring_start_date: 1_796_083_200_000 },
      { recurring_frequency: 'WEEKLY' },
      { recurring_frequency: `${' '.repeat(200_000)}x` },
      { scheduled_dates: ['undefined'] },
      { recurring_occurrences: 12 },
    ];
    for (const dated of [one, other, ...malformed]) {
      const refused = await sendPayout(world, payer, dated);
      expectRefusal(refused, 400, '1109', 'SENDING_TYPE');
      expect(refused.json.details).toMatchObject([{ field: 'sending_type' }]);
    }
  });

  test('for today is not in the past, in the zone in which it runs', async () => {
    const merchant = await openPayer(world);
    const today = (zone: string): string => world.gateway.deps.calendar.today(zone, NOON);
    await setMerchant(world.gateway.deps, merchant.merchant.id, { payout_time_zone: 'Pacific/Kiritimati' });
    const dated = (date: string) =>
      createPayout(world, merchant, { sending_type: 'scheduled', scheduled_dates: [date] });
    expect(today('Pacific/Kiritimati')).not.toBe(today('UTC'));
    expectRefusal(await dated(today('UTC')), 400, '1110', 'DATE_PAST');
    expect((await dated(today('Pacific/Kiritimati'))).status).toBe(200);
  });
});

describe('above the merchant’s threshold', () => {
  test('a payout waits for an operator: nothing is reserved, and nothing is sent', async () => {
    const merchant = await openPayer(world, 500_00n);
    const threshold = new Map([['usd', 100_00n]] as const);
    await setMerchant(world.gateway.deps, merchant.merchant.id, { payout_approval_from: threshold });
    const below = await createPayout(world, merchant, { beneficiaries: lines(1, '99.99') });
    expect(below.json.approval).toBe('none');
    await settled(world, merchant, below.json.batch_id);
    const { available } = await balances(world, merchant);
    const reached = await createPayout(world, merchant, { beneficiaries: lines(2, '50.00') });
    expect(reached.json).toMatchObject({ approval: 'waiting', status: 'pending', next_run_at: null });
    // A line says what it waits for, in the answer and in its webhook, and not that it is about to be sent.
    const [line] = reached.json.beneficiaries;
    expect(line.message).toContain('approv');
    const told = await hookOf(world, line.transaction_id, 'pending');
    expect(JSON.parse(told.raw).message).toContain('approv');
    await world.pass(60_000);
    expect((await readBatch(world, merchant, reached.json.batch_id)).json).toMatchObject({ status: 'pending' });
    expect(await balances(world, merchant)).toEqual({ available, reserved: 0n });
    expectRefusal(await createPayout(world, merchant, { beneficiaries: lines(2, '250.00') }), 402, '1201');
  });

  test('a dated payout promises no date until an operator has approved it', async () => {
    const merchant = await openPayer(world, 500_00n);
    const threshold = new Map([['usd', 100_00n]] as const);
    await setMerchant(world.gateway.deps, merchant.merchant.id, { payout_approval_from: threshold });
    const dates = { sending_type: 'scheduled', scheduled_dates: ['2999-01-31'] };
    const { json } = await createPayout(world, merchant, { beneficiaries: lines(2, '50.00'), ...dates });
    expect(json.approval).toBe('waiting');
    const [{ transaction_id: id, message }] = json.beneficiaries;
    const { token } = await mint(world, merchant);
    const detail = async () => (await world.call('GET', `/payments/transaction/${id}`, { bearer: token })).json.message;
    const told = JSON.parse((await hookOf(world, id, 'pending')).raw).message;
    for (const said of [message, told, await detail()]) expect(said).toContain('waits for an operator');
    expect((await readBatch(world, merchant, json.batch_id)).json.beneficiaries[0].message).toBe(message);
    await approvePayout(world.gateway.deps, json.batch_id, { by: 'Ada', why: null });
    expect(await detail()).toContain('accepted for 2999-01-31');
  });
});

describe('a dry run', () => {
  test('checks and quotes, and makes nothing', async () => {
    const merchant = await openFeePayer();
    await expectNothingWritten(world, async () => {
      const checked = await createPayout(world, merchant, { dry_run: true, beneficiaries: lines(2, '100.00') });
      expect(checked.status, checked.text).toBe(200);
      expect(checked.json).toMatchObject({
        success: true,
        dry_run: true,
        sufficient_funds: true,
        total_amount: '200.00',
        total_fee: '2.10',
        dates: null,
        approval: 'none',
      });
      expect(checked.json).not.toHaveProperty('batch_id');
      expect(checked.json.beneficiaries[0]).toEqual({
        phone_number: payee(0),
        amount: '100.00',
        currency: 'usd',
        fee_amount: '1.05',
        carrier: 'Vodacom M-Pesa',
      });
    });
  });

  test('of a dated payout says on which dates it runs, and whether the balance covers one', async () => {
    const merchant = await openPayer(world, 1n);
    const checked = await createPayout(world, merchant, {
      dry_run: true,
      sending_type: 'recurring',
      recurring_frequency: 'weekly',
      recurring_start_date: '2027-01-01',
      recurring_occurrences: 2,
    });
    expect(checked.json).toMatchObject({ sufficient_funds: false, dates: ['2027-01-01', '2027-01-08'] });
  });

  test('is refused as the payout would be', async () => {
    const merchant = await openPayer(world, 1n);
    for (const more of [{}, { beneficiaries: [...lines(1), ...lines(1)] }, { currency: 'ugx' }]) {
      const [real, dry] = [
        await createPayout(world, merchant, more),
        await createPayout(world, merchant, { ...more, dry_run: true }),
      ];
      expect(real.status, real.text).toBeGreaterThanOrEqual(400);
      expect([dry.status, dry.json.error_code, faultsOf(dry)]).toEqual([
        real.status,
        real.json.error_code,
        faultsOf(real),
      ]);
    }
  });

  test('does not share its key: the payout needs another', async () => {
    const headers = { 'idempotency-key': 'dry-and-real' };
    const send = (more: object) =>
      world.call('POST', '/internal/payouts', {
        bearer: bearerOf(payer),
        body: payoutBody(world, { ...more }),
        headers,
      });
    const checked = await send({ dry_run: true });
    expect((await send({ dry_run: true })).text).toBe(checked.text);
    expectRefusal(await send({}), 409, '1203', 'IDEMPOTENCY_BODY');
  });
});
