/**
 * The verbs of `mbongo payout`.
 *
 * Invariant: a verb that cannot be undone requires --yes.
 */

import type { Command } from 'commander';
import type { AddVerb, AddVerbOf } from './verb.ts';

export function addPayoutCommands(program: Command, addVerb: AddVerb, addVerbOf: AddVerbOf): void {
  const payout = program.command('payout').description('batches of payouts: approve, pause and cancel them');
  const load = () => import('./payout.ts');
  addVerb(payout, 'list', 'list batches, the oldest first', async () => (await load()).payoutList)
    .option('--merchant <id>', 'only of this merchant')
    .option('--status <status>', 'waiting-for-approval, scheduled, paused, started, rejected or cancelled')
    .option('--after <id>', 'those after this batch: the next page')
    .option('--limit <count>', 'at most so many', '50');
  addVerbOf(
    payout,
    'show',
    'show a batch, whom it pays and how far each payment is',
    async () => (await load()).payoutShow,
  ).option('--occurrence <number>', 'the payments of this run; those of the newest when absent');
  addVerbOf(
    payout,
    'approve',
    'pay a batch that waits; asks for --yes',
    async () => (await load()).payoutApprove,
  ).option('--yes', 'do it');
  addVerbOf(
    payout,
    'reject',
    'never pay a batch that waits; asks for --yes',
    async () => (await load()).payoutReject,
  ).option('--yes', 'do it');
  addVerbOf(
    payout,
    'cancel',
    'run no further date, and call off what waits; asks for --yes',
    async () => (await load()).payoutCancel,
  )
    .option('--not-taken', 'you have seen at the carriers that they took nothing of what they turned away')
    .option('--yes', 'do it');
  addVerbOf(payout, 'pause', 'run no date until it is resumed', async () => (await load()).payoutPause);
  addVerbOf(
    payout,
    'resume',
    'run its dates again; asks for --yes where some have passed',
    async () => (await load()).payoutResume,
  )
    .option('--catch-up', 'run now what would have run meanwhile (default: it is left out)')
    .option('--yes', 'do it, although dates have passed');
}
