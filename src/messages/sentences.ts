/**
 * What every language has to say: the shape of a language's file, and the keys by which sentences are asked for.
 *
 * Invariant: the keys follow the domain's codes, so a new refusal, detail, status or reason does not compile until
 * all six languages have a sentence for it.
 */

import type { PayoutStatus, RefundStatus } from '../domain/outgoing-records.ts';
import type { mobileMoneyStatus } from '../domain/payment.ts';
import type { Reason } from '../domain/reason.ts';
import type { PaymentMethod, PaymentStatus } from '../domain/records.ts';
import type { DetailCode, RefusalCode } from '../domain/refusal.ts';

/**
 * The mobile money vocabulary of the specification, the two moments in which a person waits for a carrier, and what has been
 * started by a method that needs no phone number.
 */
export type Progress = ReturnType<typeof mobileMoneyStatus> | 'started' | 'waiting' | 'carrier_silent';

/** Sentences that are answered when a step has been done. */
export type Done =
  | 'proof_received'
  | 'delivery_released'
  | 'payout_accepted'
  | 'payout_scheduled'
  | 'payout_approval'
  | 'payout_checked'
  | 'session_created'
  | 'otp_sent'
  | 'otp_verified';

/** Words of the error pages. */
export type PageWord =
  | 'index_title'
  | 'index_intro'
  | 'title'
  | 'cause'
  | 'remedy'
  | 'http_status'
  | 'retry'
  | 'retry_yes'
  | 'retry_no'
  | 'retry_sometimes'
  | 'summary'
  | 'example'
  | 'example_intro'
  | 'code'
  | 'name'
  | 'all_errors'
  | 'details_title'
  | 'details_intro'
  | 'reasons_title'
  | 'reasons_intro'
  | 'language'
  | 'skip'
  | 'group_10'
  | 'group_11'
  | 'group_12'
  | 'group_13'
  | 'group_14'
  | 'group_15';

export type PayoutSaid = PayoutStatus | 'scheduled' | 'waiting' | 'taken_after_all';

export type RefundSaid = RefundStatus | 'by_hand' | 'waiting' | 'taken_after_all';

/** Where money is that came too late to count by itself: it waits, or was booked to one of two. */
export type LateSaid = 'waiting' | 'merchant' | 'payer';

/** One language. ICU message syntax; quotation marks and apostrophes are the typographic ones. */
export interface Sentences {
  /** For each refusal: what happened, and what to do next. An answer's `message` is the two together. */
  readonly refusal: { readonly [code in RefusalCode]: readonly [cause: string, remedy: string] };
  readonly detail: { readonly [code in DetailCode]: string };
  /** An answer's `message`, by the payment's status. */
  readonly status: { readonly [status in PaymentStatus]: string };
  readonly reason: { readonly [reason in Reason]: string };
  /**
   * What is said of a payout line: its status, or why it waits. `scheduled` names the date; `failed`, and `taken_after_all` of a
   * failed one that its carrier did take up, the reason.
   */
  readonly payout: { readonly [state in PayoutSaid]: string };
  /** What is said of a refund: its status, who carries it out, or why it waits. `failed` and `taken_after_all` name the reason. */
  readonly refund: { readonly [state in RefundSaid]: string };
  /** What is said, beside why it ended, of a payment that did not count the money that came for it. */
  readonly late: { readonly [place in LateSaid]: string };
  readonly progress: { readonly [progress in Progress]: string };
  /** What a method is called on a button. */
  readonly method: { readonly [method in PaymentMethod]: string };
  readonly done: { readonly [done in Done]: string };
  readonly sms: { readonly code: string };
  readonly page: { readonly [word in PageWord]: string };
}

/** How a sentence is asked for: its group, a dot and its code, for example `detail.REQUIRED`. */
export type MessageKey =
  | `${'refusal' | 'cause' | 'remedy'}.${RefusalCode}`
  | `detail.${DetailCode}`
  | `status.${PaymentStatus}`
  | `reason.${Reason}`
  | `payout.${PayoutSaid}`
  | `refund.${RefundSaid}`
  | `late.${LateSaid}`
  | `progress.${Progress}`
  | `method.${PaymentMethod}`
  | `done.${Done}`
  | 'sms.code'
  | `page.${PageWord}`;

/**
 * The words that a detail's sentence names. `field` is the detail's own field; the code that renders the detail adds it.
 *
 * Lists (`options`, `currencies`, `countries`) are already joined. `left` is a number: sentences choose the plural by it.
 */
