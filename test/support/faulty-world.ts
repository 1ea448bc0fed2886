/**
 * What the tests of faults start from: a database, the sandbox networks and a receiver, a merchant without a float and
 * wallets, made by the command line; each test starts its own gateways.
 *
 * Invariant: everything is real and runs as a process of its own, except the receiver, the load and the command line.
 */
import { freePort } from './ports.ts';
import { command, type Environment, endAll, type Running, startSandbox, temporaryFolder } from './processes.ts';
import type { Merchant, ShopWallet } from './shop.ts';

export interface FaultyWorld {
  readonly databaseUrl: string;
  readonly sandbox: Running;
  readonly sandboxUrl: string;
  readonly merchant: Merchant;
  readonly wallets: readonly ShopWallet[];
  /** Each wallet's opening balance, in cents, by number. */
  readonly opening: ReadonlyMap<string, bigint>;
  /** Sets the carriers' faults from now on, in the terms of the sandbox's control; an empty object ends them. */
  carrier(faults: CarrierFaults): Promise<void>;
  /** Sets the card network's faults from now on, in the same terms. */
  cardNetwork(faults: Pick<CarrierFaults, 'delay_ms' | 'refuse_rate' | 'answer_lost_rate'>): Promise<void>;
  /** How long the carriers take to decide by themselves; a second at first. */
  carrierThinks(milliseconds: number): Promise<void>;
  /** The environment of a gateway that listens on `port`. */
  gatewayEnv(port: number, more?: Environment): Environment;
  /** The address of a free port of this machine. */
  address(): Promise<{ port: number; url: string }>;
  close(): Promise<void>;
}

export interface CarrierFaults {
  /** How long every request to them waits. */
  readonly delay_ms?: number;
  /** The share of requests that they refuse with 503: 1 is a carrier that is down. */
  readonly refuse_rate?: number;
  /** The share of requests that they take and then leave without an answer. */
  readonly answer_lost_rate?: number;
  /** The share of callbacks that never come. */
  readonly lose_callback_rate?: number;
}

const WALLETS = 3;
const OPENING_CENTS = 1_000_000n;
/** Used by this run alone, and long: a short PIN may occur in any log by chance. */
const PIN = '73914628';

/** @throws Error if something does not start; then nothing is left running */
export async function openFaultyWorld(databaseUrl: string): Promise<FaultyWorld> {
  try {
    return await startFaultyWorld(databaseUrl);
  } catch (error) {
    await endAll();
    throw error;
  }
}

async function startFaultyWorld(databaseUrl: string): Promise<FaultyWorld> {
  const sandboxPort = await freePort();
  const sandboxUrl = `http://127.0.0.1:${sandboxPort}`;
  const shared: Environment = {
    DATABASE_URL: databaseUrl,
    DATA_DIR: temporaryFolder(),
    SANDBOX_PORT: String(sandboxPort),
    GATEWAY_MODE: 'sandbox',
    LOG_LEVEL: 'debug',
    RATE_LIMIT_SCALE: '0',
  };
  const sandbox = await startSandbox({ SANDBOX_PORT: String(sandboxPort), SANDBOX_SEED: 'faults' });
  const merchant = await command<Merchant>(shared, 'merchant', 'create', '--name', 'Boutique Kivu', '--no-float');
  const wallets: ShopWallet[] = [];
  for (let count = 0; count < WALLETS; count += 1) {
    const phone = `+24381000004${count}`;
    const given = ['--pin', PIN, '--currency', 'usd', '--balance', '10000.00', '--phone', phone];
    const { wallet_number } = await command<{ wallet_number: string }>(shared, 'wallet', 'open', ...given);
    wallets.push({ number: wallet_number, pin: PIN });
  }
  return {
    databaseUrl,
    sandbox,
    sandboxUrl,
    merchant,
    wallets,
    opening: new Map(wallets.map(({ number }) => [number, OPENING_CENTS])),
    carrier: async (faults) => {
      await fetch(`${sandboxUrl}/control/faults`, { method: 'DELETE' });
      await control(`${sandboxUrl}/control/faults`, { upstream: 'mtn', ...faults });
    },
    cardNetwork: (faults) => control(`${sandboxUrl}/control/faults`, { upstream: 'cardnet', ...faults }),
    carrierThinks: (auto_approve_ms) => control(`${sandboxUrl}/control/settings`, { auto_approve_ms }),
    gatewayEnv: (port, more = {}) => ({
      ...shared,
      PORT: String(port),
      PUBLIC_URL: `http://127.0.0.1:${port}`,
      ...more,
    }),
    address: async () => {
      const port = await freePort();
      return { port, url: `http://127.0.0.1:${port}` };
    },
    close: endAll,
  };
}

async function control(url: string, body: object): Promise<void> {
  await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}
