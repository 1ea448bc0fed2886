/**
 * What a field means wherever it occurs: the OpenAPI document's descriptions of fields whose schema has none.
 *
 * Invariant: one name means one thing. A schema's own description is never overruled.
 */

import { REASONS } from '../domain/reason.ts';

/** Meanings by field name, for requests and answers alike. */
const MEANINGS: { readonly [field: string]: string } = {
  // Payments.
  success: 'true: the call was carried out. Failures have another form, the schema Error.',
  session_id: 'Of the gateway’s session in a mint’s answer; of the card network’s hosted form in payments by card.',
  amount: 'A decimal string in the currency’s unit, for example `12.50`.',
  currency: 'A lower-case ISO 4217 code, for example `usd`.',
  customer_reference: 'Your own name for the order. Where a session is used, the session’s.',
  scope: 'What the session may do: `collect`, `payout`, or null for both.',
  message: 'For people, in the caller’s language. Programs read `status` and codes.',
  user_info:
    'How much of the customer you have collected yourself: `none`, `partial` or `full`. The hosted page offers a `phone_number` that you send, unless this says `none`, and asks for the rest.',
  payment_method_info: 'The same about the payment method’s own details: of these, the page offers a `wallet_number`.',
  fee_covered_by:
    '`buyer`: the fee is added to what the customer pays. `merchant`: it is taken out of what you receive.',
  delivery_behaviour:
    '`direct_delivery`: the money is available to you at once. `delayed_delivery`: it is held until you release it.',
  notify_url:
    'Where the webhook of the final state is posted. https only in production; ports 80, 443, 8443 and from 1024 on, but for those of databases; no fragment.',
  transactional_currency: 'The currency to charge, where a client sends it: the session’s. Any other is 1102.',
  success_redirect_url:
    'Where the customer’s browser goes after paying, and where it goes while the money may have moved: `status` says which. `transaction_id` and `status` are added. Believe the webhook, not the visit.',
  fail_redirect_url: 'Where it goes when the payment has ended otherwise.',
  first_name: 'The customer’s first name.',
  last_name: 'The customer’s last name.',
  email: 'The customer’s e-mail address.',
  phone_number: 'An international phone number such as `+243810000042`. In answers, masked where it is a payer’s.',
  wallet_number: 'The number of a wallet.',
  cardnet_payment_method: 'card: `HOSTED_SESSION`, the card network’s form. Cards are entered nowhere else.',
  mastercard_payment_method: 'Another name for `cardnet_payment_method`.',
  native_pay_token_type: 'google_pay, apple_pay: whose token it is.',
  transaction_id: 'Names the transaction, `txn_…`. Webhooks and status reads use it.',
  payment_id: 'Names the payment to whoever pays it, `pay_…`: what submit, verify-otp and the mobile-money poll take.',
  fee_amount: 'The fee, a decimal string.',
  summary_code: '`lok000` for a success; the class that the mobile SDK shows.',
  payment_method_id: 'An `id` of the transaction’s `payment_methods`, or a method’s name, such as `mobile_money`.',
  ewallet_number: 'wallet: the number of the wallet that pays.',
  flash_number: 'flash: the number of the account that pays.',
  mobile_money_phone_number: 'mobile_money: the phone that is asked to pay, international, such as `+243810000042`.',
  bank_account_id: 'bank_transfer: which account is transferred to, an `id` of get-config-bank.',
  debit_amount: 'What was taken from the wallet, a decimal string.',
  wallet_balance: 'What is left in the wallet, a decimal string.',
  resend_count: 'How many codes have been sent again.',
  max_resends: 'How many may be.',
  status: 'Where it stands.',
  payment_method:
    'The method that pays: `wallet`, `mobile_money`, `card`, `flash`, `bank_transfer`, `google_pay` or `apple_pay`; `none` while none has been chosen.',
  total_amount: 'The amount and the fee together, where the payer or you pay both.',
  refunded_amount: 'What has been given back so far.',
  payment_methods: 'What the customer may choose from.',
  display_name: 'The method’s name for people, in the caller’s language.',
  channel: 'The kind of method.',
  icon_url: 'A picture of the method; null where there is none.',
  is_enabled: 'Whether it can be chosen now.',
  is_selected: 'Whether it has been chosen.',
  configuration: 'What a page needs to know to offer the method.',
  timeline: 'Every status the payment has had, oldest first.',
  reason: `Why, in one word: ${REASONS.map((reason) => `\`${reason}\``).join(', ')}; there may be more one day. Null where there is nothing to say.`,
  status_code: '200.',
  data: 'Where the payment stands.',
  payment_info: 'Of a payment that is `completed` or `failed`; null otherwise.',
  provider_reference: 'The upstream’s own name for it; null while there is none.',
  carrier: 'The mobile-money carrier, as its customers know it.',
  country: 'ISO 3166-1 alpha-2.',
  completed_at: 'When it became final.',
  created_at: 'When it was made.',
  issued_at: 'When it was issued.',
  expires_at: 'Until when it is good.',
  at: 'When that was.',
  resent_at: 'When the code was sent again.',
  verified_at: 'When the code was found right.',
  uploaded_at: 'When the file was taken.',
  estimated_completion: 'By when it will probably be done.',
  // Cards.
  order_id: 'The order: your customer_reference, the transaction_id, or the network’s own id.',
  nonce: 'Whatever the sender chose; a part of what is signed.',
  upstream_status: 'The order’s state in the card network’s own words; null where it knows none.',
  three_ds: 'How the customer was authenticated.',
  eci: 'Electronic commerce indicator (EMV 3-D Secure).',
  challenge_url: 'Where the issuer asks its customer, while it does.',
  t: 'Of the address that the gateway gave to the network: which payment.',
  e: 'Of the same address: until when it counts.',
  n: 'Of the same address: chance.',
  s: 'Of the same address: its proof.',
  // Bank transfers.
  banks: 'The banks that take the currency.',
  accounts: 'Your accounts at that bank.',
  id: 'Names it in other calls.',
  name: 'What it is called.',
  account_name: 'In whose name the account is.',
  account_number: 'The number to transfer to.',
  iban: 'The IBAN; null where the country has none.',
  swift: 'The BIC; null where it is not known.',
  branch_city: 'Where the branch is; null where it is not known.',
  proof: 'What was uploaded.',
  content_type: 'What the file is, judged by its content.',
  // Payouts.
  batch_id: 'Names the payout, `batch_…`.',
  receipt_mode: '`mobile_money` or `wallet`: how everybody receives it.',
  sending_type: '`immediate`, `scheduled` or `recurring`.',
  successful_count: 'Lines that are completed.',
  failed_count: 'Lines that have failed.',
  retry_of: 'The batch whose failed lines this one pays again; null for any other.',
  dry_run: 'true: nothing was made.',
  beneficiaries: 'The lines, in the order of the call.',
  occurrence: 'Which run of the payout: 1, 2, …',
  scheduled_date: 'The run’s date; null for an immediate one.',
  started_at: 'When it was handed to the carrier; null before.',
  payouts: 'Newest first.',
  next_cursor: 'Send it as `cursor` for the next page; null: this is the last one.',
  note: 'Your words to the receivers; null where there are none.',
  frequency: 'How often it runs; null for one that does not recur.',
  dates: 'On which dates it runs; null for an immediate one.',
  paused_at: 'Since when it is paused; null: it is not.',
  cancelled_at: 'When it was called off; null: it was not.',
  // Books, refunds, events.
  balances: 'One entry a balance.',
  balance: '`available`, `reserved` or `held`.',
  lines: 'Oldest first.',
  refund_id: 'Names the refund, `rfd_…`.',
  failure: 'Why it failed; null where it has not.',
  code: 'For programs: what exactly was wrong.',
  tries: 'Every time it was posted, oldest first.',
  duration_ms: 'How long the receiver took.',
  method: 'The payment method.',
  // Errors.
  error: 'Always true.',
  error_code: 'Four digits. It never changes with the language.',
  error_name: 'The same as a name.',
  details: 'One entry a field that is at fault; null where none is.',
  timestamp: 'When it was refused.',
  request_id: 'Quote it when you ask for help. Also in the header `X-Request-Id`.',
  documentation_url: 'The page about this error, on the gateway itself.',
};

type Json = { readonly [name: string]: unknown };

/** A JSON schema with descriptions added to its fields, as far as this file has them. */
export function withMeanings(schema: object): Json {
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, key === 'properties' ? describeFields(value) : deeper(value)]),
  );
}

/** A parameter's schema, which has its own description or that of its name. */
export function parameterMeaning(name: string, schema: object): Json {
  const meant = withMeanings(schema);
  const meaning = MEANINGS[name];
  return saysSomething(meant) || meaning === undefined ? meant : { ...meant, description: meaning };
}

/** Whether a schema, or one of its alternatives, has a description. */
function saysSomething(schema: object): boolean {
  if (typeof Reflect.get(schema, 'description') === 'string') return true;
  const kinds: unknown = Reflect.get(schema, 'anyOf');
  return Array.isArray(kinds) && kinds.some((one) => typeof one === 'object' && one !== null && saysSomething(one));
}

function describeFields(properties: unknown): Json {
  return Object.fromEntries(
    Object.entries(properties ?? {}).map(([name, field]) => [
      name,
      typeof field === 'object' && field !== null ? parameterMeaning(name, field) : field,
    ]),
  );
}

function deeper(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(deeper);
  return typeof value === 'object' && value !== null ? withMeanings(value) : value;
}
