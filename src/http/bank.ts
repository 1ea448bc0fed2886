/**
 * The routes of bank transfers: where to transfer to, and the proof that it was done (contract §4).
 *
 * Invariant: the type of a proof's file is judged by its content, before its payment is looked up.
 */

import { type FileVerdict, judgeProof, MAX_PROOF_BYTES, type ProofType } from '../domain/file-type.ts';
import type { RefusalDetail } from '../domain/refusal.ts';
import { readBanks } from '../usecases/bank-config.ts';
import type { Deps } from '../usecases/deps.ts';
import { type ProofUploaded, uploadProof } from '../usecases/proof-upload.ts';
import { presentBanks, presentProof } from './bank-present.ts';
import type { UploadedFile } from './multipart.ts';
import { defineRoute, type Route } from './route.ts';
import { BanksAnswer, ProofAnswer, ProofBody } from './schemas.ts';

/** `GET /payments/get-config-bank` and `POST /payments/bank-transfer/proof`, both by a session, a consumed one too. */
export function bankRoutes(deps: Deps): Route[] {
  const seal = deps.secrets.sealPaymentId;
  return [
    defineRoute({
      method: 'GET',
      path: '/payments/get-config-bank',
      operationId: 'readBanks',
      summary: 'List the banks to transfer to',
      description:
        'The merchant’s bank accounts in the session’s currency, by bank. Send the id of one of them in the submit.',
      credential: 'session',
      limit: 'payments',
      loadClass: 'read',
      allowConsumed: true,
      answers: { 200: BanksAnswer },
      refusals: [],
      run: async (call) => call.reply(200, presentBanks(await readBanks(deps, call.caller))),
    }),
    defineRoute({
      method: 'POST',
      path: '/payments/bank-transfer/proof',
      operationId: 'uploadProof',
      summary: 'Upload the proof of a bank transfer',
      description:
        'A form (multipart/form-data) with the `payment_id` and one file of at most 5 MiB: JPEG, PNG or PDF, judged by ' +
        'its content. The payment then stays `processing` until an operator has checked the transfer.',
      credential: 'session',
      limit: 'payments',
      loadClass: 'finish',
      allowConsumed: true,
      upload: { field: 'file', most: MAX_PROOF_BYTES },
      body: ProofBody,
      answers: { 200: ProofAnswer },
      refusals: [1109, 1110, 1203, 1204, 1205, 1305],
      check: ({ file }) => proofFaults(file),
      run: (call) =>
        uploadProof(
          deps,
          call.caller,
          proofCommand(call.body.payment_id, call.body.file),
          call.answering((uploaded: ProofUploaded) => ({
            status: 200,
            value: presentProof(uploaded, seal, call.language),
          })),
        ),
    }),
  ];
}

/** The verdicts on files whose calls are under way: a file of 5 MiB takes some ten milliseconds, so it is judged once. */
const verdicts = new WeakMap<UploadedFile, FileVerdict<ProofType>>();

function verdictOn(file: UploadedFile): FileVerdict<ProofType> {
  const known = verdicts.get(file);
  if (known !== undefined) return known;
  const verdict = judgeProof(file.bytes);
  verdicts.set(file, verdict);
  return verdict;
}

function proofFaults(file: UploadedFile | undefined): RefusalDetail[] {
  const verdict = file === undefined ? undefined : verdictOn(file);
  return verdict?.kind === 'refused' ? [{ field: 'file', code: verdict.fault }] : [];
}

function proofCommand(payment_id: string, file: UploadedFile) {
  const verdict = verdictOn(file);
  if (verdict.kind === 'refused') throw new Error('a file that was refused came through');
  return { payment_id, bytes: verdict.bytes, type: verdict.type };
}
