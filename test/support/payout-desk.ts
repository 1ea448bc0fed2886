/**
 * What tests of the operator's payout commands share: a world, merchants with money, wallets that they pay, and a second
 * process's connection to the same database.
 *
 * Invariant: races run over two connections; which side is ahead depends on the number of queries, not on sleeping.
 */

import type { PayoutBatch } from '../../src/domain/outgoing-records.ts';
import type { ScheduleOrder } from '../../src/domain/schedule.ts';
import { openStore } from '../../src/store/store.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { setMerchant } from '../../src/usecases/merchant-set.ts';
import type { PayoutOperatorDeps } from '../../src/usecases/payout-operate.ts';
import { fund, linesNow } from './payout-batches.ts';
import { untilLater } from './waiting.ts';
import { openWorld, type World } from './world.ts';

export const DAY = 86_400_000;
/** The operator who decides, and the reason. */
export const SAY = { by: 'amina', why: 'a call with the merchant' };

export interface Desk {
  readonly world: World;
  /** Wallets that any merchant may pay. */
  readonly pool: readonly string[];
  /** A merchant with money, and three wallets that it pays; from `approvalFrom` on, an operator must approve. */
  payer(approvalFrom?: bigint, funds?: bigint): Promise<{ merchant: MerchantCreated; wallets: readonly string[] }>;
  /** A daily schedule, from tomorrow on. */
  daily(occurrences: number): ScheduleOrder;
  /** The statuses of an occurrence's lines, once all are final. */
  untilFinal(batch: PayoutBatch, occurrence?: number): Promise<string[]>;
  /** The dependencies of another process. */
  another(): PayoutOperatorDeps;
  /** Runs `work` after `pings` queries to the database, so that others get ahead. */
  afterPings<T>(pings: number, work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export async function openDesk(): Promise<Desk> {
  const world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
  const second = await openStore({ url: world.databaseUrl });
  const pool: string[] = [];
  while (pool.length < 20) pool.push((await world.wallet({ balance: 0n })).number);
  return {
    world,
    pool,
    async payer(approvalFrom, funds = 1_000_00n) {
      const merchant = await world.merchant();
      await fund(world, merchant, funds);
      if (approvalFrom !== undefined) {
        await setMerchant(world.gateway.deps, merchant.merchant.id, {
          payout_approval_from: new Map([['usd', approvalFrom]]),
        });
      }
      return { merchant, wallets: pool.slice(0, 3) };
    },
    daily: (occurrences) => ({
      sending_type: 'recurring',
      start: new Date(world.clock.now() + DAY).toISOString().slice(0, 10),
      frequency: 'daily',
      occurrences,
    }),
    untilFinal: (batch, occurrence = 1) =>
      untilLater(world, async () => {
        const lines = await linesNow(world, batch, occurrence);
        const isFinal = lines.length > 0 && lines.every(({ completed_at }) => completed_at !== null);
        return isFinal ? lines.map(({ status }) => status) : undefined;
      }),
    another: () => ({ ...world.gateway.deps, store: second }),
    async afterPings(pings, work) {
      for (let count = 0; count < pings; count += 1) await second.ping();
      return work();
    },
    async close() {
      await second.close();
      await world.close();
    },
  };
}
