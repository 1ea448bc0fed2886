/**
 * Makes a merchant: with a credential, a webhook secret and, in sandbox mode, money to try payouts with (contract §5) and bank
 * accounts to try transfers with.
 *
 * Invariant: all of it commits at once; only the caller gets the secrets.
 */

import type { Change, Transfer } from '../domain/change.ts';
import { CURRENCIES } from '../domain/currency.ts';
import { SHARDS } from '../domain/ids.ts';
import { floatAccount, merchantAccount } from '../domain/ledger.ts';
import { parseAmount } from '../domain/money.ts';
import type { Merchant } from '../domain/records.ts';
import { makeCredential, makeWebhookSecret } from './credential-make.ts';
import { newId, type OperatorDeps } from './deps.ts';
import { commitOnce } from './operator-commit.ts';
import { requireLine } from './operator-input.ts';
import { sandboxAccounts } from './sandbox-accounts.ts';

export interface MerchantCreateCommand {
  readonly name: string;
  /** True: no initial money and no bank accounts. In production there are never any. */
  readonly noFloat: boolean;
}

/** The secrets are shown only this once. */
export interface MerchantCreated {
  readonly merchant: Merchant;
  readonly key_id: string;
  readonly secret: string;
  readonly webhook_secret: string;
}

/** What a sandbox merchant starts with, in each currency's major unit. */
const FLOAT = '10000000';
const MAX_NAME = 100;

/**
 * `keep` is called before anything is committed, for a caller that must not lose the secrets if it dies right after the commit: it
 * writes them down, and may do so for a merchant that is then not made.
 *
 * @throws OperatorError when the name is empty, too long or holds control characters
 */
export async function createMerchant(
  deps: OperatorDeps,
  command: MerchantCreateCommand,
  keep: (made: MerchantCreated) => Promise<void> = () => Promise.resolve(),
): Promise<MerchantCreated> {
  const name = requireLine(command.name, "a merchant's name", MAX_NAME);
  const shard = deps.random.below(SHARDS);
  const merchant: Merchant = {
    shard,
    id: newId(deps, 'mch', shard),
    version: 1,
    name,
    status: 'ALLOWED',
    settings: {},
    created_at: deps.clock.now(),
  };
  const { credential, secret } = makeCredential(deps, shard, merchant.id);
  const webhook = makeWebhookSecret(deps, shard, merchant.id);
  const isBare = command.noFloat || deps.mode === 'production';
  const accounts = isBare ? [] : sandboxAccounts(deps, merchant);
  const change: Change = {
    claims: [
      { table: 'merchant', row: merchant },
      { table: 'credential', row: credential },
      { table: 'webhook_secret', row: webhook.row },
      ...accounts.map((row) => ({ table: 'bank_account' as const, row })),
    ],
    transfers: isBare ? [] : floatTransfers(deps, merchant),
  };
  const made = { merchant, key_id: credential.id, secret, webhook_secret: webhook.secret };
  await keep(made);
  const outcome = await commitOnce(deps, shard, merchant.id, change, 'see `mbongo merchant list`');
  if (outcome === 'lost') throw new Error('fresh ids were taken');
  return made;
}

function floatTransfers(deps: OperatorDeps, merchant: Merchant): Transfer[] {
  return CURRENCIES.map((currency) => ({
    shard: merchant.shard,
    id: newId(deps, 'trf', merchant.shard),
    debit: floatAccount(merchant.shard, currency),
    credit: merchantAccount(merchant.id, 'available', currency),
    amount_minor: parseAmount(FLOAT, currency)?.minor ?? 0n,
    currency,
    cause: 'float',
    cause_id: merchant.id,
    at: merchant.created_at,
  }));
}
