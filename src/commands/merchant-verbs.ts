/**
 * The verbs of `mbongo merchant` and `mbongo credential`.
 *
 * Invariant: this file only declares the verbs; the code that carries them out is loaded when one of them is chosen.
 */

import { type Command, Option } from 'commander';
import { LIMIT_NAMES } from '../domain/traffic-limit.ts';
import type { AddVerb } from './verb.ts';

export function addMerchantCommands(program: Command, addVerb: AddVerb): void {
  const merchant = program.command('merchant').description('merchants and their settings');
  const load = () => import('./merchant.ts');
  addVerb(
    merchant,
    'create',
    'make a merchant, its credential and its webhook secret',
    async () => (await load()).merchantCreate,
  )
    .requiredOption('--name <name>', 'its name, as customers read it')
    .option('--no-float', 'in a sandbox: without money to begin with');
  addVerb(merchant, 'list', 'list merchants', async () => (await load()).merchantList);
  addVerb(
    merchant,
    'suspend',
    'refuse every call of a merchant',
    async () => (await load()).merchantSuspend,
  ).requiredOption('--merchant <id>', 'its id');
  addVerb(merchant, 'allow', 'take a suspension back', async () => (await load()).merchantAllow).requiredOption(
    '--merchant <id>',
    'its id',
  );
  addVerb(merchant, 'set', 'change settings; what is not named stays', async () => (await load()).merchantSet)
    .requiredOption('--merchant <id>', 'its id')
    .option('--currencies <list>', 'the only ones it may use: usd,cdf; or all')
    .option('--limit <list>', 'smallest and largest payment: usd:1-5000,cdf:500-; usd:none takes it away')
    .option('--method-limit <list>', 'the same for one method, besides: wallet:usd:1-500; wallet:usd:none')
    .option('--methods <list>', 'the only ones its customers may choose: wallet,card; or all')
    .option('--code-threshold <list>', 'from which amount a wallet asks for a code: usd:100; or usd:default')
    .option(
      '--rate-limit <list>',
      `how many calls by limit (${LIMIT_NAMES.join(', ')}): payments:240; or payments:default`,
    )
    .addOption(new Option('--scope-required <on|off>', 'every session must say its scope').choices(['on', 'off']))
    .option('--url-hosts <list>', 'hosts that notify and redirect URLs may name: shop.example; or any');
  addVerb(
    merchant,
    'payouts',
    'when its payouts run, and which an operator approves',
    async () => (await load()).merchantPayouts,
  )
    .requiredOption('--merchant <id>', 'its id')
    .option('--hour <hour>', 'the hour at which dated ones run: 0 to 23; or default (6)')
    .option('--time-zone <zone>', 'where it is that hour: Africa/Kinshasa; or default (UTC)')
    .option('--approval-from <amount>', 'from which total an operator has to approve; or default (none does)')
    .option('--currency <code>', 'in which currency that amount is');
  addVerb(merchant, 'brand', 'how the hosted page shows it', async () => (await load()).merchantBrand)
    .requiredOption('--merchant <id>', 'its id')
    .option('--colour <colour>', 'like #0b6e4f; or default')
    .option('--logo <file>', 'a PNG, JPEG or WebP picture of at most 64 KiB')
    .option('--no-logo', 'take the logo away');
}

export function addCredentialCommands(program: Command, addVerb: AddVerb): void {
  const credential = program.command('credential').description("merchants' credentials");
  const load = () => import('./credential.ts');
  addVerb(credential, 'issue', 'issue a further credential', async () => (await load()).credentialIssue)
    .requiredOption('--merchant <id>', 'whose')
    .option('--addresses <list>', 'addresses and networks it may be used from: 192.0.2.7,10.0.0.0/8', 'any');
  addVerb(credential, 'rotate', 'replace a credential', async () => (await load()).credentialRotate)
    .requiredOption('--key <key id>', 'the old one')
    .option('--grace <duration>', 'how long the old one is still accepted', '24h');
  addVerb(
    credential,
    'revoke',
    'revoke a credential at once',
    async () => (await load()).credentialRevoke,
  ).requiredOption('--key <key id>', 'which');
  addVerb(
    credential,
    'list',
    "list a merchant's credentials, without secrets",
    async () => (await load()).credentialList,
  ).requiredOption('--merchant <id>', 'whose');
}