export const WORDS: { readonly [code in DetailCode]: readonly string[] } = {
  REQUIRED: ['field'],
  WRONG_TYPE: ['field', 'type'],
  TOO_LONG: ['field', 'maximum'],
  TOO_SHORT: ['field', 'minimum'],
  NOT_AN_OPTION: ['field', 'options'],
  OUT_OF_RANGE: ['field', 'maximum', 'minimum'],
  INVALID_FORMAT: ['field'],
  MALFORMED_PIN: ['field'],
  MALFORMED_OTP: ['field'],
  INVALID_AMOUNT: ['field'],
  INVALID_CURRENCY: ['field'],
  CURRENCY_NOT_ALLOWED: ['currencies'],
  BINDING_DRIFT: ['field'],
  INVALID_PHONE_NUMBER: ['field'],
  INVALID_EMAIL: ['field'],
  INVALID_URL: ['field'],
  URL_NOT_ALLOWED: ['field', 'options'],
  INVALID_TEXT: ['field'],
  INVALID_JSON: [],
  DUPLICATE_KEY: ['field'],
  TOO_DEEP: ['field'],
  DATES_REVERSED: ['field'],
  SPAN_TOO_LONG: ['days', 'field'],
  INVALID_CURSOR: ['field'],
  CARD_DATA: ['field'],
  DUPLICATE_HEADER: ['field'],
  INVALID_IDEMPOTENCY_KEY: [],
  INVALID_DEVICE_FINGERPRINT: [],
  UNKNOWN_PAYMENT_METHOD: ['field', 'options'],
  METHOD_NOT_AVAILABLE: ['method', 'options'],
  METHOD_MISMATCH: ['field', 'options'],
  NO_CARRIER: ['countries'],
  CARRIER_CURRENCY: ['carrier', 'currencies'],
  DIRECT_CAPTURE: [],
  SESSION_CONSUMED: [],
  SESSION_EXPIRED: [],
  EXPIRED_AFTER_SUBMIT: [],
  CREDENTIAL_FORM: ['field'],
  OTHER_SESSION: [],
  OTHER_ID: ['given', 'wanted'],
  WRONG_CREDENTIAL_KIND: [],
  ADDRESS_NOT_ALLOWED: [],
  SCOPE_MISSING: [],
  WRONG_SCOPE: ['scope'],
  SESSION_COLLECTED: [],
  SESSION_ON_DEVICE: [],
  OTHER_DEVICE: ['field'],
  DUPLICATE_BENEFICIARY: ['field'],
  PAYOUT_TOTAL: ['currency', 'maximum'],
  SENDING_TYPE: ['field', 'given'],
  INVALID_DATE: ['field'],
  INVALID_INSTANT: ['field'],
  YEAR_OUT_OF_RANGE: ['field', 'first', 'last'],
  DATE_PAST: ['field', 'today'],
  DUPLICATE_DATE: ['field'],
  PAYOUT_FUNDS: ['available', 'currency', 'needed'],
  NOT_RETRYABLE: ['field', 'state'],
  TAKEN_AFTER_ALL: ['field'],
  RETRIES_USED: ['maximum'],
  UNKNOWN_LINE: ['field'],
  NO_TARGET: [],
  INVALID_PIN: ['left'],
  INVALID_OTP: ['left'],
  OTP_EXPIRED: ['left', 'resends'],
  WALLET_CURRENCY: ['currency'],
  IDEMPOTENCY_BODY: [],
  IN_DOUBT: [],
  IN_PROGRESS: [],
  STATE: ['state'],
  AMOUNT_BELOW_MINIMUM: ['currency', 'minimum'],
  AMOUNT_ABOVE_MAXIMUM: ['currency', 'maximum'],
  TOTAL_CHANGED: ['currency', 'total'],
  UNKNOWN_PATH: [],
  WRONG_METHOD: ['options'],
  BODY_TOO_LARGE: ['maximum'],
  NOT_HTTP: [],
  TOO_MANY_CHUNKS: [],
  HEADERS_TOO_LARGE: [],
  REQUEST_LATE: [],
  UNKNOWN_EXPECTATION: ['field'],
  NOT_JSON: [],
  BODY_ENCODED: ['field'],
  CARRIER_DOWN: ['carrier'],
  CARRIER_REFUSES: ['carrier'],
  PAYER_UNKNOWN: ['carrier'],
  EARLIER_PROMPT_OPEN: ['carrier'],
  EARLIER_TRY_OPEN: [],
  PAID_BEFORE: [],
  RESENDS_USED: [],
  TEXTS_USED: [],
  PAYMENTS_USED: [],
  CARDS_USED: [],
  NO_CARD_FORM: [],
  OTHER_CARD_FORM: ['field'],
  CARD_NOT_ENTERED: [],
  FORM_CHANGED: [],
  FORM_USED: [],
  FORM_EXPIRED: [],
  CARD_DECLINED: [],
  CARD_FUNDS: [],
  CARD_EXPIRED: [],
  AUTHENTICATION_FAILED: [],
  NOT_A_CARD: ['method'],
  NOT_FORM: [],
  INVALID_FORM: [],
  FILE_EMPTY: ['field'],
  FILE_TYPE: ['field'],
  FILE_UNSAFE: ['field'],
  FILE_TOO_LARGE: ['field', 'limit'],
  UPLOAD_STALLED: ['field'],
  UNKNOWN_BANK_ACCOUNT: ['field'],
  NOT_DELAYED: [],
  NOTHING_LEFT: [],
  NOT_PAID: ['state'],
  ABOVE_REFUNDABLE: ['currency', 'left'],
  REFUND_UNDER_WAY: [],
  REFUNDS_USED: ['maximum'],
  BALANCE_SHORT: ['available', 'currency', 'needed'],
  ARCHIVED: [],
  ARCHIVED_EVENT: [],
  BEFORE_RECORDS: ['day', 'field'],
};

/** The words of every other sentence that has any. `minutes` is a number. */
export const OTHER_WORDS: { readonly [key in MessageKey]?: readonly string[] } = {
  'payout.scheduled': ['date'],
  'done.payout_scheduled': ['date'],
  'payout.failed': ['reason'],
  'payout.taken_after_all': ['reason'],
  'refund.failed': ['reason'],
  'refund.taken_after_all': ['reason'],
  'refusal.1205': ['state'],
  'cause.1205': ['state'],
  'progress.waiting': ['carrier'],
  'progress.carrier_silent': ['carrier'],
  'done.otp_sent': ['minutes', 'sent_to'],
  'sms.code': ['amount', 'code', 'currency', 'merchant', 'minutes'],
  'page.title': ['code', 'name'],
};
