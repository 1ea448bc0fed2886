/**
 * A carrier turns a payout or a refund away, or refuses it, and has taken it all the same: before anything is sent again, the
 * previous try is inquired about.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Reply } from '../../src/connectors/testing/scripted-upstream.ts';
import type { Attempt } from '../../src/domain/records.ts';
import { callbackUrl } from '../../src/usecases/callback-url.ts';
import { setMerchantStatus } from '../../src/usecases/merchant-status.ts';
import { startLine } from '../../src/usecases/payout-start.ts';
import { callOffRefund } from '../../src/usecases/refund-decide.ts';
import { collect, numberEnding, payByPhone } from '../support/flows.ts';
import { availableOf, commitBatch, lineNow, openPayer } from '../support/payout-lines.ts';
import { attemptOf, callBack } from '../support/phone-payments.ts';
import { minted, readBack, refunded } from '../support/refund-flows.ts';
import { rowsOf } from '../support/rows.ts';
import { until } from '../support/waiting.ts';
import { openWaveringCarrier, type Said, TURNED_AWAY, type WaveringCarrier } from '../support/wavering-carrier.ts';
import { openWorld, type World } from '../support/world.ts';

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

function triesOf(order: string): Promise<Attempt[]> {
  return rowsOf(world, 'select * from attempt where payment_id = $1 order by created_at, id', [order]);
}

/** Resolves when the order's only try has that status. */
function firstTry(order: string, status: Attempt['status']): Promise<Attempt> {
  return until(async () => {
    const [only, ...others] = await triesOf(order);
    return only?.status === status && others.length === 0 ? only : undefined;
  });
}

async function hearOf(tried: Attempt, said: Said): Promise<void> {
  carrier.say(tried.reference, said);
  expect(await callBack(callbackUrl(world.gateway.deps, tried), {})).toBe(200);
}

const passMinutes = (count: number): Promise<void> => world.pass(60_000, count);

/** A payment by phone that has been approved, to be refunded. */
async function paid() {
  const merchant = await world.merchant();
  const paying = await collect(world, merchant, { method: 'mobile_money', minted });
  await payByPhone(world, paying, numberEnding('42'));
  await hearOf(await attemptOf(world, paying), 'SUCCESSFUL');
  return { merchant, paying };
}

describe('a payout line', () => {
  async function sent(...replies: readonly Reply[]) {
    const payer = await openPayer(world, 100_00n);
    carrier.answer(...replies);
    const [line] = await commitBatch(world, payer, [{ msisdn: numberEnding('42') }]);
    return { payer, line };
  }

  test('that was turned away, and paid all the same, is sent once', async () => {
    const { payer, line } = await sent(TURNED_AWAY);
    const { reference } = await firstTry(line.id, 'not_sent');
    carrier.say(reference, 'SUCCESSFUL');
    await passMinutes(2);
    expect(await lineNow(world, line)).toMatchObject({ status: 'completed', tries: 1 });
    expect((await triesOf(line.id)).map(({ status }) => status)).toEqual(['approved']);
    expect(await availableOf(world, payer)).toBe(89_90n);
    expect((await world.gateway.store.auditAll()).findings).toEqual([]);
  });

  test('that its carrier notices late is not sent again before the carrier would have noticed', async () => {
    const { line } = await sent(TURNED_AWAY);
    const { reference } = await firstTry(line.id, 'not_sent');
    await world.pass(5_000, 10);
    expect(await lineNow(world, line)).toMatchObject({ status: 'pending', tries: 1 });
    carrier.say(reference, 'SUCCESSFUL');
    await passMinutes(2);
    expect(await lineNow(world, line)).toMatchObject({ status: 'completed', tries: 1 });
  });

  test('that was turned away, and is pending all the same, is waited for', async () => {
    const { line } = await sent(TURNED_AWAY);
    const tried = await firstTry(line.id, 'not_sent');
    carrier.say(tried.reference, 'PENDING');
    await passMinutes(2);
    expect(await lineNow(world, line)).toMatchObject({ status: 'processing', tries: 1 });
    await hearOf(tried, 'SUCCESSFUL');
    expect((await lineNow(world, line)).status).toBe('completed');
  });

  test('is not sent again while it is uncertain whether it was taken, and is once it was not', async () => {
    const { line } = await sent(TURNED_AWAY);
    const { reference } = await firstTry(line.id, 'not_sent');
    carrier.say(reference, 'cannot_tell');
    await passMinutes(60);
    expect(await lineNow(world, line)).toMatchObject({ status: 'pending', tries: 1 });
    // After longer and longer, and not each time that a lease has run out.
    expect(carrier.asked([reference])).toBeLessThan(40);
    carrier.say(reference, 'not_found');
    await passMinutes(10);
    expect((await triesOf(line.id)).map(({ status }) => status)).toEqual(['not_sent', 'waiting']);
  });

  test('is not sent again if its merchant is suspended while the try before is inquired about', async () => {
    const { deps } = world.gateway;
    const { payer, line } = await sent(TURNED_AWAY);
    const { reference } = await firstTry(line.id, 'not_sent');
    const { id } = payer.merchant;
    carrier.say(reference, 'FAILED');
    carrier.beforeWordOf(reference, async () => void (await setMerchantStatus(deps, id, 'SUSPENDED')));
    await passMinutes(5);
    expect((await deps.store.merchant.get(payer.merchant.shard, id))?.status).toBe('SUSPENDED');
    expect((await triesOf(line.id)).map(({ status }) => status)).toEqual(['not_sent']);
    await setMerchantStatus(deps, id, 'ALLOWED');
    await passMinutes(10);
    expect((await triesOf(line.id)).map(({ status }) => status)).toEqual(['not_sent', 'waiting']);
  });
});

