/**
 * Carriers that pay out, one of them ill: whose lines it holds up, and how often it is called.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createMtnMomoDisbursement } from '../../src/connectors/mtn-momo/connector.ts';
import { type Reply, startScriptedUpstream } from '../../src/connectors/testing/scripted-upstream.ts';
import type { PayoutLine } from '../../src/domain/outgoing-records.ts';
import { START_LEASE_MS } from '../../src/domain/payout.ts';
import type { ScheduleOrder } from '../../src/domain/schedule.ts';
import type { Clock } from '../../src/platform/platform.ts';
import type { Store } from '../../src/store/store.ts';
import type { Deps } from '../../src/usecases/deps.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { createDispatcher, type Dispatcher } from '../../src/usecases/payout-dispatch.ts';
import { numberEnding } from '../support/flows.ts';
import { linesNow, makeBatch } from '../support/payout-batches.ts';
import { commitBatch, creditsOf, expectPayoutBooksAgree, lineNow, openPayer } from '../support/payout-lines.ts';
import { runDue } from '../support/payout-paydays.ts';
import { rowsOf } from '../support/rows.ts';
import { untilLater } from '../support/waiting.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
let upstream: Awaited<ReturnType<typeof startScriptedUpstream>>;
/** The numbers that the ill carrier was called to pay. */
const asked: string[] = [];
/** The last order that the ill carrier was sent. */
let ordered: unknown;
/** What the ill carrier answers; undefined: nothing, until it is released. */
let answer: Reply | undefined;
const held: ((reply: Reply) => void)[] = [];
const TAKEN: Reply = { status: 202, body: '' };
/** A dispatcher of the test's own with two carriers: the world has but one. */
let dispatcher: Dispatcher;
let connectors: Deps['connectors'];

beforeEach(() => {
  asked.length = 0;
});
beforeAll(async () => {
  world = await openWorld();
  upstream = await startScriptedUpstream(({ path, body }) => {
    if (path.includes('/token')) return { status: 200, body: '{"access_token":"token","expires_in":3600}' };
    const order = JSON.parse(body);
    ordered = order;
    asked.push(`+${order.payee.partyId}`);
    return answer ?? new Promise((resolve) => held.push(resolve));
  });
  const { deps } = world.gateway;
  const access = { subscriptionKey: 'key', apiUser: 'user', apiKey: 'key', targetEnvironment: 'sandbox' };
  const ill = { ...createMtnMomoDisbursement({ ...access, baseUrl: upstream.url }, deps), name: 'ill' };
  const { payout } = deps.connectors;
  connectors = { ...deps.connectors, payout: (name: string) => (name === 'ill' ? ill : payout(name)) };
  dispatcher = createDispatcher({ ...deps, connectors });
  // The world's own rounds would claim what our dispatcher has put off, and begin what it is to begin.
  const ours = new Set(['payouts', 'payout-occurrences']);
  await Promise.all(world.gateway.rounds.filter(({ name }) => ours.has(name)).map((round) => round.stop()));
});
afterAll(async () => {
  await upstream.close();
  await dispatcher.close();
  await world.close();
});

/** A batch whose lines are not leased: they are offered to our dispatcher. */
async function offerBatch(
  merchant: MerchantCreated,
  connector: string,
  count: number,
  to: Pick<Dispatcher, 'offer'> = dispatcher,
) {
  const numbers = Array.from({ length: count }, () => numberEnding('01'));
  const payees = numbers.map((msisdn) => ({ msisdn, amount: '1.00' }));
  const lines = await commitBatch(world, merchant, payees, { connector, nextStartAt: null });
  const until = world.clock.now() + 3_600_000;
  for (const line of lines) expect(to.offer({ ...line, next_start_at: until })).toBe(true);
  return { lines, numbers };
}

/** What has been logged about a line. */
function logged(line: PayoutLine): Record<string, unknown>[] {
  return world.log.lines.filter((one) => one.includes(line.id)).map((one) => JSON.parse(one));
}

