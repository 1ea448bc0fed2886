/**
 * Records in wire form (specification, Resources; contract §4).
 *
 * Invariant: the bound amount is echoed byte for byte; computed amounts have exactly the currency's fraction digits.
 * Full phone numbers, PINs and codes are never part of an answer.
 */

import type { Released } from '../domain/delivery.ts';
import { methodId } from '../domain/method.ts';
import { formatMinor } from '../domain/money.ts';
import type { PayoutLine } from '../domain/outgoing-records.ts';
import { isFinal, isPaid, mobileMoneyStatus } from '../domain/payment.ts';
import { maskPhone } from '../domain/phone.ts';
import type { Payment, PaymentMethod } from '../domain/records.ts';
import { joinSentences, type Language, say } from '../messages/messages.ts';
import type { MessageKey } from '../messages/sentences.ts';
import type { CodeResent } from '../usecases/code-resend.ts';
import type { CodeVerified } from '../usecases/code-verify.ts';
import type { LatePayment } from '../usecases/paid-aside.ts';
import type { Collected } from '../usecases/payment-collectable.ts';
import type { CarrierRead, PaymentDetail } from '../usecases/payment-read.ts';
import type { SessionCreated } from '../usecases/session-create.ts';

/** Makes a transaction's opaque payment_id. */
export type SealPaymentId = (transactionId: string) => string;

/** An instant (milliseconds since 1970) as every answer writes it: ISO 8601 in UTC, with milliseconds (contract §1); null stays null. */
export function timestamp(at: number): string;
export function timestamp(at: number | null): string | null;
export function timestamp(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}

/** The answer to a mint. It is the only answer that has the session's token. */
export function presentSession({ session, token }: SessionCreated, language: Language) {
  return {
    success: true,
    session_id: session.id,
    status: session.status,
    session_token: token,
    issued_at: timestamp(session.issued_at),
    expires_at: timestamp(session.expires_at),
    amount: session.amount,
    currency: session.currency,
    customer_reference: session.customer_reference,
    scope: session.scope,
    message: say(language, 'done.session_created'),
  };
}

/** The fields that collect, submit, verify and resend answer alike. */
export function presentPayment(payment: Payment, seal: SealPaymentId, message: string) {
  return {
    success: true,
    transaction_id: payment.id,
    payment_id: seal(payment.id),
    status: payment.status,
    message,
    amount: payment.amount,
    currency: payment.currency,
    fee_amount: formatMinor(payment.fee_minor, payment.currency),
    total_amount: formatMinor(payment.total_minor, payment.currency),
    customer_reference: payment.customer_reference,
    summary_code: 'lok000',
    created_at: timestamp(payment.created_at),
  };
}

/** A collect's answer: the payment, and for cards and open choices the page on which the customer goes on. */
export function presentCollected({ payment, pageUrl }: Collected, seal: SealPaymentId, language: Language) {
  return {
    ...presentPayment(payment, seal, sentenceOf(payment, language)),
    ...(payment.hosted_session_id === null ? {} : { session_id: payment.hosted_session_id }),
    ...(pageUrl === undefined ? {} : { payment_url: pageUrl }),
  };
}

/**
 * The answer to a right code: the payment, what the wallet was debited, and what is left in it. `seal` makes the `payment_id`.
 */
export function presentVerified(verified: CodeVerified, seal: SealPaymentId, language: Language) {
  const { payment } = verified;
  return {
    ...presentPayment(payment, seal, say(language, 'done.otp_verified')),
    debit_amount: formatMinor(verified.debitMinor, payment.currency),
    wallet_balance: formatMinor(verified.balanceMinor, payment.currency),
    verified_at: timestamp(verified.verifiedAt),
    completed_at: timestamp(payment.completed_at ?? verified.verifiedAt),
  };
}

