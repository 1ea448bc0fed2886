/**
 * What a field means wherever it occurs: the OpenAPI document's descriptions of fields whose schema has none.
 *
 * Invariant: one name means one thing. A schema's own description is never overruled.
 */

import { REASONS } from '../domain/reason.ts';
import type { Json } from './json-node.ts';

/** Meanings by field name, for requests and answers alike. */
const MEANINGS: { readonly [field: string]: string } = {
  // Payments.
  success: 'true: the call was carried out. A failed call is answered with the schema ErrorAnswer instead.',
  session_id:
    'The id of the gateway’s session when a session is minted; in a card payment, the session of the card network’s hosted ' +
    'form.',
  amount: 'A decimal string in the currency’s main unit, for example `12.50`.',
  customer_reference: 'Your own name for the order. In a call with a session token, it is the session’s.',
  scope: 'What the session may do: `collect`, `payout`, or null for both.',
  message: 'A sentence for people, in the caller’s language. Programs should read `status` and codes instead.',
  user_info:
    'How much of the customer’s information you have collected yourself: `none`, `partial` or `full`. Unless this is ' +
    '`none`, the hosted page offers the `phone_number` that you send; it asks for the rest.',
  payment_method_info:
    'How much of the payment method’s details you have collected yourself. Unless this is `none`, the hosted page offers ' +
    'the `wallet_number` that you send.',
  notify_url:
    'Where webhooks are sent. In production https only; port 80, 443, or from 1024 up, except those of databases and ' +
    'Docker; no fragment.',
  success_redirect_url:
    'Where the customer’s browser goes after paying, while the money may have moved, or if it came too late to count. ' +
    '`transaction_id` and `status` are added to the URL; `status` says which it is. Rely on the webhook, not on this visit.',
  fail_redirect_url:
    'Where the customer’s browser goes if the payment has ended in another way, or if it is still open after the ' +
    'challenge and no money has been requested.',
  first_name: 'The customer’s first name.',
  last_name: 'The customer’s last name.',
  email: 'The customer’s e-mail address.',
  phone_number: 'An international phone number such as `+243810000042`. In answers, a payer’s number is masked.',
  wallet_number: 'The number of a wallet.',
  cardnet_payment_method:
    'Required for card, except by collect-redirect: always `HOSTED_SESSION`, the card network’s form. A card cannot be entered ' +
    'anywhere else.',
  mastercard_payment_method: 'Another name for `cardnet_payment_method`.',
  native_pay_token_type:
    'Required for google_pay and apple_pay: the kind of the token, as the library that made it calls it. Only its presence is ' +
    'checked.',
  transaction_id: 'The id of the transaction, `txn_…`. Webhooks and status reads use it.',
  payment_id: 'The id of the payment for clients, `pay_…`: submit, verify-otp and the mobile-money poll take it.',
  fee_amount: 'The fee, a decimal string.',
  summary_code: 'The result class for the mobile SDK; `lok000` for a success.',
  payment_method_id: 'An `id` of the transaction’s `payment_methods`, or a method’s name, such as `mobile_money`.',
  ewallet_number: 'Required for wallet: the number of the wallet that pays.',
  flash_number: 'Required for flash: the number of the account that pays.',
  mobile_money_phone_number:
    'Required for mobile_money: the phone number that pays, in international form such as `+243810000042`.',
  bank_account_id: 'Required for bank_transfer: the account to transfer to, an `id` from get-config-bank.',
  debit_amount: 'The amount debited from the wallet, a decimal string.',
  wallet_balance: 'The wallet’s balance after the debit, a decimal string.',
  resend_count: 'How many times the code has been resent.',
  max_resends: 'How many resends are allowed.',
  total_amount: 'The amount plus the fee, if the payer or you pay both.',
  refunded_amount: 'The amount refunded so far.',
  received_at: 'When the upstream was found to have taken the money; null if that is not known.',
  payment_methods: 'The methods that the customer can choose from.',
  display_name: 'The method’s name to show to people, in the caller’s language.',
  icon_url: 'The address of a square drawing of the method (SVG). Any page may show it.',
  is_enabled:
    'Whether this payment can be submitted by the method now. Google Pay and Apple Pay have no submit: a collect by them is possible if they are listed.',
  is_selected: 'Whether the method has been chosen.',
  configuration: 'What a client needs to know to offer the method.',
  timeline: 'Every status so far, with its time, oldest first.',
  reason:
    `The reason, as a code: ${REASONS.map((reason) => `\`${reason}\``).join(', ')}; ` +
    'there may be new ones in future. Null if there is none.',
  status_code: 'Always 200.',
  data: 'The state of the payment.',
  payment_info: 'Details of a payment that is `completed` or `failed`; null otherwise.',
  provider_reference: 'The upstream’s own reference; null if there is none yet.',
  carrier: 'The mobile-money carrier, as its customers know it.',
  country: 'The country, as an ISO 3166-1 alpha-2 code.',
  completed_at:
    'When the status became final; null or absent before. A payment that is refunded whole becomes final anew.',
  created_at: 'When it was created.',
  issued_at: 'When it was issued.',
  expires_at: 'When it expires.',
  at: 'When this happened.',
  resent_at: 'When the code was resent.',
  verified_at: 'When the code was verified.',
  uploaded_at: 'When the file was uploaded.',
  estimated_completion: 'When the payment will probably be final.',
  // Cards.
  order_id: 'The order: your `customer_reference`, or the `transaction_id`, which is also the card network’s order id.',
  three_ds: 'The customer’s authentication (3-D Secure).',
  eci: 'Electronic commerce indicator (EMV 3-D Secure).',
  t: 'In the return address that the gateway gives to the card network: the attempt.',
  e: 'In the same address: when the address expires.',
  n: 'In the same address: a random value.',
  s: 'In the same address: a MAC, which proves that the gateway made the address.',
  // Bank transfers.
  banks: 'The banks at which the merchant has accounts in the session’s currency.',
  accounts: 'The merchant’s accounts at that bank.',
  account_name: 'The name of the account’s holder.',
  account_number: 'The number to transfer to.',
  iban: 'The IBAN; null if the account has none.',
  swift: 'The BIC; null if it is not known.',
  branch_city: 'The city of the branch; null if it is not known.',
  proof: 'The uploaded proof.',
  content_type: 'The type of the file, judged by its content.',
  // Payouts.
  batch_id: 'The id of the payout, `batch_…`.',
  sending_type: 'When the payout runs: at once, on the given dates, or again and again.',
  successful_count: 'The number of lines that are completed.',
  failed_count: 'The number of lines that have failed.',
  beneficiaries: 'The lines, in the order of the call.',
  occurrence: 'The number of the payout’s occurrence: 1, 2, …',
  scheduled_date: 'The date of the occurrence; null for an immediate payout.',
  started_at: 'When the line was started; null before.',
  payouts: 'Newest first.',
  next_cursor: 'Send it as `cursor` to get the next page; null on the last page.',
  note: 'Your message to the receivers; null if there is none.',
  frequency: 'How often the payout runs; null if it does not recur.',
  dates: 'The dates on which the payout runs; null for an immediate one.',
  paused_at: 'When the payout was paused; null if it is not paused.',
  cancelled_at: 'When the payout was called off; null if it was not.',
  // Books, refunds, events.
  balances: 'One entry for each balance.',
  lines: 'Oldest first.',
  refund_id: 'The id of the refund, `rfd_…`.',
  code: 'A code for programs: what exactly was wrong. The page `/docs/errors` lists them.',
  tries: 'Every try to send the event, oldest first.',
  duration_ms: 'How long the try took, in milliseconds.',
  method: 'The payment method.',
  // Errors.
  error: 'Always true.',
  error_code: 'The error code, four digits. It does not depend on the language.',
  error_name: 'The name of the error code.',
  details: 'One entry for each field that is wrong; null if there is none.',
  timestamp: 'When the call was refused.',
  request_id: 'The id of this request: quote it when you ask for help. It is also in the header `X-Request-Id`.',
  documentation_url: 'The page about this error, on this gateway.',
};

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
