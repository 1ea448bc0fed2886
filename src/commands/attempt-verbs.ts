/**
 * The verbs of `mbongo attempt`.
 *
 * Invariant: a verb that cannot be undone requires --yes.
 */

import { type Command, Option } from 'commander';
import type { LateTarget } from '../domain/late-money.ts';
import type { AddVerb, AddVerbOf } from './verb.ts';

/** Adds `mbongo attempt` with the verbs `list`, `settle` and `book`. */
export function addAttemptCommands(program: Command, addVerb: AddVerb, addVerbOf: AddVerbOf): void {
  const attempt = program
    .command('attempt')
    .description('attempts whose outcome is unknown, or whose money came or left late');
  const load = () => import('./attempt.ts');
  addVerb(attempt, 'list', 'list open attempts, the oldest first', async () => (await load()).attemptList)
    .option('--late', 'list those whose late money is in suspense instead')
    .option('--after <id>', 'those after this attempt: the next page')
    .option('--limit <count>', 'how many to list at most', '50');
  addVerbOf(
    attempt,
    'settle',
    'close an open attempt with the outcome that the upstream has told you; needs --yes',
    async () => (await load()).attemptSettle,
  )
    .addOption(new Option('--paid', 'the money has moved').conflicts('notPaid'))
    .option('--not-paid', 'no money has moved, and none will')
    .option('--provider-reference <reference>', "the upstream's reference for it; required with --paid")
    .option('--yes', 'confirm; without it nothing is changed');
  const target = new Option(
    '--to <whom>',
    'for a payment: the merchant keeps the money, or the payer got it back by hand; ' +
      'for a payout or refund: the merchant pays for it, the upstream gave it back, or the gateway bears the loss',
  );
  addVerbOf(
    attempt,
    'book',
    'book money that came or left after its payment, payout or refund had ended; needs --yes',
    async () => (await load()).attemptBook,
  )
    .addOption(
      target.choices(['merchant', 'payer', 'upstream', 'gateway'] satisfies LateTarget[]).makeOptionMandatory(),
    )
    .option('--reference <reference>', 'that of the movement by which the money was returned; required with --to payer')
    .requiredOption('--why <text>', 'the reason, for the journal')
    .option('--yes', 'confirm; without it nothing is changed');
}
