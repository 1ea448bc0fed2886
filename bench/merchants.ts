/**
 * The merchants and wallets of a run, created by the command line as an operator would.
 *
 * Invariant: credentials and PINs stay in this process's memory and the load's arguments; nothing writes them to disk.
 */

import { fileURLToPath } from 'node:url';
import type { Wallet } from './journeys.ts';
import { runToEnd } from './worlds.ts';

const main = fileURLToPath(new URL('../src/main.js', import.meta.url));
type Environment = Readonly<Record<string, string>>;

/**
 * Creates merchants `bench-0`, `bench-1` and so on, with or without a float to pay out from, and returns their credentials
 * as `key_id:secret`, in this order.
 */
export async function makeMerchants(env: Environment, count: number, float = false): Promise<string[]> {
  return inPairs(count, async (number) => {
    const args = ['merchant', 'create', '--name', `bench-${number}`, ...(float ? [] : ['--no-float'])];
    const made = (await mbongo(env, args)) as { key_id: string; secret: string };
    return `${made.key_id}:${made.secret}`;
  });
}

/** Opens wallets that will not run dry. */
export async function makeWallets(env: Environment, count: number): Promise<Wallet[]> {
  return inPairs(count, async (number) => {
    const phone = `+2438100${String(number).padStart(5, '0')}`;
    const pin = '2580';
    const rest = ['--currency', 'usd', '--balance', '1000000.00', '--phone', phone, '--kind', 'wallet'];
    const made = (await mbongo(env, ['wallet', 'open', '--number', 'auto', '--pin', pin, ...rest])) as {
      wallet_number: string;
    };
    return { number: made.wallet_number, pin };
  });
}

/** Runs a command and returns its document, even one that reports a problem. */
export async function mbongo(env: Environment, args: readonly string[]): Promise<unknown> {
  const running = runToEnd(process.execPath, [main, ...args, '--json'], { ...process.env, ...env });
  const stdout = await running.catch((failure: { readonly stdout?: string }) => {
    if (failure.stdout?.startsWith('{') === true) return failure.stdout;
    // The original failure names its arguments, and a PIN may be among them.
    throw new Error(`mbongo ${args.slice(0, 2).join(' ')} did not end well`);
  });
  return JSON.parse(stdout);
}

/** The first runs alone, because it migrates the database. */
async function inPairs<T>(count: number, make: (number: number) => Promise<T>): Promise<T[]> {
  const made = [await make(0)];
  for (let number = 1; number < count; number += 2) {
    const pair = [number, number + 1].filter((one) => one < count);
    made.push(...(await Promise.all(pair.map(make))));
  }
  return made;
}
