/**
 * The verbs of `mbongo payment`.
 */

import type { Command } from 'commander';
import type { AddVerb, AddVerbOf } from './verb.ts';

export function addPaymentCommands(program: Command, addVerb: AddVerb, addVerbOf: AddVerbOf): void {
  const payment = program.command('payment').description('payments: find one, and see everything that happened to it');
  const load = () => import('./payment.ts');
  addVerb(
    payment,
    'list',
    'list payments, the newest first; without --merchant or --from those of the last 30 days',
    async () => (await load()).paymentList,
  )
    .option('--merchant <id>', "only this merchant's")
    .option('--reference <reference>', "under this reference of the merchant's own (customer_reference), in full")
    .option('--phone <number>', 'paid by this phone, or asked of it: +243810000042')
    .option('--wallet <number>', 'paid by this wallet or flash account')
    .option('--upstream-reference <reference>', 'known under it at a carrier or the card network: ours or theirs')
    .option('--status <status>', 'in this state: approved, processing, failed …')
    .option('--method <method>', 'by this method: mobile_money, card …')
    .option('--currency <code>', 'in this currency')
    .option('--from <time>', 'made at this time or later: 2026-03-01 or 2026-03-01T08:00:00Z')
    .option('--to <time>', 'made before this time')
    .option('--after <id>', 'those older than this payment: the next page')
    .option('--limit <count>', 'how many to list at most', '50');
  addVerbOf(
    payment,
    'show',
    'show a payment with its timeline, attempts, transfers, refunds and webhooks; by its transaction_id, payment_id or an attempt',
    async () => (await load()).paymentShow,
  );
}
