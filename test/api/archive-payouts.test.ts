/**
 * One run of the archive takes all of a payout that may leave: lines retried again and again, and a cancelled batch. What keeps a
 * payout live.
 */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Insert } from '../../src/domain/change.ts';
import type { PayoutBatch } from '../../src/domain/outgoing-records.ts';
import { LATE_WAITS } from '../../src/domain/reason.ts';
import type { Attempt } from '../../src/domain/records.ts';
import { attemptWith } from '../../src/domain/testing/attempts.ts';
import { line } from '../../src/domain/testing/payout-world.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { setMerchant } from '../../src/usecases/merchant-set.ts';
import { cancelPayout } from '../../src/usecases/payout-cancel.ts';
import { id, write } from '../support/archive-past.ts';
import { archive, DAY, growOld } from '../support/archive-scenes.ts';
import { bearerOf, numberEnding } from '../support/flows.ts';
import { createPayout, lines, settled } from '../support/payout-flows.ts';
import { openPayer } from '../support/payout-lines.ts';
import { rowsOf } from '../support/rows.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
let merchant: MerchantCreated;

beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
  merchant = await openPayer(world);
});
afterAll(() => world.close());

const pay = (ending: string) =>
  createPayout(world, merchant, { beneficiaries: [{ phone_number: numberEnding(ending), amount: '1.00' }] });

/** What is still in the live tables. */
const left = async () => {
  const of = (table: string): string => `(select count(*)::int from ${table})`;
  const [row] = await rowsOf(world, `select ${of('payout_line')} as lines, ${of('payout_batch')} as batches`);
  return row;
};

test('three generations of failed lines, and a batch that was cancelled while it waited for approval', async () => {
  let { json: batch } = await pay('02');
  for (let times = 0; times < 2; times += 1) {
    await settled(world, merchant, batch.batch_id);
    const path = `/internal/payouts/${batch.batch_id}/retry`;
    batch = (await world.call('POST', path, { bearer: bearerOf(merchant), body: {} })).json;
  }
  await settled(world, merchant, batch.batch_id);
  await setMerchant(world.gateway.deps, merchant.merchant.id, { payout_approval_from: new Map([['usd', 1n]]) });
  const unapproved = (await pay('01')).json;
  expect(unapproved.approval).toBe('waiting');
  await cancelPayout(world.gateway.deps, unapproved.batch_id, { by: 'clerk', why: 'wrong list' });
  // A round closes it.
  await world.pass(2_000);
  await world.gateway.courier.idle();
  await growOld(world);
  expect(await left()).toEqual({ lines: 4, batches: 4 });
  const said = await archive(world, { dry: true });
  expect(await left()).toEqual({ lines: 4, batches: 4 });
  const { rows } = await archive(world);
  expect(rows).toMatchObject({ payout_line: 4, payout_batch: 4 });
  expect(said.rows).toEqual(rows);
  expect(await left()).toEqual({ lines: 0, batches: 0 });
});

test('a dry run counts a payout once that is examined in two steps, and not the batch of one that stays', async () => {
  await setMerchant(world.gateway.deps, merchant.merchant.id, { payout_approval_from: new Map([['usd', null]]) });
  // A step examines 200 lines.
  const batches = [];
  for (let number = 0; number < 3; number += 1) {
    const { json, text } = await createPayout(world, merchant, { beneficiaries: lines(90) });
    expect(json.success, text).toBe(true);
    await settled(world, merchant, json.batch_id);
    batches.push(String(json.batch_id));
  }
  await world.gateway.courier.idle();
  await growOld(world);
  await rowsOf(
    world,
    `update webhook_event set status = 'waiting' where id = (select min(e.id) from webhook_event e
       join payout_line l on l.shard = e.shard and l.id = e.transaction_id where l.batch_id = $1)`,
    [batches[1]],
  );
  const said = await archive(world, { dry: true });
  const { rows } = await archive(world);
  expect(rows).toMatchObject({ payout_line: 180, payout_batch: 2 });
  expect(said.rows).toEqual(rows);
});