test('one that hangs does not hold up lines of other carriers, even of the same merchant', async () => {
  answer = undefined;
  const payer = await openPayer(world);
  const other = await openPayer(world);
  await offerBatch(payer, 'ill', 100);
  for (const merchant of [payer, other]) {
    const { lines, numbers } = await offerBatch(merchant, 'mtn-momo', 20);
    await untilLater(world, async () =>
      (await Promise.all(lines.map((line) => lineNow(world, line)))).every(({ status }) => status === 'completed')
        ? true
        : undefined,
    );
    for (const msisdn of numbers) expect(creditsOf(world, msisdn)).toMatchObject([{ times: 1 }]);
  }
  expect(asked.length).toBeLessThanOrEqual(64);
  await expectPayoutBooksAgree(world, other);
  answer = TAKEN;
  for (const release of held) release(TAKEN);
  await dispatcher.idle();
});

test('one is told by whom, how much and for what, in the merchant’s words', async () => {
  answer = TAKEN;
  const payer = await openPayer(world);
  const [line] = await commitBatch(world, payer, [{ msisdn: numberEnding('01') }], {
    connector: 'ill',
    nextStartAt: null,
  });
  dispatcher.offer({ ...line, note: 'October', next_start_at: world.clock.now() + START_LEASE_MS });
  await dispatcher.idle();
  expect(ordered).toMatchObject({
    payee: { partyId: line.msisdn?.slice(1) },
    amount: '10.00',
    currency: 'USD',
    payerMessage: line.customer_reference,
    payeeNote: `${payer.merchant.name} October`,
  });
});

test('a merchant that could not be read is read again for its next line', async () => {
  answer = TAKEN;
  const { deps } = world.gateway;
  let isAway = true;
  const get: Store['merchant']['get'] = (...of) =>
    isAway ? Promise.reject(new Error('the database is away')) : deps.store.merchant.get(...of);
  const ours = createDispatcher({
    ...deps,
    connectors,
    store: { ...deps.store, merchant: { ...deps.store.merchant, get } },
  });
  const payer = await openPayer(world);
  await offerBatch(payer, 'ill', 1, ours);
  await ours.idle();
  isAway = false;
  const { numbers } = await offerBatch(payer, 'ill', 1, ours);
  await ours.idle();
  expect(asked).toEqual(numbers);
  await ours.close();
});

test('one that takes nothing is left alone, and another merchant’s line finds out that it is back', async () => {
  answer = { status: 503, body: '' };
  const payer = await openPayer(world);
  const { lines } = await offerBatch(payer, 'ill', 100);
  await dispatcher.idle();
  const before = asked.length;
  expect(dispatcher.busy()).toEqual(['ill']);
  // Dated batches wait for it, unless they use another carrier too.
  const hasRoom = (...connectors: string[]): boolean =>
    dispatcher.hasRoomFor({
      merchant_id: payer.merchant.id,
      beneficiaries: connectors.map((connector) => ({ connector })),
    });
  expect([hasRoom('ill'), hasRoom('ill', 'mtn-momo')]).toEqual([false, true]);
  const other = await openPayer(world);
  const { numbers } = await offerBatch(other, 'ill', 1);
  await dispatcher.idle();
  expect(asked.length).toBe(before);
  answer = TAKEN;
  await world.clock.advance(1_000);
  await dispatcher.idle();
  expect(asked[before]).toBe(numbers[0]);
  // Lines that had not been tried followed at once; those that had are due again, in the database.
  expect([dispatcher.busy(), hasRoom('ill')]).toEqual([[], true]);
  const now = await Promise.all(lines.map((line) => lineNow(world, line)));
  expect(now.filter(({ status }) => status === 'processing').length).toBeGreaterThan(0);
  const waiting = now.filter(({ status }) => status === 'pending');
  expect(waiting.every(({ next_start_at: at }) => at !== null && at <= world.clock.now())).toBe(true);
});

test('one that was not called because our own commits took too long is not considered down', async () => {
  answer = TAKEN;
  const { deps } = world.gateway;
  let behind = 0;
  const clock: Clock = { ...deps.clock, now: () => deps.clock.now() + behind };
  const commit: Store['commit'] = async (change) => {
    const outcome = await deps.store.commit(change);
    if (change.inserts?.some(({ table }) => table === 'attempt') === true) behind += 6_000;
    return outcome;
  };
  const stalled = createDispatcher({ ...deps, clock, connectors, store: { ...deps.store, commit } });
  await offerBatch(await openPayer(world), 'ill', 20, stalled);
  await stalled.idle();
  expect([asked, stalled.busy()]).toEqual([[], []]);
  await stalled.close();
});

