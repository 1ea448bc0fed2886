/**
 * The verbs of `mbongo wallet`, `balance` and `fee`, and `mbongo settle`.
 *
 * Invariant: money that is credited or paid out can carry a reference, under which it moves once.
 */

import { type Command, Option } from 'commander';
import type { AddVerb, AddVerbOf } from './verb.ts';

const CREDITED_ONCE =
  "a receipt's or a bank's; under one reference money is credited once, however often this is given";

/** Adds `mbongo wallet`, `mbongo balance`, `mbongo settle` and `mbongo fee` with their verbs. */
export function addMoneyCommands(program: Command, addVerb: AddVerb, addVerbOf: AddVerbOf): void {
  const wallet = program.command('wallet').description("customers' wallets and flash accounts");
  const loadWallet = () => import('./wallet.ts');
  addVerb(wallet, 'open', 'open a wallet or a flash account', async () => (await loadWallet()).walletOpen)
    .option('--number <number>', 'its number; auto: the gateway chooses a free one', 'auto')
    .requiredOption(
      '--pin <digits>',
      'four to eight digits; -: the first line of the input, so that no other user sees it',
    )
    .requiredOption('--currency <code>', 'its currency')
    .option('--balance <amount>', 'its opening balance', '0')
    .requiredOption('--phone <number>', 'the phone that one-time codes are sent to: +243…')
    .addOption(new Option('--kind <kind>', 'the kind of account').choices(['wallet', 'flash']).default('wallet'));
  addVerb(wallet, 'credit', 'put money into a wallet or a flash account', async () => (await loadWallet()).walletCredit)
    .requiredOption('--number <number>', 'its number')
    .requiredOption('--amount <amount>', "in the wallet's currency")
    .option('--reference <reference>', CREDITED_ONCE);
  addVerbOf(
    wallet,
    'set',
    'change the PIN of one, or the phone that its codes go to',
    async () => (await loadWallet()).walletSet,
    'number',
  )
    .option(
      '--pin <digits>',
      'four to eight digits; -: the first line of the input; none: no PIN opens it until one is set',
    )
    .option('--phone <number>', 'the phone that one-time codes are sent to from now on: +243…');
  addVerb(wallet, 'list', 'list wallets and flash accounts', async () => (await loadWallet()).walletList)
    .option('--phone <number>', 'those whose codes go to this phone: +243…')
    .option('--currency <code>', 'only in this currency')
    .option('--after <number>', 'those after this one: the next page')
    .option('--limit <count>', 'how many to list at most', '50');
  addVerbOf(
    wallet,
    'show',
    'show the balance of one, and whether its PIN or its codes are locked',
    async () => (await loadWallet()).walletShow,
    'number',
  );
  const balance = program.command('balance').description("merchants' balances");
  const loadBalance = () => import('./balance.ts');
  addVerb(balance, 'credit', "put money into a merchant's balance", async () => (await loadBalance()).balanceCredit)
    .requiredOption('--merchant <id>', "the merchant's id")
    .requiredOption('--currency <code>', 'the currency')
    .requiredOption('--amount <amount>', 'the amount')
    .option('--reference <reference>', CREDITED_ONCE);
  addVerb(balance, 'show', "show a merchant's balances", async () => (await loadBalance()).balanceShow).requiredOption(
    '--merchant <id>',
    "the merchant's id",
  );
  addVerb(
    program,
    'settle',
    "pay money from a merchant's balance out to its bank",
    async () => (await import('./settle.ts')).settle,
  )
    .requiredOption('--merchant <id>', "the merchant's id")
    .requiredOption('--currency <code>', 'the currency')
    .requiredOption('--amount <amount>', 'the amount')
    .option('--reference <reference>', 'the reference of the bank transfer, shown in the statement')
    .option('--yes', 'confirm; without it nothing is changed');
  const fee = program.command('fee').description('fees that merchants pay');
  const loadFee = () => import('./fee.ts');
  addVerb(fee, 'set', 'set a fee (0 is possible), or remove it', async () => (await loadFee()).feeSet)
    .requiredOption('--merchant <id>', "the merchant's id")
    .option(
      '--method <method>',
      'wallet, flash, mobile_money, card, bank_transfer, google_pay, apple_pay, payout_mobile_money or payout_wallet (default: every payment method without a fee of its own)',
    )
    .requiredOption('--currency <code>', 'the currency')
    .option('--rate <percent>', 'per cent of the amount: 2.5; 0 for a fixed amount alone (required without --remove)')
    .option('--fixed <amount>', 'a fixed amount on top of the rate (default: 0)')
    .option('--min <amount>', 'the smallest fee')
    .option('--max <amount>', 'the largest fee')
    .option('--remove', 'remove the fee: the one for every method, if there is one, then applies');
  addVerb(fee, 'list', "list a merchant's fees", async () => (await loadFee()).feeList).requiredOption(
    '--merchant <id>',
    "the merchant's id",
  );
}
