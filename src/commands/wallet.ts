/**
 * `mbongo wallet`: opens, credits, changes and shows customers' wallets and flash accounts.
 *
 * Invariant: of a PIN nothing is shown but whether it is locked; a phone number is never shown whole.
 */

import { formatMinor } from '../domain/money.ts';
import { maskPhone } from '../domain/phone.ts';
import type { Wallet, WalletKind } from '../domain/records.ts';
import { requireAmountOrZero, requireCurrency } from '../usecases/operator-input.ts';
import { creditWallet } from '../usecases/wallet-credit.ts';
import { openWallet } from '../usecases/wallet-open.ts';
import { requireNumber, seeWallet } from '../usecases/wallet-see.ts';
import { setWallet } from '../usecases/wallet-set.ts';
import { toldOfCredit } from './credited.ts';
import { readLimit, readPhone, readSecret } from './options.ts';
import { endOfPage, fieldLines, type Output, table, timeOf } from './output.ts';
import type { Tools } from './tools.ts';

/** What stands in place of a PIN when none opens the account. */
const NO_PIN = 'none';

/**
 * The options of `mbongo wallet open`. `number`: `auto` has the gateway choose one. `pin`: `-` is the first line of the input.
 * `balance`: decimal, in `currency`. `phone`: where one-time codes go.
 */
export interface WalletOpenOptions {
  readonly number: string;
  readonly pin: string;
  readonly currency: string;
  readonly balance: string;
  readonly phone: string;
  readonly kind: WalletKind;
}

/**
 * Opens a wallet or a flash account: `{wallet_number, currency, balance}` (contract §10).
 *
 * @throws OperatorError when a value is not usable, or the number is taken.
 */
export async function walletOpen({ deps, input }: Tools, options: WalletOpenOptions): Promise<Output> {
  const currency = requireCurrency(options.currency);
  const { wallet, balance } = await openWallet(deps, {
    number: options.number === 'auto' ? undefined : options.number,
    pin: await readSecret(options.pin, input),
    currency,
    balance: requireAmountOrZero(options.balance, currency, 'balance'),
    phone: await readPhone(options.phone),
    kind: options.kind,
  });
  return outputOf(wallet.id, currency, formatMinor(balance, currency));
}

/**
 * Puts money into a wallet or flash account, in its currency: the document of `walletOpen`, and what `toldOfCredit` adds. Under one
 * reference the amount is credited once.
 *
 * @throws OperatorError when there is no such account, a value is not usable, or another amount was credited under the reference.
 */
export async function walletCredit(
  { deps }: Tools,
  options: { readonly number: string; readonly amount: string; readonly reference?: string },
): Promise<Output> {
  const { wallet, balance, ...credited } = await creditWallet(deps, options.number, options.amount, options.reference);
  const { document, lines } = outputOf(wallet.id, wallet.currency, formatMinor(balance, wallet.currency));
  const told = toldOfCredit(credited);
  return { document: { ...document, ...told.document }, lines: [...lines, ...told.lines] };
}

/**
 * Changes an account's PIN or phone: `{wallet_number, kind, currency, phone_number, created_at, pin}`, where `pin` is `new`, `none`
 * or `unchanged`. `pin`: the digits, `-` for the first line of the input, or `none`, with which no PIN opens the account.
 *
 * @throws OperatorError when there is no such account; UsageError when a value is not usable, or nothing is to be changed.
 */
export async function walletSet(
  { deps, input }: Tools,
  number: string,
  { pin, phone }: { readonly pin?: string; readonly phone?: string },
): Promise<Output> {
  const wallet = await setWallet(deps, number, {
    pin: pin === undefined ? undefined : pin === NO_PIN ? null : await readSecret(pin, input),
    phone: phone === undefined ? undefined : await readPhone(phone),
  });
  const now = pin === undefined ? 'unchanged' : pin === NO_PIN ? 'none' : 'new';
  const document = { ...documentOf(wallet), pin: now };
  return { document, lines: fieldLines(document) };
}

/** The options of `mbongo wallet list`. `phone`: the one that codes go to. `after`: the last number of the page before. */
export interface WalletListOptions {
  readonly phone?: string;
  readonly currency?: string;
  readonly after?: string;
  readonly limit: string;
}

/**
 * A page of wallets and flash accounts, in the order of their numbers, as `{wallets, next}`, with masked phones and without
 * balances. `next` is the number for --after; null: the page was not full.
 *
 * @throws UsageError when an option is malformed.
 */
export async function walletList({ deps }: Tools, options: WalletListOptions): Promise<Output> {
  const { phone, currency, after } = options;
  const limit = readLimit(options.limit);
  const wallets = await deps.store.wallet.list({
    phone: phone === undefined ? undefined : await readPhone(phone),
    currency: currency === undefined ? undefined : requireCurrency(currency),
    after: after === undefined ? undefined : requireNumber(after),
    limit,
  });
  const end = endOfPage(wallets, limit);
  const seen = wallets.map(documentOf);
  const rows = seen.map((one) => [one.wallet_number, one.kind, one.currency, one.phone_number, one.created_at]);
  return {
    document: { wallets: seen, next: end.next },
    lines: [...table(['number', 'kind', 'currency', 'phone', 'opened'], rows), ...end.lines],
  };
}

/**
 * An account as `walletList` has it, with its `balance`, whether a PIN is `set` or `none`, and until when its PIN and its codes are
 * locked; null: not locked.
 *
 * @throws OperatorError when there is no such account.
 */
export async function walletShow({ deps }: Tools, number: string): Promise<Output> {
  const { wallet, balance, pinLockedUntil, codesLockedUntil } = await seeWallet(deps, number);
  const document = {
    ...documentOf(wallet),
    balance: formatMinor(balance, wallet.currency),
    pin: wallet.pin_hash === '' ? NO_PIN : 'set',
    pin_locked_until: timeOf(pinLockedUntil),
    codes_locked_until: timeOf(codesLockedUntil),
  };
  return {
    document,
    lines: [...fieldLines(document), '', `What it paid: mbongo payment list --wallet ${wallet.id}`],
  };
}

function documentOf({ id, kind, currency, phone, created_at }: Wallet) {
  return { wallet_number: id, kind, currency, phone_number: maskPhone(phone), created_at: timeOf(created_at) };
}

function outputOf(wallet_number: string, currency: string, balance: string): Output {
  return { document: { wallet_number, currency, balance }, lines: [`${wallet_number}  ${balance} ${currency}`] };
}
