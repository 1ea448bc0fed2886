/**
 * The command line as a tree of nouns and verbs (contract §10).
 *
 * Invariant: only the declarations of verbs are loaded until a verb is chosen, so that a short command starts fast.
 * Exit status: 0 done, 1 not carried out, 2 wrong usage.
 */

import { Command, CommanderError, Help, Option } from 'commander';
import type { Role } from '../assemble.ts';
import { addArchiveCommands } from './archive-verbs.ts';
import { addAttemptCommands } from './attempt-verbs.ts';
import { addConnectorCommands } from './connector-verbs.ts';
import { addJournalCommands } from './journal-verbs.ts';
import { addCredentialCommands, addMerchantCommands } from './merchant-verbs.ts';
import { addMoneyCommands } from './money-verbs.ts';
import { type Io, printError } from './output.ts';
import { addPaymentCommands } from './payment-verbs.ts';
import { addPayoutCommands } from './payout-verbs.ts';
import { addRefundCommands } from './refund-verbs.ts';
import { readProcesses } from './serve-processes.ts';
import { addSuspenseCommands } from './suspense-verbs.ts';
import { type AttributionOptions, attributionOf } from './this-user.ts';
import type { Given, Tools } from './tools.ts';
import { addTransferCommands } from './transfer-verbs.ts';
import {
  explainUsage,
  refuseBeforeVerb,
  refuseOptionAsValue,
  refuseTwice,
  refuseUnknownHelp,
  spelledOut,
  withOptionNamed,
} from './usage.ts';
import type { AddVerb, AddVerbOf, Ended } from './verb.ts';
import { addWebhookCommands } from './webhook-verbs.ts';

/** Runs a command line; `argv` is without the program's name. Returns the exit status. */
export async function runCommandLine(argv: readonly string[], io: Io, version: string): Promise<number> {
  let status = 0;
  const words = spelledOut(argv);
  const json = words.includes('--json');
  const program = buildProgram(io, version, (code) => {
    status = code;
  });
  try {
    refuseUnknownHelp(program, words);
    await program.parseAsync(withOptionNamed(program, words), { from: 'user' });
    return status;
  } catch (error) {
    // Commander has printed the help or the version.
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    return printError(io, error, json);
  }
}

/** An option's description in the help, which also marks required options. */
function describeOption(option: Option): string {
  return `${HELP.optionDescription(option)}${option.mandatory ? ' (required)' : ''}`;
}

/** Commander's own descriptions, which add defaults and choices. */
const HELP = new Help();

function buildProgram(io: Io, version: string, ended: Ended): Command {
  const program = new Command('mbongo')
    .description('An open-source payment gateway.')
    .version(version)
    .configureOutput({
      writeOut: io.write,
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
      ended(await runWithTools(io, options.json === true, command, run));
    });
  const addVerbOf: AddVerbOf = (parent, name, description, load, noun = 'id') =>
    newVerb(parent, `${name} <${noun}>`, description).action(async (id: string, options) => {
      const { runWithTools } = await import('./tools.ts');
      const command = commandOf(parent, name, options);
      const run = async (tools: Tools) => (await load())(tools, id, options);
      ended(await runWithTools(io, options.json === true, command, run));
    });
  addProcessCommands(program, io, ended);
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
  addWebhookCommands(program, addVerb, addVerbOf, io, ended);
  addReconcileCommand(program, addVerbOf);
  addArchiveCommands(program, addVerb);
  addClockCommands(program, addVerb, addVerbOf);
  addJournalCommands(program, addVerb);
  addBenchCommand(program, io, ended);
  for (const verb of verbs) if (!UNATTRIBUTED.has(verb.name())) addAttribution(verb);
  refuseTwice(program);
  refuseOptionAsValue(program);
  refuseBeforeVerb(program);
  explainUsage(program);
  return program;
}

/** Verbs that change nothing. */
const READING: ReadonlySet<string> = new Set(['list', 'show', 'lines', 'reconcile']);
/** Verbs that only stop something: they must not have to wait until this machine's clock is right. */
const STOPPING: ReadonlySet<string> = new Set(['merchant suspend', 'credential revoke', 'connector hold']);
/** Verbs without --by and --why: they change nothing that the journal records. */
const UNATTRIBUTED: ReadonlySet<string> = new Set([...READING, 'archive']);

/** Adds the options --by and --why, which the journal records, to a verb that lacks them. */
function addAttribution(verb: Command): void {
  const has = (name: string): boolean => verb.options.some(({ long }) => long === name);
  if (!has('--by'))
    verb.option('--by <name>', 'who runs the command, for the journal, which adds the user of this machine');
  if (!has('--why')) verb.option('--why <text>', 'the reason, for the journal');
}

/** The command as the journal names it: the verb, preceded by its nouns if any. */
function commandOf(parent: Command, name: string, options: AttributionOptions): Given {
  const nouns: string[] = [];
  for (let noun = parent; noun.parent !== null; noun = noun.parent) nouns.unshift(noun.name());
  const verb = [...nouns, name].join(' ');
  return { changes: !READING.has(name) && !STOPPING.has(verb), verb, ...attributionOf(options) };
}

function withJson(command: Command): Command {
  return command.option('--json', 'print exactly one JSON document');
}

function addProcessCommands(program: Command, io: Io, ended: Ended): void {
  const role = new Option('--role <role>', 'api answers requests, worker does the background work, all does both');
  const count = new Option('--processes <count>', 'how many processes share the port; auto: one per core');
  withJson(program.command('serve').description('run the gateway until it is stopped'))
    .addOption(role.choices(['all', 'api', 'worker']).default('all'))
    .addOption(count.argParser(readProcesses).default(1))
    .action(async ({ role, processes, json }: { role: Role; processes: number; json?: boolean }) => {
      if (processes > 1) {
        const { supervise } = await import('./supervise.ts');
        return ended(await supervise(io, role, processes, json === true));
      }
      const { serve } = await import('./serve.ts');
      ended(await serve(io, role, json === true));
    });
  withJson(program.command('migrate').description('migrate the database to the version of this program')).action(
    async (options: { json?: boolean }) => {
      const [{ report }, { migrateDatabase }] = await Promise.all([import('./tools.ts'), import('./migrate.ts')]);
      ended(await report(io, options.json === true, () => migrateDatabase(io)));
    },
  );
  withJson(program.command('doctor').description('check the books and everything that the gateway needs')).action(
    async (options: { json?: boolean }) => {
      const { doctor } = await import('./doctor.ts');
      ended(await doctor(io, options.json === true));
    },
  );
}

/** All arguments after `bench` are passed to the bench, `--help` and `--json` too. */
function addBenchCommand(program: Command, io: Io, ended: Ended): void {
  program
    .command('bench')
    .description("measure the gateway's speed on this machine: a quarter of an hour, with --quick a minute or two")
    .argument('[options...]', 'the options of `npm run bench`')
    .helpOption(false)
    .allowUnknownOption()
    .action(async (args: string[]) => ended(await (await import('./bench.ts')).bench(io, args)));
}

function addReconcileCommand(program: Command, addVerbOf: AddVerbOf): void {
  addVerbOf(
    program,
    'reconcile',
    "match an upstream's statement (CSV) with the attempts and the ledger",
    async () => (await import('./reconcile.ts')).reconcileFile,
    'file',
  )
    .requiredOption('--connector <name>', 'the connector of the upstream that the statement comes from')
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
