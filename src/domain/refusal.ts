/**
 * Refusals: what a caller asked for and the service will not do.
 *
 * One table says for every code its name, HTTP status, retry advice and SDK class (contract §2). A refusal is thrown
 * as `Refusal` and caught once, in `http`. The sentence for people is in `messages/`, by the detail's or the
 * refusal's key.
 */

interface RefusalKind {
  readonly name: string;
  readonly http: number;
  /** True only where the same call can succeed later unchanged. */
  readonly retryable: boolean;
  /** The class that the mobile SDK shows (specification, Errors). */
  readonly summary: `lok00${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9}`;
}

/** All refusals, by code. A code never changes its meaning, and is never used again. */
export const REFUSALS = {
  1001: { name: 'INVALID_CREDENTIAL', http: 401, retryable: false, summary: 'lok003' },
  1002: { name: 'MISSING_CREDENTIAL', http: 401, retryable: false, summary: 'lok003' },
  1003: { name: 'CREDENTIAL_NOT_ALLOWED', http: 403, retryable: false, summary: 'lok003' },
  1004: { name: 'MERCHANT_SUSPENDED', http: 403, retryable: false, summary: 'lok003' },
  1005: { name: 'CREDENTIAL_EXPIRED', http: 401, retryable: false, summary: 'lok003' },
  1101: { name: 'INVALID_AMOUNT', http: 400, retryable: false, summary: 'lok002' },
  1102: { name: 'INVALID_CURRENCY', http: 400, retryable: false, summary: 'lok002' },
  1103: { name: 'INVALID_PAYMENT_METHOD', http: 400, retryable: false, summary: 'lok004' },
  1104: { name: 'INVALID_PHONE_NUMBER', http: 400, retryable: false, summary: 'lok002' },
  1105: { name: 'INVALID_EMAIL', http: 400, retryable: false, summary: 'lok002' },
  1106: { name: 'INVALID_CARD_NUMBER', http: 400, retryable: false, summary: 'lok002' },
  1107: { name: 'INVALID_CARD_EXPIRY', http: 400, retryable: false, summary: 'lok002' },
  1108: { name: 'INVALID_CARD_CVV', http: 400, retryable: false, summary: 'lok002' },
  1109: { name: 'MISSING_REQUIRED_FIELD', http: 400, retryable: false, summary: 'lok002' },
  1110: { name: 'INVALID_FIELD_FORMAT', http: 400, retryable: false, summary: 'lok002' },
  1201: { name: 'INSUFFICIENT_FUNDS', http: 402, retryable: false, summary: 'lok005' },
  1202: { name: 'LIMIT_EXCEEDED', http: 402, retryable: false, summary: 'lok006' },
  1203: { name: 'DUPLICATE_REQUEST', http: 409, retryable: false, summary: 'lok001' },
  1204: { name: 'TRANSACTION_NOT_FOUND', http: 404, retryable: false, summary: 'lok002' },
  1205: { name: 'INVALID_STATE', http: 409, retryable: false, summary: 'lok001' },
  1207: { name: 'BENEFICIARY_LIMIT_EXCEEDED', http: 400, retryable: false, summary: 'lok006' },
  1301: { name: 'RATE_LIMIT_EXCEEDED', http: 429, retryable: true, summary: 'lok006' },
  1302: { name: 'VERIFICATION_FAILED', http: 400, retryable: false, summary: 'lok003' },
  1303: { name: 'VERIFICATION_LOCKED', http: 403, retryable: true, summary: 'lok003' },
  1304: { name: 'INVALID_SIGNATURE', http: 401, retryable: false, summary: 'lok003' },
  1305: { name: 'DEVICE_MISMATCH', http: 403, retryable: false, summary: 'lok003' },
  1401: { name: 'INTERNAL_ERROR', http: 500, retryable: true, summary: 'lok001' },
  1402: { name: 'SERVICE_UNAVAILABLE', http: 503, retryable: true, summary: 'lok009' },
  1403: { name: 'UNSUPPORTED_REQUEST', http: 404, retryable: false, summary: 'lok002' },
  1404: { name: 'EXTERNAL_SERVICE_ERROR', http: 502, retryable: true, summary: 'lok009' },
  1502: { name: 'PAYMENT_DECLINED', http: 402, retryable: false, summary: 'lok001' },
} as const satisfies Record<number, RefusalKind>;

/** A code of `REFUSALS`. */
export type RefusalCode = keyof typeof REFUSALS;

