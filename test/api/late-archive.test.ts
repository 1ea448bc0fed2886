/**
 * Late money and the months of the archive: whoever decides whose it is has to see what else has paid its order, and what can
 * no longer be seen is not guessed.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { monthOf, monthsLater, startOfMonth } from '../../src/domain/archive.ts';
import { timeOfId } from '../../src/domain/ids.ts';
import type { LateTarget } from '../../src/domain/late-money.ts';
import type { Attempt, Payment } from '../../src/domain/records.ts';
import { dropArchived, listArchive } from '../../src/usecases/archive-run.ts';
import { bookLateMoney } from '../../src/usecases/attempt-book.ts';
import { decideAttempt } from '../../src/usecases/attempt-decide.ts';
import { callbackUrl } from '../../src/usecases/callback-url.ts';
import { listSuspense } from '../../src/usecases/suspense-read.ts';
import { archive, DAY, growOld } from '../support/archive-scenes.ts';
import {
  collect,
  collectWith,
  numberEnding,
  type Paying,
  payByPhone,
  payFromWallet,
  statusOf,
} from '../support/flows.ts';
import { bookedTo } from '../support/late-verdict.ts';
import { callBack } from '../support/phone-payments.ts';
import { rowsOf } from '../support/rows.ts';
import { openWaveringCarrier, type WaveringCarrier } from '../support/wavering-carrier.ts';
import { openWorld, type World } from '../support/world.ts';

const MINUTE = 60_000;

let carrier: WaveringCarrier;
let world: World;
beforeAll(async () => {
  carrier = await openWaveringCarrier();
  world = await openWorld({ env: { MTN_MOMO_BASE_URL: carrier.url, RATE_LIMIT_SCALE: '0' } });
});
afterAll(async () => {
  await world.close();
  await carrier.close();
});

const rowOf = async <R extends object>(text: string, ...values: readonly string[]): Promise<R> => {
  const [row] = await rowsOf<R>(world, text, values);
  if (row === undefined) throw new Error('there is no such row');
  return row;
};

/** A payment that its carrier turned away, and whose order another payment has paid. */
async function paidOtherwise() {
  carrier.answer({ status: 503, body: '' });
  const paying: Paying = await collect(world, await world.merchant(), { method: 'mobile_money' });
  await payByPhone(world, paying, numberEnding('42'));
  const other = { ...paying, ...(await collectWith(world, paying.token, 'none')) };
  expect((await payFromWallet(world, other, await world.wallet())).json.status).toBe('approved');
  expect(await statusOf(world, paying)).toBe('cancelled');
  await world.gateway.courier.idle();
  const attempt = await rowOf<Attempt>('select * from attempt where payment_id = $1', paying.transaction_id);
  return {
    attempt,
    late: paying.transaction_id,
    payer: other.transaction_id,
    month: monthOf(timeOfId(other.transaction_id)),
  };
}

async function hearPaid(attempt: Attempt): Promise<void> {
  carrier.say(attempt.reference, 'SUCCESSFUL');
  expect(await callBack(callbackUrl(world.gateway.deps, attempt), {})).toBe(200);
}

const book = ({ id }: Attempt, to: LateTarget) => bookLateMoney(world.gateway.deps, id, bookedTo(to, id));
const drop = (month: string) => dropArchived(world.gateway.deps, month);
const placesOf = (id: string) =>
  rowsOf(
    world,
    "select 'live' as place from payment where id = $1 union all select 'archive' from archive.payment where id = $1",
    [id],
  );

test('a month is not dropped while late money of its time waits, but can be once that has been booked', async () => {
  const { attempt, payer, month } = await paidOtherwise();
  await hearPaid(attempt);
  const paidTwice = [{ attempt: { id: attempt.id }, why: 'paid_twice' }];
  expect(await listSuspense(world.gateway.deps, { limit: 10 })).toMatchObject(paidTwice);
  await growOld(world);
  await archive(world);
  expect(await placesOf(payer)).toEqual([{ place: 'archive' }]);
  expect(await listSuspense(world.gateway.deps, { limit: 10 })).toMatchObject(paidTwice);
  const refused = drop(month);
  await expect(refused).rejects.toThrow(
    /^money of 1 attempt of \d{4}-\d\d or earlier came or left late and waits .* book it first/,
  );
  await expect(refused).rejects.toThrow('`mbongo suspense list`');
  expect(await placesOf(payer)).toEqual([{ place: 'archive' }]);
  await book(attempt, 'payer');
  expect(await drop(month)).toMatchObject({ month });
  expect(await placesOf(payer)).toEqual([]);
  expect((await world.gateway.store.auditAll()).findings).toEqual([]);
});

