/**
 * The verbs of `mbongo attempt`.
 *
 * Invariant: a verb that cannot be undone requires --yes.
 */

import { type Command, Option } from 'commander';
import type { LateTarget } from '../domain/late-money.ts';
import type { AddVerb, AddVerbOf } from './verb.ts';

export function addAttemptCommands(program: Command, addVerb: AddVerb, addVerbOf: AddVerbOf): void {
  const attempt = program.command('attempt').description('attempts at upstreams whose outcome is not known');
  const load = () => import('./attempt.ts');
  addVerb(attempt, 'list', 'list open attempts, the oldest first', async () => (await load()).attemptList)
    .option('--late', 'those whose money moved late instead, and lies in suspense')
    .option('--after <id>', 'those after this attempt: the next page')
    .option('--limit <count>', 'at most so many', '50');
  addVerbOf(
    attempt,
    'settle',
    'close an open attempt by what the upstream has told you; asks for --yes',
    async () => (await load()).attemptSettle,
  )
    .addOption(new Option('--paid', 'the money has moved').conflicts('notPaid'))
    .option('--not-paid', 'no money has moved, and none will')
    .option('--provider-reference <reference>', "the upstream's name of it: with --paid it has to be there")
    .option('--yes', 'do it');
  const target = new Option(
    '--to <whom>',
    'of a payment: the merchant keeps it, or the payer has been given it back by hand; ' +
      'of a payout or refund: the merchant pays for it, the upstream has given it back, or the gateway bears it',
  );
  addVerbOf(
    attempt,
    'book',
    'say whose money is that moved after its payment, payout or refund had ended; asks for --yes',
    async () => (await load()).attemptBook,
  )
    .addOption(
      target.choices(['merchant', 'payer', 'upstream', 'gateway'] satisfies LateTarget[]).makeOptionMandatory(),
    )
    .requiredOption('--why <text>', 'on what grounds')
    .option('--yes', 'do it');
}
