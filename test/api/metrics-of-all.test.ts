/** The metrics of all processes together, while the database does not answer. */

import pg from 'pg';
import { expect, test } from 'vitest';
import type { Member } from '../../src/commands/supervise-member.ts';
import { collectMetrics, type MetricsOfAll } from '../../src/commands/supervise-metrics.ts';
import { openMetrics } from '../../src/platform/metrics.ts';
import { manualClock } from '../../src/platform/testing/manual-clock.ts';
import { memoryLog } from '../../src/platform/testing/memory-log.ts';
import { openStore } from '../../src/store/store.ts';
import { openHolds } from '../../src/usecases/holds.ts';
import { databaseMetrics } from '../../src/watch/database-metrics.ts';
import { createTestDatabase } from '../support/database.ts';

test('a process that waits for the database in vain is on the page, and reports it as unreachable', async () => {
  const database = await createTestDatabase();
  const store = await openStore({ url: database.url });
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query('begin');
  await client.query('lock table attempt in access exclusive mode');
  try {
    const clock = manualClock(0);
    const metrics = openMetrics({ ofProcess: false });
    const log = memoryLog(clock);
    const refresh = databaseMetrics({ store, clock, log, holds: openHolds({ store, clock, log }, []) }, metrics);
    const page = await new Promise<string>((resolve) => {
      const metricsOfAll: MetricsOfAll = collectMetrics(clock, () => ({
        members: () => [member],
        restarts: new Map(),
        replaceAll: () => Promise.resolve(),
        stop: () => Promise.resolve(),
      }));
      const answer = async (ask: number): Promise<void> => {
        await refresh();
        metricsOfAll.heard(member, { type: 'numbers', ask, text: (await metrics.page()).body });
      };
      const member: Member = {
        slot: { name: 'api-1', role: 'api' },
        started: Promise.resolve({ url: undefined }),
        ended: Promise.resolve(),
        printed: Promise.resolve(),
        isConnected: () => true,
        tell: (message) => {
          if (message.type === 'numbers_wanted') void answer(message.ask);
          else if (message.type === 'numbers_of_all') resolve(message.text);
        },
        signal: () => undefined,
      };
      metricsOfAll.heard(member, { type: 'numbers_asked', ask: 1 });
      void clock.advance(2_000);
    });
    expect(page).toContain('mbongo_database_up{process="api-1"} 0');
  } finally {
    await client.query('rollback');
    await client.end();
    await store.close();
    await database.drop();
  }
});
