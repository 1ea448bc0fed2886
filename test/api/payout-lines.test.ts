/**
 * Payout lines on their way out: each ending of a number, wallets, missing funds, and money that adds up after
 * each. The carrier's own book is the oracle.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { PayoutLine } from '../../src/domain/outgoing-records.ts';
import { makeWalletNumber } from '../../src/domain/wallet.ts';
import { creditBalance } from '../../src/usecases/balance-credit.ts';
import { callbackUrl } from '../../src/usecases/callback-url.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { setMerchantStatus } from '../../src/usecases/merchant-status.ts';
import { startLine } from '../../src/usecases/payout-start.ts';
import { numberEnding } from '../support/flows.ts';
import {
  availableOf,
  commitBatch,
  creditsOf,
  expectPayoutBooksAgree,
  lineNow,
  openPayer,
  payoutHooks,
  untilLine,
  untilSent,
} from '../support/payout-lines.ts';
import { callBack } from '../support/phone-payments.ts';
import { rowsOf } from '../support/rows.ts';
import { until, untilLater } from '../support/waiting.ts';
import { mint, openWorld, type World } from '../support/world.ts';

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterEach(() => world.sandbox.faults.clear());
afterAll(() => world.close());

/** The line's timeline as a session reads it. */
async function timelineOf(payer: MerchantCreated, { id }: Pick<PayoutLine, 'id'>): Promise<unknown> {
  const { token } = await mint(world, payer);
  return (await world.call('GET', `/payments/transaction/${id}`, { bearer: token })).json.timeline;
}