/** The answer to a resend: the payment, and to which phone, masked, a new code was sent and until when it is valid. */
export function presentResent(resent: CodeResent, seal: SealPaymentId, language: Language) {
  const sentTo = maskPhone(resent.sentTo);
  const minutes = Math.round((resent.expiresAt - resent.resentAt) / 60_000);
  return {
    ...presentPayment(resent.payment, seal, say(language, 'done.otp_sent', { sent_to: sentTo, minutes })),
    otp_sent_to: sentTo,
    resend_count: resent.resends,
    max_resends: resent.most,
    resent_at: timestamp(resent.resentAt),
    expires_at: timestamp(resent.expiresAt),
  };
}

/** The answer to a release. `amount`: what the merchant receives; `released_at`: when it was first released. */
export function presentReleased({ payment, amountMinor, releasedAt }: Released, language: Language) {
  return {
    success: true,
    transaction_id: payment.id,
    status: payment.status,
    amount: formatMinor(amountMinor, payment.currency),
    currency: payment.currency,
    released_at: timestamp(releasedAt),
    message: say(language, 'done.delivery_released'),
  };
}

/** Why a payment stands as it does, in a sentence. */
export function sentenceOf(payment: Pick<Payment, 'status' | 'reason' | 'attempt_id'>, language: Language): string {
  const { status, reason } = payment;
  if (isFinal(status) && status !== 'approved' && reason !== null) return say(language, `reason.${reason}`);
  return say(language, `status.${isPaying(payment) ? 'processing' : status}`);
}

/**
 * The same of a payment that is read, with the money that came too late for its order. As long as that has not been given back, it
 * stands alone: why the payment ended may be that nothing was charged.
 */
function readSentenceOf(payment: Payment, late: readonly LatePayment[], language: Language): string {
  const lateSentence = lateSentenceOf(payment, late, language);
  if (lateSentence === undefined) return sentenceOf(payment, language);
  return isAllBack(late) ? joinSentences(language, sentenceOf(payment, language), lateSentence) : lateSentence;
}

function isAllBack(late: readonly LatePayment[]): boolean {
  return late.every(({ bookedTo }) => bookedTo === 'payer');
}

/** What there is to say of late money: of a payment that can still be made, that it must not be. */
function lateSentenceOf(payment: Payment, late: readonly LatePayment[], language: Language): string | undefined {
  if (late.length === 0 || isPaid(payment)) return undefined;
  if (isAllBack(late)) return isFinal(payment.status) ? say(language, 'late.payer') : undefined;
  return say(language, late.some(({ bookedTo }) => bookedTo === null) ? 'late.waiting' : 'late.merchant');
}

/**
 * Whether a payment is pending, and its customer has nothing left to do: the token of Google Pay or Apple Pay came with the
 * collect.
 */
function isPaying({ status, attempt_id }: Pick<Payment, 'status' | 'attempt_id'>): boolean {
  return status === 'pending' && attempt_id !== null;
}

/** The status read of the specification. `completed_at` is left out as long as the status is not final. */
export function presentStatus(payment: Payment | PayoutLine) {
  return {
    transaction_id: payment.id,
    status: payment.status,
    amount: payment.amount,
    currency: payment.currency,
    created_at: timestamp(payment.created_at),
    ...(payment.completed_at === null ? {} : { completed_at: timestamp(payment.completed_at) }),
  };
}

/** A payment in full (contract §4). `seal` makes the `payment_id`; `publicUrl` is where the icons of the methods are found. */
export function presentDetail(detail: PaymentDetail, seal: SealPaymentId, language: Language, publicUrl: string) {
  const { payment, timeline, late } = detail;
  return {
    success: true,
    kind: 'payment',
    ...presentStatus(payment),
    customer_reference: payment.customer_reference,
    payment_id: seal(payment.id),
    payment_method: payment.method,
    fee_amount: formatMinor(payment.fee_minor, payment.currency),
    total_amount: formatMinor(payment.total_minor, payment.currency),
    fee_covered_by: payment.fee_covered_by,
    delivery_behaviour: payment.delivery_behaviour,
    message: readSentenceOf(payment, late, language),
    refunded_amount: formatMinor(payment.refunded_minor, payment.currency),
    late_payments: late.map((one) => presentLate(one, payment.currency)),
    payment_methods: presentMethods(detail, language, publicUrl),
    timeline: timeline.map(({ status, at, reason }) => ({ status, at: timestamp(at), reason })),
  };
}

