/**
 * English. The model for the other languages: each names the same words in braces.
 */

import type { Sentences } from './sentences.ts';

export const en = {
  refusal: {
    1001: ['The credential is not valid.', 'Check the key and secret, or mint a new session.'],
    1002: [
      'The request carries no usable credential.',
      'Send one Authorization header: Bearer, a space, the credential.',
    ],
    1003: ['This credential may not make this call.', 'Use the credential that the call is meant for.'],
    1004: ['This merchant account is suspended.', 'Contact the operator of the gateway.'],
    1005: ['The session or credential has expired.', 'Mint a new session, or ask for a new credential.'],
    1101: [
      'The amount is not acceptable: it is malformed, or not the one this session was made for.',
      'Send the amount as it was minted, or mint a new session.',
    ],
    1102: [
      'The currency is not supported here, or not the one this session was made for.',
      'Mint a new session in a currency that you may use.',
    ],
    1103: [
      'The payment method cannot be used here, or the customer reference is not the session’s.',
      'Correct the field that is named in the details.',
    ],
    1104: ['The phone number is not valid.', 'Write it in international form, such as +243 810 000 042.'],
    1105: ['The email address is not valid.', 'Correct the address and send it again.'],
    1106: ['The card number is not valid.', 'Check the digits on the card and enter them again.'],
    1107: ['The card’s expiry date is malformed or past.', 'Check the date, or use another card.'],
    1108: ['The card’s security code is not valid.', 'Enter the 3 or 4 digits printed on the card.'],
    1109: ['A required field is missing.', 'Add the fields that are named in the details.'],
    1110: ['A field does not have the right form.', 'Correct the fields that are named in the details.'],
    1201: ['There is not enough money for this payment.', 'Top up the account, or pay another way.'],
    1202: ['The amount is outside the limits for this payment.', 'Choose an amount within the limits.'],
    1203: [
      'This Idempotency-Key has already been used for another request.',
      'Repeat the first request unchanged, or use a new key.',
    ],
    1204: [
      'Nothing was found by this identifier.',
      'Check it, and use a credential or session of the merchant that made it.',
    ],
    1205: ['The payment is in state {state}, which does not allow this step.', 'Read its status before going on.'],
    1207: ['A payout takes at most 100 beneficiaries.', 'Split it into several batches.'],
    1301: ['Too many requests.', 'Wait as long as the Retry-After header says, then try again.'],
    1302: ['The PIN or code could not be verified.', 'Check it and enter it again.'],
    1303: [
      'Too many wrong attempts: verification is locked for now.',
      'Wait as long as Retry-After says, then try again.',
    ],
    1304: ['The signature does not match.', 'Check that both sides use the same secret and the same clock.'],
    1305: ['This session belongs to another device.', 'Go on with the device that started it, or mint a new session.'],
    1401: [
      'Something went wrong on our side.',
      'Try again with the same Idempotency-Key, and quote the request_id if it goes on.',
    ],
    1402: ['The service cannot take the request just now.', 'Wait as long as Retry-After says, then try again.'],
    1403: ['There is no such call.', 'Check the path, the method, the content type and the size of the body.'],
    1404: ['The carrier or network did not take the request.', 'Try again a little later.'],
    1502: ['The payment was declined.', 'Do not repeat it: offer the customer another way to pay.'],
  },
  detail: {
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
    SESSION_CONSUMED: 'This session has already been used for a payment. Mint a new one.',
    SESSION_EXPIRED: 'This session has expired. Mint a new one.',
    OTHER_SESSION:
      'Another session started this payment. Submit it with the token of that one; if that has expired, collect again once this payment has ended unpaid.',
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
    PAYER_UNKNOWN:
      '{carrier} knows no account under this number; no money moved. Check the number, or pay another way.',
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
    NOT_DELAYED:
      'This payment was delivered directly: its money is already available, and there is nothing to release.',
    NOTHING_LEFT: 'All of this payment has been given back already: there is nothing left to refund.',
    NOT_PAID:
      'The payment is in state {state}: only an approved payment can be refunded. Read its status before going on.',
    ABOVE_REFUNDABLE:
      'Of this payment {left} {currency} can still be refunded. Ask for at most that, or leave the amount out.',
    REFUNDS_USED:
      '{maximum} refunds of this payment have been asked for, failed ones too, and it takes no more. Give the rest back another way, for example by a bank transfer of your own.',
    BALANCE_SHORT:
      'This takes {needed} {currency}, and the available balance is {available} {currency}. Credit the balance, or ask for less.',
    ARCHIVED:
      'This ended long ago and has been archived: it can be read, but no longer be refunded or paid again. Send the money by a new payout instead.',
    ARCHIVED_EVENT:
      'This event is old and has been archived: it can be read here, but no longer be sent again. Read its body, or read the transaction that it tells of.',
    BEFORE_RECORDS: '{field} is before {day}, and older lines are no longer kept. Ask for a time from {day} on.',
  },
  status: {
    pending: 'The payment has been started. Choose how to pay and confirm.',
    processing: 'The payment is being processed. Please wait; there is no need to pay again.',
    pending_otp_verification: 'Enter the six-digit code that we sent to your phone.',
    pending_mobile_money_verification: 'Confirm the request on your phone, with your PIN.',
    pendingBankProofUpload: 'Make the bank transfer, then upload its proof.',
    approved: 'The payment is approved. Thank you.',
    declined: 'The payment was declined. Please pay another way.',
    failed: 'The payment failed. You can try again with a new payment.',
    cancelled: 'The payment was cancelled. Nothing was charged.',
    expired: 'The time to pay has run out. You can start a new payment.',
    refunded: 'The payment has been refunded.',
  },
  reason: {
    insufficient_funds: 'There was not enough money in the account.',
    customer_rejected: 'The customer rejected the request on the phone.',
    wrong_pin: 'A wrong PIN was entered too often.',
    prompt_expired: 'The request on the phone was not answered in time.',
    limit_reached: 'The account’s limit has been reached.',
    payer_unknown: 'This number has no mobile money account.',
    payee_unknown: 'The receiver’s number has no mobile money account.',
    payee_blocked: 'The receiver’s account cannot receive money.',
    not_allowed: 'The carrier does not allow this payment from this account.',
    carrier_failed: 'The carrier could not carry out the payment.',
    not_sent: 'The carrier did not take the request.',
    form_unusable: 'The card form could not be used; no money was asked for.',
    not_asked: 'No money was asked for: the card network was away, or an earlier try may have paid.',
    session_expired: 'The session ended before the payment was confirmed.',
    sibling_paid: 'Another payment of the same session was submitted instead.',
    settled_by_operator: 'The payment was closed by hand, after its outcome had been checked.',
    declined: 'The payer’s institution declined the payment.',
    card_declined: 'The card’s bank declined the payment.',
    card_funds: 'There was not enough money on the card.',
    card_expired: 'The card has expired.',
    authentication_failed: 'The card’s bank did not confirm that it was its customer.',
    authentication_cancelled: 'The customer cancelled the confirmation at the bank.',
    challenge_expired: 'The bank’s confirmation was not finished in time; nothing was charged.',
    proof_declined: 'The proof of the bank transfer was not accepted.',
    proof_overdue: 'No proof of the bank transfer came in time.',
    merchant_funds_missing: 'The merchant’s balance did not cover the payout and its fee.',
    wallet_unknown: 'There is no wallet with this number.',
    wallet_currency: 'The wallet is kept in another currency.',
    called_off: 'The payout was called off before it was sent.',
    refund_called_off: 'The refund was called off by hand.',
  },
  payout: {
    pending: 'The payout has been accepted and will be sent shortly.',
    scheduled: 'The payout has been accepted for {date}.',
    waiting: 'The payout waits: the carrier cannot be reached now. It is sent as soon as the carrier answers.',
    processing: 'The payout is on its way.',
    completed: 'The payout has arrived.',
    failed: 'The payout did not go through. {reason}',
  },
  refund: {
    pending: 'The refund has been accepted and will be sent shortly.',
    by_hand: 'The refund has been accepted. It is carried out by hand.',
    waiting: 'The refund waits: the money could not be sent now. It is tried again until it can.',
    processing: 'The refund is on its way.',
    completed: 'The money has been given back.',
    failed: 'The refund did not go through; its money is back in your balance. {reason}',
  },
  progress: {
    pending: 'The payment has been started. Submit the phone number that pays.',
    started: 'The payment has been started, and waits for its payer.',
    processing: 'The payment is on its way. Confirm it on your phone if you are asked to.',
    completed: 'The payment has been received. Thank you.',
    failed: 'The payment did not go through. You can try again with a new payment.',
    cancelled: 'The payment was cancelled. Nothing was charged.',
    waiting: '{carrier} has asked for your confirmation. Enter your PIN on your phone.',
    carrier_silent: '{carrier} has not answered yet. We keep asking; please do not pay a second time.',
  },
  method: {
    wallet: 'Wallet',
    mobile_money: 'Mobile money',
    card: 'Card',
    flash: 'Flash',
    bank_transfer: 'Bank transfer',
    google_pay: 'Google Pay',
    apple_pay: 'Apple Pay',
  },
  done: {
    session_created: 'The session is ready. Keep its token: it is shown only once.',
    otp_sent:
      'We have sent a six-digit code to {sent_to}. It is valid for {minutes, plural, one {# minute} other {# minutes}}.',
    otp_verified: 'The code is right and the payment is approved. Thank you.',
    proof_received: 'We have received the proof of the transfer. It is checked before the payment is approved.',
    delivery_released: 'The money of this payment has been released to the merchant.',
    payout_accepted: 'The payout has been accepted and is being sent.',
    payout_scheduled: 'The payout has been accepted. It is sent on {date} for the first time.',
    payout_approval: 'The payout has been accepted and waits for an operator’s approval.',
    payout_checked: 'The payout has been checked and would be accepted. Nothing was made.',
  },
  sms: {
    code: '{code} is your code to pay {amount} {currency} to {merchant}. It expires in {minutes, plural, one {# minute} other {# minutes}}. Never tell it to anyone.',
  },
  page: {
    index_title: 'Errors',
    index_intro:
      'Every error is one JSON object of the same form. error_code never changes with the language; message is for people.',
    title: 'Error {code}: {name}',
    cause: 'What happened',
    remedy: 'What to do',
    http_status: 'HTTP status',
    retry: 'Try again?',
    retry_yes: 'Yes: the same call can succeed later unchanged. Wait at least as long as retry_after says.',
    retry_no: 'No: the same call will be refused again until something in it, or in the account, has changed.',
    retry_sometimes: 'Only where retryable is true in the answer: the first request is then still being worked on.',
    summary: 'Class in the SDK',
    example: 'Example',
    example_intro: 'The answer looks like this. Identifiers and times are examples.',
    code: 'Code',
    name: 'Name',
    all_errors: 'All errors',
    details_title: 'Details',
    details_intro:
      'Where single fields are at fault, details lists them all at once. The code of each says what exactly was wrong.',
    reasons_title: 'Reasons',
    reasons_intro:
      'Why a payment, a payout line or a refund ended as it did is a code, too: reason, or failure.code of a refund. There may be new ones one day: treat one that you do not know as “it did not succeed”.',
    language: 'Language',
    skip: 'Skip to the text',
    group_10: 'Credentials',
    group_11: 'What was sent',
    group_12: 'Money and state',
    group_13: 'Limits and proof',
    group_14: 'Service and networks',
    group_15: 'Result of processing',
  },
} as const satisfies Sentences;
