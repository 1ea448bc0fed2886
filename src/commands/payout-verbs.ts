/**
 * The verbs of `mbongo payout`.
 *
 * Invariant: a verb that cannot be undone requires --yes.
 */

import type { Command } from 'commander';
import { type AddVerb, type AddVerbOf, addSearchOptions } from './verb.ts';

/** Adds `mbongo payout` with the verbs `list`, `show`, `lines`, `approve`, `reject`, `cancel`, `pause` and `resume`. */
export function addPayoutCommands(program: Command, addVerb: AddVerb, addVerbOf: AddVerbOf): void {
  const payout = program.command('payout').description('batches of payouts: approve, pause and cancel them');
  const load = () => import('./payout.ts');
  addVerb(payout, 'list', 'list batches, the oldest first', async () => (await load()).payoutList)
    .option('--merchant <id>', "only this merchant's")
    .option('--status <status>', 'waiting_for_approval, scheduled, paused, started, rejected or cancelled')
    .option('--credential <key id>', 'only those made with this credential, or by a session that it minted')
    .option('--after <id>', 'those after this batch: the next page')
    .option('--limit <count>', 'how many to list at most', '50');
  addVerbOf(
    payout,
    'show',
    'show a batch, its beneficiaries and the status of each line',
    async () => (await load()).payoutShow,
  ).option('--occurrence <number>', 'the lines of this occurrence (default: the latest)');
  const lines = addVerb(
    payout,
    'lines',
    'find lines of any batch, the newest first; without --from those of the last 30 days',
    async () => (await load()).payoutLines,
  ).option('--status <status>', 'pending, processing, completed or failed');
  addSearchOptions(lines, 'paid to this phone, or to be paid', 'paid to this wallet or flash account');
  addVerbOf(
    payout,
    'approve',
    'approve a batch that is waiting for approval; needs --yes',
    async () => (await load()).payoutApprove,
  ).option('--yes', 'confirm; without it nothing is changed');
  addVerbOf(
    payout,
    'reject',
    'reject a batch that is waiting for approval, for good; needs --yes',
    async () => (await load()).payoutReject,
  ).option('--yes', 'confirm; without it nothing is changed');
  addVerbOf(
    payout,
    'cancel',
    'cancel the remaining dates of a batch, and its lines that have not been sent; needs --yes',
    async () => (await load()).payoutCancel,
  )
    .option('--not-taken', 'you have checked with the carriers: they did not pay the lines that they turned away')
    .option('--yes', 'confirm; without it nothing is changed');
  addVerbOf(payout, 'pause', "hold a batch's dates until it is resumed", async () => (await load()).payoutPause);
  addVerbOf(
    payout,
    'resume',
    "run a paused batch's dates again; needs --yes if some have passed",
    async () => (await load()).payoutResume,
  )
    .option('--catch-up', 'pay the dates that passed while it was paused (default: skip them)')
    .option('--yes', 'confirm, although dates have passed');
}
