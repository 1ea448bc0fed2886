/**
 * The command line as a tree of nouns and verbs (contract §10).
 *
 * Invariant: only the declarations of verbs are loaded until a verb is chosen, so that a short command starts fast.
 * Exit status: 0 done, 1 not carried out, 2 wrong usage.
 */

import { Command, CommanderError, Help, Option } from 'commander';
import type { Command as Named } from '../usecases/journal.ts';
import { addArchiveCommands } from './archive-verbs.ts';
import { addAttemptCommands } from './attempt-verbs.ts';
import { addConnectorCommands } from './connector-verbs.ts';
import { addJournalCommands } from './journal-verbs.ts';
import { addCredentialCommands, addMerchantCommands } from './merchant-verbs.ts';
import { printError, type Surroundings } from './output.ts';
import { addPaymentCommands } from './payment-verbs.ts';
import { addPayoutCommands } from './payout-verbs.ts';
import { addRefundCommands } from './refund-verbs.ts';
import { type Role, readProcesses } from './serve-processes.ts';
import { addSuspenseCommands } from './suspense-verbs.ts';
import { attributionOf } from './this-user.ts';
import type { Tools } from './tools.ts';
import { explainUsage, refuseTwice, refuseUnknownHelp, spelledOut } from './usage.ts';
import type { AddVerb, AddVerbOf } from './verb.ts';
import type { WebhookListenOptions } from './webhook-listen.ts';

/** Runs a command line; `argv` is without the program's name. Returns the exit status. */
export async function runCommandLine(argv: readonly string[], around: Surroundings, version: string): Promise<number> {
  let status = 0;
  const words = spelledOut(argv);
  const json = words.includes('--json');
  const program = buildProgram(around, version, (code) => {
    status = code;
  });
  try {
    refuseUnknownHelp(program, words);
    await program.parseAsync(words, { from: 'user' });
    return status;
  } catch (error) {
    // Commander has printed the help or the version.
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    return printError(around, error, json);
  }
}

type Ended = (status: number) => void;

/** An option's description in the help, which also marks required options. */
function describeOption(option: Option): string {
  return `${HELP.optionDescription(option)}${option.mandatory ? ' (required)' : ''}`;
}

/** Commander's own descriptions, which add defaults and choices. */
const HELP = new Help();

function buildProgram(around: Surroundings, version: string, ended: Ended): Command {
  const program = new Command('mbongo')
    .description('An open-source payment gateway.')
    .version(version)
    .configureOutput({
      writeOut: around.write,
      // One line is printed for every error, by runCommandLine.
      writeErr: () => undefined,
    })
    .configureHelp({ optionDescription: describeOption });
  const verbs: Command[] = [];
  const newVerb = (parent: Command, words: string, description: string): Command => {
    const verb = withJson(parent.command(words).description(description));
    verbs.push(verb);
    return verb;
  };
  const addVerb: AddVerb = (parent, name, description, load) =>
    newVerb(parent, name, description).action(async (options) => {
      const { runWithTools } = await import('./tools.ts');
      const command = commandOf(parent, name, options);
      const run = async (tools: Tools) => (await load())(tools, options);
      ended(await runWithTools(around, options.json === true, command, run));
    });
  const addVerbOf: AddVerbOf = (parent, name, description, load, noun = 'id') =>
    newVerb(parent, `${name} <${noun}>`, description).action(async (id: string, options) => {
      const { runWithTools } = await import('./tools.ts');
      const command = commandOf(parent, name, options);
      const run = async (tools: Tools) => (await load())(tools, id, options);
      ended(await runWithTools(around, options.json === true, command, run));
    });
  addProcessCommands(program, around, ended);
  addMerchantCommands(program, addVerb);
  addCredentialCommands(program, addVerb);
  addMoneyCommands(program, addVerb, addVerbOf);
  addTransferCommands(program, addVerb, addVerbOf);
  addPaymentCommands(program, addVerb, addVerbOf);
  addAttemptCommands(program, addVerb, addVerbOf);
  addSuspenseCommands(program, addVerb, addVerbOf);
  addPayoutCommands(program, addVerb, addVerbOf);
  addRefundCommands(program, addVerb, addVerbOf);
  addConnectorCommands(program, addVerb, addVerbOf);
  addWebhookCommands(program, addVerb, addVerbOf, around, ended);
  addReconcileCommand(program, addVerbOf);
  addArchiveCommands(program, addVerb);
  addClockCommands(program, addVerb, addVerbOf);
  addJournalCommands(program, addVerb);
  addBenchCommand(program, around, ended);
  for (const verb of verbs) if (!READING.has(verb.name())) sayWho(verb);
  refuseTwice(program);
  explainUsage(program);
  return program;
}

