/**
 * A process whose clock is not the database's gives no order up by it, nor believes that a carrier turned an order away: how long a
 * carrier has not known one is counted from an instant that another process may have written, and by a fast clock a customer's time
 * at the issuer seems to be over.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Attempt } from '../../src/domain/records.ts';
import { type ManualClock, manualClock } from '../../src/platform/testing/manual-clock.ts';
import { decideAttempt } from '../../src/usecases/attempt-decide.ts';
import { inquireAttempt } from '../../src/usecases/attempt-inquire.ts';
import { inquirePreviousAttempt } from '../../src/usecases/attempt-previous.ts';
import { askEarlierByPhone } from '../../src/usecases/carrier-earlier.ts';
import { distrustByClock } from '../../src/usecases/clock-distrust.ts';
import { isClockShared } from '../../src/usecases/clock-guard.ts';
import { type Deps, newId } from '../../src/usecases/deps.ts';
import { startLine } from '../../src/usecases/payout-start.ts';
import { answerChallenge, challenged, readyToPay, submitCard } from '../support/card-payments.ts';
import { callerOf } from '../support/direct-calls.ts';
import { collect, numberEnding, type Paying, payByPhone } from '../support/flows.ts';
import { commitBatch, lineNow, openPayer } from '../support/payout-lines.ts';
import { refunded } from '../support/refund-flows.ts';
import { rowsOf } from '../support/rows.ts';
import { until } from '../support/waiting.ts';
import { openWaveringCarrier, TURNED_AWAY, type WaveringCarrier } from '../support/wavering-carrier.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
let carrier: WaveringCarrier;

// The database's clock is the machine's, so the world begins now.
beforeAll(async () => {
  carrier = await openWaveringCarrier();
  world = await openWorld({ start: Date.now(), env: { MTN_MOMO_BASE_URL: carrier.url } });
});
afterAll(async () => {
  await world.close();
  await carrier.close();
});

async function attemptOf({ transaction_id }: Paying): Promise<Attempt> {
  const { store } = world.gateway;
  const [row] = await rowsOf<Pick<Attempt, 'shard' | 'id'>>(
    world,
    'select shard, id from attempt where payment_id = $1',
    [transaction_id],
  );
  const attempt = row && (await store.attempt.get(row.shard, row.id));
  if (attempt === undefined) throw new Error('nothing has been tried');
  return attempt;
}

/** A production worker of the same gateway whose clock differs by that many milliseconds. */
function workerApart(milliseconds: number): Deps & { readonly clock: ManualClock } {
  const { deps } = world.gateway;
  const clock = manualClock(Date.now() + milliseconds);
  const apart: Deps = { ...deps, mode: 'production', clock };
  return { ...apart, clock, connectors: distrustByClock(deps.connectors, apart) };
}

/** Such a worker, whose clock is set right while the carrier is asked about that order. */
function workerSetRight(milliseconds: number, reference: string): Deps {
  const worker = workerApart(milliseconds);
  carrier.beforeWordOf(reference, async () => {
    if (milliseconds > 0) worker.clock.setBack(milliseconds);
    else await worker.clock.advance(-milliseconds);
  });
  return worker;
}

test.each([
  ['ahead', 90_000],
  ['behind', -90_000],
])('an order is not given up, nor the wait for it begun, by a clock that is %s', async (_which, apart) => {
  carrier.answer({ status: 500, body: '' });
  const paying = await collect(world, await world.merchant(), { method: 'mobile_money' });
  await payByPhone(world, paying, numberEnding('42'));
  const worker = workerApart(apart);
  const ask = async (deps: Deps) => inquireAttempt(deps, await attemptOf(paying), 'due');
  await ask(worker);
  expect(await attemptOf(paying)).toMatchObject({ status: 'unknown', not_found_at: null });
  await ask(world.gateway.deps);
  const { not_found_at } = await attemptOf(paying);
  expect(not_found_at).not.toBeNull();
  await ask(worker);
  expect(await attemptOf(paying)).toMatchObject({ status: 'unknown', not_found_at });
});

test.each([
  ['ahead', 90_000],
  ['behind', -90_000],
])('nor by one that was %s until the carrier answered', async (_which, apart) => {
  carrier.answer({ status: 500, body: '' });
  const paying = await collect(world, await world.merchant(), { method: 'mobile_money' });
  await payByPhone(world, paying, numberEnding('42'));
  const { reference } = await attemptOf(paying);
  const ask = async (deps: Deps) => inquireAttempt(deps, await attemptOf(paying), 'due');
  await ask(workerSetRight(apart, reference));
  expect(await attemptOf(paying)).toMatchObject({ status: 'unknown', not_found_at: null });
  await ask(world.gateway.deps);
  const { not_found_at } = await attemptOf(paying);
  expect(not_found_at).not.toBeNull();
  await ask(workerSetRight(apart, reference));
  expect(await attemptOf(paying)).toMatchObject({ status: 'unknown', not_found_at });
});

