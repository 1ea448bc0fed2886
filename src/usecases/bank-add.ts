/**
 * Adds a bank account that a merchant's customers may transfer to.
 *
 * Invariant: what is stored is shown to payers as it is, so every text is one clean line. An account is never changed, because
 * payments refer to it: a wrong one is closed, and another one added.
 */

import { identityOf } from '../domain/bank-credit.ts';
import type { Currency } from '../domain/currency.ts';
import type { BankAccount } from '../domain/transfer-records.ts';
import { newId, type OperatorDeps } from './deps.ts';
import { commandClaim, decideOnce } from './operator-commit.ts';
import { OperatorError, UsageError } from './operator-error.ts';
import { requireLine, requireMerchant } from './operator-input.ts';

export interface BankAddCommand {
  readonly merchantId: string;
  readonly bank: string;
  /** The bank's identifier; undefined: it is derived from the bank's name. */
  readonly bankId: string | undefined;
  /** ISO 3166-1 alpha-2. */
  readonly country: string;
  readonly accountName: string;
  readonly accountNumber: string;
  /** Checked, in electronic form. */
  readonly iban: string | undefined;
  /** A BIC, checked. */
  readonly swift: string | undefined;
  readonly currency: Currency;
  readonly branchCity: string | undefined;
}

/** 140 characters at most, in every text that the payer is shown. */
const MAX_LINE = 140;

/** @throws OperatorError when there is no such merchant, a value is not usable, or the account has been added already. */
export async function addBankAccount(deps: OperatorDeps, command: BankAddCommand): Promise<BankAccount> {
  const { id: merchantId, shard } = await requireMerchant(deps, command.merchantId);
  const bank_name = requireLine(command.bank, "the bank's name", MAX_LINE);
  const account: BankAccount = {
    shard,
    id: newId(deps, 'bka', shard),
    version: 1,
    merchant_id: merchantId,
    bank_id: command.bankId === undefined ? bankIdOf(bank_name) : requireBankId(command.bankId),
    bank_name,
    country: requireCountry(command.country),
    account_name: requireLine(command.accountName, "the account's name", MAX_LINE),
    account_number: requireAccountNumber(command.accountNumber),
    iban: command.iban ?? null,
    swift: command.swift ?? null,
    currency: command.currency,
    branch_city:
      command.branchCity === undefined ? null : requireLine(command.branchCity, "the branch's city", MAX_LINE),
    status: 'ACTIVE',
    created_at: deps.clock.now(),
  };
  return decideOnce(deps, shard, 'see `mbongo bank list`', async () => {
    const others = await sameAccounts(deps, account);
    requireNew(others);
    // Another operator who adds the same account in this moment claims the same name.
    const name = deps.secrets.digest(JSON.stringify([merchantId, ...identityOf(account), others.length]));
    const claims = [commandClaim(shard, `bank-account:${name}`, account.created_at)];
    return { change: { claims: [...claims, { table: 'bank_account', row: account }] }, answer: account };
  });
}

/** The merchant's accounts, open and closed, that are the same at their bank. */
async function sameAccounts({ store }: OperatorDeps, account: BankAccount): Promise<readonly BankAccount[]> {
  const identity = String(identityOf(account));
  const others = await store.bankAccount.ofMerchant(account.shard, account.merchant_id);
  return others.filter((one) => String(identityOf(one)) === identity);
}

/** Refuses a duplicate: payers would see both accounts, and closing one would leave the other. */
function requireNew(others: readonly BankAccount[]): void {
  const same = others.find(({ status }) => status === 'ACTIVE');
  if (same === undefined) return;
  throw new OperatorError(
    `that account already exists: ${same.id}; to replace it, close it first with \`mbongo bank close\``,
  );
}

/** Banks group digits in their own ways, so the number is kept as the operator wrote it. */
function requireAccountNumber(text: string): string {
  const number = text.trim();
  if (/^[0-9A-Za-z](?:[ ./-]?[0-9A-Za-z]){3,39}$/.test(number)) return number;
  throw new UsageError('the account number must have 4 to 40 letters and digits, perhaps with single blanks or dashes');
}

const BANK_ID = /^[a-z0-9](?:-?[a-z0-9]){0,63}$/;

function requireBankId(text: string): string {
  if (BANK_ID.test(text)) return text;
  throw new UsageError('a bank id must have 1 to 64 lower-case letters and digits, with single dashes between them');
}

/** `Crédit du Lac` is `credit-du-lac`. */
function bankIdOf(name: string): string {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const id = plain.replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '');
  if (BANK_ID.test(id)) return id;
  throw new UsageError('no bank id can be derived from that name: name one with --bank-id');
}

const COUNTRIES = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });

function requireCountry(text: string): string {
  const country = text.toUpperCase();
  // ZZ means "unknown region".
  if (/^[A-Z]{2}$/.test(country) && country !== 'ZZ' && COUNTRIES.of(country) !== undefined) return country;
  throw new UsageError(`${JSON.stringify(text)} is not a country: write its two-letter code, like CD`);
}
