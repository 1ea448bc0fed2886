/**
 * What use cases need, for tests: a fresh database, a clock that the test moves, real secrets and a real network
 * that reaches only this machine.
 */
import type pg from 'pg';
import { bytesOfId, idOfBytes } from '../../src/domain/ids.ts';
import { createOutbound } from '../../src/platform/outbound.ts';
import { systemRandom } from '../../src/platform/random.ts';
import { openSecrets } from '../../src/platform/secrets.ts';
import { type MemoryLog, memoryLog } from '../../src/platform/testing/memory-log.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import type { OperatorDeps } from '../../src/usecases/deps.ts';
import type { CourierDeps } from '../../src/usecases/webhook-deliver.ts';
import { createTestDatabase } from './database.ts';
import { type StillClock, stillClock } from './stillness.ts';

export const TEST_MASTER_KEY = Buffer.alloc(32, 1).toString('base64');

export type OperatorWorld = {
  databaseUrl: string;
  /** The test's own connections. */
  database: pg.Pool;
  store: Store;
  clock: StillClock;
  log: MemoryLog;
  deps: OperatorDeps & CourierDeps;
  close(): Promise<void>;
};

export async function openOperatorWorld(): Promise<OperatorWorld> {
  const database = await createTestDatabase();
  const store = await openStore({ url: database.url });
  const clock = stillClock(Date.now());
  const log = memoryLog(clock);
  const random = systemRandom();
  const secrets = openSecrets({
    masterKeys: [TEST_MASTER_KEY],
    random,
    transactionIds: { bytesOf: bytesOfId, idOf: (bytes) => idOfBytes('txn', bytes) },
  });
  const outbound = createOutbound({ allowLoopback: true, requireHttps: false });
  return {
    databaseUrl: database.url,
    database: database.pool,
    store,
    clock,
    log,
    deps: { store, clock, random, secrets, outbound, log, mode: 'sandbox' },
    async close() {
      await outbound.close();
      await store.close();
      await database.drop();
    },
  };
}
