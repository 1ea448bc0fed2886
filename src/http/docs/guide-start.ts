/**
 * The first page: from nothing to a signed webhook in five minutes.
 *
 * Invariant: its commands, pasted one after the other, work as they stand; a test pastes them.
 */

import { html } from '../../messages/html.ts';
import { quoted } from './curl.ts';
import type { Guide, Installation } from './guide.ts';
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

function credential({ api, demoFile }: Installation): string {
  return `API=${api}
demo() { node -p "JSON.parse(fs.readFileSync(process.argv[1])).$1" ${quoted(demoFile)}; }
CREDENTIAL="$(demo key_id):$(demo secret)"
echo "$CREDENTIAL"`;
}

/** The page `/docs`. Of a gateway in production it says that the commands are for another one, in sandbox mode. */
export function startGuide(installation: Installation): Guide {
  const { sandbox, isSandbox } = installation;
  const main = html`<h1>Take a payment in five minutes</h1>
<p class="lead">Mbongo is a payment gateway that you run yourself. Your backend mints a session for an amount, your customer pays it by wallet, mobile money, card or bank transfer, and a signed webhook tells you the result.</p>
${isSandbox ? undefined : html`<div class="note"><p>This gateway moves real money. Try the commands below on your own machine, with a gateway in sandbox mode.</p></div>`}
<ol class="steps">
<li><h2 id="start">Start it</h2>
<p>Run this in the project’s folder. You need Node.js 20.19.4 or newer, and nothing else. The gateway comes with its own database, a demo merchant and a sandbox: simulated carriers, a phone and an inbox.</p>
${code('Shell', 'npm start')}</li>
<li><h2 id="credential">Take the credential</h2>
<p><code>npm start</code> has printed it, and stored it in <code>${installation.demoFile}</code>. In a second shell, in the same folder, read it from there:</p>
${code('Shell', credential(installation))}
<p>It is a <em>merchant credential</em>, <code>key_id:secret</code>, and belongs on your backend only.</p></li>
<li><h2 id="mint">Mint a session</h2>
<p>A session binds one amount, one currency and one order. Its token may go to an app or a browser: for half an hour it can pay this order, and nothing else.</p>
${code('Shell', MINT)}</li>
<li><h2 id="collect">Start a payment</h2>
<p>State how the customer pays, and where the webhook is sent: here, to an inbox of the sandbox.</p>
${code('Shell', collect(sandbox))}</li>
<li><h2 id="submit">Pay</h2>
<p>Send the phone number that pays. The carrier asks its customer to confirm; this number, which ends in 01, confirms by itself after a second.</p>
${code('Shell', SUBMIT)}
<p>To confirm on the phone yourself, submit <code>+243810000042</code>, open <a href="${sandbox}/phone/243810000042">its screen</a> and approve with PIN <code>0000</code>. A session pays only once, so mint another one first.</p></li>
<li><h2 id="see">See the result, and the webhook</h2>
${code('Shell', READ)}
<p>After that second the status is <code>completed</code>, and before it <code>processing</code>. The webhook is in <a href="${sandbox}/inbox/demo">the inbox</a>, which shows whether its signature is valid. Programs can read it too:</p>
${code('Shell', `curl -s ${sandbox}/inbox/demo/messages`)}</li>
</ol>
${heading('how', 'What happened')}
${table(
  'The steps of a payment',
  ['Call', 'Credential', 'What it does'],
  [
    ['`POST /internal/sessions/create`', 'merchant', 'Binds amount, currency and your reference to a token.'],
    ['`POST /payments/collect`', 'session', 'Starts a payment: method, fees, URLs.'],
    ['`POST /payments/submit`', 'session', 'Sends what the method needs. If it succeeds, it consumes the session.'],
    ['webhook', 'signed', 'Reports the final status. Act on this.'],
    ['`GET /payments/status/{transaction_id}`', 'session', 'Reads the status, if you are in doubt.'],
  ],
)}
${heading('rules', 'Rules that always hold')}
<ul>
<li>Amounts are decimal strings such as <code>"12.50"</code>, never JSON numbers. Currencies are lower-case codes such as <code>usd</code>.</li>
<li>A final status never changes: <code>approved</code>, <code>declined</code>, <code>failed</code>, <code>cancelled</code>, <code>expired</code>. Only an approved payment may still become <code>refunded</code>.</li>
<li><code>processing</code> means that the result is not known yet. The gateway inquires until it is; do not let the customer pay a second time.</li>
<li>Every failure is one flat object with an <code>error_code</code>, and a link to its <a href="/docs/errors">page</a>.</li>
<li>Send an <a href="/docs/idempotency"><code>Idempotency-Key</code></a> with every POST, and repeat the call with the same key if no answer arrives.</li>
<li>Messages come in English, French, Spanish, Russian, Chinese and Lingala, as <code>Accept-Language</code> asks; French by default.</li>
</ul>
${heading('next', 'Next')}
<ul class="tiles">
<li><a href="/docs/payments"><strong>Ways to pay</strong><span>What each method needs, and the hosted page.</span></a></li>
<li><a href="/docs/payouts"><strong>Pay people</strong><span>Up to a hundred in one call: at once, on dates, every month.</span></a></li>
<li><a href="/docs/refunds"><strong>Give money back</strong><span>In whole or in part, by the method that paid.</span></a></li>
<li><a href="/docs/webhooks"><strong>Webhooks</strong><span>Verify them in TypeScript, Python, PHP or Go.</span></a></li>
<li><a href="/docs/test-numbers"><strong>Test numbers</strong><span>Phones and cards with a known result.</span></a></li>
<li><a href="/docs/reference"><strong>Reference</strong><span>Every call, with an example.</span></a></li>
<li><a href="/docs/explorer"><strong>Explorer</strong><span>Try calls from the browser.</span></a></li>
<li><a href="/docs/going-live"><strong>Going live</strong><span>What to configure, check and keep safe.</span></a></li>
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