test('a clock that is set right while the database is asked for its own does not pass as right', async () => {
  const worker = workerApart(-90_000);
  const time = async (): Promise<number> => {
    const there = await worker.store.time();
    await worker.clock.advance(90_000);
    return there;
  };
  expect(await isClockShared({ ...worker, store: { ...worker.store, time } })).toBe(false);
  expect(await isClockShared(worker)).toBe(true);
});

test('a clock that is the database’s is believed', async () => {
  carrier.answer({ status: 500, body: '' });
  const paying = await collect(world, await world.merchant(), { method: 'mobile_money' });
  await payByPhone(world, paying, numberEnding('42'));
  const wall = () => Date.now();
  const { deps } = world.gateway;
  const right: Deps = { ...deps, mode: 'production', clock: { ...deps.clock, wall } };
  const worker: Deps = { ...right, connectors: distrustByClock(deps.connectors, right) };
  await inquireAttempt(worker, await attemptOf(paying), 'due');
  expect(await attemptOf(paying)).toMatchObject({ status: 'unknown', not_found_at: expect.any(Number) });
});

test('an operator’s verdict does not count by a clock that is ten seconds fast: the carrier may be being asked', async () => {
  carrier.answer({ status: 500, body: '' });
  const paying = await collect(world, await world.merchant(), { method: 'mobile_money' });
  await payByPhone(world, paying, numberEnding('42'));
  const { id } = await attemptOf(paying);
  const verdict = { paid: false, providerReference: null, by: 'amina', why: 'statement' };
  await expect(decideAttempt(workerApart(10_000), id, verdict)).rejects.toThrow(
    /clock is \d+ seconds from the database/,
  );
  expect((await attemptOf(paying)).status).toBe('unknown');
});

test('a prompt whose carrier cannot tell is not over by a clock that is six minutes fast', async () => {
  carrier.answer(TURNED_AWAY);
  const merchant = await world.merchant();
  const paying = await collect(world, merchant, { method: 'mobile_money' });
  expect((await payByPhone(world, paying, numberEnding('42'))).status).toBe(502);
  const attempt = await attemptOf(paying);
  carrier.say(attempt.reference, 'cannot_tell');
  const payment = await world.gateway.store.payment.get(attempt.shard, paying.transaction_id);
  if (payment === undefined) throw new Error('no payment');
  const caller = await callerOf(world, merchant, paying);
  expect(await askEarlierByPhone(workerApart(6 * 60_000), caller, payment)).toMatchObject({ kind: 'unclear' });
  // Both clocks may be five minutes off; after that no prompt is open, and the customer may pay.
  expect(await askEarlierByPhone(workerApart(16 * 60_000), caller, payment)).toEqual({ kind: 'not_taken' });
});

test('nor by one that was as fast until the carrier answered', async () => {
  carrier.answer(TURNED_AWAY);
  const merchant = await world.merchant();
  const paying = await collect(world, merchant, { method: 'mobile_money' });
  expect((await payByPhone(world, paying, numberEnding('42'))).status).toBe(502);
  const { shard, reference } = await attemptOf(paying);
  carrier.say(reference, 'cannot_tell');
  const payment = await world.gateway.store.payment.get(shard, paying.transaction_id);
  if (payment === undefined) throw new Error('no payment');
  const caller = await callerOf(world, merchant, paying);
  const worker = workerSetRight(6 * 60_000, reference);
  expect(await askEarlierByPhone(worker, caller, payment)).toMatchObject({ kind: 'unclear' });
});

test('a challenge that was passed in time is not too late by a clock that was fast until the network said so', async () => {
  const paying = await challenged(world, await world.merchant(), 'challenge');
  await answerChallenge(world, paying, 'pass');
  const worker = workerApart(16 * 60_000);
  const { card } = worker.connectors;
  if (card === undefined) throw new Error('no card network');
  const authentication: typeof card.authentication = async (order) => {
    const said = await card.authentication(order);
    worker.clock.setBack(16 * 60_000);
    return said;
  };
  await inquireAttempt(
    { ...worker, connectors: { ...worker.connectors, card: { ...card, authentication } } },
    await attemptOf(paying),
    'due',
  );
  expect((await attemptOf(paying)).status).toBe('challenged');
  await inquireAttempt(world.gateway.deps, await attemptOf(paying), 'due');
  expect((await attemptOf(paying)).status).toBe('approved');
});