/** Verbs without --by and --why: they change nothing that the journal records. */
const READING: ReadonlySet<string> = new Set(['list', 'show', 'lines', 'reconcile', 'archive']);

/** Adds the options --by and --why, which the journal records, to a verb that lacks them. */
function sayWho(verb: Command): void {
  const has = (name: string): boolean => verb.options.some(({ long }) => long === name);
  if (!has('--by'))
    verb.option('--by <name>', 'who runs the command, for the journal (default: the user of this machine)');
  if (!has('--why')) verb.option('--why <text>', 'the reason, for the journal');
}

/** The command as the journal names it: the verb, preceded by its nouns if any. */
function commandOf(parent: Command, name: string, options: { readonly by?: string; readonly why?: string }): Named {
  const nouns: string[] = [];
  for (let noun = parent; noun.parent !== null; noun = noun.parent) nouns.unshift(noun.name());
  return { verb: [...nouns, name].join(' '), ...attributionOf(options) };
}

function withJson(command: Command): Command {
  return command.option('--json', 'print exactly one JSON document');
}

function addProcessCommands(program: Command, around: Surroundings, ended: Ended): void {
  const role = new Option('--role <role>', 'api answers requests, worker does the background work, all does both');
  const count = new Option('--processes <count>', 'how many processes share the port; auto: one per core');
  withJson(program.command('serve').description('run the gateway until it is stopped'))
    .addOption(role.choices(['all', 'api', 'worker']).default('all'))
    .addOption(count.argParser(readProcesses).default(1))
    .action(async ({ role, processes, json }: { role: Role; processes: number; json?: boolean }) => {
      if (processes > 1) {
        const { supervise } = await import('./supervise.ts');
        return ended(await supervise(around, role, processes, json === true));
      }
      const { serve } = await import('./serve.ts');
      ended(await serve(around, role, json === true));
    });
  withJson(program.command('migrate').description('migrate the database to the version of this program')).action(
    async (options: { json?: boolean }) => {
      const [{ report }, { migrateDatabase }] = await Promise.all([import('./tools.ts'), import('./migrate.ts')]);
      ended(await report(around, options.json === true, () => migrateDatabase(around)));
    },
  );
  withJson(program.command('doctor').description('check the books and everything that the gateway needs')).action(
    async (options: { json?: boolean }) => {
      const { doctor } = await import('./doctor.ts');
      ended(await doctor(around, options.json === true));
    },
  );
}

/** All arguments after `bench` are passed to the bench, `--help` and `--json` too. */
function addBenchCommand(program: Command, around: Surroundings, ended: Ended): void {
  program
    .command('bench')
    .description("measure the gateway's speed on this machine: a quarter of an hour, with --quick a minute or two")
    .argument('[options...]', 'the options of `npm run bench`')
    .helpOption(false)
    .allowUnknownOption()
    .action(async (args: string[]) => ended(await (await import('./bench.ts')).bench(around, args)));
}

const CREDITED_ONCE =
  "a receipt's or a bank's; under one reference money is credited once, however often this is given";

