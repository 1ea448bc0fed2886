/**
 * `mbongo proof`: shows the proofs of bank transfers, approves or declines them, and names their transfers.
 */

import { statesOf } from '../domain/machine.ts';
import { formatMinor, moneyText } from '../domain/money.ts';
import { PROOF } from '../domain/proof.ts';
import { readAfter } from '../usecases/operator-commit.ts';
import { requireId, requireMerchant } from '../usecases/operator-input.ts';
import { approveProof, declineProof, nameTransfer, type ProofDecided } from '../usecases/proof-decide.ts';
import { listProofs, openProofFile, type ProofSeen, paidBySameFile, readProof } from '../usecases/proof-read.ts';
import { writeNewFile } from './new-file.ts';
import { readLimit, readStatus } from './options.ts';
import { endOfPage, fieldLines, type Output, table, timeOf } from './output.ts';
import type { Tools } from './tools.ts';

/** The options of `mbongo proof list`. `status`: waiting, approved or declined; undefined: any. */
export interface ProofListOptions {
  readonly merchant?: string;
  readonly status?: string;
  readonly after?: string;
  readonly limit: string;
}

/**
 * A page of proofs, the oldest first, as `{proofs, next}`. `duplicate_of`: other payments with the same file. `paid_aside_by`: an
 * attempt that paid the order too late; null: none is known.
 *
 * @throws OperatorError when an option is wrong, or there is no such merchant.
 */
export async function proofList({ deps }: Tools, options: ProofListOptions): Promise<Output> {
  const { merchant, status, after } = options;
  if (after !== undefined) requireId('prf', after, 'proof');
  const limit = readLimit(options.limit);
  const seen = await listProofs(deps, {
    merchantId: merchant === undefined ? undefined : (await requireMerchant(deps, merchant)).id,
    status: status === undefined ? undefined : readStatus(status, statesOf(PROOF), 'a proof'),
    after,
    limit,
  });
  const end = endOfPage(
    seen.map(({ proof }) => proof),
    limit,
  );
  const rows = seen.map(({ proof, payment, duplicateOf, paidAsideBy }) => [
    proof.id,
    proof.status,
    payment.id,
    payment.merchant_id,
    moneyText(payment.total_minor, payment.currency),
    proof.content_type,
    timeOf(proof.created_at),
    duplicateOf.length === 0 ? '' : `also used for ${duplicateOf.join(', ')}`,
    paidAsideBy === null ? '' : `late by ${paidAsideBy}`,
  ]);
  return {
    document: { proofs: seen.map(documentOf), next: end.next },
    lines: [
      ...table(
        ['proof', 'status', 'transaction', 'merchant', 'to receive', 'type', 'uploaded', 'duplicate', 'also paid'],
        rows,
      ),
      ...end.lines,
    ],
  };
}

/**
 * A proof as `proofList` has it. `out`: a new file to save the upload in, whose path is then in the document as `file`.
 *
 * @throws OperatorError when there is no such proof, the upload cannot be opened, or the file exists or cannot be written.
 */
export async function proofShow({ deps }: Tools, proofId: string, options: { readonly out?: string }): Promise<Output> {
  const seen = await readProof(deps, proofId);
  const { out } = options;
  if (out !== undefined) await writeNewFile(out, await openProofFile(deps, seen.proof));
  const document = { ...documentOf(seen), ...(out === undefined ? {} : { file: out }) };
  return { document, lines: fieldLines(document) };
}

/**
 * Approves a proof: the transfer has arrived, and the payment is approved (contract §4). `bankReference`: how the bank's statement
 * names the transfer, which then pays only once. The document is the decision, with `same_file_paid`: other payments that the very
 * same file has paid.
 *
 * @throws OperatorError when the proof cannot be approved, or the transfer has paid for another payment.
 */
export async function proofApprove(
  { deps }: Tools,
  proofId: string,
  { note, bankReference }: { readonly note?: string; readonly bankReference?: string },
): Promise<Output> {
  const decided = await approveProof(deps, proofId, note ?? null, bankReference ?? null);
  const { document, lines } = outputOf(decided);
  const before = await readAfter(deps, () => paidBySameFile(deps, decided.proof), 'see `mbongo proof show`');
  const warned = before.map(
    (id) =>
      `The same file has paid for ${id}: if only one transfer has arrived, have nothing delivered for one of them.`,
  );
  return { document: { ...document, same_file_paid: before }, lines: [...lines, ...warned] };
}

/**
 * Declines a proof: the transfer has not arrived, or the file proves nothing (contract §4). `reason` is for operators, and is kept
 * as `note`.
 *
 * @throws OperatorError when there is no such proof, or it has been decided already.
 */
export async function proofDecline(
  { deps }: Tools,
  proofId: string,
  options: { readonly reason: string },
): Promise<Output> {
  return outputOf(await declineProof(deps, proofId, options.reason));
}

/**
 * Names the transfer of a proof that was approved without its reference, so that it pays no second time. No money moves.
 *
 * @throws OperatorError when the proof is not approved, its transfer has another name, or that transfer has paid for another
 *   payment.
 */
export async function proofName(
  { deps }: Tools,
  proofId: string,
  options: { readonly bankReference: string },
): Promise<Output> {
  return outputOf(await nameTransfer(deps, proofId, options.bankReference));
}

function outputOf({ proof, payment }: ProofDecided): Output {
  const { currency, status } = payment;
  const isUnnamed = proof.status === 'approved' && payment.provider_reference === null;
  const hint = isUnnamed
    ? `Nothing keeps this transfer from paying again, with another picture of its receipt: mbongo proof name ${proof.id} --bank-reference …`
    : null;
  const document = {
    proof_id: proof.id,
    status: proof.status,
    note: proof.note,
    bank_reference: payment.provider_reference,
    transaction_id: payment.id,
    payment_status: status,
    amount: payment.amount,
    currency,
    decided_at: timeOf(proof.decided_at),
    hint,
  };
  const said = `${proof.id}  ${proof.status}; ${payment.id}  ${status}  ${payment.amount} ${currency}`;
  return { document, lines: hint === null ? [said] : [said, hint] };
}

function documentOf({ proof, payment, duplicateOf, paidAsideBy }: ProofSeen) {
  return {
    proof_id: proof.id,
    status: proof.status,
    merchant_id: proof.merchant_id,
    transaction_id: payment.id,
    payment_status: payment.status,
    customer_reference: payment.customer_reference,
    amount: payment.amount,
    total_amount: formatMinor(payment.total_minor, payment.currency),
    currency: payment.currency,
    bank_account_id: payment.bank_account_id,
    bank_reference: payment.provider_reference,
    content_type: proof.content_type,
    size: proof.size,
    duplicate_of: duplicateOf,
    paid_aside_by: paidAsideBy,
    note: proof.note,
    created_at: timeOf(proof.created_at),
    decided_at: timeOf(proof.decided_at),
  };
}
