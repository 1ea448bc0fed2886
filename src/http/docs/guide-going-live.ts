/**
 * The page about going live: what to set, check and keep before real money moves.
 *
 * Invariant: every step says how to see that it is done.
 */

import { html } from '../../messages/html.ts';
import type { Guide } from './guide.ts';
import { code, heading, table } from './prose.ts';

const ENVIRONMENT = `GATEWAY_MODE=production
MASTER_KEY="$(openssl rand -base64 32)"   # once; then from your secret store
DATABASE_URL=postgresql://mbongo:…@db.example.com:5432/mbongo
PUBLIC_URL=https://pay.example.com
TRUST_PROXY=10.0.0.0/8`;

const UPSTREAMS = table(
  'Credentials of the upstreams',
  ['Upstream', 'Variables', 'Without them'],
  [
    [
      'MTN MoMo, collections',
      '`MTN_MOMO_BASE_URL`, `MTN_MOMO_TARGET_ENVIRONMENT`, `MTN_MOMO_SUBSCRIPTION_KEY`, `MTN_MOMO_API_USER`, `MTN_MOMO_API_KEY`',
      'mobile-money payments are not possible',
    ],
    [
      'MTN MoMo, disbursements',
      '`MTN_MOMO_DISBURSEMENT_SUBSCRIPTION_KEY`, `MTN_MOMO_DISBURSEMENT_API_USER`, `MTN_MOMO_DISBURSEMENT_API_KEY`',
      'no money can be sent to phones',
    ],
    [
      'Card network',
      '`CARDNET_BASE_URL`, `CARDNET_MERCHANT_ID`, `CARDNET_API_PASSWORD`; optionally `CARDNET_CURRENCIES` (default: all), ' +
        '`CARDNET_FORM_URL`, `CARDNET_API_VERSION`; and `CARDNET_CALLBACK_SECRET`, without which signed callbacks are refused',
      'no cards, no Google Pay, no Apple Pay',
    ],
    ['Text messages', '`SMS_URL`, `SMS_TOKEN`', 'wallet and flash payments that need a one-time code are not possible'],
    ['Carrier of each number prefix', '`CARRIER_ROUTES`, a file', 'the routes shipped with the gateway apply'],
  ],
);

