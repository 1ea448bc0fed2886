/**
 * The verbs of `mbongo suspense`.
 */

import type { Command } from 'commander';
import type { AddVerb, AddVerbOf } from './verb.ts';

/** Adds `mbongo suspense` with the verbs `list` and `show`; both only read. */
export function addSuspenseCommands(program: Command, addVerb: AddVerb, addVerbOf: AddVerbOf): void {
  const suspense = program.command('suspense').description('money that belongs to nothing that is open');
  const load = () => import('./suspense.ts');
  addVerb(
    suspense,
    'list',
    'list whose money lies in suspense, and why; with the sums, and whether the ledger has the same',
    async () => (await load()).suspenseList,
  )
    .option('--merchant <id>', "only this merchant's")
    .option('--currency <code>', 'only in this currency')
    .option('--older-than <duration>', 'only what has waited for longer: 24h, 30d')
    .option('--after <id>', 'those after this attempt: the next page')
    .option('--limit <count>', 'how many to list at most', '50');
  addVerbOf(
    suspense,
    'show',
    "show an attempt's money in suspense, and the commands that book it to whom it belongs",
    async () => (await load()).suspenseShow,
  );
}