describe('numbers that decide by themselves', () => {
  test.each(['01', '07', '08', '42'])('%s is paid, once, and told once', async (ending) => {
    const payer = await openPayer(world, 100_00n);
    const msisdn = numberEnding(ending);
    const [line] = await commitBatch(world, payer, [{ msisdn }]);
    await until(async () => ((await lineNow(world, line)).status === 'processing' ? true : undefined));
    expect(await availableOf(world, payer)).toBe(89_90n);
    const done = await untilLine(world, line, 'completed');
    expect(done).toMatchObject({ tries: 1, reason: null, reserved_at: null, next_start_at: null, events: 2 });
    expect(done.provider_reference).toMatch(/\S/);
    expect(creditsOf(world, msisdn)).toMatchObject([{ kind: 'credit', amount: '10.00', currency: 'usd', times: 1 }]);
    const [hook, ...more] = await payoutHooks(world, line);
    expect(more).toEqual([]);
    expect(hook?.headers).toMatchObject({ 'webhook-event': 'payout.completed', 'webhook-sequence': '2' });
    expect(hook?.body).toMatchObject({
      event: 'payout.completed',
      batch_id: line.batch_id,
      transaction_id: line.id,
      customer_reference: 'salaries',
      status: 'completed',
      amount: '10.00',
      fee_amount: '0.10',
      currency: 'usd',
      receipt_mode: 'mobile_money',
      phone_number: msisdn,
      occurrence: 1,
      scheduled_date: null,
      completed_at: new Date(done.completed_at ?? 0).toISOString(),
    });
    await expectPayoutBooksAgree(world, payer);
  });

  test.each([
    ['02', 'payee_unknown'],
    ['03', 'payee_blocked'],
  ])('%s fails as %s, and the funds come back', async (ending, reason) => {
    const payer = await openPayer(world, 100_00n);
    const msisdn = numberEnding(ending);
    const [line] = await commitBatch(world, payer, [{ msisdn }]);
    expect(await untilLine(world, line, 'failed')).toMatchObject({ reason, reserved_at: null });
    expect((await payoutHooks(world, line)).map(({ body }) => body.status)).toEqual(['failed']);
    expect(await availableOf(world, payer)).toBe(100_00n);
    expect(creditsOf(world, msisdn)).toEqual([]);
    await expectPayoutBooksAgree(world, payer);
  });

  test('04 stays processing until it is decided; an operator may decide it', async () => {
    const payer = await openPayer(world);
    const [line] = await commitBatch(world, payer, [{ msisdn: numberEnding('04') }]);
    await untilSent(world, line);
    await world.gateway.dispatcher.idle();
    await world.pass(60_000);
    await world.pass(5 * 60_000, 12);
    expect((await lineNow(world, line)).status).toBe('processing');
    expect(await payoutHooks(world, line)).toEqual([]);
    await expectPayoutBooksAgree(world, payer);
  });

  test('false callbacks about a line change nothing: the carrier is asked, and has not decided', async () => {
    const payer = await openPayer(world, 100_00n);
    const msisdn = numberEnding('04');
    const [line] = await commitBatch(world, payer, [{ msisdn }]);
    await untilSent(world, line);
    await world.gateway.dispatcher.idle();
    const { attempt_id: id } = await lineNow(world, line);
    const attempt = await world.gateway.store.attempt.get(line.shard, id ?? '');
    if (attempt === undefined) throw new Error('nothing was sent');
    const url = callbackUrl(world.gateway.deps, attempt);
    const sent = { externalId: attempt.reference, amount: '10.00', currency: 'USD', financialTransactionId: '1' };
    for (const status of ['SUCCESSFUL', 'FAILED', 'PENDING', { toString: 1 }, 'S'.repeat(200_000)])
      for (const method of ['PUT', 'POST'] as const) expect(await callBack(url, { ...sent, status }, method)).toBe(200);
    expect(await lineNow(world, line)).toMatchObject({ status: 'processing', attempt_id: id, late_attempt_id: null });
    expect(await payoutHooks(world, line)).toEqual([]);
    expect(creditsOf(world, msisdn)).toEqual([]);
    await expectPayoutBooksAgree(world, payer);
  });

  test('an answer that is lost, and no callback: inquired about, never sent again, and paid once', async () => {
    const payer = await openPayer(world);
    world.sandbox.faults.set('mtn', { lose_callback_rate: 1, answer_lost_rate: 1 });
    const msisdn = numberEnding('01');
    const [line] = await commitBatch(world, payer, [{ msisdn }]);
    await untilSent(world, line);
    const attempt = await untilLater(world, async () => {
      const { attempt_id: id } = await lineNow(world, line);
      const found = id === null ? undefined : await world.gateway.store.attempt.get(line.shard, id);
      return found?.status === 'unknown' ? found : undefined;
    });
    world.sandbox.faults.clear();
    const done = await untilLine(world, line, 'completed');
    expect(done).toMatchObject({ tries: 1, attempt_id: attempt.id });
    expect(creditsOf(world, msisdn)).toMatchObject([{ times: 1 }]);
    await expectPayoutBooksAgree(world, payer);
  });

  test('06 is down: the line waits in pending, longer each time, its funds reserved', async () => {
    const payer = await openPayer(world, 100_00n);
    const [line] = await commitBatch(world, payer, [{ msisdn: numberEnding('06') }, { msisdn: numberEnding('01') }]);
    const waits = await untilLater(world, async () => {
      const now = await lineNow(world, line);
      return now.tries >= 3 && now.status === 'pending' ? now : undefined;
    });
    expect(waits).toMatchObject({ reason: 'not_sent', completed_at: null });
    expect(await timelineOf(payer, line)).toMatchObject([{ status: 'pending', reason: 'not_sent' }]);
    expect(waits.next_start_at).toBeGreaterThan(world.clock.now() + 20_000);
    expect(await availableOf(world, payer)).toBe(79_80n);
    const attempts = await rowsOf(world, 'select status, purpose from attempt where payment_id = $1', [line.id]);
    expect(attempts).toEqual(Array(3).fill({ status: 'not_sent', purpose: 'payout' }));
    await expectPayoutBooksAgree(world, payer);
  });
});

