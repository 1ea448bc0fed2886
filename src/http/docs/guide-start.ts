/**
 * The first page: from nothing to a signed webhook in five minutes.
 *
 * Invariant: its commands, pasted one after the other, work as they stand; a test pastes them.
 */

import { html } from '../../messages/html.ts';
import type { Guide, Places } from './guide.ts';
import { code, heading, table } from './prose.ts';

const MINT = `TOKEN=$(curl -s "$API/internal/sessions/create" \\
  -H "Authorization: Bearer $CREDENTIAL" -H 'Content-Type: application/json' \\
  -d '{"amount":"45.90","currency":"usd",
       "customer_reference":"order-1","scope":"collect"}' \\
  | sed -n 's/.*"session_token":"\\([^"]*\\)".*/\\1/p')
echo "$TOKEN"`;

const SUBMIT = `curl -s "$API/payments/submit" \\
  -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
  -H 'Accept-Language: en' \\
  -d '{"payment_id":"'"$PAYMENT"'","payment_method_id":"mobile_money",
       "mobile_money_phone_number":"+243810000101"}'`;

const READ = `curl -s "$API/payments/mobile-money/status/$PAYMENT" \\
  -H "Authorization: Bearer $TOKEN" -H 'Accept-Language: en'`;

function collect(sandbox: string): string {
  return `PAYMENT=$(curl -s "$API/payments/collect" \\
  -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
  -d '{"payment_method":"mobile_money",
       "user_info":"full","payment_method_info":"full",
       "fee_covered_by":"buyer","delivery_behaviour":"direct_delivery",
       "notify_url":"${sandbox}/inbox/demo"}' \\
  | sed -n 's/.*"payment_id":"\\([^"]*\\)".*/\\1/p')
echo "$PAYMENT"`;
}

function credential(api: string): string {
  return `API=${api}
demo() { node -p "JSON.parse(fs.readFileSync('.data/demo.json')).$1"; }
CREDENTIAL="$(demo key_id):$(demo secret)"
echo "$CREDENTIAL"`;
}

export function startGuide({ api, sandbox, isSandbox }: Places): Guide {
  const main = html`<h1>Take a payment in five minutes</h1>
<p class="lead">Mbongo is a payment gateway that you run yourself. Your backend mints a session for an amount, your customer pays it by wallet, mobile money, card or bank transfer, and you hear the result by a signed webhook.</p>
${isSandbox ? undefined : html`<div class="note"><p>This gateway moves real money. Try the lines below on your own machine, with a gateway in sandbox mode.</p></div>`}
<ol class="steps">
<li><h2 id="start">Start it</h2>
<p>In the project’s folder, with Node.js 20.19.4 or newer and nothing else. The gateway comes with its database, a demo merchant and a sandbox: pretend carriers, a phone, an inbox.</p>
${code('Shell', 'npm start')}</li>
<li><h2 id="credential">Take the credential</h2>
<p>The start has printed it. In a second shell, in the same folder, this takes it from where the start has kept it:</p>
${code('Shell', credential(api))}
<p>It is a <em>merchant credential</em>, <code>key_id:secret</code>, and belongs on your backend alone.</p></li>
<li><h2 id="mint">Mint a session</h2>
<p>A session is one amount, one currency, one order. Its token may go to an app or a browser: it can pay this and nothing else, for half an hour.</p>
${code('Shell', MINT)}</li>
<li><h2 id="collect">Start a payment</h2>
<p>Say how it is paid, and where you want to hear of it. Here that is an inbox of the sandbox.</p>
${code('Shell', collect(sandbox))}</li>
<li><h2 id="submit">Pay</h2>
<p>Send the number that pays. The carrier asks its customer; this one, ending in 01, agrees by itself after a second.</p>
${code('Shell', SUBMIT)}
<p>To hold the phone yourself, submit <code>+243810000042</code>, open <a href="${sandbox}/phone/243810000042">its screen</a> and approve with PIN <code>0000</code>. A session pays once: mint another one first.</p></li>
<li><h2 id="see">See the result, and the webhook</h2>
${code('Shell', READ)}
<p>It says <code>completed</code>. The webhook lies in <a href="${sandbox}/inbox/demo">the inbox</a>, and says whether its signature is right. For programs:</p>
${code('Shell', `curl -s ${sandbox}/inbox/demo/messages`)}</li>
</ol>
${heading('how', 'What happened')}
${table(
  'The steps of a payment',
  ['Call', 'Credential', 'What it does'],
  [
    ['`POST /internal/sessions/create`', 'merchant', 'Binds amount, currency and your reference to a token.'],
    ['`POST /payments/collect`', 'session', 'Starts a payment: method, fees, addresses.'],
    ['`POST /payments/submit`', 'session', 'Sends what the method needs. A success consumes the session.'],
    ['webhook', 'signed', 'Tells you of the final state. It is what you act on.'],
    ['`GET /payments/status/{transaction_id}`', 'session', 'Asks, when in doubt.'],
  ],
)}
${heading('rules', 'Rules that always hold')}
<ul>
<li>Amounts are decimal strings such as <code>"12.50"</code>, never JSON numbers. Currencies are lower-case codes.</li>
<li>A final status never changes: <code>approved</code>, <code>declined</code>, <code>failed</code>, <code>cancelled</code>, <code>expired</code>. Only an approved payment may still become <code>refunded</code>.</li>
<li><code>processing</code> means that it is not known yet. It is asked about until it is; do not pay a second time.</li>
<li>Every failure is one flat object with an <code>error_code</code>, and a link to its <a href="/docs/errors">page</a>.</li>
<li>Send an <a href="/docs/idempotency"><code>Idempotency-Key</code></a> with every POST, and repeat it with the same key when no answer came.</li>
<li>Messages come in English, French, Spanish, Russian, Chinese and Lingala, by <code>Accept-Language</code>; French when nothing is asked for.</li>
</ul>
${heading('next', 'Next')}
<ul class="tiles">
<li><a href="/docs/payments"><strong>Ways to pay</strong><span>What each method needs, and the page that we host.</span></a></li>
<li><a href="/docs/payouts"><strong>Pay people</strong><span>Up to a hundred in one call: now, on dates, each month.</span></a></li>
<li><a href="/docs/refunds"><strong>Give money back</strong><span>Whole or in part, by the way it came.</span></a></li>
<li><a href="/docs/webhooks"><strong>Webhooks</strong><span>Verify them in TypeScript, Python, PHP or Go.</span></a></li>
<li><a href="/docs/test-numbers"><strong>Test numbers</strong><span>Phones and cards that fail on request.</span></a></li>
<li><a href="/docs/reference"><strong>Reference</strong><span>Every call, with an example.</span></a></li>
<li><a href="/docs/explorer"><strong>Explorer</strong><span>Try calls from the browser.</span></a></li>
<li><a href="/docs/going-live"><strong>Going live</strong><span>What to set, check and keep.</span></a></li>
</ul>`;
  return {
    title: 'Start',
    main,
    sections: [
      { id: 'start', title: 'Five minutes' },
      { id: 'how', title: 'What happened' },
      { id: 'rules', title: 'Rules' },
    ],
  };
}
