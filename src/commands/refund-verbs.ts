/**
 * The verbs of `mbongo refund`.
 *
 * Invariant: a verb that cannot be undone requires --yes.
 */

import type { Command } from 'commander';
import type { AddVerb, AddVerbOf } from './verb.ts';

const NOT_TAKEN = 'you have seen at the upstream that it did not take what it turned away';

export function addRefundCommands(program: Command, addVerb: AddVerb, addVerbOf: AddVerbOf): void {
  const refund = program.command('refund').description('refunds, and those that a person carries out');
  const load = () => import('./refund.ts');
  addVerb(refund, 'list', 'list refunds, the oldest first', async () => (await load()).refundList)
    .option('--merchant <id>', 'only of this merchant')
    .option('--status <status>', 'pending, processing, completed or failed')
    .option('--after <id>', 'those after this refund: the next page')
    .option('--limit <count>', 'at most so many', '50');
  addVerbOf(refund, 'show', 'show what is known of a refund', async () => (await load()).refundShow);
  addVerbOf(
    refund,
    'execute',
    'the customer has been given the money by hand; asks for --yes',
    async () => (await load()).refundExecute,
  )
    .requiredOption('--reference <reference>', "the bank's or the upstream's name of it")
    .option('--not-taken', NOT_TAKEN)
    .option('--yes', 'do it');
  addVerbOf(
    refund,
    'fail',
    'it will not be carried out: its money goes back to the merchant; asks for --yes',
    async () => (await load()).refundFail,
  )
    .requiredOption('--why <text>', 'on what grounds')
    .option('--not-taken', NOT_TAKEN)
    .option('--yes', 'do it');
}