test('nor is the month before its own, in which another payment of its session may lie', async () => {
  const monthEnd = startOfMonth(monthsLater(monthOf(world.gateway.deps.clock.now()), 1));
  await world.leap(monthEnd - world.gateway.deps.clock.now() - MINUTE);
  const minted = { ttl_seconds: DAY / 1_000 };
  const payer: Paying = await collect(world, await world.merchant(), { minted });
  const month = monthOf(timeOfId(payer.transaction_id));
  await world.clock.advance(2 * MINUTE);
  carrier.answer({ status: 503, body: '' });
  const late = { ...payer, ...(await collectWith(world, payer.token, 'mobile_money')) };
  await payByPhone(world, late, numberEnding('42'));
  expect((await payFromWallet(world, payer, await world.wallet())).json.status).toBe('approved');
  await world.gateway.courier.idle();
  const attempt = await rowOf<Attempt>('select * from attempt where payment_id = $1', late.transaction_id);
  expect(monthOf(timeOfId(attempt.id))).toBe(monthsLater(month, 1));
  await hearPaid(attempt);
  await growOld(world);
  await archive(world);
  expect(await placesOf(payer.transaction_id)).toEqual([{ place: 'archive' }]);
  for (const { month: older } of await listArchive(world.gateway.deps)) if (older < month) await drop(older);
  await expect(drop(month)).rejects.toThrow(/^money of 1 attempt /);
  await book(attempt, 'payer');
  expect(await drop(month)).toMatchObject({ month });
});

test('money that comes after a month of its time has been dropped goes to the payer', async () => {
  const { attempt, late, payer, month } = await paidOtherwise();
  // As if the carrier had left us in doubt for all that time: an attempt that is inquired about is not archived.
  await rowOf(
    `update attempt set next_inquiry_at = now() + interval '20 years' where id = $1 returning id`,
    attempt.id,
  );
  await growOld(world);
  await archive(world);
  expect([await placesOf(late), await placesOf(payer)]).toEqual([[{ place: 'live' }], [{ place: 'archive' }]]);
  // What the test before left waiting has been archived into a month that was dropped.
  for (const { month: older } of await listArchive(world.gateway.deps)) if (older < month) await drop(older);
  await drop(month);
  expect(await placesOf(payer)).toEqual([]);
  await hearPaid(attempt);
  await expect(book(attempt, 'merchant')).rejects.toThrow(
    /have been dropped.*: return the money to the payer and use --to payer$/,
  );
  expect((await book(attempt, 'payer')).attempt.reason).toBe('late_success_given_back');
  expect((await world.gateway.store.auditAll()).findings).toEqual([]);
});

test('the payment stays while money of an earlier attempt waits: it can still be the merchant’s', async () => {
  carrier.answer({ status: 503, body: '' });
  const paying = await collect(world, await world.merchant(), { method: 'mobile_money' });
  await payByPhone(world, paying, numberEnding('42'));
  const attempt = await rowOf<Attempt>('select * from attempt where payment_id = $1', paying.transaction_id);
  expect(attempt.status).toBe('not_sent');
  await world.leap(DAY);
  const { status } = await rowOf<Payment>('select status from payment where id = $1', paying.transaction_id);
  expect(status).toBe('expired');
  await world.gateway.courier.idle();
  await hearPaid(attempt);
  await growOld(world);
  await archive(world);
  expect(await placesOf(paying.transaction_id)).toEqual([{ place: 'live' }]);
  expect((await book(attempt, 'merchant')).attempt.reason).toBe('late_success_kept');
  await archive(world);
  expect(await placesOf(paying.transaction_id)).toEqual([{ place: 'archive' }]);
  expect((await world.gateway.store.auditAll()).findings).toEqual([]);
});

test.each([
  ['an attempt that has been archived', false],
  // Attempts before an order's last are moved in a later step than the order.
  ['an attempt whose order has been archived before it', true],
])(
  'a callback about %s is answered as unknown, and logged for whoever wants to know; no verdict about it is accepted',
  async (_what, isLive) => {
    const { attempt, late } = await paidOtherwise();
    await growOld(world);
    await archive(world);
    expect(await placesOf(late)).toEqual([{ place: 'archive' }]);
    const moved =
      'with moved as (delete from archive.attempt where id = $1 returning *) insert into attempt select * from moved';
    if (isLive) await rowsOf(world, moved, [attempt.id]);
    await expect(
      decideAttempt(world.gateway.deps, attempt.id, { paid: true, providerReference: 'x', by: 'Ada', why: null }),
    ).rejects.toThrow('has been archived');
    carrier.say(attempt.reference, 'SUCCESSFUL');
    expect(await callBack(callbackUrl(world.gateway.deps, attempt), {})).toBe(404);
    const line = world.log.lines.find(
      (one) => one.includes('"event":"callback_of_archived"') && one.includes(attempt.id),
    );
    expect(line).toContain(late);
  },
);
