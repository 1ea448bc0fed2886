/**
 * The demo merchant of a sandbox: made on an empty database, so that a newcomer can make the first payment by copy and paste.
 *
 * Invariant: sandbox mode only. Its credential is kept in clear only in `demo.json` in the data folder, which only the
 * gateway's own user may read.
 */

import { link, readFile, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DEMO_FILE } from '../config.ts';
import { shardOf } from '../domain/ids.ts';
import { parseAmount } from '../domain/money.ts';
import type { WalletKind } from '../domain/records.ts';
import { makeFolder } from '../platform/folder.ts';
import { systemCodeOf } from '../platform/system-code.ts';
import type { OperatorDeps } from '../usecases/deps.ts';
import { createMerchant, type MerchantCreated } from '../usecases/merchant-create.ts';
import { openWallet } from '../usecases/wallet-open.ts';
import { openWebhookSecret } from '../usecases/webhook-sign.ts';

/**
 * The demo merchant as `demo.json` holds it. `secret` and `webhook_secret` are those of the start that made it; they may have been
 * rotated since.
 */
export interface Demo {
  readonly merchant_id: string;
  readonly key_id: string;
  readonly secret: string;
  readonly webhook_secret: string;
  readonly wallets: readonly { readonly kind: WalletKind; readonly number: string; readonly phone: string }[];
}

const DEMO_NAME = 'Boutique Kivu';
const DEMO_PIN = '1234';
const ACCOUNTS = [
  { kind: 'wallet', phone: '+243810000042' },
  { kind: 'wallet', phone: '+243810000043' },
  { kind: 'flash', phone: '+243810000042' },
] as const;

/** The demo merchant: made if the database is empty, read from the file afterwards; undefined if there is none. */
export async function openDemo(deps: OperatorDeps, dataDir: string): Promise<Demo | undefined> {
  const path = join(dataDir, DEMO_FILE);
  const known = await readDemo(path);
  if (known !== undefined) {
    const merchant = await deps.store.merchant.get(shardOf(known.merchant_id), known.merchant_id);
    if (merchant !== undefined) return known;
  }
  if ((await deps.store.merchant.list({ limit: 1 })).length > 0) return undefined;
  // If the database and the master key are configured, nothing has needed the folder yet.
  makeFolder(dataDir);
  return makeDemo(deps, (demo) => writeDemo(path, demo, Buffer.from(deps.random.bytes(8)).toString('hex')));
}

/** `write` is called before the merchant is committed, so that a start that is killed then does not lose its credential. */
async function makeDemo(deps: OperatorDeps, write: (demo: Demo) => Promise<void>): Promise<Demo> {
  const currency = 'usd';
  const balance = parseAmount('500', currency)?.minor ?? 0n;
  // The merchant comes after the wallets: a start that is killed before it finds no merchant, and makes the demo anew.
  const wallets: Demo['wallets'][number][] = [];
  for (const { kind, phone } of ACCOUNTS) {
    const { wallet } = await openWallet(deps, { number: undefined, pin: DEMO_PIN, currency, balance, phone, kind });
    wallets.push({ kind, phone, number: wallet.id });
  }
  const demoOf = ({ merchant, key_id, secret, webhook_secret }: MerchantCreated): Demo => {
    return { merchant_id: merchant.id, key_id, secret, webhook_secret, wallets };
  };
  const made = await createMerchant(deps, { name: DEMO_NAME, noFloat: false }, (one) => write(demoOf(one)));
  return demoOf(made);
}