function addMoneyCommands(program: Command, addVerb: AddVerb, addVerbOf: AddVerbOf): void {
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

function addTransferCommands(program: Command, addVerb: AddVerb, addVerbOf: AddVerbOf): void {
  const bank = program.command('bank').description('bank accounts that customers transfer to');
  const loadBank = () => import('./bank.ts');
  addVerb(bank, 'add', 'add a bank account', async () => (await loadBank()).bankAdd)
    .requiredOption('--merchant <id>', "the merchant's id")
    .requiredOption('--bank <name>', "the bank's name")
    .option('--bank-id <id>', "the bank's id, the same for all accounts there (default: derived from its name)")
    .requiredOption('--country <code>', "the bank's country: CD")
    .requiredOption('--account-name <name>', "the account holder's name")
    .requiredOption('--account-number <number>', 'as the bank writes it')
    .option('--iban <iban>', 'in countries that use it')
    .option('--swift <code>', "the bank's SWIFT code (BIC)")
    .requiredOption('--currency <code>', 'its currency')
    .option('--branch-city <city>', "the branch's city");
  addVerb(bank, 'list', 'list bank accounts, including closed ones', async () => (await loadBank()).bankList).option(
    '--merchant <id>',
    "only this merchant's",
  );
  addVerbOf(
    bank,
    'close',
    'close a bank account: no further customer is asked to transfer to it',
    async () => (await loadBank()).bankClose,
  );
  const proof = program.command('proof').description('proofs of bank transfers');
  const loadProof = () => import('./proof.ts');
  addVerb(proof, 'list', 'list proofs, the oldest first', async () => (await loadProof()).proofList)
    .option('--merchant <id>', "only this merchant's")
    .option('--status <status>', 'waiting, approved or declined')
    .option('--after <id>', 'those after this proof: the next page')
    .option('--limit <count>', 'how many to list at most', '50');
  addVerbOf(proof, 'show', 'show everything known about a proof', async () => (await loadProof()).proofShow).option(
    '--out <file>',
    'save the uploaded file here; open it in a viewer that runs no scripts',
  );
  addVerbOf(
    proof,
    'approve',
    'approve a proof: the transfer has arrived',
    async () => (await loadProof()).proofApprove,
  ).option('--note <text>', 'a note for operators');
  addVerbOf(
    proof,
    'decline',
    'decline a proof: the transfer has not arrived, or the file proves nothing',
    async () => (await loadProof()).proofDecline,
  ).requiredOption('--reason <text>', 'the reason, for operators');
  const delivery = program.command('delivery').description('delayed deliveries');
  addVerbOf(
    delivery,
    'release',
    "make a payment's held money available",
    async () => (await import('./delivery.ts')).deliveryRelease,
  );
}

function addWebhookCommands(
  program: Command,
  addVerb: AddVerb,
  addVerbOf: AddVerbOf,
  around: Surroundings,
  ended: Ended,
): void {
  const webhook = program.command('webhook').description('webhook events and their signing secrets');
  const load = () => import('./webhook.ts');
  addVerb(webhook, 'list', 'list events, the oldest first', async () => (await load()).webhookList)
    .option('--merchant <id>', "only this merchant's")
    .option('--status <status>', 'waiting, delivered, dead, gone or no_target')
    .option('--from <time>', 'only those made at or after this time')
    .option('--to <time>', 'only those made before this time')
    .option('--after <id>', 'those after this event: the next page')
    .option('--limit <count>', 'how many to list at most', '50');
  addVerbOf(webhook, 'show', 'show an event, and each try with its answer', async () => (await load()).webhookShow);
  addVerb(
    webhook,
    'replay',
    'send one event again, or all of a span; a span needs --yes',
    async () => (await load()).webhookReplay,
  )
    .option('--event <id>', 'the event to send again')
    .option('--from <time>', 'or all events made at or after this time: 2026-03-01T08:00:00Z')
    .option('--to <time>', 'and before this time (default: now)')
    .option('--merchant <id>', "only this merchant's")
    .option('--status <status>', 'only with this status, for example dead')
    .option('--yes', 'confirm a span; without it nothing is sent');
  webhook
    .command('listen')
    .description('receive webhooks on this machine and show each one, until stopped')
    .option('--json', 'print one JSON document per line: where it listens, then each webhook')
    .option('--port <port>', 'the port to listen on; 0 takes any free one', '8095')
    .option('--secret <secret>', 'whsec_…, the signing secret: verify each webhook with it')
    .action(async (options: WebhookListenOptions) =>
      ended(await (await import('./webhook-listen.ts')).webhookListen(around, options)),
    );
  const secret = webhook.command('secret').description('signing secrets');
  addVerb(secret, 'rotate', "replace a merchant's signing secret", async () => (await load()).webhookSecretRotate)
    .requiredOption('--merchant <id>', "the merchant's id")
    .option('--grace <duration>', 'how long webhooks are signed with the old one too', '24h');
}

function addReconcileCommand(program: Command, addVerbOf: AddVerbOf): void {
  const connector = new Option(
    '--connector <name>',
    'the upstream that the statement comes from',
  ).makeOptionMandatory();
  addVerbOf(
    program,
    'reconcile',
    "match an upstream's statement (CSV) with the attempts and the ledger",
    async () => (await import('./reconcile.ts')).reconcileFile,
    'file',
  )
    .addOption(connector.choices(['mtn-momo', 'mtn-momo-disbursement', 'mastercard']))
    .option('--from <time>', 'the start of the span that the statement covers (default: its first date)')
    .option('--to <time>', 'the span ends before this time (default: its last date)')
    .option('--report <file>', 'write every verdict to this CSV file');
}

function addClockCommands(program: Command, addVerb: AddVerb, addVerbOf: AddVerbOf): void {
  const clock = program.command('clock').description("a sandbox's test clock");
  const load = () => import('./clock.ts');
  addVerb(clock, 'show', 'show the time of the test clock', async () => (await load()).clockShow);
  addVerbOf(
    clock,
    'advance',
    'set the test clock forward: 30d, 12h, 90m',
    async () => (await load()).clockAdvance,
    'duration',
  );
}
