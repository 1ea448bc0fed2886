/**
 * The verbs of `mbongo journal`.
 */

import type { Command } from 'commander';
import type { AddVerb } from './verb.ts';

/** Adds `mbongo journal` with its only verb, `list`. */
export function addJournalCommands(program: Command, addVerb: AddVerb): void {
  const journal = program.command('journal').description("what operators' commands did, by whom, and why");
  addVerb(journal, 'list', 'list entries, the oldest first', async () => (await import('./journal.ts')).journalList)
    .option(
      '--about <id>',
      'only those about this id: of a merchant, an attempt, a batch, a payment; or about a dropped month or a hold',
    )
    .option('--from <time>', 'only those made at or after this time')
    .option('--after <id>', 'those after this entry: the next page')
    .option('--limit <count>', 'how many to list at most', '50');
}
