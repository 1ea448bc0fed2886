/**
 * The verbs of `mbongo payment`.
 */

import type { Command } from 'commander';
import { type AddVerb, type AddVerbOf, addSearchOptions } from './verb.ts';

/** Adds `mbongo payment` with the verbs `list` and `show`. */
export function addPaymentCommands(program: Command, addVerb: AddVerb, addVerbOf: AddVerbOf): void {
  const payment = program.command('payment').description('payments: find one, and see everything that happened to it');
  const load = () => import('./payment.ts');
  const list = addVerb(
    payment,
    'list',
    'list payments, the newest first; without --merchant or --from those of the last 30 days',
    async () => (await load()).paymentList,
  )
    .option('--status <status>', 'in this state: approved, processing, failed …')
    .option('--method <method>', 'by this method: mobile_money, card …');
  addSearchOptions(list, 'paid by this phone, or asked of it', 'paid by this wallet or flash account');
  addVerbOf(
    payment,
    'show',
    'show a payment with its timeline, attempts, transfers, refunds and webhooks; by its transaction_id, payment_id or an attempt',
    async () => (await load()).paymentShow,
  );
}
