/**
 * The verbs of `mbongo merchant` and `mbongo credential`.
 *
 * Invariant: this file only declares the verbs; the code that carries them out is loaded when one of them is chosen.
 */

import { type Command, Option } from 'commander';
import { LIMIT_NAMES } from '../domain/traffic-limit.ts';
import type { AddVerb } from './verb.ts';

const loadMerchant = () => import('./merchant.ts');

/** Adds `mbongo merchant` with the verbs `create`, `list`, `show`, `suspend`, `allow`, `set`, `payouts` and `brand`. */
export function addMerchantCommands(program: Command, addVerb: AddVerb): void {
  const merchant = program.command('merchant').description('merchants and their settings');
  addVerb(
    merchant,
    'create',
    'make a merchant, its credential and its webhook secret',
    async () => (await loadMerchant()).merchantCreate,
  )
    .requiredOption('--name <name>', 'its name, as customers read it')
    .option('--no-float', 'in a sandbox: start without money and without bank accounts');
  addVerb(merchant, 'list', 'list merchants', async () => (await loadMerchant()).merchantList)
    .option('--after <id>', 'those after this merchant: the next page')
    .option('--limit <count>', 'how many to list at most (default: all)');
  addVerb(
    merchant,
    'show',
    'show a merchant and its settings',
    async () => (await loadMerchant()).merchantShow,
  ).requiredOption('--merchant <id>', "the merchant's id");
  addVerb(
    merchant,
    'suspend',
    'refuse every call of a merchant',
    async () => (await loadMerchant()).merchantSuspend,
  ).requiredOption('--merchant <id>', "the merchant's id");
  addVerb(
    merchant,
    'allow',
    'lift the suspension of a merchant',
    async () => (await loadMerchant()).merchantAllow,
  ).requiredOption('--merchant <id>', "the merchant's id");
  addSettingCommands(merchant, addVerb);
}

/** The verbs that change a merchant's settings; settings that are not named stay as they are. */
function addSettingCommands(merchant: Command, addVerb: AddVerb): void {
  addVerb(
    merchant,
    'set',
    "change a merchant's settings; those not named stay as they are",
    async () => (await loadMerchant()).merchantSet,
  )
    .requiredOption('--merchant <id>', "the merchant's id")
    .option('--currencies <list>', 'the currencies it may use: usd,cdf; or all')
    .option('--limit <list>', 'smallest and largest payment: usd:1-5000,cdf:500-; usd:none removes it')
    .option('--method-limit <list>', 'the same for one method, in addition: wallet:usd:1-500; wallet:usd:none')
    .option('--methods <list>', 'the payment methods its customers may choose: wallet,card; or all')
    .option(
      '--code-threshold <list>',
      'the amount from which a wallet asks for a one-time code: usd:100; or usd:default',
    )
    .option(
      '--rate-limit <list>',
      `how many calls a limit allows (${LIMIT_NAMES.join(', ')}): payments:240; or payments:default`,
    )
    .addOption(
      new Option('--scope-required <on|off>', 'whether every session must state its scope').choices(['on', 'off']),
    )
    .addOption(
      new Option(
        '--fee-covered-by <who>',
        'who covers the fees of its payments; any: whoever collects says so',
      ).choices(['buyer', 'merchant', 'any']),
    )
    .addOption(
      new Option(
        '--delivery-behaviour <when>',
        'when the funds of its payments become available; any: whoever collects says so',
      ).choices(['direct_delivery', 'delayed_delivery', 'any']),
    )
    .option('--url-hosts <list>', 'hosts that notify and redirect URLs may name: shop.example; or any');
  addVerb(
    merchant,
    'payouts',
    "set when a merchant's payouts run, and which need an operator's approval",
    async () => (await loadMerchant()).merchantPayouts,
  )
    .requiredOption('--merchant <id>', "the merchant's id")
    .option('--hour <hour>', 'the hour at which dated payouts run: 0 to 23; or default (6)')
    .option('--time-zone <zone>', 'the time zone of that hour: Africa/Kinshasa; or default (UTC)')
    .option('--approval-from <amount>', 'the total from which a batch needs approval; or default (never)')
    .option('--currency <code>', 'the currency of that amount, or whose amount is set to default');
  addVerb(
    merchant,
    'brand',
    "set a merchant's colour and logo on the hosted page",
    async () => (await loadMerchant()).merchantBrand,
  )
    .requiredOption('--merchant <id>', "the merchant's id")
    .option('--colour <colour>', 'like #0b6e4f; or default')
    .option('--logo <file>', 'a PNG, JPEG or WebP picture of at most 64 KiB')
    .option('--no-logo', 'remove the logo');
}

/** Adds `mbongo credential` with the verbs `issue`, `rotate`, `revoke` and `list`. */
export function addCredentialCommands(program: Command, addVerb: AddVerb): void {
  const credential = program.command('credential').description("merchants' credentials");
  const load = () => import('./credential.ts');
  addVerb(credential, 'issue', 'issue a further credential', async () => (await load()).credentialIssue)
    .requiredOption('--merchant <id>', "the merchant's id")
    .option('--addresses <list>', 'addresses and networks it may be used from: 192.0.2.7,10.0.0.0/8', 'any');
  addVerb(credential, 'rotate', 'replace a credential', async () => (await load()).credentialRotate)
    .requiredOption('--key <key id>', 'the credential to replace')
    .option('--grace <duration>', 'how long the old credential stays valid', '24h');
  addVerb(
    credential,
    'revoke',
    'revoke a credential at once',
    async () => (await load()).credentialRevoke,
  ).requiredOption('--key <key id>', 'the credential to revoke');
  addVerb(
    credential,
    'list',
    "list a merchant's credentials, without secrets",
    async () => (await load()).credentialList,
  ).requiredOption('--merchant <id>', "the merchant's id");
}
