/**
 * What every measurement stands on: one PostgreSQL with databases of this run, a carrier that answers at once, and the
 * gateway as it is built.
 *
 * Invariant: candidates that are compared share the server and the carrier, and each has a database of its own.
 */

import pg from 'pg';
import { freePort, type Measured, openDatabase, type Started, start } from './worlds.ts';

export interface Stage {
  /** `http://` origins. */
  readonly gatewayUrl: string;
  readonly carrierUrl: string;
  /** Of the gateway, and of the command line beside it. */
  readonly gatewayEnv: Readonly<Record<string, string>>;
  /** The processes whose time is measured. */
  readonly pids: Measured;
  /** Where the gateway keeps its rows. */
  readonly databaseUrl: string;
  /** Makes an empty database on the same server. */
  database(name: string): Promise<string>;
  close(): Promise<void>;
}

export async function openStage(): Promise<Stage> {
  const server = await openDatabase();
  const [gatewayPort, sandboxPort] = [await freePort(), await freePort()];
  const databaseUrl = await databaseNamed(server.url, 'bench_gateway');
  const carrierUrl = `http://127.0.0.1:${sandboxPort}`;
  const carrier = await start('../sandbox/main.js', [], { SANDBOX_PORT: String(sandboxPort), SANDBOX_SEED: 'bench' });
  await fetch(`${carrierUrl}/control/settings`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ auto_approve_ms: 0 }),
  });
  const gatewayUrl = `http://127.0.0.1:${gatewayPort}`;
  const gatewayEnv = {
    DATABASE_URL: databaseUrl,
    DATA_DIR: `${process.env.TMPDIR ?? '/tmp'}/mbongo-bench-${process.pid}`,
    PORT: String(gatewayPort),
    SANDBOX_PORT: String(sandboxPort),
    PUBLIC_URL: gatewayUrl,
    RATE_LIMIT_SCALE: '0',
    LOG_LEVEL: 'warn',
  };
  const gateway: Started = await start('../src/main.js', ['serve', '--role', 'all'], gatewayEnv);
  return {
    gatewayUrl,
    carrierUrl,
    gatewayEnv,
    pids: { server: gateway.pid, postgres: await postgresPid(databaseUrl), carrier: carrier.pid },
    databaseUrl,
    database: (name) => databaseNamed(server.url, name),
    close: async () => {
      await Promise.all([gateway.stop(), carrier.stop()]);
      await server.close();
    },
  };
}

/** The process of a connection, from which the rest of the server is found. */
async function postgresPid(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ pid: number }>(
      `select pid from pg_stat_activity where backend_type = 'checkpointer'`,
    );
    return rows[0]?.pid ?? 0;
  } finally {
    await client.end();
  }
}

async function databaseNamed(url: string, name: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`drop database if exists ${name}`);
    await client.query(`create database ${name}`);
  } finally {
    await client.end();
  }
  const target = new URL(url);
  target.pathname = `/${name}`;
  return target.href;
}
