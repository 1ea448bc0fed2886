/**
 * `/metrics` on background work: commits, upstreams, webhooks, rounds, and what is open.
 */

import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '../../src/usecases/deps.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { collect, numberEnding, payByPhone, payFromWallet, untilStatus } from '../support/flows.ts';
import { fund } from '../support/payout-batches.ts';
import { lines, sendPayout } from '../support/payout-flows.ts';
import { pushed } from '../support/phone-payments.ts';
import { openReceiver } from '../support/receiver.ts';
import { rowsOf } from '../support/rows.ts';
import { anEvent } from '../support/store-records.ts';
import { untilLater } from '../support/waiting.ts';
import { openWorld, type World } from '../support/world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** The carrier of the numbers that the tests pay from. */
const CARRIER = 'Vodacom M-Pesa';

let world: World;
let merchant: MerchantCreated;

beforeAll(async () => {
  world = await openWorld();
  merchant = await world.merchant();
});
afterAll(() => world.close());

type Numbers = (line: string) => number;

/** The present numbers: a page that is requested too soon after another would show that one's. */
async function numbers(): Promise<Numbers> {
  await world.clock.advance(6_000);
  const found = await (await fetch(`${world.url}/metrics`)).text();
  return (line) => {
    const sample = found.split('\n').find((one) => one.startsWith(`${line} `));
    return sample === undefined ? 0 : Number(sample.slice(line.length + 1));
  };
}

const ASKED_AGAIN = 'select id from attempt where payment_id = $1 and next_inquiry_at is not null';

const attempts = (purpose: string, age: string): string =>
  `mbongo_open_attempts{purpose="${purpose}",connector="${purpose === 'payout' ? 'mtn-momo-disbursement' : 'mtn-momo'}",carrier="${CARRIER}",age="${age}"}`;

test('how far its clock is from that of the database is shown', async () => {
  await world.clock.advance(HOUR);
  const shown = (await numbers())('mbongo_clock_difference_seconds');
  const off = Math.abs(world.clock.wall() - Date.now()) / 1_000;
  expect(off).toBeGreaterThan(60);
  expect(Math.abs(shown - off)).toBeLessThan(60);
});

test('a payment from a wallet is a change that won, a final transaction and an acknowledged webhook', async () => {
  const before = await numbers();
  const paying = await collect(world, merchant);
  await payFromWallet(world, paying, await world.wallet());
  await world.receiver.about(paying.transaction_id);
  await world.gateway.courier.idle();
  const after = await numbers();
  const rise = (line: string): number => after(line) - before(line);
  expect(rise('mbongo_transactions_final_total{kind="payment",status="approved"}')).toBe(1);
  expect(rise('mbongo_webhook_tries_total{outcome="acknowledged"}')).toBe(1);
  expect(rise('mbongo_webhook_events_total{status="delivered"}')).toBe(1);
  expect(rise('mbongo_webhook_acknowledge_duration_seconds_count')).toBe(1);
  expect(rise('mbongo_webhook_try_duration_seconds_count')).toBe(1);
  // The session, the payment, its end, the delivery; and whatever rounds write.
  expect(rise('mbongo_commit_changes_total{outcome="won"}')).toBeGreaterThanOrEqual(4);
  expect(rise('mbongo_commit_batch_changes_sum')).toBe(rise('mbongo_commit_changes_total{outcome="won"}'));
  expect(rise('mbongo_commit_batch_changes_count')).toBeGreaterThanOrEqual(4);
  expect(rise('mbongo_read_keys_total{use="read"}')).toBeGreaterThan(0);
  expect(after('mbongo_commit_waiting_changes')).toBe(0);
  expect(after('mbongo_read_waiting{use="read"}')).toBe(0);
  expect(after('mbongo_database_up')).toBe(1);
});

