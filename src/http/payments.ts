/**
 * The routes of payments: collect, submit, the one-time code, and reading (specification, Endpoints; contract §4).
 *
 * Invariant: what a route checks here is only the form of what the chosen method needs; whether it may happen is
 * decided by the use case.
 */

import type { Submitted } from '../domain/submission.ts';
import { type CodeResent, resendCode } from '../usecases/code-resend.ts';
import { type CodeVerified, verifyCode } from '../usecases/code-verify.ts';
import type { Deps } from '../usecases/deps.ts';
import { collectPayment } from '../usecases/payment-collect.ts';
import type { Collected } from '../usecases/payment-collectable.ts';
import { readAtCarrier } from '../usecases/payment-read.ts';
import { submitPayment } from '../usecases/payment-submit.ts';
import { readTransaction, readTransactionDetail } from '../usecases/payout-read.ts';
import { presentTransfer } from './bank-present.ts';
import { codeCalls } from './code-calls.ts';
import {
  browserOf,
  COLLECT_CODES,
  collectCommand,
  collectFaults,
  submitCommand,
  submitFaults,
} from './payment-commands.ts';
import { presentTransactionDetail } from './payout-present.ts';
import { TransactionDetailAnswer } from './payout-schemas.ts';
import {
  presentCollected,
  presentMobileMoney,
  presentPayment,
  presentResent,
  presentStatus,
  presentVerified,
  sentenceOf,
} from './present.ts';
import { defineRoute, type Route } from './route.ts';
import { idParams } from './schema-words.ts';
import {
  CollectAnswer,
  CollectBody,
  PaymentIdParams,
  ResendBody,
  ResentAnswer,
  SubmitAnswer,
  SubmitBody,
  TransactionParams,
  VerifiedAnswer,
  VerifyBody,
} from './schemas.ts';
import { MobileMoneyAnswer, StatusAnswer } from './status-schemas.ts';

/** Below `/payments`, all by a session: collect, submit, verify-otp, resend-otp, and the reads of a payment. */
export function paymentRoutes(deps: Deps): Route[] {
  return [...payingRoutes(deps), ...codeRoutes(deps), ...readingRoutes(deps)];
}

function payingRoutes(deps: Deps): Route[] {
  const seal = deps.secrets.sealPaymentId;
  return [
    defineRoute({
      method: 'POST',
      path: '/payments/collect',
      operationId: 'collectPayment',
      summary: 'Start a payment',
      description:
        'Starts a payment on the session. Amount, currency and customer reference are the session’s; if the body repeats ' +
        'them, they must be byte-identical. A session can have at most 150 payments: the next collect is refused with ' +
        '1301, which is not retryable. Mint a new session then.',
      credential: 'session',
      limit: 'payments',
      loadClass: 'collect',
      allowConsumed: false,
      body: CollectBody,
      answers: { 200: CollectAnswer },
      refusals: [1003, 1101, 1102, 1103, 1105, 1109, 1110, 1202, 1203, 1305, 1404],
      codes: COLLECT_CODES,
      check: (body, caller) => collectFaults(deps, caller, body),
      run: (call) =>
        collectPayment(
          deps,
          call.caller,
          collectCommand(call.body, call.language),
          call.answering((collected: Collected) => ({
            status: 200,
            value: {
              ...presentCollected(collected, seal, call.language),
              ...presentTransfer(collected.payment, collected.onlyAccount, deps.publicUrl),
            },
          })),
        ),
    }),
    defineRoute({
      method: 'POST',
      path: '/payments/submit',
      operationId: 'submitPayment',
      summary: 'Pay',
      description:
        'Sends what the chosen method needs. A submit that is not answered with an error consumes the session. An error ' +
        'leaves the session `ACTIVE` and the payment `pending`, except 1502, which ends the payment as `declined`. After ten ' +
        'refused cards a session takes no more of them: 1301, which is not retryable. With ' +
        '202 send the customer’s browser to `redirect_url`, where the card’s issuer challenges the customer.',
      credential: 'session',
      limit: 'payments',
      loadClass: 'finish',
      allowConsumed: false,
      body: SubmitBody,
      answers: { 200: SubmitAnswer, 202: SubmitAnswer },
      refusals: [1102, 1103, 1109, 1110, 1201, 1202, 1203, 1204, 1205, 1301, 1302, 1303, 1305, 1404, 1502],
      check: submitFaults,
      run: (call) =>
        submitPayment(
          deps,
          call.caller,
          submitCommand(call.body, call.caller, browserOf(call)),
          call.answering(({ payment, bankAccount, redirectUrl }: Submitted) => ({
            status: redirectUrl === undefined ? 200 : 202,
            value: {
              ...presentPayment(payment, seal, sentenceOf(payment, call.language)),
              ...presentTransfer(payment, bankAccount, deps.publicUrl),
              ...(redirectUrl === undefined ? {} : { redirect_url: redirectUrl }),
            },
          })),
        ),
    }),
  ];
}

