/**
 * A whole world for tests: a fresh database, the sandbox networks, a webhook receiver and the gateway, over real HTTP
 * in one process, with one clock that the test moves.
 *
 * Invariant: nothing here stands in for our own code; only the outside is simulated, by its own wire formats.
 */

import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { createSandbox, type Sandbox } from '../../sandbox/app.ts';
import { assembleGateway, type Gateway, type Role } from '../../src/assemble.ts';
import { readConfig } from '../../src/config.ts';
import type { Currency } from '../../src/domain/currency.ts';
import { bytesOfId, idOfBytes } from '../../src/domain/ids.ts';
import type { WalletKind } from '../../src/domain/records.ts';
import { calendar } from '../../src/platform/calendar.ts';
import { shiftableClock } from '../../src/platform/clock.ts';
import { openMetrics } from '../../src/platform/metrics.ts';
import { createOutbound } from '../../src/platform/outbound.ts';
import type { Secrets } from '../../src/platform/platform.ts';
import { systemRandom } from '../../src/platform/random.ts';
import { openSecrets } from '../../src/platform/secrets.ts';
import { type MemoryLog, memoryLog } from '../../src/platform/testing/memory-log.ts';
import { openTraces } from '../../src/platform/traces.ts';
import { createMerchant, type MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { openWallet } from '../../src/usecases/wallet-open.ts';
import { createTestDatabase } from './database.ts';
import { freePort } from './ports.ts';
import { answering, openReceiver, type Receiver } from './receiver.ts';
import { slowDatabase, slowly, slowness } from './slow-world.ts';
import { type StillClock, stillClock, stillness, working } from './stillness.ts';

export const NOON = Date.UTC(2026, 10, 20, 12, 0, 0);
/** A clock for judging overload that runs 20 times slower: a process that stood still for seconds is not overloaded. */
export const unhurried = (): number => performance.now() / 20;
export const WORLD_MASTER_KEY = Buffer.alloc(32, 7).toString('base64');

/** The gateway's answer; `json` is undefined if the body is not JSON. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: ReturnType<typeof JSON.parse>;
}

export interface WorldOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** The time at the start; noon of a fixed day if absent. */
  readonly start?: number;
  /** `all` if absent. */
  readonly role?: Role;
}

export interface World {
  readonly clock: StillClock;
  readonly log: MemoryLog;
  readonly gateway: Gateway;
  readonly sandbox: Sandbox;
  readonly sandboxUrl: string;
  readonly databaseUrl: string;
  /** The test's own connections. */
  readonly database: pg.Pool;
  readonly url: string;
  readonly receiver: Receiver;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  merchant(name?: string): Promise<MerchantCreated>;
  /** Moves the clock, then runs every round once more, to its end; `times`: so often, for what happens on the way. */
  pass(milliseconds: number, times?: number): Promise<void>;
  /** Sets the gateway's clock ahead of everybody else's, as `mbongo clock advance` does, and runs every round. */
  leap(milliseconds: number): Promise<void>;
  wallet(options?: Partial<WalletOptions>): Promise<{ number: string; pin: string; phone: string }>;
  close(): Promise<void>;
}

export interface CallOptions {
  readonly bearer?: string;
  readonly body?: unknown;
  /** Sent unchanged, in place of `body`. */
  readonly raw?: string | Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
}

interface WalletOptions {
  readonly balance: bigint;
  readonly currency: Currency;
  readonly kind: WalletKind;
  readonly pin: string;
  readonly phone: string;
}

