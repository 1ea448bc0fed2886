/**
 * The archive's verbs on the command line.
 *
 * Invariant: this file only declares the verbs; `archive.ts`, which carries them out, is loaded when one of them is chosen.
 */

import type { Command } from 'commander';
import type { AddVerb } from './verb.ts';

/**
 * Adds `mbongo archive`, which is a verb itself, with the verbs `list` and `drop`. From then on the program reads an option behind
 * a verb as that verb's.
 */
export function addArchiveCommands(program: Command, addVerb: AddVerb): void {
  const load = () => import('./archive.ts');
  // Options after `list` and `drop` belong to these verbs, `--json` too.
  program.enablePositionalOptions();
  const archive = addVerb(
    program,
    'archive',
    'move old records that are final out of the live tables',
    async () => (await load()).archiveRun,
  )
    .enablePositionalOptions()
    .option('--older-than <age>', 'how long ago they must have become final: 13m (months), 2y (years) (required)')
    .option('--dry-run', 'only say what would move');
  addVerb(archive, 'list', 'list the months in the archive', async () => (await load()).archiveList);
  addVerb(archive, 'drop', 'delete the oldest month of the archive for ever', async () => (await load()).archiveDrop)
    .requiredOption('--month <month>', 'the month: 2024-05')
    .option('--yes', 'confirm; without it nothing is changed');
}
