/**
 * The page about ways to pay: what each method needs, how it ends, and the page that is hosted here.
 *
 * Invariant: what it says of fields and states is what the routes check and the state machine does.
 */

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
  ['Method', 'Collect also takes', 'Submit also takes', 'Final'],
  [
    [
      '`wallet`',
      '`wallet_number`, `wallet_pin`',
      '`ewallet_number`, `ewallet_pin`',
      'in the answer, perhaps after a code',
    ],
    ['`flash`', 'nothing', '`flash_number`, `flash_pin`', 'in the answer, perhaps after a code'],
    ['`mobile_money`', 'nothing', '`mobile_money_phone_number`', 'by webhook or polling'],
    [
      '`card`',
      '`cardnet_payment_method`',
      '`cardnet_payment_method`, `session_id`',
      'in the answer, or after the challenge',
    ],
    [
      '`google_pay`, `apple_pay`',
      '`native_pay_token`, `native_pay_token_type`',
      'no submit: it pays at collect',
      'by webhook or polling',
    ],
    ['`bank_transfer`', 'nothing', '`bank_account_id`', 'by webhook, when an operator has seen the proof'],
    ['`none`', 'nothing', 'what the chosen method takes', 'as the chosen method'],
  ],
);

const STATUSES: readonly (readonly [PaymentStatus, string])[] = [
  ['pending', 'started; nothing has been asked for yet'],
  ['pending_otp_verification', 'a one-time code was sent: `POST /payments/verify-otp`'],
  ['pending_mobile_money_verification', 'the customer is asked on the phone'],
  ['pendingBankProofUpload', 'the transfer and its proof are waited for'],
  [
    'processing',
    'it is not known yet: an upstream is asked, the issuer asks its customer, or a person looks at a proof',
  ],
  ['approved', 'final: the money is yours'],
  ['declined', 'final: the payer’s side said no'],
  ['failed', 'final: it did not go through'],
  ['cancelled', 'final: called off, or another payment of the session was made'],
  ['expired', 'final: the time to pay ran out'],
  ['refunded', 'final: all of it was given back'],
];

const STATUS_TABLE = table(
  'Statuses of a payment',
  ['Status', 'Means', 'The mobile-money poll says'],
  STATUSES.map(([status, meaning]) => [`\`${status}\``, meaning, `\`${mobileMoneyStatus(status)}\``]),
);

export function paymentsGuide(): Guide {
  const main = html`<h1>Ways to pay</h1>
<p class="lead">One session, one amount, one payment. Methods differ in who is asked, and in when the answer is known.</p>
${heading('methods', 'Methods')}
${METHODS}
<p><code>payment_method_id</code> at submit is the method’s name, or an <code>id</code> from <code>payment_methods</code> of <a href="/docs/reference#readTransaction"><code>GET /payments/transaction/{id}</code></a>, which lists what this customer can choose. <a href="/docs/reference#readAvailability"><code>GET /internal/availability</code></a> says which carriers answer just now.</p>
<p>The calls of a session may come from a page of any origin, by the customer’s browser itself; those with the merchant’s credential may not.</p>
${heading('statuses', 'Statuses')}
${STATUS_TABLE}
<p>Act on the webhook. Where you poll, ask every five seconds and at most sixty times.</p>
${heading('wallet', 'Wallet and flash')}
<p>The account is in the gateway’s own ledger, so the answer is final at once. From a threshold up (100 dollars’ worth, where nothing else is set) a six-digit code goes to the account’s phone: submit answers <code>pending_otp_verification</code>, and <a href="/docs/reference#verifyCode"><code>POST /payments/verify-otp</code></a> ends it. A code lives ten minutes, five may be tried in five minutes, three can be sent again. Five wrong PINs lock the account for fifteen minutes.</p>
${heading('mobile-money', 'Mobile money')}
<p>The carrier follows from the number’s prefix and the currency; a pair that does not fit is <a href="/docs/errors/1103">1103</a> and says what would. The customer enters the PIN on the phone. A carrier that does not answer leaves the payment <code>processing</code>: it is asked again, and nothing is ever sent to it twice.</p>
${heading('card', 'Cards')}
<p>No card number ever passes through your servers or ours: a body that carries one anywhere is refused. Collect with <code>"cardnet_payment_method":"HOSTED_SESSION"</code> and send the browser to <code>payment_url</code>. The page there holds the card network’s form, takes the customer through the issuer’s challenge where there is one, and comes back to your <code>success_redirect_url</code> or <code>fail_redirect_url</code>. The return is a courtesy to the customer: believe the webhook.</p>
${heading('bank', 'Bank transfer')}
<p><a href="/docs/reference#readBanks"><code>GET /payments/get-config-bank</code></a> lists the accounts, submit chooses one, the customer makes the transfer at the bank and <a href="/docs/reference#uploadProof">uploads its proof</a>: JPEG, PNG or PDF, at most 5 MiB. An operator compares it with the bank and decides. Without a proof it expires after seven days.</p>
${heading('hosted', 'The page that we host')}
<p>With <a href="/docs/reference#collectRedirect"><code>POST /payments/collect-redirect</code></a> you need no form of your own: it asks for everything that is missing, numbers and PINs too, in six languages, on a phone, with a keyboard, and without scripts but for cards. A <code>phone_number</code> or <code>wallet_number</code> that you send along is offered there, so that your customer need not type it. Send the browser to <code>redirect_url</code>; it opens once. Add <code>&amp;lang=ln</code> for a language.</p>
${code('Shell', HOSTED)}
${heading('fees', 'Fees and delivery')}
<ul>
<li><code>fee_covered_by</code>: <code>buyer</code> adds the fee to what the customer pays (<code>total_amount</code>); <code>merchant</code> takes it out of what you receive.</li>
<li><code>delivery_behaviour</code>: <code>direct_delivery</code> makes the money available at once; <code>delayed_delivery</code> holds it until you <a href="/docs/reference#releaseDelivery">release it</a>.</li>
<li>Money <a href="/docs/refunds">goes back</a> whole or in part, by the method that paid, and <a href="/docs/payouts">out to people</a>, up to a hundred in one call.</li>
</ul>`;
  const sections = [
    { id: 'methods', title: 'Methods' },
    { id: 'statuses', title: 'Statuses' },
    { id: 'wallet', title: 'Wallet and flash' },
    { id: 'mobile-money', title: 'Mobile money' },
    { id: 'card', title: 'Cards' },
    { id: 'bank', title: 'Bank transfer' },
    { id: 'hosted', title: 'The hosted page' },
    { id: 'fees', title: 'Fees and delivery' },
  ];
  return { title: 'Ways to pay', main, sections };
}