export async function openWorld(options: WorldOptions = {}): Promise<World> {
  const clock = stillClock(options.start ?? NOON);
  const testClock = shiftableClock(clock);
  const log = memoryLog(clock);
  const database = await createTestDatabase();
  const way = await slowDatabase(database.url);
  const sandbox = await createSandbox({ seed: 'test', now: clock.now, schedule: clock.after });
  const sandboxUrl = await sandbox.app.listen({ port: 0, host: '127.0.0.1' });
  const receiver = await openReceiver(answering(200));
  const port = await freePort();
  const config = readConfig({
    SANDBOX_PORT: new URL(sandboxUrl).port,
    PORT: String(port),
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    DATABASE_URL: database.url,
    ...options.env,
  });
  const random = systemRandom();
  const outbound = slowly(createOutbound({ allowLoopback: true, requireHttps: false }));
  const secrets = openSecrets({
    masterKeys: [WORLD_MASTER_KEY],
    random,
    transactionIds: { bytesOf: bytesOfId, idOf: (bytes) => idOfBytes('txn', bytes) },
  });
  const traces = config.traces && openTraces(config.traces, { clock, log, random, secrets });
  const platform = {
    ...(traces === undefined ? {} : { traces }),
    clock: testClock,
    calendar,
    random,
    log,
    metrics: openMetrics({ ofProcess: false }),
    outbound,
    secrets: withPinsSeen(secrets),
  };
  const gateway = await assembleGateway(config, platform, {
    databaseUrl: way.url,
    role: options.role ?? 'all',
    elapsed: unhurried,
  });
  const url = await gateway.listen();
  // The audit's first run writes a row, which must not appear while a test counts rows.
  await gateway.rounds.find(({ name }) => name === 'audit')?.runNow();
  const merchant = (name = 'Boutique Kivu') => createMerchant(gateway.deps, { name, noFloat: true });
  return {
    clock,
    log,
    gateway,
    sandbox,
    sandboxUrl,
    databaseUrl: database.url,
    database: database.pool,
    url,
    receiver,
    merchant,
    call: (method, path, more = {}) => callAt(url, method, path, more),
    pass: async (milliseconds, times = 1) => {
      for (let time = 0; time < times; time += 1) {
        await clock.advance(milliseconds);
        await Promise.all(gateway.rounds.map((round) => round.runNow()));
      }
    },
    leap: async (milliseconds) => {
      await stillness();
      testClock.shiftTo(testClock.shift() + milliseconds);
      await clock.advance(0);
      await Promise.all(gateway.rounds.map((round) => round.runNow()));
    },
    wallet: async (more = {}) => {
      const wanted = {
        balance: 50_00n,
        currency: 'usd' as const,
        kind: 'wallet' as const,
        pin: '1234',
        phone: '+243810000042',
        ...more,
      };
      const { wallet } = await openWallet(gateway.deps, { number: undefined, ...wanted });
      return { number: wallet.id, pin: wanted.pin, phone: wanted.phone };
    },
    close: async () => {
      await gateway.stop();
      await Promise.all([outbound.close(), traces?.close()]);
      await sandbox.app.close();
      await receiver.close();
      await way.close();
      await database.drop();
    },
  };
}

/** PINs are hashed in threads, which no socket shows. */
function withPinsSeen(secrets: Secrets): Secrets {
  return {
    ...secrets,
    hashPin: (...given) => working(secrets.hashPin(...given)),
    hashPinIfFree: (...given) => working(secrets.hashPinIfFree(...given)),
    verifyPin: (...given) => working(secrets.verifyPin(...given)),
  };
}

/** Calls the gateway at that address. */
export async function callAt(url: string, method: string, path: string, options: CallOptions): Promise<Answer> {
  const body = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
  const response = await fetch(
    path.startsWith('/api') || path.startsWith('/health') ? url + path : `${url}/api/v1${path}`,
    {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(options.bearer === undefined ? {} : { authorization: `Bearer ${options.bearer}` }),
        'accept-language': 'en',
        ...options.headers,
      },
      ...(body === undefined ? {} : { body }),
    },
  );
  const text = await response.text();
  await slowness();
  const json: unknown = text.startsWith('{') ? JSON.parse(text) : undefined;
  return { status: response.status, headers: response.headers, text, json };
}

/** A session of that merchant, as a merchant's backend mints it. */
export async function mint(
  world: World,
  merchant: MerchantCreated,
  more: Readonly<Record<string, unknown>> = {},
): Promise<{ token: string; reference: string; session_id: string }> {
  const reference = `order-${randomUUID()}`;
  const minted = await world.call('POST', '/internal/sessions/create', {
    bearer: `${merchant.key_id}:${merchant.secret}`,
    body: { amount: '12.50', currency: 'usd', customer_reference: reference, ...more },
  });
  if (minted.status !== 201) throw new Error(`mint answered ${minted.status} ${minted.text}`);
  return { token: minted.json.session_token, reference, session_id: minted.json.session_id };
}

/** A collect body with everything that every method needs. */
export function collectBody(world: World, method: string, more: Readonly<Record<string, unknown>> = {}) {
  return {
    payment_method: method,
    user_info: 'full',
    payment_method_info: 'full',
    fee_covered_by: 'buyer',
    delivery_behaviour: 'direct_delivery',
    notify_url: world.receiver.url,
    ...more,
  };
}