/** The page `/docs/going-live`, the same for every installation. */
export function goingLiveGuide(): Guide {
  const main = html`<h1>Going live</h1>
<p class="lead">What to configure, check and keep safe before real money moves. <code>mbongo doctor</code> checks most of it, and says what to do. Write <code>npx mbongo</code> in the project’s folder; in the image, <code>mbongo</code> is the entry point.</p>
<ol class="steps">
<li><h2 id="settings">Settings</h2>
${code('Environment', ENVIRONMENT)}
<p>In production the gateway refuses to start without <code>MASTER_KEY</code>, or with a publicly known (sandbox) key or credential. The master key seals webhook secrets, stored answers and proofs, and PINs are hashed with it: keep it in a secret store, apart from the backups. To change it, put the new key after the old one (<code>old,new</code>) and restart every process; then put it first (<code>new,old</code>) and restart every process again. The database must be PostgreSQL 15 or newer; its user needs access to this one database and nothing else.</p></li>
<li><h2 id="address">The address</h2>
<p>The gateway speaks HTTP: put a proxy that terminates TLS in front of it. <code>PUBLIC_URL</code> is the address under which customers’ browsers and the upstreams’ callbacks reach the gateway: a host name of its own, without a path. Name your proxy in <code>TRUST_PROXY</code>; otherwise every caller appears to have the proxy’s address. Keep <code>/metrics</code> inside your network. To check all this, open <code>https://pay.example.com/api/v1/health</code> from outside.</p></li>
<li><h2 id="upstreams">Upstreams</h2>
${UPSTREAMS}
<p>The carrier prefixes shipped with the gateway are not verified: compare them with your contract. Then make one small payment and one small payout through each carrier, and refund the payment.</p></li>
<li><h2 id="merchants">Merchants and credentials</h2>
${code(
  'Shell',
  `mbongo merchant create --name 'Boutique Kivu'
mbongo credential issue --merchant mch_… --addresses 203.0.113.0/24
mbongo credential revoke --key key_…    # the first one
mbongo merchant set --merchant mch_… --scope-required on \\
  --fee-covered-by buyer --delivery-behaviour direct_delivery`,
)}
<p>These secrets are shown only once. A credential stays on backends, and should be limited to their addresses: <code>merchant create</code> makes one that may be used from any address, so revoke it once the backend uses the limited one. Apps and web pages get session tokens. With <code>--scope-required on</code> every session has to state its scope, so that no session meant for collecting, which travels to a phone, can make a payout. The last two fix who pays the fee and when the money is available; otherwise whoever collects chooses, which may be the customer.</p></li>
<li><h2 id="integration">Your integration</h2>
<ul>
<li>Your backend sends an <a href="/docs/idempotency">Idempotency-Key</a> with every POST, and repeats the POST with the same key if no answer arrives.</li>
<li>It <a href="/docs/webhooks#verify">verifies</a> every webhook, ignores those it has already processed, and compares the amount with the order.</li>
<li>If its session tokens reach phones or web pages, its <code>customer_reference</code> cannot be guessed. Every live session reads your payments by it, those of other customers too.</li>
<li>Its references are not 13 to 19 digits and nothing else. Some such numbers look like a card’s, and are <a href="/docs/errors/1110">refused</a> as <code>CARD_DATA</code>: put a letter in front.</li>
<li>It delivers nothing merely because a browser has returned, and treats <code>processing</code> as neither paid nor failed.</li>
<li>It distinguishes errors by <code>error_code</code>, and retries only if <code>retryable</code> is true, after <code>retry_after</code> seconds.</li>
<li>You have tried every <a href="/docs/test-numbers">test number</a>, above all 04 and 05.</li>
</ul></li>
<li><h2 id="webhooks">Webhooks arrive</h2>
<p>Each <code>notify_url</code> uses https and resolves to public addresses only: the gateway refuses any other. Your receiver answers 2xx within ten seconds. To check, run <code>mbongo webhook list --status dead</code>: it should list nothing.</p></li>
<li><h2 id="doctor">The doctor</h2>
${code('Shell', 'mbongo doctor')}
<p>Its first line is about the books. Its exit status is 1 if any line is <code>WRONG</code>. Run it daily, and whenever something looks odd.</p></li>
<li><h2 id="backups">Backups</h2>
<ul>
<li>Archive the write-ahead log continuously, so that you can restore to any second. Everything that the gateway has acknowledged is in the database, and nowhere else.</li>
<li>Keep <code>MASTER_KEY</code> in another place. Without it the gateway refuses a restored database, and nothing that is sealed there can be opened.</li>
<li>Restore a backup where neither the upstreams nor the merchants’ receivers can be reached, and run <code>mbongo doctor</code> there. A gateway on such a copy that reaches the receivers would tell them that payments have expired which were paid after the backup. A backup that has never been restored is no backup.</li>
<li>After a real restore, compare the books with the upstreams’ statements before payouts continue: <code>mbongo reconcile statement.csv --connector mtn-momo</code>.</li>
</ul></li>
<li><h2 id="running">Running it</h2>
<p>Run as many <code>mbongo serve --role api</code> and <code>--role worker</code> processes as you like over one database; to survive the loss of a machine, run at least two of each. On SIGTERM a process finishes what is in flight within ten seconds; a kill at any moment loses nothing that was acknowledged. Keep the clocks synchronised: signatures and one-time codes depend on them. Monitor <code>/metrics</code>, and raise an alert if the last audit is older than five minutes or has findings.</p></li>
</ol>
${heading('support', 'When something goes wrong')}
<p>Every answer has an <code>X-Request-Id</code>, which is also in every log line of that call. <a href="/docs/errors">Every error</a> has a page that says what to do.</p>`;
  const sections = [
    { id: 'settings', title: 'Settings' },
    { id: 'address', title: 'The address' },
    { id: 'upstreams', title: 'Upstreams' },
    { id: 'merchants', title: 'Merchants' },
    { id: 'integration', title: 'Your integration' },
    { id: 'webhooks', title: 'Webhooks arrive' },
    { id: 'doctor', title: 'The doctor' },
    { id: 'backups', title: 'Backups' },
    { id: 'running', title: 'Running it' },
  ];
  return { title: 'Going live', main, sections };
}
