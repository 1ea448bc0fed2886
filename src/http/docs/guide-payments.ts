/**
 * The page about ways to pay: what each method needs, how it ends, and the page that is hosted here.
 *
 * Invariant: what it says of fields and states is what the routes check and the state machine does.
 */

import { CURRENCIES, exponentOf } from '../../domain/currency.ts';
import { formatMinor } from '../../domain/money.ts';
import { mobileMoneyStatus } from '../../domain/payment.ts';
import type { PaymentStatus } from '../../domain/records.ts';
import { html } from '../../messages/html.ts';
import type { Guide } from './guide.ts';
import { code, heading, table } from './prose.ts';

const HOSTED = `curl -s "$API/payments/collect-redirect" \\
  -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
  -d '{"user_info":"none","payment_method_info":"none",
       "fee_covered_by":"buyer","delivery_behaviour":"direct_delivery",
       "notify_url":"https://shop.example.com/webhooks/mbongo",
       "success_redirect_url":"https://shop.example.com/thanks",
       "fail_redirect_url":"https://shop.example.com/cart"}'`;

const METHODS = table(
  'What each method needs',
  ['Method', 'Collect also needs', 'Submit also needs', 'The result is final'],
  [
    [
      '`wallet`',
      '`wallet_number`, `wallet_pin`',
      '`ewallet_number`, `ewallet_pin`',
      'in the answer to submit, or to verify-otp if a code is needed',
    ],
    [
      '`flash`',
      'nothing',
      '`flash_number`, `flash_pin`',
      'in the answer to submit, or to verify-otp if a code is needed',
    ],
    ['`mobile_money`', 'nothing', '`mobile_money_phone_number`', 'by webhook or polling'],
    [
      '`card`',
      '`cardnet_payment_method`',
      '`cardnet_payment_method`, `session_id`',
      'in the answer to submit, or after the challenge',
    ],
    [
      '`google_pay`, `apple_pay`',
      '`native_pay_token`, `native_pay_token_type`',
      'there is no submit: the collect pays',
      'by webhook or polling',
    ],
    [
      '`bank_transfer`',
      'nothing',
      '`bank_account_id`',
      'by webhook or polling, once an operator has checked the proof',
    ],
    ['`none`', 'nothing', 'what the chosen method needs', 'as for the chosen method'],
  ],
);

const STATUSES: readonly (readonly [PaymentStatus, string])[] = [
  [
    'pending',
    'started, but not submitted yet, or the last submit failed; with Google Pay or Apple Pay: waiting for the card network',
  ],
  ['pending_otp_verification', 'a one-time code was sent: verify it with `POST /payments/verify-otp`'],
  ['pending_mobile_money_verification', 'the carrier is waiting for the customer to confirm on the phone'],
  ['pendingBankProofUpload', 'waiting for the customer to make the transfer and upload its proof'],
  [
    'processing',
    'not known yet: an upstream is still working, the issuer challenges the customer, or an operator checks the proof',
  ],
  ['approved', 'final: the money has moved, to your available balance or, with delayed delivery, your held one'],
  ['declined', 'final: the card or its authentication was declined, or an operator declined the proof of a transfer'],
  ['failed', 'final: the payment did not go through'],
  ['cancelled', 'final: the customer rejected it, or another payment of the session was submitted'],
  ['expired', 'final: it was not paid in time'],
  ['refunded', 'final: the whole amount has been refunded'],
];

const STATUS_TABLE = table(
  'Statuses of a payment',
  ['Status', 'Meaning', 'Status in the mobile-money poll'],
  STATUSES.map(([status, meaning]) => [`\`${status}\``, meaning, `\`${mobileMoneyStatus(status)}\``]),
);

/** Currencies by the number of their decimals, most decimals first. */
const DECIMALS = table(
  'Decimals of each currency',
  ['Decimals', 'Currencies', 'An amount'],
  [...new Map(CURRENCIES.map((currency) => [exponentOf(currency), currency]))]
    .sort(([one], [other]) => other - one)
    .map(([digits, example]) => [
      String(digits),
      CURRENCIES.filter((currency) => exponentOf(currency) === digits)
        .map((currency) => `\`${currency}\``)
        .join(', '),
      `\`"${formatMinor(1_250n, example)}"\``,
    ]),
);