/** What exactly was wrong: the `code` of a detail, and the key of its sentence in `messages/`. */
export type DetailCode =
  | 'REQUIRED'
  | 'WRONG_TYPE'
  | 'TOO_LONG'
  | 'TOO_SHORT'
  | 'NOT_AN_OPTION'
  | 'OUT_OF_RANGE'
  | 'INVALID_FORMAT'
  | 'MALFORMED_PIN'
  | 'MALFORMED_OTP'
  | 'INVALID_AMOUNT'
  | 'INVALID_CURRENCY'
  | 'CURRENCY_NOT_ALLOWED'
  | 'BINDING_DRIFT'
  | 'INVALID_PHONE_NUMBER'
  | 'INVALID_EMAIL'
  | 'INVALID_URL'
  | 'URL_NOT_ALLOWED'
  | 'INVALID_TEXT'
  | 'INVALID_JSON'
  | 'DUPLICATE_KEY'
  | 'TOO_DEEP'
  | 'DATES_REVERSED'
  | 'SPAN_TOO_LONG'
  | 'INVALID_CURSOR'
  | 'CARD_DATA'
  | 'DUPLICATE_HEADER'
  | 'INVALID_IDEMPOTENCY_KEY'
  | 'INVALID_DEVICE_FINGERPRINT'
  | 'UNKNOWN_PAYMENT_METHOD'
  | 'METHOD_NOT_AVAILABLE'
  | 'METHOD_MISMATCH'
  | 'NO_CARRIER'
  | 'CARRIER_CURRENCY'
  | 'DIRECT_CAPTURE'
  | 'SESSION_CONSUMED'
  | 'SESSION_EXPIRED'
  | 'EXPIRED_AFTER_SUBMIT'
  | 'CREDENTIAL_FORM'
  | 'OTHER_SESSION'
  | 'OTHER_ID'
  | 'WRONG_CREDENTIAL_KIND'
  | 'ADDRESS_NOT_ALLOWED'
  | 'SCOPE_MISSING'
  | 'WRONG_SCOPE'
  | 'SESSION_COLLECTED'
  | 'SESSION_ON_DEVICE'
  | 'OTHER_DEVICE'
  | 'DUPLICATE_BENEFICIARY'
  | 'PAYOUT_TOTAL'
  | 'SENDING_TYPE'
  | 'INVALID_DATE'
  | 'INVALID_INSTANT'
  | 'YEAR_OUT_OF_RANGE'
  | 'DATE_PAST'
  | 'DUPLICATE_DATE'
  | 'PAYOUT_FUNDS'
  | 'NOT_RETRYABLE'
  | 'TAKEN_AFTER_ALL'
  | 'RETRIES_USED'
  | 'UNKNOWN_LINE'
  | 'NO_TARGET'
  | 'INVALID_PIN'
  | 'INVALID_OTP'
  | 'OTP_EXPIRED'
  | 'WALLET_CURRENCY'
  | 'IDEMPOTENCY_BODY'
  | 'IN_PROGRESS'
  | 'IN_DOUBT'
  | 'STATE'
  | 'AMOUNT_BELOW_MINIMUM'
  | 'AMOUNT_ABOVE_MAXIMUM'
  | 'TOTAL_CHANGED'
  | 'UNKNOWN_PATH'
  | 'WRONG_METHOD'
  | 'BODY_TOO_LARGE'
  | 'NOT_HTTP'
  | 'TOO_MANY_CHUNKS'
  | 'HEADERS_TOO_LARGE'
  | 'REQUEST_LATE'
  | 'UNKNOWN_EXPECTATION'
  | 'NOT_JSON'
  | 'BODY_ENCODED'
  | 'CARRIER_DOWN'
  | 'CARRIER_REFUSES'
  | 'PAYER_UNKNOWN'
  | 'EARLIER_PROMPT_OPEN'
  | 'EARLIER_TRY_OPEN'
  | 'PAID_BEFORE'
  | 'RESENDS_USED'
  | 'TEXTS_USED'
  | 'PAYMENTS_USED'
  | 'CARDS_USED'
  | 'NO_CARD_FORM'
  | 'OTHER_CARD_FORM'
  | 'CARD_NOT_ENTERED'
  | 'FORM_CHANGED'
  | 'FORM_USED'
  | 'FORM_EXPIRED'
  | 'CARD_DECLINED'
  | 'CARD_FUNDS'
  | 'CARD_EXPIRED'
  | 'AUTHENTICATION_FAILED'
  | 'NOT_A_CARD'
  | 'NOT_FORM'
  | 'INVALID_FORM'
  | 'FILE_EMPTY'
  | 'FILE_TYPE'
  | 'FILE_UNSAFE'
  | 'FILE_TOO_LARGE'
  | 'UPLOAD_STALLED'
  | 'UNKNOWN_BANK_ACCOUNT'
  | 'NOT_DELAYED'
  | 'NOTHING_LEFT'
  | 'NOT_PAID'
  | 'ABOVE_REFUNDABLE'
  | 'REFUND_UNDER_WAY'
  | 'REFUNDS_USED'
  | 'BALANCE_SHORT'
  | 'ARCHIVED'
  | 'ARCHIVED_EVENT'
  | 'BEFORE_RECORDS';