describe('a carrier that is down', () => {
  test('gets its lines when it is back, each once; wallets do not wait', async () => {
    const payer = await openPayer(world);
    world.sandbox.faults.set('mtn', { refuse_rate: 1 });
    const numbers = Array.from({ length: 60 }, () => numberEnding('01'));
    const lines = await commitBatch(
      world,
      payer,
      numbers.map((msisdn) => ({ msisdn })),
    );
    await world.pass(1_000);
    await world.pass(5_000, 12);
    expect(new Set(await statusesOf(lines))).toEqual(new Set(['pending']));
    const wallet = await world.wallet({ balance: 0n });
    const [toWallet] = await commitBatch(world, payer, [{ wallet: wallet.number }]);
    expect((await untilLine(world, toWallet, 'completed', 0)).tries).toBe(1);
    await world.pass(5_000, 12);
    const written = await rowsOf<{ count: number }>(world, `select count(*)::int from attempt where merchant_id = $1`, [
      payer.merchant.id,
    ]);
    // Far fewer attempts than seconds times lines: one call at a time finds out that it is still down.
    expect(written[0]?.count).toBeLessThan(150);
    world.sandbox.faults.clear();
    await untilLater(world, async () => {
      const statuses = await statusesOf(lines);
      return statuses.every((status) => status === 'completed') ? true : undefined;
    });
    for (const msisdn of numbers) expect(creditsOf(world, msisdn)).toMatchObject([{ times: 1 }]);
    await expectPayoutBooksAgree(world, payer);
  });

  test('gets everything with the first line that is due again, however long it was down', async () => {
    const payer = await openPayer(world);
    world.sandbox.faults.set('mtn', { refuse_rate: 1 });
    const lines = await commitBatch(
      world,
      payer,
      Array.from({ length: 30 }, () => ({ msisdn: numberEnding('01') })),
    );
    await world.pass(60_000, 20);
    world.sandbox.faults.clear();
    const back = world.clock.now();
    await untilLater(world, async () =>
      (await statusesOf(lines)).every((status) => status === 'completed') ? true : undefined,
    );
    expect(world.clock.now() - back).toBeLessThan(5 * 60_000 + 20_000);
  });
});

const statusesOf = async (lines: readonly PayoutLine[]): Promise<string[]> =>
  (await Promise.all(lines.map((line) => lineNow(world, line)))).map(({ status }) => status);

describe('wallets', () => {
  test('are credited at once, wallet and flash alike', async () => {
    const payer = await openPayer(world, 100_00n);
    for (const kind of ['wallet', 'flash'] as const) {
      const { number } = await world.wallet({ kind, balance: 1_00n });
      const [line] = await commitBatch(world, payer, [{ wallet: number }]);
      expect(await untilLine(world, line, 'completed', 0)).toMatchObject({ tries: 1, attempt_id: null });
      expect(await timelineOf(payer, line)).toMatchObject([{ status: 'pending' }, { status: 'completed' }]);
      const account = await world.gateway.store.account.get(Number(number.slice(4, 6)), number);
      expect(account?.balance).toBe(11_00n);
      expect((await payoutHooks(world, line)).map(({ body }) => body)).toMatchObject([
        { status: 'completed', wallet_number: number },
      ]);
    }
    expect(await availableOf(world, payer)).toBe(79_80n);
    await expectPayoutBooksAgree(world, payer);
  });

  test('that do not exist, or have another currency, fail alone, and the funds come back', async () => {
    const payer = await openPayer(world, 100_00n);
    const francs = await world.wallet({ currency: 'cdf', balance: 0n });
    const good = await world.wallet({ balance: 0n });
    const unknown = makeWalletNumber(Number(good.number.slice(4, 6)), 0);
    const lines = await commitBatch(world, payer, [
      { wallet: unknown },
      { wallet: francs.number },
      { wallet: good.number },
    ]);
    const ends = await Promise.all(
      lines.map((line, at) => untilLine(world, line, at === 2 ? 'completed' : 'failed', 0)),
    );
    expect(ends.map(({ reason }) => reason)).toEqual(['wallet_unknown', 'wallet_currency', null]);
    expect(await availableOf(world, payer)).toBe(89_90n);
    await expectPayoutBooksAgree(world, payer);
  });

  test('that do not exist, or have another currency, of a dated occurrence: nothing was reserved, and nothing comes back', async () => {
    const payer = await openPayer(world, 100_00n);
    await commitBatch(world, payer, [{ msisdn: numberEnding('01') }], { nextStartAt: null });
    const { number: francs } = await world.wallet({ currency: 'cdf', balance: 0n });
    const unknown = makeWalletNumber(Number(francs.slice(4, 6)), 1);
    const lines = await commitBatch(world, payer, [{ wallet: unknown }, { wallet: francs }], { unreserved: true });
    const ends = await Promise.all(lines.map((line) => untilLine(world, line, 'failed', 0)));
    expect(ends.map(({ reason }) => reason)).toEqual(['wallet_unknown', 'wallet_currency']);
    // What the line to the phone costs is still reserved.
    expect(await availableOf(world, payer)).toBe(89_90n);
    expect((await world.gateway.store.auditAll()).findings).toEqual([]);
  });

  test('of a dated occurrence: reserved and paid in one step', async () => {
    const payer = await openPayer(world, 15_00n);
    const { number } = await world.wallet({ balance: 0n });
    const lines = await commitBatch(world, payer, [{ wallet: number }, { wallet: number }], { unreserved: true });
    const ends = await Promise.all(lines.map((line) => untilLine(world, line, undefined, 0)));
    expect(ends.map(({ status, reason }) => [status, reason])).toContainEqual(['completed', null]);
    expect(ends.map(({ status, reason }) => [status, reason])).toContainEqual(['failed', 'merchant_funds_missing']);
    expect(await availableOf(world, payer)).toBe(4_90n);
    await expectPayoutBooksAgree(world, payer);
  });
});

