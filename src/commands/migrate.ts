/**
 * `mbongo migrate`: brings the database to this version's schema, for deployments that do so before they start the gateway.
 */

import { readConfig } from '../config.ts';
import { createLog } from '../platform/log.ts';
import { migrate } from '../store/migrate.ts';
import { usingDatabaseUrl } from './database-url.ts';
import type { Output, Surroundings } from './output.ts';
import { openDatabase } from './world.ts';

export async function migrateDatabase(around: Surroundings): Promise<Output> {
  const log = createLog({ level: 'warn', destination: { write: around.writeError } });
  const config = readConfig(around.env);
  const database = await openDatabase(config, log, 'output');
  try {
    const applied = await usingDatabaseUrl(config.databaseUrl, () => migrate(database.url));
    const lines = applied.length === 0 ? ['The schema is up to date.'] : applied.map((name) => `applied ${name}`);
    return { document: { applied }, lines };
  } finally {
    await database.close();
  }
}
