/**
 * The rules of submitting: whose payment it is, by which method, and whether its session may pay it now.
 *
 * Invariant: these rules are checked before anything is spent on a submit, and again, on fresh rows, in the decision that
 * commits.
 */

import { feeColumns } from './fee.ts';
import {
  isNative,
  methodId,
  type NativeMethod,
  requireCarried,
  requireOffered,
  requireWithinLimits,
} from './method.ts';
import { refuseState } from './payment.ts';
import type { Merchant, Payment, PaymentMethod, Session } from './records.ts';
import { Refusal, type RefusalDetail, refuseField } from './refusal.ts';
import { refuseConsumed, requireOpen } from './session.ts';
import type { BankAccount } from './transfer-records.ts';

/** Which payment to pay, by its opaque payment_id, and by what. */
export interface PaymentSubmitCommand {
  readonly payment_id: string;
  readonly means: Means;
}

/** What a payment is to be paid by: the method that a submit names, with what that method needs. */
export type Means =
  | SubmittedMeans
  /** A method by which no submit pays, or none that is known. */
  | { readonly method: Exclude<PaymentMethod, SubmittedMethod> | undefined };

/** The means of a method that pays at submit. */
export type SubmittedMeans = MobileMoneyMeans | CardMeans | AccountMeans | TransferMeans | IncompleteMeans;

/** The phone whose carrier is asked for the money. */
export interface MobileMoneyMeans {
  readonly method: 'mobile_money';
  /** E.164, already parsed. */
  readonly msisdn: string;
}

/** The card that the customer has entered at the card network. */
export interface CardMeans {
  readonly method: 'card';
  /** The session of the hosted form that the card was entered in. */
  readonly formId: string;
  /** What the issuer wants to know of the customer's browser. */
  readonly browser: BrowserFacts;
}

/** The account as the customer typed it, and the fields it was sent in, which a refusal names. */
export interface AccountMeans {
  readonly method: 'wallet' | 'flash';
  readonly number: string;
  readonly pin: string;
  readonly numberField: string;
  readonly pinField: string;
  /** The language of the text message, if a one-time code is asked for; absent: the payment's. */
  readonly language?: string;
}

/** The customer sends the money from a bank, and uploads the proof later. */
export interface TransferMeans {
  readonly method: 'bank_transfer';
  /** The account that the transfer goes to. */
  readonly accountId: string;
}

/** A method that lacks what it needs. It is refused only once the payment is known, which may have another method (1103). */
export interface IncompleteMeans {
  readonly method: SubmittedMethod;
  /** The fields that the method needs and that are absent, as the caller names them: at least one. */
  readonly missing: readonly string[];
}

/** The customer's browser as 3-D Secure asks for it (EMV 3DS 2, browser data elements). Absent ones have defaults. */
export interface BrowserFacts {
  readonly accept: string | undefined;
  readonly userAgent: string | undefined;
  readonly language: string | undefined;
  readonly address: string | undefined;
}

/** The result of a submit: the payment as it is now, and where the customer has to go, if anywhere. */
export interface Submitted {
  readonly payment: Payment;
  /** Where the customer meets the issuer's challenge (202). */
  readonly redirectUrl?: string;
  /** The account that a bank transfer goes to. */
  readonly bankAccount?: BankAccount;
}

/** @throws Refusal 1204 for a payment that is not this session's, or that does not exist. */
export function requireMine(payment: Payment | undefined, session: Session): Payment {
  if (payment === undefined || !isMine(payment, session)) throw refuseNotMine(payment, session);
  return payment;
}

/** Whether the payment was collected on this session. */
export function isMine(payment: Payment, session: Session): boolean {
  return payment.merchant_id === session.merchant_id && payment.session_id === session.id;
}

/**
 * Another merchant's payment and an unknown one are refused alike. Of its own merchant's a session may read each, so it is told
 * that another one has to pay it.
 */
export function refuseNotMine(payment: Payment | undefined, session: Session): Refusal {
  if (payment?.merchant_id !== session.merchant_id) return new Refusal(1204);
  return new Refusal(1204, { transactionId: payment.id, details: [{ field: 'payment_id', code: 'OTHER_SESSION' }] });
}

/** 1109, naming every field which the method needs and which is absent. */
export function refuseIncomplete({ missing }: IncompleteMeans): Refusal {
  return new Refusal(1109, { details: missing.map((field) => ({ field, code: 'REQUIRED' }) as const) });
}

/** The means that the submit chooses: its method must be offered, and be the one that was collected, if one was (1103). */
export function chooseMeans(
  payment: Payment,
  merchant: Merchant,
  means: Means,
  offered: readonly PaymentMethod[],
): SubmittedMeans {
  const field = 'payment_method_id';
  const submitted = offered.filter(isSubmitted);
  const { method } = means;
  if (method === undefined) throw new Refusal(1103, { details: [unknownMethod(merchant, submitted)] });
  if (payment.method !== 'none' && payment.method !== method) {
    throw refuseField(1103, field, 'METHOD_MISMATCH', { options: namesOf(merchant, [payment.method]) });
  }
  requireOffered(method, field, submitted);
  if (!areSubmitted(means)) throw new Error(`${method} was offered and cannot be submitted`);
  return means;
}

