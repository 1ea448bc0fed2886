/**
 * Refusals of the use cases, in words for someone who is about to pay, beside the field at fault.
 *
 * Invariant: every refusal becomes words with a way out; no code, no wire name and nothing that was typed is shown.
 */

import type { Currency } from '../domain/currency.ts';
import { isCurrency } from '../domain/currency.ts';
import { parseAmount } from '../domain/money.ts';
import { CODE_WINDOW_MS } from '../domain/one-time-code.ts';
import type { Refusal, RefusalDetail, Words } from '../domain/refusal.ts';
import { PIN_LOCK_MS } from '../domain/wallet.ts';
import { type CheckoutWord, checkoutText } from '../messages/checkout/words.ts';
import type { Language } from '../messages/messages.ts';
import { amountText, spanText } from './amounts.ts';
import type { PageState } from './state.ts';

/** A form's field, by the name that it has on the page. */
export type FieldName = 'phone' | 'number' | 'pin' | 'code' | 'account' | 'file';

/** What is wrong with a form that was sent, in sentences in the reader's language. */
export interface Faults {
  /** About the form as a whole. */
  readonly general?: string;
  readonly fields: { readonly [field in FieldName]?: string };
  /** Money has come for the order by an earlier try, or may have. */
  readonly mayBePaid?: boolean;
}

/** The page's field for a field of the API. */
const FIELDS: { readonly [field: string]: FieldName } = {
  mobile_money_phone_number: 'phone',
  ewallet_number: 'number',
  flash_number: 'number',
  ewallet_pin: 'pin',
  flash_pin: 'pin',
  otp_code: 'code',
  bank_account_id: 'account',
  file: 'file',
};

const NEEDED = {
  phone: 'need_phone',
  number: 'need_number',
  pin: 'need_pin',
  code: 'need_code',
  account: 'need_account',
  file: 'need_file',
} as const satisfies { readonly [field in FieldName]: CheckoutWord };

/** The words for a field that was left empty. */
function neededFault(language: Language, field: FieldName): string {
  return checkoutText(language, NEEDED[field]);
}

/** What is said in place of these words once the customer cannot pay another way, by what the page shows. */
const INSTEAD: { readonly [state in PageState]?: { readonly [word in CheckoutWord]?: CheckoutWord } } = {
  // The session has been used up: only a code can still pay.
  code: { funds: 'code_funds', texts_used: 'code_texts_used', away: 'code_away' },
  // A customer who has made a transfer must not read that nothing has been charged, either.
  proof: { away: 'file_stalled' },
};

/** What a page in that state says of a refusal. */
export function faultsOf(language: Language, refusal: Refusal, state: PageState): Faults {
  const details = refusal.more.details ?? [];
  const fields: { [field in FieldName]?: string } = {};
  let general: string | undefined;
  for (const detail of details) {
    const field = FIELDS[detail.field];
    const text = detailText({ language, state }, detail, field);
    if (field !== undefined && text !== undefined) fields[field] ??= text;
    else general ??= text;
  }
  const mayBePaid = details.some(({ code }) => OF_EARLIER_TRY.includes(code));
  if (Object.keys(fields).length > 0) return { fields, mayBePaid };
  return { general: general ?? codeText({ language, state }, refusal), fields, mayBePaid };
}

/** What refuses a submit because of an earlier try, which has paid, or may have. */
const OF_EARLIER_TRY: readonly string[] = ['EARLIER_PROMPT_OPEN', 'EARLIER_TRY_OPEN', 'PAID_BEFORE'];

