/**
 * Opens what every command needs: the configuration, the database, the ways to the outside world.
 *
 * Invariant: the database is at this version's schema when it is handed out, whether or not the gateway is running, and
 * belongs to this mode and master key; what was opened here is closed here.
 */

import { join, sep } from 'node:path';
import { type Config, type DatabaseConfig, readConfig } from '../config.ts';
import { bytesOfId, idOfBytes } from '../domain/ids.ts';
import { type ShiftableClock, shiftableClock, systemClock } from '../platform/clock.ts';
import { createLog, type LogLevel, type OpenLog } from '../platform/log.ts';
import { loadMasterKeys } from '../platform/master-key.ts';
import type { Clock, Log, Random, Secrets } from '../platform/platform.ts';
import { systemRandom } from '../platform/random.ts';
import { openSecrets } from '../platform/secrets.ts';
import type { Store } from '../store/store.ts';
import type { OperatorDeps } from '../usecases/deps.ts';
import { usingDatabaseUrl } from './database-url.ts';
import { type Io, messageOf } from './output.ts';
import { PROCESS_NAME } from './supervise-messages.ts';

/** What a command needs; `serve` adds the outbound network. */
export interface World {
  readonly config: Config;
  /** Holds a password: never logged. */
  readonly databaseUrl: string;
  readonly clock: Clock;
  /** `clock` as a sandbox has it, where it can be set forward; undefined in production. */
  readonly testClock: ShiftableClock | undefined;
  readonly random: Random;
  readonly secrets: Secrets;
  readonly log: OpenLog;
  /** For a command's own work. `serve` opens another, and closes this one. */
  readonly store: Store;
  close(): Promise<void>;
}

/**
 * Where the log goes. `output`: a service's, to standard output. `beside`: a service's, to standard error, because standard
 * output carries a JSON document. `errors`: a command's, only warnings and errors, to standard error.
 */
export type LogTo = 'output' | 'beside' | 'errors';

/**
 * Opens the world of a command, migrating the database if it is older than this program. `mayCreate`: whether an embedded database
 * may be made where there is none.
 *
 * @throws ConfigError; OperatorError when the database belongs to another mode or master key; Error that names DATABASE_URL or
 *   DATA_DIR when the database or the folder cannot be used.
 */
export async function openWorld(io: Io, logTo: LogTo, mayCreate = true): Promise<World> {
  const config = readConfig(io.env);
  if (!mayCreate) await requireDatabase(config);
  const log = openLog(io, logTo, config.logLevel);
  let database: OpenDatabase | undefined;
  let store: Store | undefined;
  const close = async (): Promise<void> => {
    await store?.close();
    await database?.close();
    await log.close();
  };
  try {
    database = await openDatabase(config, log, logTo);
    const { url } = database;
    const [{ migrate }, { openStore }] = await Promise.all([
      import('../store/migrate.ts'),
      import('../store/store.ts'),
    ]);
    const applied = await usingDatabaseUrl(config.databaseUrl, () => migrate(url));
    for (const name of applied) log.info('migration_applied', { name });
    const random = systemRandom();
    const { dataDir, masterKeys: configured, mode } = config;
    const masterKeys = await usingDataDir(dataDir, () =>
      loadMasterKeys({ configured, dataDir, mayCreate: mode === 'sandbox', random }),
    );
    const transactionIds = { bytesOf: bytesOfId, idOf: (bytes: Uint8Array) => idOfBytes('txn', bytes) };
    const secrets = openSecrets({ masterKeys, random, transactionIds });
    const testClock = config.mode === 'sandbox' ? shiftableClock() : undefined;
    const clock = testClock ?? systemClock();
    const opened = await usingDatabaseUrl(config.databaseUrl, async () => {
      store = await openStore({ url, brief: true });
      await claim({ clock, secrets, mode: config.mode, store }, testClock);
      return store;
    });
    return { config, databaseUrl: url, clock, testClock, random, secrets, log, store: opened, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Claims the database before anything else reads it: with another master key or in another mode it is not ours. The test clock
 * is set first, since what still needs an older key depends on the time.
 */
async function claim(
  deps: Pick<OperatorDeps, 'clock' | 'secrets' | 'mode' | 'store'>,
  testClock: ShiftableClock | undefined,
): Promise<void> {
  const [{ claimDatabase }, { readClockShift }] = await Promise.all([
    import('../usecases/database-claim.ts'),
    import('../usecases/clock-shift.ts'),
  ]);
  const shift = testClock && (await readClockShift(deps));
  if (shift !== undefined) testClock?.shiftTo(shift.shiftMs, shift.leaptAt);
  await claimDatabase(deps);
}

function openLog(io: Io, logTo: LogTo, level: LogLevel): OpenLog {
  const process = io.env[PROCESS_NAME];
  if (logTo !== 'errors') return createLog({ level, process, fd: logTo === 'output' ? 1 : 2 });
  // A command's own result says what happened; only warnings and errors are logged as well.
  return createLog({ level: level === 'silent' ? 'silent' : 'warn', destination: { write: io.writeError } });
}

interface OpenDatabase {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * The database of DATABASE_URL, or the embedded one of the data folder, started here unless its server is already running. A
 * command that creates one says so, because an operator in the wrong folder would take it for theirs.
 */
export async function openDatabase(config: DatabaseConfig, log: Log, logTo: LogTo): Promise<OpenDatabase> {
  if (config.databaseUrl !== undefined) return { url: config.databaseUrl, close: () => Promise.resolve() };
  const { openEmbeddedDatabase } = await import('../platform/embedded-database.ts');
  const { dataDir } = config;
  return usingDataDir(dataDir, () =>
    openEmbeddedDatabase({
      dataDir,
      log: {
        making: (message) => log[logTo === 'errors' ? 'warn' : 'info']('embedded_database', { message }),
        warn: (message) => log.warn('embedded_database', { message }),
      },
    }),
  );
}

/** @throws Error that names DATA_DIR when the database would be the embedded one, and there is none: nothing is made to find out. */
async function requireDatabase({ databaseUrl, dataDir }: DatabaseConfig): Promise<void> {
  if (databaseUrl !== undefined) return;
  const { findCluster } = await import('../platform/embedded-database-cluster.ts');
  if ((await usingDataDir(dataDir, async () => findCluster(dataDir))) !== undefined) return;
  const wayOut = "set DATA_DIR to the gateway's folder, or DATABASE_URL to its database";
  throw new Error(`there is no database in ${dataDir}: ${wayOut}`);
}

/** Runs work on the data folder; a system error about it, a folder above or a file in it is rethrown naming DATA_DIR. */
async function usingDataDir<V>(dataDir: string, run: () => Promise<V>): Promise<V> {
  try {
    return await run();
  } catch (error) {
    const path = error instanceof Error && 'path' in error ? error.path : undefined;
    const isOfFolder = typeof path === 'string' && (isWithin(path, dataDir) || isWithin(dataDir, path));
    throw isOfFolder ? new Error(`DATA_DIR cannot be used: ${messageOf(error)}`, { cause: error }) : error;
  }
}

/** Whether a path is that folder, or is in it. */
function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(join(folder, sep));
}
