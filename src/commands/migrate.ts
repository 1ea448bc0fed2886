/**
 * `mbongo migrate`: brings the database to this version's schema, for deployments that do so before they start the gateway.
 */

import { readDatabaseConfig } from '../config.ts';
import { createLog } from '../platform/log.ts';
import { migrate } from '../store/migrate.ts';
import { usingDatabaseUrl } from './database-url.ts';
import type { Io, Output } from './output.ts';
import { openDatabase } from './world.ts';

/**
 * Applies the migrations that the database lacks: `{applied}`, their names; empty if there were none.
 *
 * @throws ConfigError; Error that names DATABASE_URL or DATA_DIR when the database cannot be used.
 */
export async function migrateDatabase(io: Io): Promise<Output> {
  const log = createLog({ level: 'warn', destination: { write: io.writeError } });
  const config = readDatabaseConfig(io.env);
  const database = await openDatabase(config, log, 'output');
  try {
    const applied = await usingDatabaseUrl(config.databaseUrl, () => migrate(database.url));
    const lines = applied.length === 0 ? ['The schema is up to date.'] : applied.map((name) => `applied ${name}`);
    return { document: { applied }, lines };
  } finally {
    await database.close();
  }
}
