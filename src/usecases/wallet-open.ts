/**
 * Opens a customer's wallet or flash account, with a PIN and perhaps a first balance.
 *
 * Invariant: only a slow, peppered hash of the PIN is kept; a number is opened once.
 */

import type { Transfer } from '../domain/change.ts';
import type { Currency } from '../domain/currency.ts';
import { SHARDS } from '../domain/ids.ts';
import { floatAccount, walletAccount } from '../domain/ledger.ts';
import type { Wallet, WalletKind } from '../domain/records.ts';
import { isWalletNumber, makeWalletNumber, PIN_FORM, shardOfWallet } from '../domain/wallet.ts';
import { newId, type OperatorDeps } from './deps.ts';
import { commitOnce } from './operator-commit.ts';
import { OperatorError, UsageError } from './operator-error.ts';

export interface WalletOpenCommand {
  /** Undefined: a free one is chosen. */
  readonly number: string | undefined;
  readonly pin: string;
  readonly currency: Currency;
  /** Minor units, from 0 up. */
  readonly balance: bigint;
  /** E.164; one-time codes go there. */
  readonly phone: string;
  readonly kind: WalletKind;
}

/** The new account, and its balance in minor units. */
export interface WalletOpened {
  readonly wallet: Wallet;
  readonly balance: bigint;
}

const E164 = /^\+[1-9][0-9]{6,14}$/;
const ADVICE_BY_NUMBER = 'open it again: a number that is open already is refused';
/** Nobody knows the number, and given again the command would open, and fill, a second one. */
const ADVICE_BY_PHONE = 'see `mbongo wallet list` with its --phone before you open another one';
/** 10 tries: with a thousand million numbers per shard, repeated collisions mean that something else is wrong. */
const NUMBERS_TRIED = 10;

/** @throws OperatorError when a field is not usable, or the number is taken. */
export async function openWallet(deps: OperatorDeps, command: WalletOpenCommand): Promise<WalletOpened> {
  const { number, pin, phone, currency, kind, balance } = command;
  requirePin(pin);
  requirePhone(phone);
  if (number !== undefined && !isWalletNumber(number)) {
    throw new UsageError('that is not a wallet number: use `auto`, and the gateway chooses one');
  }
  for (let tries = 0; tries < NUMBERS_TRIED; tries += 1) {
    const id = number ?? makeWalletNumber(deps.random.below(SHARDS), deps.random.below(1_000_000_000));
    const wallet: Wallet = {
      shard: shardOfWallet(id),
      id,
      version: 1,
      kind,
      currency,
      phone,
      pin_hash: await deps.secrets.hashPin(pin, id),
      changes: 0,
      pin_failures: 0,
      pin_failed_at: null,
      locked_until: null,
      created_at: deps.clock.now(),
    };
    const advice = number === undefined ? ADVICE_BY_PHONE : ADVICE_BY_NUMBER;
    if (await commitWallet(deps, wallet, balance, advice)) return { wallet, balance };
    if (number !== undefined) throw new OperatorError(`wallet ${number} is open already`);
  }
  throw new Error('no free wallet number was found');
}

/** @throws UsageError */
export function requirePin(pin: string): void {
  if (!PIN_FORM.test(pin)) throw new UsageError('a PIN must have four to eight digits');
}

/** @throws UsageError */
export function requirePhone(phone: string): void {
  if (!E164.test(phone)) throw new UsageError('the phone number must be international, like +243810000042');
}

async function commitWallet(deps: OperatorDeps, wallet: Wallet, balance: bigint, advice: string): Promise<boolean> {
  const transferId = newId(deps, 'trf', wallet.shard);
  const transfer: Transfer = {
    shard: wallet.shard,
    id: transferId,
    debit: floatAccount(wallet.shard, wallet.currency),
    credit: walletAccount(wallet.id),
    amount_minor: balance,
    currency: wallet.currency,
    cause: 'wallet_open',
    cause_id: wallet.id,
    at: wallet.created_at,
  };
  const change = {
    claims: [{ table: 'wallet' as const, row: wallet }],
    transfers: balance > 0n ? [transfer] : [],
  };
  return (await commitOnce(deps, wallet.shard, transferId, change, advice)) === 'won';
}
