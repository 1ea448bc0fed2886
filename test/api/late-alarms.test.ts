/**
 * Money that comes after its payment has ended: a person is called, once, and can see it until it is booked.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LateTarget } from '../../src/domain/late-money.ts';
import type { Attempt, AttemptPurpose } from '../../src/domain/records.ts';
import { CommitUnknown, StoreUnavailable } from '../../src/store/errors.ts';
import { bookLateMoney } from '../../src/usecases/attempt-book.ts';
import { inquireAttempt } from '../../src/usecases/attempt-inquire.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import type { CommandLine } from '../support/command-line.ts';
import type { FickleCarrier } from '../support/fickle-carrier.ts';
import { collect, numberEnding, payByPhone, payFromWallet } from '../support/flows.ts';
import { type LateDesk, openLateDesk } from '../support/late-desk.ts';
import { bookedTo } from '../support/late-verdict.ts';
import { attemptOf, callBack } from '../support/phone-payments.ts';
import { rowsOf } from '../support/rows.ts';
import type { World } from '../support/world.ts';

let late: LateDesk;
let carrier: FickleCarrier;
let world: World;
let merchant: MerchantCreated;
let cli: CommandLine;

beforeAll(async () => {
  late = await openLateDesk();
  ({ carrier, world, merchant, cli } = late);
});
afterAll(() => late.close());

const book = (id: string, to: LateTarget) => bookLateMoney(world.gateway.deps, id, bookedTo(to, id));

const page = async (): Promise<string> => (await fetch(`${world.url}/metrics`)).text();

/** The alarm counters by kind, of attempts for that purpose. */
async function alarms(purpose: AttemptPurpose = 'payment'): Promise<Record<string, number>> {
  const samples = (await page()).matchAll(/^mbongo_attempt_alarms_total\{alarm="(\w+)",purpose="(\w+)"\} (\d+)$/gm);
  const own = [...samples].filter(([, , found]) => found === purpose);
  return Object.fromEntries(own.map(([, alarm = '', , count]) => [alarm, Number(count)]));
}

test('every kind of alarm is counted, from 0 on', async () => {
  const none = { late_success: 0, late_acceptance: 0, contradiction: 0, overdue: 0 };
  for (const purpose of ['payment', 'payout', 'refund'] as const) expect(await alarms(purpose)).toEqual(none);
  await late.paidLate();
  expect(await alarms()).toEqual({ ...none, late_success: 1 });
  expect(await alarms('payout')).toEqual(none);
});

describe('a person is called once', () => {
  /** Inquires about the newest order; the first commit is carried out or not, and then ends in `fault`. */
  async function askWhile(attempt: Attempt, fault: Error, isWritten: boolean): Promise<void> {
    const { deps } = world.gateway;
    let isFirst = true;
    const commit: typeof deps.store.commit = async (change) => {
      const outcome = isFirst && !isWritten ? 'lost' : await deps.store.commit(change);
      if (!isFirst) return outcome;
      isFirst = false;
      throw fault;
    };
    const asked = inquireAttempt({ ...deps, store: { ...deps.store, commit } }, attempt);
    await expect(asked).rejects.toBe(fault);
  }

  test.each([
    ['was written, and nobody heard of it', new CommitUnknown(), true],
    ['could not be written the first time', new StoreUnavailable(), false],
  ] as const)('if it %s', async (_name, fault, isWritten) => {
    const paying = await late.submitted();
    carrier.say('FAILED');
    expect(await callBack(carrier.callbackUrl(), {})).toBe(200);
    carrier.say('SUCCESSFUL');
    const before = (await alarms()).late_success ?? 0;
    await askWhile(await attemptOf(world, paying), fault, isWritten);
    expect(await callBack(carrier.callbackUrl(), {})).toBe(200);
    await world.pass(16 * 60_000);
    expect(await attemptOf(world, paying)).toMatchObject({ status: 'approved', reason: 'late_success' });
    expect((await alarms()).late_success).toBe(before + 1);
  });
});

/** How much late money waits, and for how long: read now, not a cached page. */
async function waitingNow(): Promise<{ readonly count: number; readonly seconds: number }> {
  await world.clock.advance(6_000);
  const text = await page();
  const numberOf = (name: string): number => {
    const sample = new RegExp(`^mbongo_late_money_${name}\\{way="in"\\} (.+)$`, 'm').exec(text);
    if (sample === null) throw new Error(`${name} is not told`);
    return Number(sample[1]);
  };
  return { count: numberOf('waiting'), seconds: numberOf('oldest_waiting_seconds') };
}

describe('late money is shown at every process until it is booked', () => {
  test('with its age', async () => {
    for (const { id } of await world.gateway.store.suspense({ limit: 100 })) await book(id, 'payer');
    expect(await waitingNow()).toEqual({ count: 0, seconds: 0 });
    const { attempt } = await late.paidLate();
    await world.clock.advance(60_000);
    await late.paidLate();
    const { count, seconds } = await waitingNow();
    expect(count).toBe(2);
    expect(seconds).toBeGreaterThanOrEqual(66);
    await book(attempt.id, 'payer');
    const left = await waitingNow();
    expect(left.count).toBe(1);
    expect(left.seconds).toBeLessThan(60);
  });

  test('even if an operator has reported it in a process of their own', async () => {
    const paying = await collect(world, merchant);
    carrier.holdNext().answer({ status: 429, body: '' });
    await payByPhone(world, paying, numberEnding('42'));
    expect((await payFromWallet(world, paying, await world.wallet())).json.status).toBe('approved');
    carrier.say('PENDING');
    expect(await callBack(carrier.callbackUrl(), {})).toBe(200);
    const [attempt] = await rowsOf<{ id: string }>(
      world,
      "select id from attempt where payment_id = $1 and method = 'mobile_money' and status = 'waiting'",
      [paying.transaction_id],
    );
    const id = attempt?.id ?? '';
    const before = await waitingNow();
    const words = ['attempt', 'settle', id, '--paid', '--provider-reference', '48213', '--why', 'they wrote', '--yes'];
    expect(await cli.run(words)).toMatchObject({ status: 0 });
    expect((await waitingNow()).count).toBe(before.count + 1);
    await book(id, 'payer');
    expect((await waitingNow()).count).toBe(before.count);
  });
});
