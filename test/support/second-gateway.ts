/**
 * A second gateway on the world's database, as another process would be.
 *
 * Invariant: it shares with the first one only the database, and unless it is given its own, the keys and the time.
 */

import { assembleGateway, type Gateway, type Role } from '../../src/assemble.ts';
import { type Config, readConfig } from '../../src/config.ts';
import { openMetrics } from '../../src/platform/metrics.ts';
import { createOutbound } from '../../src/platform/outbound.ts';
import type { Clock, Outbound, Secrets } from '../../src/platform/platform.ts';
import type { Paying } from './flows.ts';
import { freePort } from './ports.ts';
import { rowsOf } from './rows.ts';
import { untilLater } from './waiting.ts';
import { unhurried, type World } from './world.ts';

export interface Second {
  readonly url: string;
  readonly gateway: Gateway;
  /** Ends the gateway's open upstream calls, as if their answers were lost. */
  cut(): Promise<void>;
  close(): Promise<void>;
}

/** Where it differs from the first gateway. */
export interface Otherwise {
  /** Variables that override its configuration. */
  readonly env?: Readonly<Record<string, string>>;
  /** Another machine's clock. */
  readonly clock?: Clock;
  /** Another ring of keys. */
  readonly secrets?: Secrets;
  /** Wraps its outbound calls. */
  readonly through?: (outbound: Outbound) => Outbound;
  /** `api`, which runs no rounds, if absent. */
  readonly role?: Role;
  /** The mode in which it works, whatever its configuration was read in: so it may keep the sandbox's credentials. */
  readonly mode?: Config['mode'];
}

/**
 * Another process's gateway on the same database, possibly through a wire. Its upstream calls time out by the
 * clock `deadlines`.
 */
export async function openSecond(
  world: World,
  deadlines: Clock,
  databaseUrl: string = world.databaseUrl,
  {
    env = {},
    clock = world.gateway.deps.clock,
    secrets = world.gateway.deps.secrets,
    through = (outbound) => outbound,
    role = 'api',
    mode,
  }: Otherwise = {},
): Promise<Second> {
  const { calendar, random, log } = world.gateway.deps;
  const outbound = through(createOutbound({ allowLoopback: true, requireHttps: false, clock: deadlines }));
  const port = await freePort();
  const config = readConfig({
    SANDBOX_PORT: new URL(world.sandboxUrl).port,
    PORT: String(port),
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    DATABASE_URL: databaseUrl,
    RATE_LIMIT_SCALE: '0',
    ...env,
  });
  const metrics = openMetrics({ ofProcess: false });
  const platform = { clock, calendar, random, log, metrics, secrets, outbound };
  const gateway = await assembleGateway(mode === undefined ? config : { ...config, mode }, platform, {
    databaseUrl,
    role,
    elapsed: unhurried,
  });
  const url = await gateway.listen();
  const close = async (): Promise<void> => {
    await gateway.stop();
    await outbound.close();
  };
  return { url, gateway, cut: () => outbound.close(), close };
}

/**
 * Resolves once that gateway no longer writes anything by itself, so that whatever its wire keeps afterwards answers the test's
 * own calls. Deliveries are awaited in the database first: what another process reads there, the gateway that wrote it may not
 * have heard of yet. Time passes, in case a lease has to expire.
 */
export async function quiet(world: World, { gateway }: Pick<Second, 'gateway'>): Promise<void> {
  const waiting = "select id from webhook_event where status = 'waiting'";
  await untilLater(world, async () => ((await rowsOf(world, waiting)).length === 0 ? true : undefined), 5_000);
  await Promise.all([gateway.dispatcher.idle(), gateway.courier.idle()]);
}

/** Submits from a phone number, at that gateway. */
export async function submitAt(
  url: string,
  paying: Pick<Paying, 'token' | 'payment_id'>,
  msisdn: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number; text: string }> {
  const response = await fetch(`${url}/api/v1/payments/submit`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'accept-language': 'en',
      authorization: `Bearer ${paying.token}`,
      ...headers,
    },
    body: JSON.stringify({
      payment_id: paying.payment_id,
      payment_method_id: 'mobile_money',
      mobile_money_phone_number: msisdn,
    }),
  });
  return { status: response.status, text: await response.text() };
}