test('what an inquiry about an earlier try shows of the carrier counts as if it had been called', async () => {
  const payer = await openPayer(world, 100_00n);
  carrier.answer(TURNED_AWAY);
  const [line] = await commitBatch(world, payer, [{ msisdn: numberEnding('42') }]);
  const { reference } = await firstTry(line.id, 'not_sent');
  const outcomeOf = async (said: Said) => {
    carrier.say(reference, said);
    return (await startLine(world.gateway.deps, await lineNow(world, line), payer.merchant)).outcome;
  };
  expect([await outcomeOf('cannot_tell'), await outcomeOf('PENDING')]).toEqual(['silent', 'answered']);
});

describe('a refund', () => {
  test('that was turned away, and refunded all the same, is sent once', async () => {
    const { merchant, paying } = await paid();
    carrier.answer(TURNED_AWAY);
    const { refund_id } = await refunded(world, merchant, paying);
    const { reference } = await firstTry(refund_id, 'not_sent');
    carrier.say(reference, 'cannot_tell');
    await passMinutes(10);
    expect((await readBack(world, merchant, refund_id)).status).toBe('pending');
    carrier.say(reference, 'SUCCESSFUL');
    await passMinutes(10);
    expect((await readBack(world, merchant, refund_id)).status).toBe('completed');
    const [only, ...others] = await triesOf(refund_id);
    expect([only?.status, others]).toEqual(['approved', []]);
    const told = world.log.lines.map((line) => JSON.parse(line)).filter(({ attempt_id }) => attempt_id === only?.id);
    const events = told.map(({ event }) => event).filter((event) => event.startsWith('earlier_attempt_'));
    expect([...new Set(events)]).toEqual(['earlier_attempt_unclear', 'earlier_attempt_taken']);
    expect((await world.gateway.store.auditAll()).findings).toEqual([]);
  });
});

test('a refund that waits to be sent again is held back if the one before it was paid after all', async () => {
  const { merchant, paying } = await paid();
  const { refund_id: first } = await refunded(world, merchant, paying);
  const tried = await firstTry(first, 'waiting');
  await hearOf(tried, 'FAILED');
  carrier.answer(TURNED_AWAY);
  const { refund_id: second } = await refunded(world, merchant, paying);
  await firstTry(second, 'not_sent');
  await hearOf(tried, 'SUCCESSFUL');
  await passMinutes(30);
  expect(await triesOf(second)).toHaveLength(1);
  expect((await readBack(world, merchant, second)).status).toBe('pending');
  await callOffRefund(world.gateway.deps, second, { by: 'amina', why: 'it has been paid' }, { notTaken: true });
  expect((await readBack(world, merchant, second)).status).toBe('failed');
  expect((await world.gateway.store.auditAll()).findings).toEqual([]);
});

test('a closed attempt of an upstream that is no longer configured is inquired about for a week, and no longer', async () => {
  const { paying } = await paid();
  const { id } = await attemptOf(world, paying);
  const other = await collect(world, await world.merchant(), { method: 'mobile_money' });
  await payByPhone(world, other, numberEnding('42'));
  const tried = await attemptOf(world, other);
  expect(tried.id).not.toBe(id);
  await hearOf(tried, 'FAILED');
  await rowsOf(world, "update attempt set connector = 'gone' where id = $1 returning id", [tried.id]);
  const due = async () => (await attemptOf(world, other)).next_inquiry_at;
  const first = await due();
  await passMinutes(30);
  expect(await due()).toBeGreaterThan((first ?? 0) + 60_000);
  await world.pass(4 * 60 * 60_000, 50);
  expect(await due()).toBeNull();
});