/** The words for a detail's code; a code that is not listed has none of its own. */
const DETAILS: { readonly [code: string]: CheckoutWord } = {
  MALFORMED_PIN: 'bad_pin',
  MALFORMED_OTP: 'need_code',
  INVALID_PIN: 'wrong_pin',
  INVALID_OTP: 'wrong_code',
  OTP_EXPIRED: 'code_old',
  INVALID_PHONE_NUMBER: 'bad_phone',
  NO_CARRIER: 'no_carrier',
  CARRIER_CURRENCY: 'carrier_currency',
  CARRIER_DOWN: 'carrier_down',
  CARRIER_REFUSES: 'carrier_refuses',
  PAYER_UNKNOWN: 'payer_unknown',
  EARLIER_PROMPT_OPEN: 'earlier_open',
  EARLIER_TRY_OPEN: 'earlier_open',
  PAID_BEFORE: 'paid_before',
  IN_PROGRESS: 'under_way',
  WALLET_CURRENCY: 'wallet_currency',
  AMOUNT_BELOW_MINIMUM: 'below',
  AMOUNT_ABOVE_MAXIMUM: 'above',
  TOTAL_CHANGED: 'total_changed',
  RESENDS_USED: 'resends_used',
  TEXTS_USED: 'texts_used',
  PAYMENTS_USED: 'back_text',
  CARDS_USED: 'cards_used',
  CARD_DATA: 'card_data',
  METHOD_NOT_AVAILABLE: 'method_gone',
  METHOD_MISMATCH: 'method_gone',
  UNKNOWN_PAYMENT_METHOD: 'method_gone',
  CARD_NOT_ENTERED: 'card_first',
  FORM_CHANGED: 'card_changed',
  FORM_USED: 'card_changed',
  FORM_EXPIRED: 'card_changed',
  NO_CARD_FORM: 'card_changed',
  OTHER_CARD_FORM: 'card_changed',
  UNKNOWN_BANK_ACCOUNT: 'need_account',
  FILE_TYPE: 'file_type',
  FILE_TOO_LARGE: 'file_large',
  FILE_UNSAFE: 'file_unsafe',
  UPLOAD_STALLED: 'file_stalled',
  FILE_EMPTY: 'need_file',
};

/**
 * What a failed last try locks, and for how long at most if the refusal does not say it: that helps the customer more than to read
 * that no try is left.
 */
const LAST_TRIES: { readonly [code: string]: { readonly word: CheckoutWord; readonly forMs: number } } = {
  INVALID_PIN: { word: 'locked', forMs: PIN_LOCK_MS },
  INVALID_OTP: { word: 'tries_used', forMs: CODE_WINDOW_MS },
  OTP_EXPIRED: { word: 'tries_used', forMs: CODE_WINDOW_MS },
};

/** Where words are said. */
interface Place {
  readonly language: Language;
  readonly state: PageState;
}

function say({ language, state }: Place, word: CheckoutWord, values: { readonly [name: string]: string } = {}): string {
  return checkoutText(language, INSTEAD[state]?.[word] ?? word, values);
}

function detailText(place: Place, detail: RefusalDetail, field: FieldName | undefined): string | undefined {
  const { language } = place;
  if (detail.code === 'REQUIRED' && field !== undefined) return neededFault(language, field);
  // The network's form has not been opened.
  if (detail.code === 'REQUIRED' && detail.field === 'session_id') return checkoutText(language, 'card_first');
  const closed = detail.words?.left === 0 ? LAST_TRIES[detail.code] : undefined;
  if (closed !== undefined) {
    const { seconds = closed.forMs / 1_000 } = detail.words ?? {};
    return checkoutText(language, closed.word, { time: spanText(language, Number(seconds) * 1_000) });
  }
  const word = DETAILS[detail.code];
  return word === undefined ? undefined : say(place, word, valuesOf(language, detail.words ?? {}));
}

function valuesOf(language: Language, words: Words): { [name: string]: string } {
  const values: { [name: string]: string } = {};
  for (const [name, value] of Object.entries(words)) values[name] = String(value);
  const { currency = '', currencies, seconds } = values;
  if (seconds !== undefined) values.time = spanText(language, Number(seconds) * 1_000);
  if (currencies !== undefined) values.currencies = currencies.toUpperCase();
  const amount = values.minimum ?? values.maximum ?? values.total;
  if (amount !== undefined && isCurrency(currency)) values.amount = wordText(language, amount, currency);
  values.currency = currency.toUpperCase();
  return values;
}

/** An amount that a refusal names, in the reader's language. */
function wordText(language: Language, amount: string, currency: Currency): string {
  const money = parseAmount(amount, currency);
  return money === undefined ? amount : amountText(language, money.minor, currency);
}

function codeText(place: Place, { code, more }: Refusal): string {
  const { language } = place;
  const time = spanText(language, (more.retryAfter ?? 1) * 1_000);
  if (code === 1201) return say(place, 'funds');
  if (code === 1301) return checkoutText(language, more.words === undefined ? 'busy' : 'tries_used', { time });
  if (code === 1303) return checkoutText(language, more.words?.about === 'code' ? 'tries_used' : 'locked', { time });
  if (code === 1402 && more.retryAfter !== undefined) return checkoutText(language, 'busy', { time });
  return say(place, 'away');
}