test('of two submits of one payment, the second is a conflict', async () => {
  const before = await numbers();
  const paying = await collect(world, merchant);
  const wallet = await world.wallet();
  await Promise.all([payFromWallet(world, paying, wallet), payFromWallet(world, paying, wallet)]);
  const after = await numbers();
  const rise = (line: string): number => after(line) - before(line);
  const found = ['batch', 'database'].map((where) => rise(`mbongo_commit_conflicts_total{found="${where}"}`));
  expect(found.reduce((sum, one) => sum + one, 0)).toBe(rise('mbongo_commit_changes_total{outcome="lost"}'));
  expect(rise('mbongo_transactions_final_total{kind="payment",status="approved"}')).toBe(1);
});

test('an open attempt is shown by its age, and a carrier’s call by its answer', async () => {
  const before = await numbers();
  const paying = await pushed(world, merchant, '04');
  const young = await numbers();
  expect(young(attempts('payment', 'under_1m'))).toBe(1);
  expect(young('mbongo_work_overdue_seconds{kind="inquiry"}')).toBeLessThan(10);
  const call = 'connector="mtn-momo",operation="collect"';
  expect(
    young(`mbongo_upstream_calls_total{${call},outcome="waiting"}`) -
      before(`mbongo_upstream_calls_total{${call},outcome="waiting"}`),
  ).toBe(1);
  expect(young(`mbongo_upstream_call_duration_seconds_count{${call}}`)).toBeGreaterThanOrEqual(1);
  // As if it had not been inquired about for two hours.
  await rowsOf(
    world,
    "update attempt set created_at = $1::timestamptz - interval '2 h', next_inquiry_at = $1::timestamptz + interval '1 h' where payment_id = $2 returning id",
    [new Date(world.clock.now()).toISOString(), paying.transaction_id],
  );
  const old = await numbers();
  expect(old(attempts('payment', 'under_1m'))).toBe(0);
  expect(old(attempts('payment', '1h_to_1d'))).toBe(1);
  // The customer never answers: in the end the carrier says so.
  const ages = ['1h_to_1d', 'over_1d'].map((age) => attempts('payment', age));
  const isClosed = async () => {
    const now = await numbers();
    return ages.every((line) => now(line) === 0) ? true : undefined;
  };
  expect(await untilLater(world, isClosed, HOUR)).toBe(true);
});

test('an attempt that was declined is not open, although it is still inquired about for a day', async () => {
  const paying = await pushed(world, merchant, '02');
  await untilStatus(world, paying, 'failed');
  const closed = await numbers();
  const ages = ['under_1m', '1m_to_10m', '10m_to_1h', '1h_to_1d', 'over_1d'];
  expect(ages.map((age) => closed(attempts('payment', age)))).toEqual([0, 0, 0, 0, 0]);
  expect(await rowsOf(world, ASKED_AGAIN, [paying.transaction_id])).toHaveLength(1);
});

test('a carrier that is down is counted as not sent', async () => {
  const before = await numbers();
  const paying = await collect(world, merchant, { method: 'mobile_money' });
  await payByPhone(world, paying, '+243810000106');
  const after = await numbers();
  const down = 'mbongo_upstream_calls_total{connector="mtn-momo",operation="collect",outcome="not_sent"}';
  expect(after(down) - before(down)).toBe(1);
});

test('payout lines are shown while they are in progress, and counted when they are paid', async () => {
  const rich = await world.merchant('Coopérative');
  await fund(world, rich, 100_00n);
  // The carrier takes that one, and never decides.
  const beneficiaries = [{ phone_number: numberEnding('04'), amount: '2.00' }, ...lines(3)];
  const sent = await sendPayout(world, rich, { beneficiaries });
  expect(sent.status, sent.text).toBe(200);
  await world.gateway.dispatcher.idle();
  const paid = 'mbongo_transactions_final_total{kind="payout",status="completed"}';
  await untilLater(world, async () => ((await numbers())(paid) === 3 ? true : undefined));
  expect((await numbers())('mbongo_payout_lines{status="processing"}')).toBe(1);
});

