/**
 * The verbs of `mbongo refund`.
 *
 * Invariant: a verb that cannot be undone requires --yes.
 */

import type { Command } from 'commander';
import type { AddVerb, AddVerbOf } from './verb.ts';

const NOT_TAKEN = 'you have checked with the upstream: it did not make the refund that it turned away';

/** Adds `mbongo refund` with the verbs `list`, `show`, `execute` and `fail`. */
export function addRefundCommands(program: Command, addVerb: AddVerb, addVerbOf: AddVerbOf): void {
  const refund = program.command('refund').description('refunds, including those to carry out by hand');
  const load = () => import('./refund.ts');
  addVerb(refund, 'list', 'list refunds, the oldest first', async () => (await load()).refundList)
    .option('--merchant <id>', "only this merchant's")
    .option('--status <status>', 'pending, processing, completed or failed')
    .option('--after <id>', 'those after this refund: the next page')
    .option('--limit <count>', 'how many to list at most', '50');
  addVerbOf(refund, 'show', 'show everything known about a refund', async () => (await load()).refundShow);
  addVerbOf(
    refund,
    'execute',
    'record that the customer was given the money back by hand; needs --yes',
    async () => (await load()).refundExecute,
  )
    .requiredOption('--reference <reference>', "the bank's or the upstream's reference for it")
    .option('--not-taken', NOT_TAKEN)
    .option('--yes', 'confirm; without it nothing is changed');
  addVerbOf(
    refund,
    'fail',
    'call a refund off: its money goes back to the merchant; needs --yes',
    async () => (await load()).refundFail,
  )
    .requiredOption('--why <text>', 'the reason, for the journal')
    .option('--not-taken', NOT_TAKEN)
    .option('--yes', 'confirm; without it nothing is changed');
}