describe('of payouts that ended long ago', () => {
  /** The gateway's time, which is ahead of the clock once payouts have grown old. */
  const now = (): number => world.gateway.deps.clock.now();
  const at = (): number => now() - 500 * DAY;
  const lately = (): number => now() - 100 * DAY;
  /** What is in the live tables of these payouts, by their names. */
  let live: Map<string, string>;
  beforeEach(() => {
    live = new Map();
  });

  function paidLine(name: string, attempt: Partial<Attempt> = {}, isLate = false): Insert[] {
    const [shard, batch_id] = [line.shard, id('batch', at(), line.shard)];
    const of = { ...line, id: id('txn', at(), shard), batch_id, status: 'completed', created_at: at() } as const;
    const { merchant_id, id: payment_id } = of;
    const made = { shard, id: id('att', at(), shard), merchant_id, payment_id, created_at: at(), settled_at: at() };
    const tried = { purpose: 'payout', status: 'approved', next_inquiry_at: null } as const;
    live.set(of.id, name);
    return [
      { table: 'attempt', row: attemptWith({ ...made, ...tried, ...attempt }) },
      {
        table: 'payout_line',
        row: { ...of, late_attempt_id: isLate ? made.id : null, next_start_at: null, completed_at: at() },
      },
    ];
  }

  const stillLive = async (table: string): Promise<unknown[]> => {
    const rows = await rowsOf<{ id: string }>(world, `select id from ${table} where id = any($1)`, [[...live.keys()]]);
    return rows.map((row) => live.get(row.id)).toSorted();
  };

  test('a line stays while an attempt at it is inquired about, waits to be booked, or ended lately', async () => {
    await write(world.gateway.store, [
      ...paidLine('over'),
      ...paidLine('inquired about', { status: 'declined', next_inquiry_at: 1 }),
      ...paidLine('to be booked', { reason: LATE_WAITS }),
      ...paidLine('ended lately', { settled_at: lately() }, true),
    ]);
    await archive(world);
    expect(await stillLive('payout_line')).toEqual(['ended lately', 'inquired about', 'to be booked']);
  });

  test('a batch stays while an occurrence is to come, or was cancelled lately', async () => {
    const batch = (name: string, more: Partial<PayoutBatch>): Insert => {
      const row = { ...OVER, id: id('batch', at(), 0), created_at: at(), ...more };
      live.set(row.id, name);
      return { table: 'payout_batch', row };
    };
    await write(world.gateway.store, [
      batch('over', {}),
      batch('rejected', { next_occurrence: 1, approval: 'rejected' }),
      batch('cancelled', { next_occurrence: 1, cancelled_at: at(), closed_at: at() }),
      batch('cancelled while it waited', {
        next_occurrence: 1,
        approval: 'waiting',
        cancelled_at: at(),
        closed_at: at(),
      }),
      batch('paused', { next_occurrence: 1, paused_at: at() }),
      batch('to be run', { next_occurrence: 1, next_run_at: now() + DAY }),
      batch('to be approved', { approval: 'waiting' }),
      batch('closed lately', { next_occurrence: 1, cancelled_at: at(), closed_at: lately() }),
      batch('not closed yet', { next_occurrence: 1, cancelled_at: at(), closed_at: null }),
    ]);
    await archive(world);
    expect(await stillLive('payout_batch')).toEqual([
      'closed lately',
      'not closed yet',
      'paused',
      'to be approved',
      'to be run',
    ]);
  });
});

/** A batch of one occurrence, which has been run. */
const OVER: PayoutBatch = {
  shard: 0,
  id: '',
  version: 1,
  merchant_id: line.merchant_id,
  customer_reference: 'salaries',
  currency: 'usd',
  receipt_mode: 'mobile_money',
  sending_type: 'immediate',
  notify_url: 'https://shop.example/hook',
  note: null,
  language: 'en',
  beneficiaries: [],
  dates: null,
  frequency: null,
  run_hour: 9,
  time_zone: 'UTC',
  occurrences: 1,
  next_occurrence: 2,
  next_run_at: null,
  approval: 'none',
  paused_at: null,
  cancelled_at: null,
  closed_at: null,
  retry_of: null,
  credential_id: null,
  created_at: 0,
};
