/**
 * What is wrong with one field or header of a call, or with the state that it meets, in English: a sentence for each code of a detail.
 *
 * Invariant: it names the field where the reader has to change one, and the way out.
 */

import type { Sentences } from '../sentences.ts';

export const details = {
  REQUIRED: '{field} is missing. Send it.',
  WRONG_TYPE: '{field} has the wrong type. Send it as {type}.',
  TOO_LONG: '{field} is too long. Send at most {maximum}.',
  TOO_SHORT: '{field} is too short. Send at least {minimum}.',
  NOT_AN_OPTION: '{field} is not one of the possible values. Choose one of these: {options}.',
  OUT_OF_RANGE: '{field} must lie between {minimum} and {maximum}.',
  INVALID_FORMAT: '{field} does not have the right form. See the documentation of this field.',
  MALFORMED_PIN: '{field} is not a PIN. Send its four to eight digits, as a string.',
  MALFORMED_OTP: '{field} is not a one-time code. Send its six digits, as a string.',
  INVALID_AMOUNT:
    '{field} is not a valid amount. Write a decimal string above zero, such as “12.50”, with no more decimals than the currency has.',
  INVALID_CURRENCY: '{field} is not a supported currency. Write its three letters in lower case, such as usd or cdf.',
  CURRENCY_NOT_ALLOWED: 'This merchant may not use that currency. Choose one of these: {currencies}.',
  BINDING_DRIFT: '{field} differs from what the session was minted with. Leave it out, or mint a new session.',
  INVALID_PHONE_NUMBER:
    '{field} is not a valid phone number. Write it in international form, such as +243 810 000 042.',
  INVALID_EMAIL: '{field} is not a valid email address. Correct it and send it again.',
  INVALID_URL:
    '{field} is not an address that may be called. Send a public https address without credentials, fragment or unusual port. A sandbox takes http too.',
  URL_NOT_ALLOWED: '{field} names a host that this merchant has not allowed. Allowed hosts: {options}.',
  INVALID_TEXT: '{field} holds characters that are not valid text. Remove them.',
  INVALID_JSON: 'The body is not valid JSON. Send one JSON object.',
  DUPLICATE_KEY: '{field} appears twice. Send it once.',
  TOO_DEEP: '{field} is nested too deeply. Send a flatter body.',
  DATES_REVERSED: '{field} lies before the beginning of the span. Send the two dates in their order.',
  SPAN_TOO_LONG: '{field} makes the span longer than {days} days. Ask for shorter spans, one after the other.',
  INVALID_CURSOR:
    '{field} is not one that this call has given out, or belongs to another span. Send next_cursor as it was, or leave it out.',
  CARD_DATA: '{field} looks like card data, which must never be sent here. Use the hosted card form.',
  DUPLICATE_HEADER: 'The header {field} was sent more than once. Send it once.',
  INVALID_IDEMPOTENCY_KEY: 'Idempotency-Key must have 1 to 255 visible ASCII characters.',
  INVALID_DEVICE_FINGERPRINT: 'X-Device-Fingerprint must have exactly 64 hexadecimal characters.',
  UNKNOWN_PAYMENT_METHOD: '{field} names no payment method of this merchant. Choose one of these: {options}.',
  METHOD_NOT_AVAILABLE: 'The method {method} is not available here. Choose one of these: {options}.',
  METHOD_MISMATCH: '{field} is not the method this payment was started with. Choose one of these: {options}.',
  NO_CARRIER:
    'No mobile money carrier serves this number in this currency. Carriers that take the currency: {countries}.',
  CARRIER_CURRENCY: '{carrier} does not take this currency. It takes: {currencies}.',
  DIRECT_CAPTURE: 'DIRECT_CAPTURE is not yet available. Use HOSTED_SESSION.',
  SESSION_CONSUMED:
    'A payment has already been submitted with this session. Read its status before you begin another; mint a new session only if it has ended unpaid.',
  SESSION_EXPIRED:
    'This session has expired. Mint a new one; if you submitted a payment with it, read that payment first.',
  EXPIRED_AFTER_SUBMIT:
    'This session has expired, after a payment was submitted with it. Read that payment with another session or your merchant credential, and verify its code or upload its proof with another session; begin another payment only if it has ended unpaid.',
  CREDENTIAL_FORM:
    'No usable credential was sent. Send {field} as Bearer, a space, and either the merchant’s key (key_), a colon and its secret (sk_), or a session’s token (sess_).',
  OTHER_SESSION:
    'Another session started this payment. Submit it with the token of that one; if that has expired, collect again once this payment has ended unpaid.',
  OTHER_ID: 'This is a {given}, and this call takes the {wanted} of the payment. Send that.',
  WRONG_CREDENTIAL_KIND:
    'This call takes the other kind of credential: merchants’ calls take the merchant credential, payments a session token.',
  ADDRESS_NOT_ALLOWED: 'This credential may not be used from your address. Call from an allowed one.',
  SCOPE_MISSING: 'This merchant’s sessions must say what they are for. Send scope: collect or payout.',
  WRONG_SCOPE: 'This session was not made for this. Mint one with the scope {scope}.',
  SESSION_COLLECTED:
    'This session has already collected a payment. Mint one with the scope payout, and pay out with that.',
  SESSION_ON_DEVICE:
    'This session is bound to a device, and payouts are made by your backend. Mint one with the scope payout there, and send no X-Device-Fingerprint with it.',
  OTHER_DEVICE:
    '{field} is another than the one this session was first used with. Go on with that device, or mint a new session.',
  DUPLICATE_BENEFICIARY:
    '{field} names somebody whom an earlier line of this call pays already. Name each beneficiary once.',
  PAYOUT_TOTAL: 'The amounts add up to more than {maximum} {currency}. Split the payout into several calls.',
  SENDING_TYPE:
    '{given} is for payouts on dates, and without {field} the payout would be made at once. Send {field} scheduled or recurring, or immediate to pay now.',
  INVALID_DATE: '{field} is not a date that exists. Write year, month and day, such as 2027-01-31.',
  INVALID_INSTANT:
    '{field} is neither a day, such as 2026-11-30, nor an instant with its zone, such as 2026-11-30T12:00:00Z. In an address a + is written %2B.',
  YEAR_OUT_OF_RANGE: '{field} is a date of a year that cannot be used here. Choose one from {first} to {last}.',
  DATE_PAST: '{field} has passed: today is {today} in the time zone of your payouts. Choose today or a later date.',
  DUPLICATE_DATE: '{field} repeats a date. Name each date once.',
  PAYOUT_FUNDS:
    'Your available balance is {available} {currency}, and this payout needs {needed} {currency} with its fees. Top up the balance, or pay out less.',
  NOT_RETRYABLE:
    '{field} is in state {state} and cannot be paid again. Only lines that failed on their way can, each of them once: read the batch before going on.',
  TAKEN_AFTER_ALL:
    '{field}: the carrier has taken this up after all: it has been paid, or that is not certain yet. Do not pay it another way; this call accepts it again if the carrier did not pay.',
  RETRIES_USED:
    'What failed in this batch has been paid again {maximum} times in vain. Find out why it fails, then make a new payout.',
  UNKNOWN_LINE: '{field} names no line of this batch. Take the ids from the batch itself.',
  NO_TARGET:
    'This event was made without a notify_url: there is nowhere to send it. Read its body here, and send a notify_url with your next calls.',
  INVALID_PIN:
    'The number or the PIN is not right. {left, plural, =0 {No attempt is left for now.} one {# attempt is left.} other {# attempts are left.}}',
  INVALID_OTP:
    'The code is not right. {left, plural, =0 {No attempt is left for now.} one {# attempt is left.} other {# attempts are left.}}',
  OTP_EXPIRED:
    'The code has expired. {resends, plural, =0 {No further code can be sent: start a new payment.} other {Ask for a new one: # can be sent.}} {left, plural, =0 {No attempt is left for now.} one {# attempt is left.} other {# attempts are left.}}',
  WALLET_CURRENCY: 'This account holds {currency}, not the currency of the payment. Pay with another account.',
  IDEMPOTENCY_BODY:
    'This Idempotency-Key was used with another request. Repeat the first one unchanged, or use a new key.',
  IN_DOUBT:
    'It is not known whether this call has had its effect. Look for it before you send it again: sent without an Idempotency-Key it may happen twice. With one the same call can be repeated safely.',
  IN_PROGRESS: 'The first request is still being worked on. Send it again in a moment.',
  STATE: 'The payment is in state {state}, which does not allow this step. Read its status before going on.',
  AMOUNT_BELOW_MINIMUM: 'The amount is too small. The least is {minimum} {currency}.',
  AMOUNT_ABOVE_MAXIMUM: 'The amount is too large. The most is {maximum} {currency}.',
  TOTAL_CHANGED: 'The total has changed to {total} {currency} since it was shown. Show it, then submit again.',
  UNKNOWN_PATH: 'There is nothing at this path. Check it against the documentation.',
  WRONG_METHOD: 'This path does not take that HTTP method. It takes: {options}.',
  BODY_TOO_LARGE: 'The body is too large. Send at most {maximum} KiB.',
  NOT_HTTP: 'The request is not well-formed HTTP/1.1. Send it with an HTTP library.',
  TOO_MANY_CHUNKS: 'The body comes in too many small chunks. Send it with a Content-Length, or in larger chunks.',
  HEADERS_TOO_LARGE: 'The headers are larger than this server takes. Send fewer and shorter ones.',
  REQUEST_LATE: 'The request did not arrive completely in time. Send it again, all of it at once.',
  UNKNOWN_EXPECTATION: 'The header {field} asks for something that this server does not know. Leave it out.',
  NOT_JSON: 'The body is not JSON. Send it with Content-Type: application/json.',
  BODY_ENCODED: 'The body is compressed or otherwise encoded. Send it as it is, without the header {field}.',
  CARRIER_DOWN: '{carrier} cannot be reached just now. Try again a little later.',
  CARRIER_REFUSES:
    '{carrier} does not take payments from us at present; no money moved. Sending it again does not help: pay another way.',
  PAYER_UNKNOWN: '{carrier} knows no account under this number; no money moved. Check the number, or pay another way.',
  EARLIER_PROMPT_OPEN:
    '{carrier} has not said yet what became of an earlier try, which may have paid. Try again a little later; do not collect again before.',
  EARLIER_TRY_OPEN:
    'An earlier try may have paid, and the card network has not said so yet. Try again a little later; do not collect again before.',
  PAID_BEFORE:
    'An earlier try of this payment has paid, too late to count by itself. Do not collect again: let the operator book the money.',
  RESENDS_USED: 'No further code can be sent. Enter the last one while it is valid, or start a new payment.',
  TEXTS_USED:
    'Too many codes have been sent for this account within an hour. Wait as long as Retry-After says, or pay another way.',
  PAYMENTS_USED: 'This session has begun as many payments as it may. Mint a new session.',
  CARDS_USED: 'Too many cards have been refused in this session. Pay another way.',
  NO_CARD_FORM:
    'No card form has been opened for this payment. Open its payment_url, or collect again with payment_method card.',
  OTHER_CARD_FORM: '{field} is not the card form of this payment. Send the session_id from the collect answer.',
  CARD_NOT_ENTERED: 'The card form holds no card yet. Let the customer fill it in, then submit again.',
  FORM_CHANGED: 'The card form no longer holds what was bound to it. Collect again, and use the new form.',
  FORM_USED: 'This card form has already paid. Collect again, and use the new form.',
  FORM_EXPIRED: 'This card form has run out at the card network. Collect again, and use the new form.',
  CARD_DECLINED: 'The card’s bank declined the payment. Offer another card or another way to pay.',
  CARD_FUNDS: 'There is not enough money on the card. Offer another card or another way to pay.',
  CARD_EXPIRED: 'The card has expired. Offer another card or another way to pay.',
  AUTHENTICATION_FAILED:
    'The card’s bank did not confirm that it was its customer. Offer another card or another way to pay.',
  NOT_A_CARD: 'This payment is made by {method}, not by card. Read it at GET /payments/status instead.',
  NOT_FORM: 'The body is not a form. Send it as multipart/form-data with its boundary.',
  INVALID_FORM: 'The form could not be read. Send at most eight short fields and one complete file.',
  FILE_EMPTY: '{field} is empty. Choose the file again and send it.',
  FILE_TYPE: '{field} is not a file that is taken here. Send a JPEG or PNG picture or a PDF.',
  FILE_UNSAFE:
    '{field} is damaged or holds more than a picture or a document. Send a photograph, a screenshot or a plain PDF.',
  FILE_TOO_LARGE: '{field} is too large. Send at most {limit}, for example as a smaller picture.',
  UPLOAD_STALLED:
    'The upload of {field} was interrupted. Send it again from the start, over a better connection or as a smaller picture.',
  UNKNOWN_BANK_ACCOUNT:
    '{field} names no account that takes this payment. Choose one that GET /payments/get-config-bank lists.',
  NOT_DELAYED: 'This payment was delivered directly: its money is already available, and there is nothing to release.',
  NOTHING_LEFT: 'All of this payment has been given back already: there is nothing left to refund.',
  NOT_PAID:
    'The payment is in state {state}: only an approved payment can be refunded. Read its status before going on.',
  ABOVE_REFUNDABLE:
    'Of this payment {left} {currency} can still be refunded. Ask for at most that, or leave the amount out.',
  REFUND_UNDER_WAY:
    'All of this payment is being refunded already, or has been: nothing more can be asked for. Read its refunds at GET /internal/refunds.',
  REFUNDS_USED:
    '{maximum} refunds of this payment have been asked for, failed ones too, and it takes no more. Give the rest back another way, for example by a bank transfer of your own.',
  BALANCE_SHORT:
    'This takes {needed} {currency}, and the available balance is {available} {currency}. Credit the balance, or ask for less.',
  ARCHIVED:
    'This ended long ago and has been archived: it can be read, but no longer be refunded or paid again. Send the money by a new payout instead.',
  ARCHIVED_EVENT:
    'This event is old and has been archived: it can be read here, but no longer be sent again. Read its body, or read the transaction that it tells of.',
  BEFORE_RECORDS: '{field} is before {day}, and older lines are no longer kept. Ask for a time from {day} on.',
} as const satisfies Sentences['detail'];
