/**
 * What every measurement builds on: one PostgreSQL with databases of this run, carriers that answer at once, and the
 * gateway as built.
 *
 * Invariant: compared candidates share the server, and each has its own database and carrier, because an audit
 * compares a carrier's book with one gateway's.
 */

import { rmSync } from 'node:fs';
import { NODE_FLAGS } from '../src/platform/node-flags.ts';
import { type Database, freePort, type Measured, openDatabase, start, whenStopped, withClient } from './worlds.ts';

/** A server that is measured: a gateway, or the naive server. */
export interface Candidate {
  /** `http://` origin. */
  readonly url: string;
  readonly carrierUrl: string;
  /** The database that holds its rows. */
  readonly databaseUrl: string;
  /** The environment of the candidate, and of the command line beside it. */
  readonly env: Readonly<Record<string, string>>;
  /** The processes whose CPU time is measured. */
  readonly pids: Measured;
  /** Milliseconds from its start until it answered. */
  readonly startedInMs: number;
  stop(): Promise<void>;
}

/** A server with databases of this run. */
export interface Ground {
  readonly server: Database;
  /** Creates a database on the server, empty or as a copy of another. */
  database(name: string, like?: string): Promise<string>;
  /** The present address of the database of that name: a restarted server may have another port. */
  urlOf(name: string): string;
  /** The environment of a gateway, or of the command line, on that database of the run. */
  envOf(databaseUrl: string): Readonly<Record<string, string>>;
  close(): Promise<void>;
}

export interface Stage {
  /** `http://` origins. */
  readonly gatewayUrl: string;
  readonly carrierUrl: string;
  /** The environment of the gateway, and of the command line beside it. */
  readonly gatewayEnv: Readonly<Record<string, string>>;
  /** The processes whose CPU time is measured. */
  readonly pids: Measured;
  /** The database that holds the gateway's rows. */
  readonly databaseUrl: string;
  /** Creates an empty database on the same server. */
  database(name: string): Promise<string>;
  close(): Promise<void>;
}

export async function openGround(): Promise<Ground> {
  const server = await openDatabase();
  const dataDir = `${process.env.TMPDIR ?? '/tmp'}/mbongo-bench-${process.pid}`;
  const forgetKey = async (): Promise<void> => rmSync(dataDir, { recursive: true, force: true });
  whenStopped(forgetKey);
  const urlOf = (name: string): string => {
    const target = new URL(server.url);
    target.pathname = `/${name}`;
    return target.href;
  };
  return {
    server,
    async database(name, like = 'template1') {
      await withClient(server.url, async (client) => {
        await client.query(`drop database if exists ${name}`);
        await client.query(`create database ${name} template ${like}`);
      });
      return urlOf(name);
    },
    urlOf,
    envOf: (databaseUrl) => ({
      DATABASE_URL: databaseUrl,
      DATA_DIR: dataDir,
      RATE_LIMIT_SCALE: '0',
      LOG_LEVEL: 'warn',
    }),
    close: async () => {
      await server.close();
      await forgetKey();
    },
  };
}

/** The gateway on a database of the run, and its carrier. */
export async function openGateway(ground: Ground, databaseUrl: string): Promise<Candidate> {
  const port = await freePort();
  const carrier = await openCarrier();
  const url = `http://127.0.0.1:${port}`;
  const env = { ...ground.envOf(databaseUrl), PORT: String(port), SANDBOX_PORT: carrier.port, PUBLIC_URL: url };
  const begun = performance.now();
  const gateway = await start('../src/main.js', ['serve', '--role', 'all'], env, NODE_FLAGS);
  const startedInMs = performance.now() - begun;
  const pids = { server: gateway.pid, postgres: await postgresPid(databaseUrl), carrier: carrier.pid };
  const stop = async (): Promise<void> => {
    await Promise.all([gateway.stop(), carrier.stop()]);
  };
  return { url, carrierUrl: carrier.url, databaseUrl, env, pids, startedInMs, stop };
}

/** The naive server on a database of the run, and its carrier. */
export async function openNaive(databaseUrl: string): Promise<Candidate> {
  const port = await freePort();
  const carrier = await openCarrier();
  const env = {
    DATABASE_URL: databaseUrl,
    NAIVE_PORT: String(port),
    CARRIER_URL: `${carrier.url}/mtn`,
    CARRIER_SUBSCRIPTION: 'sandbox-collection',
    CARRIER_USER: '5ba0d1c4-5f0e-4b3a-9d6e-7f0a1c2b3d4e',
    CARRIER_KEY: 'sandbox-api-key',
  };
  const begun = performance.now();
  const naive = await start('./naive.js', [], env);
  const startedInMs = performance.now() - begun;
  const pids = { server: naive.pid, postgres: await postgresPid(databaseUrl), carrier: carrier.pid };
  const stop = async (): Promise<void> => {
    await Promise.all([naive.stop(), carrier.stop()]);
  };
  const url = `http://127.0.0.1:${port}`;
  return { url, carrierUrl: carrier.url, databaseUrl, env, pids, startedInMs, stop };
}

/** A single gateway. */
export async function openStage(): Promise<Stage> {
  const ground = await openGround();
  const gateway = await openGateway(ground, await ground.database('bench_gateway'));
  return {
    gatewayUrl: gateway.url,
    carrierUrl: gateway.carrierUrl,
    gatewayEnv: gateway.env,
    pids: gateway.pids,
    databaseUrl: gateway.databaseUrl,
    database: (name) => ground.database(name),
    close: async () => {
      await gateway.stop();
      await ground.close();
    },
  };
}

async function openCarrier() {
  const port = String(await freePort());
  const url = `http://127.0.0.1:${port}`;
  const carrier = await start('../sandbox/main.js', [], { SANDBOX_PORT: port, SANDBOX_SEED: 'bench' });
  await fetch(`${url}/control/settings`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ auto_approve_ms: 0 }),
  });
  return { ...carrier, port, url };
}

/** The process id of a connection's backend, from which the other server processes are found. */
function postgresPid(url: string): Promise<number> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ pid: number }>(
      `select pid from pg_stat_activity where backend_type = 'checkpointer'`,
    );
    return rows[0]?.pid ?? 0;
  });
}