test('a challenge is not over by a clock that is eleven minutes fast; it is once they have passed', async () => {
  const paying = await challenged(world, await world.merchant(), 'challenge', { minted: { ttl_seconds: 7_200 } });
  await inquireAttempt(workerApart(11 * 60_000), await attemptOf(paying), 'due');
  expect((await attemptOf(paying)).status).toBe('challenged');
  await world.clock.advance(11 * 60_000);
  await inquireAttempt(world.gateway.deps, await attemptOf(paying), 'due');
  expect(await attemptOf(paying)).toMatchObject({ status: 'declined', reason: 'challenge_expired' });
});

function triesOf(order: string): Promise<Attempt[]> {
  return rowsOf(world, 'select * from attempt where payment_id = $1 order by id', [order]);
}

test.each([
  ['by a clock that is behind', () => workerApart(-90_000), 0],
  ['by one that was behind until the answer came', () => world.gateway.deps, 90],
])(
  'a payout that was turned away, and taken all the same, is sent once, although it was sent %s',
  async (_, worker, behind) => {
    const payer = await openPayer(world);
    const [line] = await commitBatch(world, payer, [{ msisdn: numberEnding('42') }], { nextStartAt: null });
    carrier.answer(TURNED_AWAY);
    await (await startLine(worker(), line, payer.merchant)).written;
    const written = 'update attempt set created_at = created_at - make_interval(secs => $1) where payment_id = $2';
    await rowsOf(world, written, [behind, line.id]);
    // The other processes ask at once, and the carrier does not know the order yet.
    await world.pass(5_000, 6);
    const [tried, ...others] = await triesOf(line.id);
    expect(others).toEqual([]);
    carrier.say(tried?.reference ?? '', 'SUCCESSFUL');
    await world.pass(60_000, 2);
    expect(await lineNow(world, line)).toMatchObject({ status: 'completed', tries: 1 });
    expect((await world.gateway.store.auditAll()).findings).toEqual([]);
  },
);

test('a payout that was turned away is not sent again by a clock that was fast until its carrier did not know it', async () => {
  const payer = await openPayer(world);
  const [line] = await commitBatch(world, payer, [{ msisdn: numberEnding('42') }], { nextStartAt: null });
  carrier.answer(TURNED_AWAY);
  await (await startLine(workerApart(0), line, payer.merchant)).written;
  const [tried] = await triesOf(line.id);
  const reference = tried?.reference ?? '';
  const believing: Deps = { ...workerSetRight(90_000, reference), connectors: world.gateway.deps.connectors };
  expect(await inquirePreviousAttempt(believing, await lineNow(world, line))).toMatchObject({ kind: 'unclear' });
  const again = await startLine(workerSetRight(90_000, reference), await lineNow(world, line), payer.merchant);
  await again.written;
  expect(await triesOf(line.id)).toHaveLength(1);
  carrier.say(reference, 'SUCCESSFUL');
  await world.pass(60_000, 2);
  expect(await lineNow(world, line)).toMatchObject({ status: 'completed', tries: 1 });
});

test('a refund is not given up by a clock that was fast until the refund was read, before the network was asked', async () => {
  const merchant = await world.merchant();
  const paid = await readyToPay(world, merchant, 'frictionless');
  expect((await submitCard(world, paid)).json.status).toBe('approved');
  world.sandbox.faults.set('cardnet', { error_rate: 1 });
  const { refund_id } = await refunded(world, merchant, paid);
  const tried = () => attemptOf({ ...paid, transaction_id: refund_id });
  const unknown = `select id from attempt where payment_id = $1 and status = 'unknown'`;
  await until(async () => (await rowsOf(world, unknown, [refund_id]))[0]);
  world.sandbox.faults.clear();
  await inquireAttempt(workerApart(0), await tried(), 'due');
  const { not_found_at } = await tried();
  expect(not_found_at).not.toBeNull();
  const worker = workerApart(90_000);
  const attempt = await tried();
  const other = await world.database.connect();
  await other.query('begin; lock table refund in access exclusive mode');
  const inquiring = inquireAttempt(worker, attempt, 'due');
  const held = `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await until(async () => (await rowsOf(world, held))[0]);
  worker.clock.setBack(90_000);
  await other.query('rollback');
  other.release();
  await inquiring;
  expect(await tried()).toMatchObject({ status: 'unknown', not_found_at });
});

test('that the card network turned a refund away is believed only by the database’s clock', async () => {
  const { deps } = world.gateway;
  world.sandbox.faults.set('cardnet', { refuse_rate: 1 });
  const order = { orderId: newId(deps, 'txn', 0), attemptId: newId(deps, 'att', 0), amountMinor: 5_00n } as const;
  const saidTo = async ({ connectors }: Deps) => (await connectors.card?.refund({ ...order, currency: 'usd' }))?.kind;
  expect(await saidTo(deps)).toBe('not_sent');
  for (const apart of [90_000, -90_000]) expect(await saidTo(workerApart(apart)), `${apart}`).toBe('unknown');
});
