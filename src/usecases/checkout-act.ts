/**
 * What a customer can do on a hosted page: the same verbs as over the API, as the page's session.
 *
 * Invariant: there is no second way to pay. Everything here ends in a use case that the API calls too; only the answer
 * is kept as a value in place of bytes.
 */

import type { ProofType } from '../domain/file-type.ts';
import { formatMinor } from '../domain/money.ts';
import { refuseField } from '../domain/refusal.ts';
import type { BrowserFacts, PaymentSubmitCommand, Submitted, SubmittedMethod } from '../domain/submission.ts';
import type { PageView } from './checkout-read.ts';
import type { CodeCalls } from './code-calls.ts';
import { type CodeResent, resendCode } from './code-resend.ts';
import { type CodeVerified, verifyCode } from './code-verify.ts';
import type { Deps } from './deps.ts';
import { type Collected, collectPayment } from './payment-collect.ts';
import { submitPayment } from './payment-submit.ts';
import type { Answering, Reply } from './perform.ts';
import { type ProofUploaded, uploadProof } from './proof-upload.ts';

/** What the customer fills in, by method. */
export type PageFields = Pick<
  PaymentSubmitCommand,
  'wallet_number' | 'wallet_pin' | 'msisdn' | 'session_id' | 'bank_account_id' | 'language'
>;

/**
 * Refuses a total that is no longer the one that would be taken: until a method is chosen, its fee is the merchant's as it
 * is now. `shown` is what the page's form says, in minor units; one of an earlier version says nothing. The merchant's
 * settings were read once, with the page, and the submit takes those: between this look and the debit nothing can change.
 *
 * @throws Refusal 1101 `TOTAL_CHANGED`.
 */
export function requireShownTotal({ offers, payment }: PageView, method: SubmittedMethod, shown?: string): void {
  const offer = offers.find((one) => one.method === method);
  if (shown === undefined || offer === undefined || shown === String(offer.totalMinor)) return;
  const { currency } = payment;
  throw refuseField(1101, 'amount', 'TOTAL_CHANGED', { currency, total: formatMinor(offer.totalMinor, currency) });
}

/** Pays by the method that was chosen. @throws Refusal as a submit does. */
export function payOnPage(
  deps: Deps,
  { caller, payment }: PageView,
  method: SubmittedMethod,
  fields: Partial<PageFields>,
  browser: BrowserFacts,
): Promise<Submitted> {
  const command: PaymentSubmitCommand = {
    payment_id: deps.secrets.sealPaymentId(payment.id),
    payment_method_id: method,
    wallet_number: undefined,
    wallet_pin: undefined,
    msisdn: undefined,
    session_id: undefined,
    bank_account_id: undefined,
    ...fields,
    browser,
  };
  return captured((answering) => submitPayment(deps, caller, command, answering));
}

/** The page counts what it is asked for itself. */
const UNCOUNTED: CodeCalls = { count: () => undefined, tell: () => undefined };

/** @throws Refusal as the API's verify-otp does. */
export function verifyOnPage(deps: Deps, { caller, payment }: PageView, code: string): Promise<CodeVerified> {
  const command = { payment_id: deps.secrets.sealPaymentId(payment.id), otp_code: code };
  return captured((answering) => verifyCode(deps, caller, command, answering, UNCOUNTED));
}

/** @throws Refusal as the API's resend-otp does. */
export function resendOnPage(deps: Deps, { caller, payment }: PageView, language: string): Promise<CodeResent> {
  const command = { payment_id: deps.secrets.sealPaymentId(payment.id), language };
  return captured((answering) => resendCode(deps, caller, command, answering, UNCOUNTED));
}

/** The proof of a transfer, already judged by its content. @throws Refusal as the API's upload does. */
export function uploadOnPage(
  deps: Deps,
  { caller, payment }: PageView,
  bytes: Uint8Array,
  type: ProofType,
): Promise<ProofUploaded> {
  const payment_id = deps.secrets.sealPaymentId(payment.id);
  return captured((answering) => uploadProof(deps, caller, { payment_id, bytes, type }, answering));
}

/** Another payment on the same session, for a customer whose first one was refused; the page shows it from then on. */
export function startAgain(deps: Deps, { caller, checkout, payment }: PageView): Promise<Collected> {
  const command = {
    method: 'none',
    fee_covered_by: payment.fee_covered_by,
    delivery_behaviour: payment.delivery_behaviour,
    notify_url: payment.notify_url ?? undefined,
    success_redirect_url: payment.success_redirect_url ?? undefined,
    fail_redirect_url: payment.fail_redirect_url ?? undefined,
    amount: undefined,
    currency: undefined,
    transactional_currency: undefined,
    customer_reference: undefined,
    language: payment.language,
    page: { led: checkout },
  } as const;
  return captured((answering) => collectPayment(deps, caller, command, answering));
}

/** Runs a verb whose answer is wanted as a value. */
async function captured<A>(run: (answering: Answering<A>) => Promise<Reply>): Promise<A> {
  let answer: A | undefined;
  await run({
    receipt: undefined,
    render(given) {
      answer = given;
      return { status: 200, body: '' };
    },
    renderRefusal: (refusal) => ({ status: refusal.http, body: '' }),
  });
  if (answer === undefined) throw new Error('a verb without an answer');
  return answer;
}