test('one whose probe our own database has prevented is probed anew', async () => {
  answer = { status: 503, body: '' };
  const { deps } = world.gateway;
  let isAway = false;
  const commit: Store['commit'] = (change) =>
    isAway ? Promise.reject(new Error('the database is away')) : deps.store.commit(change);
  const ours = createDispatcher({ ...deps, connectors, store: { ...deps.store, commit } });
  await offerBatch(await openPayer(world), 'ill', 8, ours);
  await ours.idle();
  expect(ours.busy()).toEqual(['ill']);
  answer = TAKEN;
  isAway = true;
  await world.clock.advance(1_000);
  const payer = await openPayer(world);
  const before = asked.length;
  const { lines } = await offerBatch(payer, 'ill', 1, ours);
  await ours.idle();
  expect(asked.length).toBe(before);
  expect(logged(lines[0])).toMatchObject([{ event: 'payout_not_sent', merchant_id: payer.merchant.id }]);
  isAway = false;
  const { numbers } = await offerBatch(payer, 'ill', 1, ours);
  await ours.idle();
  expect([asked.slice(before), ours.busy()]).toEqual([numbers, []]);
  await ours.close();
});

test('one that is no longer connected is not considered down: its lines wait, reserved, and are logged', async () => {
  const payer = await openPayer(world);
  const { lines } = await offerBatch(payer, 'gone', 8);
  await dispatcher.idle();
  for (const line of lines) {
    expect(await lineNow(world, line)).toEqual(line);
    expect(logged(line)).toMatchObject([{ level: 'error', event: 'payout_connector_missing', connector: 'gone' }]);
  }
  expect(dispatcher.busy()).not.toContain('gone');
});

test('lines parked for one that is away hold a batch back, though it also uses a carrier with room', async () => {
  answer = { status: 503, body: '' };
  const { deps } = world.gateway;
  const limits = { atReceiver: 64, inAll: 512, waitingAtReceiver: 100, waitingInAll: 200 };
  const ours = createDispatcher({ ...deps, connectors }, limits, 2);
  const [payer, other] = [await openPayer(world), await openPayer(world)];
  const hasRoom = ({ merchant: { id } }: MerchantCreated): boolean =>
    ours.hasRoomFor({ merchant_id: id, beneficiaries: [{ connector: 'ill' }, { connector: 'mtn-momo' }] });
  const rooms: boolean[] = [];
  // The first eight show that it is away; seven, and then one more, are parked.
  for (const count of [8, 7, 1]) {
    await offerBatch(payer, 'ill', count, ours);
    await ours.idle();
    rooms.push(hasRoom(payer));
  }
  expect([rooms, hasRoom(other)]).toEqual([[true, true, false], true]);
  await ours.close();
});

test('lines of a dated batch that it has not been called for yet follow from memory once it is back', async () => {
  answer = { status: 503, body: '' };
  const payer = await openPayer(world);
  const msisdns = Array.from({ length: 100 }, () => numberEnding('01'));
  const [today = ''] = new Date(world.clock.now()).toISOString().split('T');
  const schedule: ScheduleOrder = { sending_type: 'recurring', start: today, frequency: 'daily', occurrences: 1 };
  const batch = await makeBatch(world, payer, { msisdns, schedule });
  await rowsOf(world, `update payout_line set connector = 'ill' where batch_id = $1`, [batch.id]);
  await rowsOf(world, 'update payout_batch set next_run_at = created_at where id = $1', [batch.id]);
  expect(await runDue(world.gateway.deps, { dispatcher })).toBe(1);
  await dispatcher.idle();
  expect(dispatcher.busy()).toEqual(['ill']);
  answer = TAKEN;
  await world.clock.advance(1_000);
  await dispatcher.idle();
  const lines = await linesNow(world, batch);
  const waiting = lines.filter(({ status }) => status === 'pending');
  expect(waiting.length).toBeLessThan(lines.length);
  expect(waiting.filter(({ tries }) => tries === 0)).toEqual([]);
});