function presentLate({ transactionId, amountMinor, receivedAt, bookedTo }: LatePayment, currency: Payment['currency']) {
  return {
    transaction_id: transactionId,
    amount: formatMinor(amountMinor, currency),
    currency,
    received_at: timestamp(receivedAt),
    booked_to: bookedTo,
  };
}

function presentMethods(detail: PaymentDetail, language: Language, publicUrl: string) {
  const { payment, offered, prices, choosable } = detail;
  return offered.map((method) => ({
    id: methodId(payment.merchant_id, method),
    name: method,
    display_name: say(language, `method.${method}`),
    channel: method,
    icon_url: `${publicUrl}/checkout/methods/${method}.svg`,
    ...priceOf(payment, prices[method]?.total_minor ?? payment.total_minor),
    is_enabled: choosable.includes(method),
    is_selected: payment.method === method,
    configuration: { currency: payment.currency, ...configurationOf(method, detail) },
  }));
}

/** What the customer pays by a method. A fee that the merchant covers is the merchant's own affair: a customer may read this. */
function priceOf({ amount_minor, currency }: Payment, totalMinor: bigint) {
  return {
    fee_amount: formatMinor(totalMinor - amount_minor, currency),
    total_amount: formatMinor(totalMinor, currency),
  };
}

/** What a client needs to know of a method before it is chosen. */
function configurationOf(method: PaymentMethod, { carriers, banks }: PaymentDetail) {
  if (method === 'mobile_money') return { carriers };
  if (method === 'bank_transfer') return { banks: banks.map(({ name }) => name) };
  return method === 'card' ? { cardnet_payment_method: 'HOSTED_SESSION' } : {};
}

/** The specification's mobile money envelope. `progress` is approximate; `estimated_completion` paces the polling. */
export function presentMobileMoney(read: CarrierRead, language: Language, now: number) {
  const { payment, reference, endedAt, late } = read;
  const status = mobileMoneyStatus(payment.status);
  const done = isFinal(payment.status);
  const message = done
    ? readSentenceOf(payment, late, language)
    : (lateSentenceOf(payment, late, language) ??
      say(language, progressKey(payment), { carrier: payment.carrier ?? '' }));
  return {
    status_code: 200,
    message,
    data: {
      status,
      progress: done ? 100 : PROGRESS[status],
      message,
      // Left out for a payment that was called off (specification, mobile money status).
      payment_info: status === 'completed' || status === 'failed' ? paymentInfo(read) : null,
      provider_reference: reference ?? '',
      estimated_completion: timestamp(endedAt ?? estimate(payment, now)),
    },
  };
}

const PROGRESS = { pending: 10, processing: 50, completed: 100, failed: 100, cancelled: 100 } as const;

/** Customers take about half a minute to confirm; after that the next poll is due in five seconds. */
function estimate(payment: Payment, now: number): number {
  return Math.max((payment.submitted_at ?? now) + 30_000, now + 5_000);
}

function progressKey(payment: Payment): MessageKey {
  if (payment.status === 'pending_mobile_money_verification') return 'progress.waiting';
  if (payment.status !== 'processing' && !isPaying(payment)) return startedKey(payment);
  // A payment has no carrier until the carrier has answered, or has kept silent; one by transfer or card never has one.
  return payment.carrier === null ? 'progress.processing' : 'progress.carrier_silent';
}

/** Until a method is chosen, mobile money is assumed: this read is for it. */
function startedKey({ method }: Payment): MessageKey {
  return method === 'mobile_money' || method === 'none' ? 'progress.pending' : 'progress.started';
}

function paymentInfo({ payment, reference, endedAt }: CarrierRead) {
  return {
    carrier: payment.carrier,
    phone_number: payment.msisdn === null ? null : maskPhone(payment.msisdn),
    amount: payment.amount,
    currency: payment.currency,
    provider_reference: reference ?? '',
    completed_at: timestamp(endedAt),
    reason: payment.reason,
  };
}
