/**
 * Ways in which one of our PostgreSQL servers dies or cuts its connections under a gateway that uses it.
 *
 * Invariant: the process that opened the server starts it again; no other server is touched.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { openEmbeddedDatabase } from '../../src/platform/embedded-database.ts';
import type { Random } from '../../src/platform/platform.ts';
import { databasePlace } from './database-place.ts';

/** Strikes once; `missed` if there was nothing to end. */
type DatabaseFault = () => Promise<'met' | 'missed'>;

const MAX_AWAY_MS = 120_000;
/** 100 ms before a server that is starting is tried again. */
const LOOK_AGAIN_MS = 100;
const OURS = "from pg_stat_activity where application_name like 'mbongo %' and application_name <> 'mbongo presence'";

/** A server of this test's own. */
export interface StruckDatabase {
  readonly url: string;
  /** In this order: kill -9 of the server, kill -9 of one of its backends, all connections cut. */
  faults(random: Random): readonly DatabaseFault[];
  /** For whoever is its last user: the server stops, and its files go. */
  close(): Promise<void>;
}

export async function openStruckDatabase(): Promise<StruckDatabase> {
  const dataDir = mkdtempSync(join(databasePlace(), 'mbongo-test-'));
  const { url, close } = await openEmbeddedDatabase({
    dataDir,
    log: { making: () => undefined, warn: () => undefined },
  });
  return {
    url,
    faults: (random) => faultsOf(dataDir, url, random),
    close: async () => {
      await close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

function faultsOf(dataDir: string, url: string, random: Random): readonly DatabaseFault[] {
  const killServer: DatabaseFault = async () => {
    const postmaster = readFileSync(join(dataDir, 'postgres/data/postmaster.pid'), 'utf8');
    return isKilled(Number.parseInt(postmaster, 10)) ? 'met' : 'missed';
  };
  const killBackend: DatabaseFault = async () => {
    const backends = await query(url, `select pid ${OURS} order by pid`);
    const unlucky = backends[random.below(Math.max(1, backends.length))];
    if (unlucky === undefined) return 'missed';
    return isKilled(unlucky.pid) ? 'met' : 'missed';
  };
  const cutAll: DatabaseFault = async () => {
    const cut = await query(url, `select pg_terminate_backend(pid)::int as pid ${OURS}`);
    return cut.length > 0 ? 'met' : 'missed';
  };
  return [killServer, killBackend, cutAll];
}

/** Kills the process; false if it was no longer running. */
function isKilled(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (codeOf(error) === 'ESRCH') return false;
    throw error;
  }
}

/** Repeats a query until it is answered: the last fault may not be over. */
async function query(url: string, text: string): Promise<readonly { pid: number }[]> {
  const late = performance.now() + MAX_AWAY_MS;
  for (;;) {
    try {
      return await queryOnce(url, text);
    } catch (error) {
      if (!isAway(error) || performance.now() > late) throw error;
      await pause(LOOK_AGAIN_MS);
    }
  }
}

/** Whether the connection failed rather than the query: no SQLSTATE at all, or class 08 or 57 (PostgreSQL, appendix A). */
function isAway(error: unknown): boolean {
  const code = codeOf(error) ?? '';
  return !/^[0-9A-Z]{5}$/.test(code) || code.startsWith('08') || code.startsWith('57');
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

async function queryOnce(url: string, text: string): Promise<readonly { pid: number }[]> {
  const client = new pg.Client({ connectionString: url });
  // The server may die while we are connected: that is the point.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<{ pid: number }>(text)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}
