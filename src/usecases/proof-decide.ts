/**
 * An operator's decision about the proof of a bank transfer.
 *
 * Invariant: a proof is decided once, however many operators decide at the same time; the second one is told what was decided. A
 * credit at the bank that an approval names pays no other payment, ever.
 */

import { type BankCreditNamed, bankCreditKey, nameCredit } from '../domain/bank-credit.ts';
import { transferIds } from '../domain/ids.ts';
import { transitAccount } from '../domain/ledger.ts';
import { BANK_TRANSFER, decideProof, type ProofVerdict } from '../domain/proof.ts';
import type { LedgerTransfer, Payment } from '../domain/records.ts';
import type { Proof } from '../domain/transfer-records.ts';
import { distinctive } from '../domain/transfer-reference.ts';
import { idsOf, newId, type OperatorDeps } from './deps.ts';
import { decideOnce } from './operator-commit.ts';
import { OperatorError, UsageError } from './operator-error.ts';
import { requireLine, requireReference } from './operator-input.ts';
import { requirePaymentOf, requireProof } from './proof-read.ts';

export interface ProofDecided {
  readonly proof: Proof;
  readonly payment: Payment;
}

/**
 * Approves: the transfer has arrived, and the money is the merchant's. `note` is for operators only. `bankReference`: how the bank's
 * statement names the transfer; it becomes the payment's `provider_reference`.
 *
 * @throws OperatorError also when the transfer of that reference has paid for another payment.
 */
export async function approveProof(
  deps: OperatorDeps,
  proofId: string,
  note: string | null,
  bankReference: string | null = null,
): Promise<ProofDecided> {
  const verdict = { verdict: 'approved', note: note === null ? null : requireNote(note, '--note') } as const;
  if (bankReference === null) return decide(deps, proofId, verdict);
  return decide(deps, proofId, { ...verdict, credit: await requireCredit(deps, proofId, bankReference) });
}

/**
 * Names the transfer of an approved proof afterwards, as the bank's statement does. No money moves and no webhook is sent.
 * Naming it as it is named already changes nothing.
 *
 * @throws OperatorError when the proof is not approved, its transfer has another name, or that transfer has paid for another
 *   payment.
 */
export async function nameTransfer(deps: OperatorDeps, proofId: string, bankReference: string): Promise<ProofDecided> {
  const credit = await requireCredit(deps, proofId, bankReference);
  const known = await requireProof(deps, proofId);
  return decideOnce(deps, known.shard, 'see `mbongo proof show`', async () => {
    const payment = await requirePaymentOf(deps, known);
    const proof = await requireProof(deps, proofId);
    if (proof.status !== 'approved') throw new OperatorError(`${proof.id} ${whyNotNamed(proof)}`);
    const { provider_reference: name } = payment;
    if (name !== null && distinctive(name) === distinctive(credit.reference)) return { answer: { proof, payment } };
    if (name !== null) throw new OperatorError(`the transfer of ${proof.id} is named ${name} already`);
    await requireUnused(deps, credit, payment.id);
    const line = await requireMoneyIn(deps, { ...proof, currency: payment.currency });
    const { change, ...named } = nameCredit(proof, payment, credit, line.id, deps.clock.now());
    return { change, answer: { proof, ...named } };
  });
}

function whyNotNamed({ status }: Proof): string {
  if (status === 'waiting') return 'is waiting: `mbongo proof approve --bank-reference` names a transfer, too';
  return `has been ${status}: only a transfer that has paid is named`;
}

/** The credit to the account that the payment of a proof was to go to. */
async function requireCredit(deps: OperatorDeps, proofId: string, bankReference: string): Promise<BankCreditNamed> {
  const reference = requireReference(bankReference);
  if (distinctive(reference) === '') throw new UsageError('--bank-reference must contain letters or digits');
  const proof = await requireProof(deps, proofId);
  const { bank_account_id: accountId } = await requirePaymentOf(deps, proof);
  const account = accountId === null ? undefined : await deps.store.bankAccount.get(proof.shard, accountId);
  if (account === undefined) throw new Error('a proof of a transfer to no account');
  return { key: bankCreditKey(account, reference), reference };
}

/** The ledger line that brought the money of an approved transfer in: made by the clock that says when it was approved. */
async function requireMoneyIn(
  { store }: OperatorDeps,
  { shard, payment_id, currency, decided_at, created_at }: Proof & Pick<Payment, 'currency'>,
): Promise<LedgerTransfer> {
  const bank = transitAccount(shard, BANK_TRANSFER, currency).id;
  const lines = await store.transfersFor(shard, [payment_id], decided_at ?? created_at);
  const line = lines.find(({ debit_account }) => debit_account === bank);
  if (line === undefined) throw new Error('an approved transfer brought no money in');
  return line;
}

/** Declines: the transfer has not arrived, or the file proves nothing. */
export async function declineProof(deps: OperatorDeps, proofId: string, reason: string): Promise<ProofDecided> {
  return decide(deps, proofId, { verdict: 'declined', note: requireNote(reason, '--reason') });
}

async function decide(deps: OperatorDeps, proofId: string, verdict: ProofVerdict): Promise<ProofDecided> {
  const known = await requireProof(deps, proofId);
  const { shard } = known;
  const ids = {
    event: newId(deps, 'evt', shard),
    transfers: transferIds(idsOf(deps), shard),
  } as const;
  return decideOnce(deps, shard, 'see `mbongo proof show`', async () => {
    const payment = await requirePaymentOf(deps, known);
    // Read after its payment: another operator's decision that shows in the payment shows in the proof, too.
    const proof = await requireProof(deps, proofId);
    if (proof.status !== 'waiting') {
      throw new OperatorError(`${proof.id} has already been ${proof.status}: a proof is decided once`);
    }
    if (verdict.credit !== undefined) await requireUnused(deps, verdict.credit);
    const { change, ...answer } = decideProof(proof, payment, verdict, { ids, now: deps.clock.now() });
    return { change, answer };
  });
}

/** `approvedId`: the payment that has been approved for it already; absent: nothing has, yet. */
async function requireUnused(
  { store }: OperatorDeps,
  { key, reference }: BankCreditNamed,
  approvedId?: string,
): Promise<void> {
  const used = await store.transferReference.get(key.shard, key.id);
  if (used === undefined) return;
  const paid = `the transfer ${reference} to this account paid for ${used.payment_id} at ${new Date(used.created_at).toISOString()}`;
  const wayOut =
    approvedId === undefined
      ? 'decline this proof if nothing else has arrived'
      : `if nothing else has arrived, it was credited twice: have nothing delivered for ${approvedId}, and take its amount back from the merchant's balance (\`mbongo settle\`)`;
  const both = `if one transfer pays for both, add what tells them apart, like ${reference}/2`;
  throw new OperatorError(`${paid}: ${wayOut}; ${both}`);
}

function requireNote(text: string, option: '--note' | '--reason'): string {
  return requireLine(text, option, 500);
}