async function readDemo(path: string): Promise<Demo | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'));
    return isDemo(value) ? value : undefined;
  } catch (error) {
    // With a damaged file, only the notes at the start are missing.
    if (error instanceof SyntaxError) return undefined;
    if (systemCodeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function isDemo(value: unknown): value is Demo {
  if (typeof value !== 'object' || value === null) return false;
  const texts = ['merchant_id', 'key_id', 'secret', 'webhook_secret'] as const;
  const fields: { readonly [name: string]: unknown } = { ...value };
  return texts.every((name) => typeof fields[name] === 'string') && Array.isArray(fields.wallets);
}

/** Writes the whole file under a temporary name and links it into place, so that no reader ever sees half of it. */
async function writeDemo(path: string, demo: Demo, suffix: string): Promise<void> {
  const draft = `${path}.${suffix}`;
  await writeFile(draft, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  await unlink(path).catch(() => undefined);
  await link(draft, path);
  await unlink(draft);
}

/** Whether the credential in the file is still valid, neither replaced nor revoked. */
export async function isDemoCurrent({ store }: Pick<OperatorDeps, 'store'>, { key_id }: Demo): Promise<boolean> {
  return (await store.credential.caller(shardOf(key_id), key_id))?.status === 'ALLOWED';
}

/** The secret that verifies the demo's webhooks now: the one in the file may have been rotated. */
export async function demoWebhookSecret(deps: Pick<OperatorDeps, 'store' | 'secrets'>, demo: Demo): Promise<string> {
  const { merchant_id, webhook_secret } = demo;
  const secrets = await deps.store.webhookSecret.ofMerchant(shardOf(merchant_id), merchant_id);
  const newest = secrets.find(({ status }) => status === 'ALLOWED');
  return (newest && openWebhookSecret(deps, newest)) ?? webhook_secret;
}

/** What the start prints: the credential, lines to paste, and the pages; or how to get a credential that is still valid. */
export function demoNotes(demo: Demo, credential: 'valid' | 'ended', url: string, sandboxUrl: string): string[] {
  const how = credential === 'valid' ? pasteNotes(demo, url, sandboxUrl) : issueNotes(demo);
  return [...how, '', ...pageNotes(demo, sandboxUrl)];
}

function pageNotes({ wallets: [wallet] }: Demo, sandboxUrl: string): string[] {
  return [
    `Its webhook      ${sandboxUrl}/inbox/demo`,
    `The demo shop    ${sandboxUrl}/shop`,
    `A virtual phone  ${sandboxUrl}/phone/${encodeURIComponent(wallet?.phone ?? '')}`,
    `What to try      ${sandboxUrl}/`,
  ];
}

function accountsNote({ wallets }: Demo): string {
  const numbersOf = (wanted: WalletKind): string =>
    wallets
      .filter(({ kind }) => kind === wanted)
      .map(({ number }) => number)
      .join(', ');
  return `Wallets with PIN ${DEMO_PIN}: ${numbersOf('wallet')}; flash account: ${numbersOf('flash')}`;
}

function issueNotes(demo: Demo): string[] {
  return [
    `Demo merchant ${DEMO_NAME}: its credential ${demo.key_id} has been replaced or revoked.`,
    `Issue a new one: npx mbongo credential issue --merchant ${demo.merchant_id}`,
    accountsNote(demo),
  ];
}

/** Lines that pay from the first wallet, for a POSIX shell. */
function pasteNotes(demo: Demo, url: string, sandboxUrl: string): string[] {
  const [wallet] = demo.wallets;
  const api = `${url}/api/v1`;
  const field = (name: string): string => `sed -n 's/.*"${name}":"\\([^"]*\\)".*/\\1/p'`;
  const post = (path: string, bearer: string, body: string): string =>
    `curl -s ${api}${path} -H "Authorization: Bearer ${bearer}" -H 'Content-Type: application/json' -H 'Accept-Language: en' -d ${body}`;
  const mint = `'{"amount":"12.50","currency":"usd","customer_reference":"order-1","scope":"collect"}'`;
  const collect = `'${JSON.stringify({
    payment_method: 'wallet',
    user_info: 'full',
    payment_method_info: 'full',
    fee_covered_by: 'buyer',
    delivery_behaviour: 'direct_delivery',
    first_name: 'Grace',
    last_name: 'Ilunga',
    email: 'grace@example.com',
    phone_number: wallet?.phone,
    wallet_number: wallet?.number,
    wallet_pin: DEMO_PIN,
    notify_url: `${sandboxUrl}/inbox/demo`,
  })}'`;
  const submit = `'{"payment_id":"'$PAYMENT'","payment_method_id":"wallet","ewallet_number":"${wallet?.number}","ewallet_pin":"${DEMO_PIN}"}'`;
  return [
    `Demo merchant ${DEMO_NAME}, and its credential:`,
    `  ${demo.key_id}:${demo.secret}`,
    accountsNote(demo),
    '',
    'Pay 12.50 usd: paste these lines.',
    '',
    `CREDENTIAL='${demo.key_id}:${demo.secret}'`,
    `TOKEN=$(${post('/internal/sessions/create', '$CREDENTIAL', mint)} | ${field('session_token')})`,
    `PAYMENT=$(${post('/payments/collect', '$TOKEN', collect)} | ${field('payment_id')})`,
    post('/payments/submit', '$TOKEN', submit),
  ];
}