/** The page `/docs/payments`, the same for every installation. */
export function paymentsGuide(): Guide {
  const main = html`<h1>Ways to pay</h1>
<p class="lead">One session, one amount, one payment. The methods differ in which party is asked for the money, and in when the result is known.</p>
${heading('methods', 'Methods')}
${METHODS}
<p>A field that is needed and missing is refused with <a href="/docs/errors/1109">1109</a>. <code>user_info</code> and <code>payment_method_info</code> make no field required: they tell <a href="#hosted">the hosted page</a> what it still has to ask. A collect-redirect needs only the token of Google Pay or Apple Pay.</p>
<p>In a submit, <code>payment_method_id</code> is the method’s name, or an <code>id</code> from the <code>payment_methods</code> of <a href="/docs/reference#readTransaction"><code>GET /payments/transaction/{id}</code></a>, which lists what this customer can choose, with the total of each: after a collect with <code>payment_method</code> <code>none</code> show it before you ask for a PIN or a confirmation. <a href="/docs/reference#readAvailability"><code>GET /internal/availability</code></a> says which carriers are available at the moment.</p>
<p>Calls with a session token may be made by the customer’s browser, from a page of any origin (CORS); calls with the merchant credential may not.</p>
${heading('statuses', 'Statuses')}
${STATUS_TABLE}
<p>Why a payment ended as it did is the <code>reason</code> in the <code>timeline</code> of <a href="/docs/reference#readTransaction"><code>GET /payments/transaction/{id}</code></a>, one of <a href="/docs/errors#reasons">these codes</a>.</p>
<p>Act on the webhook. If you poll, do so every five seconds, and at most sixty times.</p>
<p>One session pays at most once, but two sessions with the same <code>customer_reference</code> can both be paid. If an answer was lost, repeat the call with its <a href="/docs/idempotency"><code>Idempotency-Key</code></a>, or read the payment. Mint another session for the order only once that payment has ended unpaid.</p>
<p>A session token reads, verifies codes and uploads proofs until it expires, also after it has paid: for half an hour, or for as long as <code>ttl_seconds</code> said. After that it is refused with <a href="/docs/errors/1005">1005</a>. Another session that your backend mints reads every payment of yours, and verifies the code or uploads the proof of one whose <code>payment_id</code> you have kept; only the session that collected a payment submits it. Your backend itself needs no session to read: with the merchant credential it reads a payment with <a href="/docs/reference#readMerchantTransaction"><code>GET /internal/transactions/{transaction_id}</code></a>, and finds one by your own reference in <a href="/docs/reference#listTransactions"><code>GET /internal/transactions</code></a>.</p>
${heading('currencies', 'Currencies')}
${DECIMALS}
<p>An amount has at most as many decimals as its currency; more are refused with <a href="/docs/errors/1101">1101</a>. Your operator may have limited the currencies that you may use, and no carrier takes all of them: <a href="/docs/reference#readAvailability"><code>GET /internal/availability</code></a> lists what takes which.</p>
${heading('wallet', 'Wallet and flash')}
<p>The account is in the gateway’s own ledger, so the result is final at once. From a threshold amount (the equivalent of 100 dollars, unless your operator has set another) the gateway sends a six-digit one-time code to the account’s phone: submit answers <code>pending_otp_verification</code>, and <a href="/docs/reference#verifyCode"><code>POST /payments/verify-otp</code></a> completes the payment. A code is valid for ten minutes. The customer has five tries in five minutes, and three resends. Five wrong PINs lock the account for fifteen minutes, and twenty in one session, at whatever accounts, that session.</p>
${heading('mobile-money', 'Mobile money')}
<p>The carrier is chosen by the number’s prefix and the currency. If no carrier takes that currency from that number, the submit is refused with <a href="/docs/errors/1103">1103</a>, which names what is possible. The customer enters the PIN on the phone. If the carrier does not answer, the payment stays <code>processing</code>: the gateway inquires until the outcome is known, and never sends the request a second time.</p>
<p>Rarely, a carrier takes the money after it has said no. The status stays what you were told, no webhook is sent, and your operator gives the money back or books it to you. Before you ask a customer to pay a failed order again, <a href="/docs/reference#readTransaction">read the transaction</a>: as long as <code>late_payments</code> has a line whose <code>booked_to</code> is not <code>payer</code>, do not. It has the money of every payment of the same session; of another session’s, read that one’s.</p>
${heading('card', 'Cards')}
<p>No card number ever passes through your servers or the gateway: a body that contains one anywhere is refused. Collect with <code>"cardnet_payment_method":"HOSTED_SESSION"</code> and send the browser to <code>payment_url</code>. That page shows the card network’s form, takes the customer through the issuer’s challenge if there is one, and returns to your <code>success_redirect_url</code> or <code>fail_redirect_url</code>. The return is only for the customer’s convenience: rely on the webhook. If the answer with the challenge’s address is lost, <a href="/docs/reference#readCardStatus"><code>GET /payments/cardnet/status/{transaction_id}</code></a> has it as <code>challenge_url</code>.</p>
${heading('bank', 'Bank transfer')}
<p><a href="/docs/reference#readBanks"><code>GET /payments/get-config-bank</code></a> lists the bank accounts, and the submit chooses one. The customer makes the transfer at the bank and <a href="/docs/reference#uploadProof">uploads its proof</a>: JPEG, PNG or PDF, at most 5 MiB, one file, once. An operator compares the proof with the bank account, and decides. Without a proof the payment expires after seven days. That is longer than a session lives: upload later with another session, or use the hosted page, which outlives its session by two weeks.</p>
${heading('hosted', 'The hosted page')}
<p>With <a href="/docs/reference#collectRedirect"><code>POST /payments/collect-redirect</code></a> you need no form of your own. The gateway’s page asks the customer for everything that is missing, including numbers and PINs. It exists in six languages, works on a phone and by keyboard, and needs no scripts except for cards. It offers a <code>phone_number</code> or <code>wallet_number</code> that you send with the call, so that the customer need not type it. Send the browser to <code>redirect_url</code>, which opens once. To choose a language, add for example <code>&amp;lang=ln</code>. A session pays only once: if <code>$TOKEN</code> has paid already, <a href="/docs#mint">mint another one</a> first.</p>
${code('Shell', HOSTED)}
${heading('fees', 'Fees and delivery')}
<ul>
<li><code>fee_covered_by</code>: <code>buyer</code> adds the fee to what the customer pays (<code>total_amount</code>); <code>merchant</code> deducts it from what you receive.</li>
<li><code>delivery_behaviour</code>: <code>direct_delivery</code> makes the money available at once; <code>delayed_delivery</code> holds it until you <a href="/docs/reference#releaseDelivery">release it</a>.</li>
<li>A customer with a session token can choose both. Your operator can fix them for you: see <a href="/docs/going-live#merchants">Going live</a>.</li>
<li>A payment can be <a href="/docs/refunds">refunded</a> in whole or in part, by the method that paid, and one call can <a href="/docs/payouts">pay out</a> to up to a hundred people.</li>
</ul>`;
  const sections = [
    { id: 'methods', title: 'Methods' },
    { id: 'statuses', title: 'Statuses' },
    { id: 'currencies', title: 'Currencies' },
    { id: 'wallet', title: 'Wallet and flash' },
    { id: 'mobile-money', title: 'Mobile money' },
    { id: 'card', title: 'Cards' },
    { id: 'bank', title: 'Bank transfer' },
    { id: 'hosted', title: 'The hosted page' },
    { id: 'fees', title: 'Fees and delivery' },
  ];
  return { title: 'Ways to pay', main, sections };
}