function codeRoutes(deps: Deps): Route[] {
  const seal = deps.secrets.sealPaymentId;
  const [verifications, resends] = [codeCalls(deps.clock, 'codes'), codeCalls(deps.clock, 'resends')];
  return [
    defineRoute({
      method: 'POST',
      path: '/payments/verify-otp',
      operationId: 'verifyCode',
      summary: 'Verify a one-time code',
      description:
        'A payment allows five of these calls in five minutes, or fewer if the merchant has a lower limit. The next call is ' +
        'refused with 1301, even if its code is right. Twenty wrong codes in a row for one account, whatever payments they were ' +
        'for, are followed by 1303 for fifteen minutes.',
      credential: 'session',
      limit: 'none',
      loadClass: 'finish',
      guard: 'codes',
      allowConsumed: true,
      body: VerifyBody,
      answers: { 200: VerifiedAnswer },
      refusals: [1109, 1110, 1201, 1203, 1204, 1205, 1301, 1302, 1303, 1305],
      run: (call) =>
        verifyCode(
          deps,
          call.caller,
          call.body,
          call.answering((verified: CodeVerified) => ({
            status: 200,
            value: presentVerified(verified, seal, call.language),
          })),
          verifications(call),
        ),
    }),
    defineRoute({
      method: 'POST',
      path: '/payments/resend-otp',
      operationId: 'resendCode',
      summary: 'Send another one-time code',
      description:
        'The previous code stops being valid. A payment allows three resends, and five of these calls in five minutes; if ' +
        'the merchant has a lower limit on calls, there are no more resends than that. Tries of earlier codes still count. ' +
        'After the account’s PIN or phone has been changed no code is sent, and the payment has to be begun anew.',
      credential: 'session',
      limit: 'none',
      loadClass: 'finish',
      guard: 'resends',
      allowConsumed: true,
      body: ResendBody,
      answers: { 200: ResentAnswer },
      refusals: [1109, 1110, 1203, 1204, 1205, 1301, 1303, 1305],
      run: (call) =>
        resendCode(
          deps,
          call.caller,
          { payment_id: call.body.payment_id },
          call.answering((resent: CodeResent) => ({
            status: 200,
            value: presentResent(resent, seal, call.language),
          })),
          resends(call),
        ),
    }),
  ];
}

function readingRoutes(deps: Deps): Route[] {
  const seal = deps.secrets.sealPaymentId;
  return [
    defineRoute({
      method: 'GET',
      path: '/payments/status/:transaction_id',
      operationId: 'readStatus',
      summary: 'Read a transaction’s status',
      description:
        'The status of a payment or of a payout line. Any valid session of a merchant can read all transactions of that ' +
        'merchant.',
      credential: 'session',
      limit: 'payments',
      loadClass: 'read',
      allowConsumed: true,
      params: TransactionParams,
      answers: { 200: StatusAnswer },
      refusals: [1204],
      run: async (call) =>
        call.reply(200, presentStatus(await readTransaction(deps, call.caller, call.params.transaction_id))),
    }),
    defineRoute({
      method: 'GET',
      path: '/payments/transaction/:id',
      operationId: 'readTransaction',
      summary: 'Read a transaction in full',
      description:
        'A payment, by `transaction_id` or `payment_id`: its fees, the methods to choose from, and its timeline. Or a payout ' +
        'line, by `transaction_id`.',
      credential: 'session',
      limit: 'payments',
      loadClass: 'read',
      allowConsumed: true,
      params: idParams(
        'The `transaction_id` of a payment or of a payout line, `txn_…`, or the `payment_id` of a payment, `pay_…`.',
      ),
      answers: { 200: TransactionDetailAnswer },
      refusals: [1204],
      run: async (call) => {
        const found = await readTransactionDetail(deps, call.caller, call.params.id);
        return call.reply(200, presentTransactionDetail(found, seal, call.language, deps.publicUrl));
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/payments/mobile-money/status/:payment_id',
      operationId: 'readMobileMoneyStatus',
      summary: 'Poll a mobile-money payment',
      description:
        'Poll every five seconds, at most sixty times; after that, wait for the webhook. Webhooks are authoritative.',
      credential: 'session',
      limit: 'mobile_money_status',
      loadClass: 'read',
      allowConsumed: true,
      params: PaymentIdParams,
      answers: { 200: MobileMoneyAnswer },
      refusals: [1110, 1204],
      run: async (call) => {
        const read = await readAtCarrier(deps, call.caller, call.params.payment_id);
        return call.reply(200, presentMobileMoney(read, call.language, deps.clock.now()));
      },
    }),
  ];
}
