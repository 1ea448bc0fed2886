/**
 * The archive's verbs on the command line.
 *
 * Invariant: this file only declares the verbs; `archive.ts`, which carries them out, is loaded when one of them is chosen.
 */

import type { Command } from 'commander';
import type { AddVerb } from './verb.ts';

export function addArchiveCommands(program: Command, addVerb: AddVerb): void {
  const load = () => import('./archive.ts');
  // Options after `list` and `drop` belong to these verbs, `--json` too.
  program.enablePositionalOptions();
  const archive = addVerb(
    program,
    'archive',
    'move what is final and old out of the live tables',
    async () => (await load()).archiveRun,
  )
    .enablePositionalOptions()
    .option('--older-than <age>', 'since when it must have been final: 13m for months, 2y for years')
    .option('--dry-run', 'only say what would move');
  addVerb(archive, 'list', 'list the months that lie in the archive', async () => (await load()).archiveList);
  addVerb(archive, 'drop', 'end a month for ever, the oldest first', async () => (await load()).archiveDrop)
    .requiredOption('--month <month>', 'which: 2024-05')
    .option('--yes', 'do it');
}
