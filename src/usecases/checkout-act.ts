/**
 * What a customer can do on a hosted page: the API's verbs, called as the page's session.
 *
 * Invariant: there is no second way to pay. Everything here ends in a use case that the API calls too; only the answer
 * is taken as a value instead of bytes.
 */

import type { ProofType } from '../domain/file-type.ts';
import { formatMinor } from '../domain/money.ts';
import { refuseField } from '../domain/refusal.ts';
import type { Means, Submitted, SubmittedMethod } from '../domain/submission.ts';
import type { PageView } from './checkout-read.ts';
import { UNCOUNTED } from './code-calls.ts';
import { type CodeResent, resendCode } from './code-resend.ts';
import { type CodeVerified, verifyCode } from './code-verify.ts';
import type { Deps } from './deps.ts';
import { collectPayment } from './payment-collect.ts';
import type { Collected } from './payment-collectable.ts';
import { submitPayment } from './payment-submit.ts';
import type { Answering, Reply } from './perform.ts';
import { type ProofUploaded, uploadProof } from './proof-upload.ts';

/**
 * Refuses if the total shown is no longer the one that would be debited: until a method is chosen, the merchant's current fees
 * apply. `shown` is the total in the page's form, in minor units; forms of earlier releases lack it. The merchant's settings were
 * read once, with the page, and the submit uses the same: between this check and the debit nothing can change.
 *
 * @throws Refusal 1101 `TOTAL_CHANGED`.
 */
export function requireShownTotal({ offers, payment }: PageView, method: SubmittedMethod, shown?: string): void {
  const offer = offers.find((one) => one.method === method);
  if (shown === undefined || offer === undefined || shown === String(offer.totalMinor)) return;
  const { currency } = payment;
  throw refuseField(1101, 'amount', 'TOTAL_CHANGED', { currency, total: formatMinor(offer.totalMinor, currency) });
}

/** Submits the page's payment by the chosen means. @throws Refusal as a submit does. */
export function payOnPage(deps: Deps, { caller, payment }: PageView, means: Means): Promise<Submitted> {
  const command = { payment_id: deps.secrets.sealPaymentId(payment.id), means };
  return captured((answering) => submitPayment(deps, caller, command, answering));
}

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

/** Stores the proof of a transfer, whose content has already been checked. @throws Refusal as the API's upload does. */
export function uploadOnPage(
  deps: Deps,
  { caller, payment }: PageView,
  bytes: Uint8Array,
  type: ProofType,
): Promise<ProofUploaded> {
  const payment_id = deps.secrets.sealPaymentId(payment.id);
  return captured((answering) => uploadProof(deps, caller, { payment_id, bytes, type }, answering));
}

/**
 * Collects another payment on the same session, for a customer whose first one failed; the page shows it from then on. Its terms are
 * those of the first one, or what the merchant has fixed since.
 */
export function startAgain(deps: Deps, { caller, checkout, merchant, payment }: PageView): Promise<Collected> {
  const { settings } = merchant;
  const command = {
    method: 'none',
    fee_covered_by: settings.fee_covered_by ?? payment.fee_covered_by,
    delivery_behaviour: settings.delivery_behaviour ?? payment.delivery_behaviour,
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

/** Runs a verb and returns its answer as a value. */
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