test('a receiver that refuses is counted; its event waits, and is dead in the end', async () => {
  const receiver = await openReceiver((response) => response.writeHead(500).end());
  const paying = await collect(world, merchant, { body: { notify_url: receiver.url } });
  await payFromWallet(world, paying, await world.wallet());
  await receiver.reached(1);
  await world.gateway.courier.idle();
  const refused = await numbers();
  // The page is read six seconds later, when the second try is due and may have been made.
  expect([1, 2]).toContain(refused('mbongo_webhook_tries_total{outcome="5xx"}'));
  expect(refused('mbongo_webhooks_waiting{tried="yes"}')).toBe(1);
  expect(refused('mbongo_webhook_oldest_waiting_seconds{tried="yes"}')).toBeGreaterThan(0);
  expect(refused('mbongo_webhook_oldest_waiting_seconds{tried="no"}')).toBe(0);
  await untilLater(
    world,
    async () => {
      // If the clock leaps again before a try is recorded, the try counts as not made.
      await world.gateway.courier.idle();
      return (await numbers())('mbongo_webhook_events_total{status="dead"}') === 1 ? true : undefined;
    },
    8 * HOUR,
  );
  expect((await numbers())('mbongo_webhooks_waiting{tried="yes"}')).toBe(0);
  await receiver.close();
});

test('rounds report how they ran, and when they last succeeded', async () => {
  const before = await numbers();
  await world.pass(MINUTE);
  const well = await numbers();
  expect(well('mbongo_round_last_success_timestamp_seconds{round="audit"}')).toBeGreaterThan(
    before('mbongo_round_last_success_timestamp_seconds{round="audit"}'),
  );
  expect(well('mbongo_round_duration_seconds_count{round="webhooks"}')).toBeGreaterThan(
    before('mbongo_round_duration_seconds_count{round="webhooks"}'),
  );
});

test('while the database does not answer, the page does, and reports that', async () => {
  const client = new pg.Client({ connectionString: world.databaseUrl });
  await client.connect();
  await client.query('alter table webhook_event rename to elsewhere');
  await world.clock.advance(1_000);
  await Promise.all(world.gateway.rounds.map((round) => round.runNow()));
  const away = await numbers();
  await client.query('alter table elsewhere rename to webhook_event');
  await client.end();
  expect(away('mbongo_database_up')).toBe(0);
  // The database is there, and refuses: nothing else tells why.
  const told = world.log.lines.filter((line) => line.includes('"event":"metrics_failed"'));
  expect(told.join()).toContain('SQLSTATE 42P01');
  expect(away('mbongo_round_failures_total{round="webhooks"}')).toBeGreaterThanOrEqual(1);
  expect((await numbers())('mbongo_database_up')).toBe(1);
});

test('merchants whose events have not been tried for a minute are counted, each once', async () => {
  const late = async (): Promise<number> => (await numbers())('mbongo_webhook_late_merchants');
  const [slow, other] = [await world.merchant('Lente'), await world.merchant('Autre')];
  /** Leaves an event leased to a dead process, and due in an hour. */
  const leave = async ({ merchant: { shard, id } }: MerchantCreated): Promise<void> => {
    const now = world.clock.now();
    const event = {
      ...anEvent(1, shard),
      id: newId(world.gateway.deps, 'evt', shard),
      merchant_id: id,
      transaction_id: newId(world.gateway.deps, 'txn', shard),
      next_at: now + HOUR,
      created_at: now,
    };
    await world.gateway.store.commit({ claims: [{ table: 'webhook_event', row: event }] });
  };
  await leave(slow);
  await leave(slow);
  expect(await late()).toBe(0);
  await world.clock.advance(MINUTE);
  expect(await late()).toBe(1);
  await leave(other);
  expect(await late()).toBe(1);
  await world.clock.advance(MINUTE);
  expect(await late()).toBe(2);
});