describe('an occurrence', () => {
  test('without funds fails line by line, and sends the webhooks of that', async () => {
    const payer = await openPayer(world, 25_00n);
    const numbers = Array.from({ length: 4 }, () => numberEnding('01'));
    const lines = await commitBatch(
      world,
      payer,
      numbers.map((msisdn) => ({ msisdn })),
      { unreserved: true },
    );
    const ends = await Promise.all(lines.map((line) => untilLine(world, line)));
    expect(ends.map(({ status }) => status).toSorted()).toEqual(['completed', 'completed', 'failed', 'failed']);
    for (const line of ends.filter(({ status }) => status === 'failed')) {
      expect(line).toMatchObject({ reason: 'merchant_funds_missing', attempt_id: null });
      expect((await payoutHooks(world, line)).map(({ body }) => body.status)).toEqual(['failed']);
    }
    expect(await availableOf(world, payer)).toBe(4_80n);
    await expectPayoutBooksAgree(world, payer);
  });
});

test('a line of an occurrence is paid if the funds came, and are just enough, while it found too few', async () => {
  const payer = await openPayer(world, 10_00n);
  const msisdn = numberEnding('01');
  const [line] = await commitBatch(world, payer, [{ msisdn }], { unreserved: true, nextStartAt: null });
  const { deps } = world.gateway;
  const commit: typeof deps.store.commit = async (change) => {
    const outcome = await deps.store.commit(change);
    if (outcome === 'lost') await creditBalance(deps, payer.merchant.id, 'usd', 10n);
    return outcome;
  };
  await startLine({ ...deps, store: { ...deps.store, commit } }, line, payer.merchant);
  await untilLine(world, line, 'completed');
  expect(creditsOf(world, msisdn)).toMatchObject([{ times: 1 }]);
  expect(await availableOf(world, payer)).toBe(0n);
  await expectPayoutBooksAgree(world, payer);
});

test('lines of a suspended merchant wait until it is reactivated', async () => {
  const payer = await openPayer(world);
  await setMerchantStatus(world.gateway.deps, payer.merchant.id, 'SUSPENDED');
  const msisdn = numberEnding('01');
  const [line] = await commitBatch(world, payer, [{ msisdn }]);
  await world.pass(40_000, 5);
  // However many there are, they are not claimed again and again.
  expect(await lineNow(world, line)).toMatchObject({ status: 'pending', tries: 0, attempt_id: null, version: 1 });
  await setMerchantStatus(world.gateway.deps, payer.merchant.id, 'ALLOWED');
  await untilLine(world, line, 'completed', 10_000);
  expect(creditsOf(world, msisdn)).toMatchObject([{ times: 1 }]);
});

test('a suspension is noticed although the clock was set back by an hour', async () => {
  const payer = await openPayer(world);
  const [first] = await commitBatch(world, payer, [{ msisdn: numberEnding('01') }]);
  await untilLine(world, first, 'completed', 10_000);
  await setMerchantStatus(world.gateway.deps, payer.merchant.id, 'SUSPENDED');
  world.clock.setBack(3_600_000);
  const msisdn = numberEnding('01');
  const [line] = await commitBatch(world, payer, [{ msisdn }]);
  await world.gateway.dispatcher.idle();
  expect(await lineNow(world, line)).toMatchObject({ status: 'pending', attempt_id: null });
  await setMerchantStatus(world.gateway.deps, payer.merchant.id, 'ALLOWED');
  await untilLine(world, line, 'completed', 10_000);
  expect(creditsOf(world, msisdn)).toMatchObject([{ times: 1 }]);
});
