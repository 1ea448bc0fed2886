/** One run of the archive takes all of a payout that may leave: lines retried again and again, and a cancelled batch. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { setMerchant } from '../../src/usecases/merchant-set.ts';
import { cancelPayout } from '../../src/usecases/payout-cancel.ts';
import { archive, growOld } from '../support/archive-scenes.ts';
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