/** The detail which says that `payment_method_id` names none of these methods. */
export function unknownMethod(merchant: Merchant, methods: readonly PaymentMethod[]): RefusalDetail {
  const options = namesOf(merchant, methods.filter(isSubmitted));
  return { field: 'payment_method_id', code: 'UNKNOWN_PAYMENT_METHOD', words: { options } };
}

function namesOf(merchant: Merchant, methods: readonly PaymentMethod[]): string {
  return methods.map((name) => `${name} (${methodId(merchant.id, name)})`).join(', ');
}

/** The methods by which a submit pays: native pay has already paid at the collect. */
export type SubmittedMethod = Exclude<PaymentMethod, NativeMethod>;

/** Whether there is a method, and it pays at submit. */
export function isSubmitted(method: PaymentMethod | undefined): method is SubmittedMethod {
  return method !== undefined && !isNative(method);
}

function areSubmitted(means: Means): means is SubmittedMeans {
  return isSubmitted(means.method);
}

/**
 * Whether this session may pay this payment now: open, not consumed, not held by another submit, still pending.
 *
 * The session may have been read before the payment. A payment that is no longer `pending` has consumed or holds its session,
 * so it is trusted over an older session row; except that expiry, and a card that failed at once, end a payment without
 * touching its session.
 *
 * @throws Refusal 1001 or 1005 when the session is not open, 1205 when the payment has ended; SubmitUnderWay while another
 * submit holds the session.
 */
export function requireSubmittable(session: Session, payment: Payment, now: number): void {
  requireOpen(session, now);
  const isCardEnd = payment.status === 'cancelled' && payment.reason === 'authentication_cancelled';
  if (payment.status === 'expired' || payment.status === 'declined' || isCardEnd) throw refuseState(payment);
  const held = payment.status === 'processing' ? payment.id : session.submitting_payment_id;
  if (held !== null && (payment.status === 'pending' || payment.status === 'processing'))
    throw new SubmitUnderWay(held);
  // Which payment has consumed the session is known only if it is this one: the session is older than the payment.
  if (payment.status !== 'pending') {
    throw refuseConsumed({ submitting_payment_id: payment.reason === 'sibling_paid' ? null : payment.id });
  }
}

/**
 * Nothing can be decided on these rows: the submit reads everything anew, once the work under way on its session, if any, has
 * ended. The subclasses say more.
 */
export class SubmitAgain extends Error {
  readonly paymentId: string;

  constructor(paymentId: string) {
    super('the submit has to be decided again');
    this.name = 'SubmitAgain';
    this.paymentId = paymentId;
  }
}

/** Another submit holds the session, and its upstream has not answered yet. */
export class SubmitUnderWay extends SubmitAgain {}

/** The payment, or its session, has changed since it was read: there is nothing to wait for. */
export class PaymentMoved extends SubmitAgain {}

/** Tells the caller to retry: by then the other submit has been answered, or has released the session (1203). */
export function refuseUnderWay(paymentId: string): Refusal {
  const details = [{ field: 'payment_id', code: 'IN_PROGRESS' }] as const;
  return new Refusal(1203, { transactionId: paymentId, retryable: true, retryAfter: 5, details });
}

/** Whether a submit by that method, which is offered, would be accepted now. */
export function isChoosable(payment: Payment, merchant: Merchant, method: PaymentMethod, now: number): boolean {
  if (payment.status !== 'pending' || payment.expires_at <= now || !isSubmitted(method)) return false;
  if (payment.method !== 'none') return payment.method === method;
  try {
    methodColumns(payment, merchant, method);
    return true;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}

/** What a payment costs by a method: by its own as it was collected, by another with the merchant's fee of now. */
export function priceBy(
  method: PaymentMethod,
  payment: Payment,
  merchant: Merchant,
): Pick<Payment, 'fee_minor' | 'total_minor'> {
  const { fee_minor, total_minor, fee_covered_by } = payment;
  return payment.method === method ? { fee_minor, total_minor } : feeColumns(merchant, method, payment, fee_covered_by);
}

/**
 * The columns that a payment takes over with the method chosen at submit.
 *
 * @throws Refusal 1202 when the amount, or the total with that method's fee, is out of limits.
 */
export function methodColumns(
  payment: Payment,
  merchant: Merchant,
  method: PaymentMethod,
): Pick<Payment, 'method' | 'fee_minor' | 'total_minor'> {
  const columns = priceBy(method, payment, merchant);
  if (payment.method === method) return { method, ...columns };
  requireWithinLimits(merchant, method, payment.amount_minor, payment.currency);
  requireCarried(method, columns.total_minor, payment.currency);
  return { method, ...columns };
}
