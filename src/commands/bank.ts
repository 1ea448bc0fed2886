/**
 * `mbongo bank`: adds, lists and closes the accounts that customers transfer to.
 */

import type { BankAccount } from '../domain/transfer-records.ts';
import { addBankAccount } from '../usecases/bank-add.ts';
import { closeBankAccount } from '../usecases/bank-close.ts';
import { UsageError } from '../usecases/operator-error.ts';
import { requireCurrency, requireMerchant } from '../usecases/operator-input.ts';
import { type Output, table, timeOf } from './output.ts';
import type { Tools } from './tools.ts';

/**
 * The options of `mbongo bank add`. `bankId`: the same for all accounts at one bank, by default derived from its name. `country`:
 * its two-letter code. `iban` is checked by its check digits, `swift` by its form.
 */
export interface BankAddOptions {
  readonly merchant: string;
  readonly bank: string;
  readonly bankId?: string;
  readonly country: string;
  readonly accountName: string;
  readonly accountNumber: string;
  readonly iban?: string;
  readonly swift?: string;
  readonly currency: string;
  readonly branchCity?: string;
}

/**
 * Adds an account that the merchant's customers may transfer to (contract §4), and returns it, with its id as `bank_account_id`.
 *
 * @throws OperatorError when there is no such merchant, a value is not usable, or the account has been added already.
 */
export async function bankAdd({ deps }: Tools, options: BankAddOptions): Promise<Output> {
  const account = await addBankAccount(deps, {
    merchantId: options.merchant,
    bank: options.bank,
    bankId: options.bankId,
    country: options.country,
    accountName: options.accountName,
    accountNumber: options.accountNumber,
    iban: options.iban === undefined ? undefined : await readIban(options.iban),
    swift: options.swift === undefined ? undefined : await readBic(options.swift),
    currency: requireCurrency(options.currency),
    branchCity: options.branchCity,
  });
  return outputOf(account);
}

/**
 * The bank accounts of one merchant or of all, closed ones too, as `{accounts}`.
 *
 * @throws OperatorError when there is no such merchant.
 */
export async function bankList({ deps }: Tools, options: { readonly merchant?: string }): Promise<Output> {
  const { merchant } = options;
  const merchants = merchant === undefined ? await deps.store.merchant.list() : [await requireMerchant(deps, merchant)];
  const lists = await Promise.all(merchants.map(({ shard, id }) => deps.store.bankAccount.ofMerchant(shard, id)));
  const accounts = lists.flat();
  const rows = accounts.map((account) => [
    account.id,
    account.status,
    account.bank_name,
    account.country,
    account.account_number,
    account.currency,
    account.merchant_id,
  ]);
  return {
    document: { accounts: accounts.map(documentOf) },
    lines: table(['account', 'status', 'bank', 'country', 'number', 'currency', 'merchant'], rows),
  };
}

/**
 * Closes an account, so that no further customer is asked to transfer to it, and returns it. A closed one stays as it is.
 *
 * @throws OperatorError when there is no such account.
 */
export async function bankClose({ deps }: Tools, accountId: string): Promise<Output> {
  return outputOf(await closeBankAccount(deps, accountId));
}

function outputOf(account: BankAccount): Output {
  const { id, status, bank_name, account_number, currency } = account;
  return { document: documentOf(account), lines: [`${id}  ${status}  ${bank_name}  ${account_number}  ${currency}`] };
}

function documentOf(account: BankAccount) {
  const { id, shard: _shard, version: _version, created_at, ...rest } = account;
  return { bank_account_id: id, ...rest, created_at: timeOf(created_at) };
}

/** The electronic form; the library's tables are loaded for this command only. */
async function readIban(text: string): Promise<string> {
  const { electronicFormatIBAN, isValidIBAN } = await import('ibantools');
  const iban = electronicFormatIBAN(text);
  if (iban !== null && isValidIBAN(iban)) return iban;
  throw new UsageError('the IBAN is not valid: check its letters and digits');
}

async function readBic(text: string): Promise<string> {
  const { isValidBIC } = await import('ibantools');
  const bic = text.replaceAll(' ', '').toUpperCase();
  if (isValidBIC(bic)) return bic;
  throw new UsageError('the SWIFT code (BIC) is not valid: it has 8 or 11 letters and digits, like ABCDCDKI');
}