/** Values that a sentence names, for example `{ state }` or `{ left }`. Never a secret or a full phone number. */
export type Words = { readonly [name: string]: string | number };

/** One field that is wrong, and what is wrong with it. */
export interface RefusalDetail {
  /** A path such as `beneficiaries[3].amount`, a header's name, or `body`. */
  readonly field: string;
  readonly code: DetailCode;
  readonly words?: Words;
}

/** What a refusal says besides its code. */
export interface RefusalMore {
  readonly details?: readonly RefusalDetail[];
  /** Values for the refusal's own sentence. */
  readonly words?: Words;
  /** Whole seconds, also sent as `Retry-After`. */
  readonly retryAfter?: number;
  readonly transactionId?: string;
  /** Replaces the table's HTTP status, for a code that has several (1403). */
  readonly http?: number;
  readonly retryable?: boolean;
}

/** Thrown for what the service will not do; `http` answers with it. Its message is the code's name. */
export class Refusal extends Error {
  readonly code: RefusalCode;
  readonly more: RefusalMore;

  constructor(code: RefusalCode, more: RefusalMore = {}) {
    super(REFUSALS[code].name);
    this.name = 'Refusal';
    this.code = code;
    this.more = more;
  }

  /** The same refusal, naming that transaction; one that already names a transaction keeps it. */
  about(transactionId: string): Refusal {
    if (this.more.transactionId !== undefined) return this;
    return new Refusal(this.code, { transactionId, ...this.more });
  }

  get http(): number {
    return this.more.http ?? REFUSALS[this.code].http;
  }

  get retryable(): boolean {
    return this.more.retryable ?? REFUSALS[this.code].retryable;
  }
}

/**
 * HTTP statuses of refusals that were decided on state, which an Idempotency-Key remembers; refusals of the request itself it
 * does not remember (contract §7).
 */
const REMEMBERED: ReadonlySet<number> = new Set([402, 404, 409]);

/** Whether refusals of that HTTP status are remembered with an Idempotency-Key, unless they are retryable. */
export function isRemembered(http: number): boolean {
  return REMEMBERED.has(http);
}

/** The two names by which callers know a payment, and how each begins. */
const PAYMENT_NAMES = { transaction_id: 'txn_', payment_id: 'pay_' } as const;

/** The full forms of both names, so that a merchant's own reference is not taken for one of them. */
const NAME_FORMS = { transaction_id: /^txn_[0-9a-z]{26}$/, payment_id: /^pay_[\w-]{40,}$/ } as const;

/**
 * Refuses a name that no payment of the caller's has (1204). If it has the form of the payment's other name, the refusal says so: its
 * form alone is judged, so that nothing is learnt of what exists. `field`: what carried it.
 */
export function refuseUnknownPayment(
  wanted: keyof typeof PAYMENT_NAMES,
  name: string,
  field: string = wanted,
): Refusal {
  const other = wanted === 'payment_id' ? 'transaction_id' : 'payment_id';
  if (!NAME_FORMS[other].test(name)) return new Refusal(1204);
  const spelled = (id: keyof typeof PAYMENT_NAMES): string => `${id} (${PAYMENT_NAMES[id]})`;
  return refuseField(1204, field, 'OTHER_ID', { given: spelled(other), wanted: spelled(wanted) });
}

/** A refusal about one field. */
export function refuseField(code: RefusalCode, field: string, detail: DetailCode, words?: Words): Refusal {
  return new Refusal(code, {
    details: [words === undefined ? { field, code: detail } : { field, code: detail, words }],
  });
}
