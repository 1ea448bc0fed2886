/**
 * A desk where money leaves late: a carrier that takes back its answer, payers, and an operator's command line.
 */

import { expect } from 'vitest';
import type { LateTarget } from '../../src/domain/late-money.ts';
import type { PayoutLine } from '../../src/domain/outgoing-records.ts';
import type { Attempt } from '../../src/domain/records.ts';
import { bookLateMoney, type LateRows } from '../../src/usecases/attempt-book.ts';
import { callbackUrl } from '../../src/usecases/callback-url.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { type CommandLine, openCommandLine } from './command-line.ts';
import { bearerOf, numberEnding } from './flows.ts';
import { bookedTo } from './late-verdict.ts';
import { commitBatch, lineNow } from './payout-lines.ts';
import { callBack } from './phone-payments.ts';
import { rowsOf } from './rows.ts';
import { until } from './waiting.ts';
import { openWaveringCarrier, type Said, TURNED_AWAY, type WaveringCarrier } from './wavering-carrier.ts';
import { type Answer, openWorld, WORLD_MASTER_KEY, type World } from './world.ts';

/** A line that its carrier refused, and its attempt. */
export interface FailedLine {
  readonly line: PayoutLine;
  readonly attempt: Attempt;
}

export interface OutDesk {
  readonly carrier: WaveringCarrier;
  readonly world: World;
  readonly cli: CommandLine;
  book(attempt: Pick<Attempt, 'id'>, to: LateTarget): Promise<LateRows>;
  /** The carrier calls back, and answers `said` to inquiries. */
  hearOf(attempt: Attempt, said: Said): Promise<void>;
  attemptsOf(order: string): Promise<Attempt[]>;
  /** The last attempt of an order, once it has that status. */
  lastAttempt(order: string, status: Attempt['status']): Promise<Attempt>;
  failed(payer: MerchantCreated): Promise<FailedLine>;
  /** A line that its carrier first refused and then paid. */
  paidLate(payer: MerchantCreated): Promise<FailedLine>;
  /** A line whose first attempt, `one`, was refused by its carrier; the carrier now has the second, `two`. */
  attemptedTwice(
    payer: MerchantCreated,
  ): Promise<{ readonly line: PayoutLine; readonly one: Attempt; readonly two: Attempt }>;
  /** Pays the failed lines of a batch again: those that are named, or all. */
  retry(of: MerchantCreated, batchId: string, transaction_ids?: readonly string[]): Promise<Answer>;
  /** The line that pays a failed one again. */
  retried(payer: MerchantCreated, line: PayoutLine): Promise<PayoutLine>;
  /** How much each account's balance changes while `act` runs. */
  movedBy(payer: MerchantCreated, act: () => Promise<unknown>): Promise<Record<string, bigint>>;
  passMinutes(count: number): Promise<void>;
  /** The ids of the attempts that wait to be booked. */
  listed(): Promise<string[]>;
  expectSoundBooks(): Promise<void>;
  close(): Promise<void>;
}

export async function openOutDesk(): Promise<OutDesk> {
  const carrier = await openWaveringCarrier();
  const world = await openWorld({ env: { MTN_MOMO_BASE_URL: carrier.url, RATE_LIMIT_SCALE: '0' } });
  const cli = await openCommandLine(world.databaseUrl, WORLD_MASTER_KEY);

  const hearOf: OutDesk['hearOf'] = async (attempt, said) => {
    carrier.say(attempt.reference, said);
    expect(await callBack(callbackUrl(world.gateway.deps, attempt), {})).toBe(200);
  };
  const attemptsOf: OutDesk['attemptsOf'] = (order) =>
    rowsOf(world, 'select * from attempt where payment_id = $1 order by created_at, id', [order]);
  const lastAttempt: OutDesk['lastAttempt'] = (order, status) =>
    until(async () => {
      const last = (await attemptsOf(order)).at(-1);
      return last?.status === status ? last : undefined;
    });
  const failed: OutDesk['failed'] = async (payer) => {
    const [line] = await commitBatch(world, payer, [{ msisdn: numberEnding('42') }]);
    const attempt = await lastAttempt(line.id, 'waiting');
    await hearOf(attempt, 'FAILED');
    expect((await lineNow(world, line)).status).toBe('failed');
    return { line, attempt };
  };
  const passMinutes: OutDesk['passMinutes'] = (count) => world.pass(60_000, count);
  const retry: OutDesk['retry'] = (of, batchId, transaction_ids) =>
    world.call('POST', `/internal/payouts/${batchId}/retry`, { bearer: bearerOf(of), body: { transaction_ids } });
  const balancesOf = ({ merchant }: MerchantCreated) => {
    const accounts = {
      available: `${merchant.id}:available:usd`,
      reserved: `${merchant.id}:reserved:usd`,
      fees: 'fees:usd',
      suspense: 'suspense:usd',
      transit: 'transit:mtn-momo-disbursement:usd',
    };
    const { account } = world.gateway.store;
    const balanceOf = async (id: string) => (await account.get(merchant.shard, id))?.balance ?? 0n;
    return Promise.all(Object.entries(accounts).map(async ([name, id]) => [name, await balanceOf(id)] as const));
  };

  return {
    carrier,
    world,
    cli,
    book: ({ id }, to) => bookLateMoney(world.gateway.deps, id, bookedTo(to, id, 'they wrote')),
    hearOf,
    attemptsOf,
    lastAttempt,
    failed,
    async paidLate(payer) {
      const scene = await failed(payer);
      await hearOf(scene.attempt, 'SUCCESSFUL');
      return scene;
    },
    async attemptedTwice(payer) {
      carrier.answer(TURNED_AWAY);
      const [line] = await commitBatch(world, payer, [{ msisdn: numberEnding('42') }]);
      const one = await lastAttempt(line.id, 'not_sent');
      await passMinutes(2);
      return { line, one, two: await lastAttempt(line.id, 'waiting') };
    },
    retry,
    async retried(payer, { batch_id }) {
      const answer = await retry(payer, batch_id);
      expect(answer.status, answer.text).toBe(200);
      return lineNow(world, { shard: payer.merchant.shard, id: answer.json.beneficiaries[0].transaction_id });
    },
    async movedBy(payer, act) {
      const before = new Map(await balancesOf(payer));
      await act();
      const moved = (await balancesOf(payer)).map(([name, minor]) => [name, minor - (before.get(name) ?? 0n)] as const);
      return Object.fromEntries(moved.filter(([, minor]) => minor !== 0n));
    },
    passMinutes,
    async listed() {
      const { attempts } = await cli.json('attempt list --late');
      return (attempts as { attempt_id: string }[]).map(({ attempt_id }) => attempt_id);
    },
    async expectSoundBooks() {
      expect((await world.gateway.store.auditAll()).findings).toEqual([]);
      expect((await world.gateway.store.suspenseSums({})).differences).toEqual([]);
    },
    async close() {
      await cli.close();
      await world.close();
      await carrier.close();
    },
  };
}
