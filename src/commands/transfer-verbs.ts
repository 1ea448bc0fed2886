/**
 * The verbs about bank transfers: `mbongo bank`, `proof` and `delivery`.
 *
 * Invariant: this file only declares the verbs; the code that carries them out is loaded when one of them is chosen.
 */

import type { Command } from 'commander';
import type { AddVerb, AddVerbOf } from './verb.ts';

/** Adds `mbongo bank`, `mbongo proof` and `mbongo delivery` with their verbs. */
export function addTransferCommands(program: Command, addVerb: AddVerb, addVerbOf: AddVerbOf): void {
  const bank = program.command('bank').description('bank accounts that customers transfer to');
  const loadBank = () => import('./bank.ts');
  addVerb(bank, 'add', 'add a bank account', async () => (await loadBank()).bankAdd)
    .requiredOption('--merchant <id>', "the merchant's id")
    .requiredOption('--bank <name>', "the bank's name")
    .option('--bank-id <id>', "the bank's id, the same for all accounts there (default: derived from its name)")
    .requiredOption('--country <code>', "the bank's country: CD")
    .requiredOption('--account-name <name>', "the account holder's name")
    .requiredOption('--account-number <number>', 'as the bank writes it')
    .option('--iban <iban>', 'in countries that use it')
    .option('--swift <code>', "the bank's SWIFT code (BIC)")
    .requiredOption('--currency <code>', 'its currency')
    .option('--branch-city <city>', "the branch's city");
  addVerb(bank, 'list', 'list bank accounts, including closed ones', async () => (await loadBank()).bankList).option(
    '--merchant <id>',
    "only this merchant's",
  );
  addVerbOf(
    bank,
    'close',
    'close a bank account: no further customer is asked to transfer to it',
    async () => (await loadBank()).bankClose,
  );
  const proof = program.command('proof').description('proofs of bank transfers');
  const loadProof = () => import('./proof.ts');
  addVerb(proof, 'list', 'list proofs, the oldest first', async () => (await loadProof()).proofList)
    .option('--merchant <id>', "only this merchant's")
    .option('--status <status>', 'waiting, approved or declined')
    .option('--after <id>', 'those after this proof: the next page')
    .option('--limit <count>', 'how many to list at most', '50');
  addVerbOf(proof, 'show', 'show everything known about a proof', async () => (await loadProof()).proofShow).option(
    '--out <file>',
    'save the uploaded file here; open it in a viewer that runs no scripts',
  );
  addVerbOf(proof, 'approve', 'approve a proof: the transfer has arrived', async () => (await loadProof()).proofApprove)
    .option('--bank-reference <reference>', "the transfer's reference on the bank's statement: it pays once")
    .option('--note <text>', 'a note for operators');
  addVerbOf(
    proof,
    'name',
    'name the transfer of a proof that was approved without its reference',
    async () => (await loadProof()).proofName,
  ).requiredOption('--bank-reference <reference>', "the transfer's reference on the bank's statement: it pays once");
  addVerbOf(
    proof,
    'decline',
    'decline a proof: the transfer has not arrived, or the file proves nothing',
    async () => (await loadProof()).proofDecline,
  ).requiredOption('--reason <text>', 'the reason, for operators');
  const delivery = program.command('delivery').description('delayed deliveries');
  addVerbOf(
    delivery,
    'release',
    "make a payment's held money available",
    async () => (await import('./delivery.ts')).deliveryRelease,
  );
}
