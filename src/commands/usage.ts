/**
 * What the command line says of words that it does not understand.
 *
 * Invariant: the way out that an error names is the help of the command that the error is about.
 */

import type { Command, CommanderError } from 'commander';

/** A command line that cannot be carried out. Printed as the use cases' error of that name, without loading them. */
class WrongWords extends Error {
  override readonly name = 'UsageError';
}

/** Lets each command's errors name that command. Help and the version, which are no errors, stay as they are. */
export function explainUsage(command: Command): void {
  command.exitOverride((error) => {
    throw error.exitCode === 0 ? error : new WrongWords(wordsOf(error, command));
  });
  for (const verb of command.commands) explainUsage(verb);
}

function wordsOf({ code, message }: CommanderError, command: Command): string {
  const see = `see \`${nameOf(command)} --help\``;
  if (code === 'commander.help') return `incomplete command: ${see}`;
  const said = message.replace(/^error: /, '').replace(/\n\(Did you mean (.+)\?\)$/, ' (did you mean $1?)');
  return code === 'commander.unknownCommand' || code === 'commander.unknownOption' ? `${said}: ${see}` : said;
}

function nameOf(command: Command): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;
}

/** `help wallet open` is `wallet open --help`: Commander's own `help` stops at the noun. */
export function spelledOut(argv: readonly string[]): string[] {
  return argv[0] === 'help' ? [...argv.slice(1), '--help'] : [...argv];
}

/**
 * `merchant suspend mch_…` is `merchant suspend --merchant mch_…`: if a verb has to be told one thing only, what stands directly behind
 * it is that.
 */
export function withOptionNamed(program: Command, words: readonly string[]): readonly string[] {
  let verb = program;
  let at = 0;
  for (; ; at += 1) {
    const found = verb.commands.find((one) => one.name() === words[at]);
    if (found === undefined) break;
    verb = found;
  }
  const value = words[at];
  if (value === undefined || value.startsWith('-') || verb.commands.length + verb.registeredArguments.length > 0)
    return words;
  const [only, ...others] = verb.options.filter(({ mandatory }) => mandatory);
  if (only?.long === undefined || others.length > 0) return words;
  return [...words.slice(0, at), only.long, ...words.slice(at)];
}

/** Refuses the help of a command that does not exist: Commander would print the help of the words before it. */
export function refuseUnknownHelp(program: Command, words: readonly string[]): void {
  if (!words.includes('--help') && !words.includes('-h')) return;
  let command: Command = program;
  for (const word of words) {
    // What follows is an option, a verb's argument, or Commander's own `help` of a noun.
    if (word.startsWith('-') || command.commands.length === 0 || word === 'help') return;
    const found = command.commands.find((one) => one.name() === word);
    if (found === undefined) command.error(`error: unknown command '${word}'`, { code: 'commander.unknownCommand' });
    command = found;
  }
}

/**
 * Refuses an option that is given twice, or beside its opposite (`--logo <file>`, `--no-logo`): of two amounts, or two merchants, it
 * is unclear which one was meant.
 */
export function refuseTwice(command: Command): void {
  const given = new Map<string, string>();
  for (const option of command.options) {
    const { flags } = option;
    const name = option.attributeName();
    command.on(`option:${option.name()}`, () => {
      const before = given.get(name) ?? flags;
      if (before !== flags) command.error(`error: option '${before}' cannot be used with option '${flags}'`);
      if (given.has(name) && option.required) command.error(`error: option '${flags}' is given twice`);
      given.set(name, flags);
    });
  }
  for (const verb of command.commands) refuseTwice(verb);
}

/** What an option or a misspelt one looks like; `-` is a value, and so are `-x` and `--yes was forgotten`. */
const LOOKS_LIKE_OPTION = /^(-h$|--[a-z][a-z-]*(=|$))/;

/**
 * Refuses an option whose value is another option: behind an empty variable, `merchant create --name $NAME --json` would make a
 * merchant with the name --json, and print no JSON.
 */
export function refuseOptionAsValue(command: Command): void {
  for (const option of command.options) {
    // Options that take no value, or may be given none, have undefined or null here.
    command.on(`option:${option.name()}`, (value?: string | null) => {
      if (!LOOKS_LIKE_OPTION.test(value ?? '')) return;
      command.error(`error: option '${option.flags}' has no value: behind it stands ${value}`);
    });
  }
  for (const verb of command.commands) refuseOptionAsValue(verb);
}

/**
 * Refuses a noun's own options in front of one of its verbs: `archive --dry-run drop` would drop, since only `archive` by itself has
 * a dry run.
 */
export function refuseBeforeVerb(command: Command): void {
  command.hook('preSubcommand', (noun, verb) => {
    const given = noun.options.find((option) => noun.getOptionValueSource(option.attributeName()) === 'cli');
    if (given === undefined) return;
    const see = `see \`${nameOf(verb)} --help\``;
    noun.error(`error: option '${given.flags}' is not one of \`${nameOf(verb)}\`, which it stands before: ${see}`);
  });
  for (const verb of command.commands) refuseBeforeVerb(verb);
}
