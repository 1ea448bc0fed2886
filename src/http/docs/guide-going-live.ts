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
  'Credentials of upstreams',
  ['Upstream', 'Variables', 'Without them'],
  [
    [
      'MTN MoMo, collections',
      '`MTN_MOMO_BASE_URL`, `MTN_MOMO_TARGET_ENVIRONMENT`, `MTN_MOMO_SUBSCRIPTION_KEY`, `MTN_MOMO_API_USER`, `MTN_MOMO_API_KEY`',
      'no phone is charged',
    ],
    [
      'MTN MoMo, disbursements',
      '`MTN_MOMO_DISBURSEMENT_SUBSCRIPTION_KEY`, `MTN_MOMO_DISBURSEMENT_API_USER`, `MTN_MOMO_DISBURSEMENT_API_KEY`',
      'no phone is paid',
    ],
    [
      'Card network',
      '`CARDNET_BASE_URL`, `CARDNET_MERCHANT_ID`, `CARDNET_API_PASSWORD`; and where they differ from the usual `CARDNET_CURRENCIES` (all), `CARDNET_FORM_URL`, `CARDNET_API_VERSION`; `CARDNET_CALLBACK_SECRET`, without which signed callbacks are refused',
      'no cards, no Google Pay, no Apple Pay',
    ],
    ['Text messages', '`SMS_URL`, `SMS_TOKEN`', 'wallet payments from the threshold up cannot be paid'],
    ['Which number is whose', '`CARRIER_ROUTES`, a file', 'the routes that come along'],
  ],
);

export function goingLiveGuide(): Guide {
  const main = html`<h1>Going live</h1>
<p class="lead">What to set, check and keep before real money moves. <code>mbongo doctor</code> looks after most of it and says what to do.</p>
<ol class="steps">
<li><h2 id="settings">Settings</h2>
${code('Environment', ENVIRONMENT)}
<p>In production the gateway refuses to start without <code>MASTER_KEY</code>, and with anything that everybody knows. The key seals webhook secrets, remembered answers and proofs, and PINs are hashed with it: keep it in a secret store, apart from the backups. To change it put the new one behind the old one (<code>old,new</code>) and restart every process; then in front (<code>new,old</code>), and restart every process again. PostgreSQL 15 or newer; the database user needs its own database and nothing else.</p></li>
<li><h2 id="address">The address</h2>
<p>Put TLS in front: the gateway speaks HTTP. <code>PUBLIC_URL</code> is what customers’ browsers and upstreams’ callbacks are told. Name your proxy in <code>TRUST_PROXY</code>, or every caller has the proxy’s address. Keep <code>/metrics</code> inside your network. To see that it is done, open <code>https://pay.example.com/api/v1/health</code> from outside.</p></li>
<li><h2 id="upstreams">Upstreams</h2>
${UPSTREAMS}
<p>The prefixes of carriers that come along are not verified: compare them with your contract. Then make one small payment and one small payout by each carrier, and refund them.</p></li>
<li><h2 id="merchants">Merchants and credentials</h2>
${code(
  'Shell',
  `mbongo merchant create --name 'Boutique Kivu'
mbongo credential issue --merchant mch_… --addresses 203.0.113.0/24
mbongo merchant set --merchant mch_… --scope-required on`,
)}
<p>Secrets are shown this once. A credential stays on backends, limited to their addresses; apps and pages get session tokens. With a mandatory scope no session that travels to a phone can pay out.</p></li>
<li><h2 id="integration">Your integration</h2>
<ul>
<li>Every POST carries an <a href="/docs/idempotency">Idempotency-Key</a>, and is repeated with it when no answer came.</li>
<li>Webhooks are <a href="/docs/webhooks#verify">verified</a>, known ones are dropped, the amount is compared with the order.</li>
<li>Nothing is delivered on a browser’s return; <code>processing</code> is neither paid nor failed.</li>
<li>Errors are told apart by <code>error_code</code>, and repeated only where <code>retryable</code> is true, after <code>retry_after</code>.</li>
<li>Every <a href="/docs/test-numbers">test number</a> has been tried, 04 and 05 above all.</li>
</ul></li>
<li><h2 id="webhooks">Webhooks arrive</h2>
<p><code>notify_url</code> is https and resolves to public addresses only: others are refused. It answers 2xx within ten seconds. <code>mbongo webhook list --status dead</code> is empty.</p></li>
<li><h2 id="doctor">The doctor</h2>
${code('Shell', 'mbongo doctor')}
<p>Its first line is about the books, and it exits with 1 when anything is wrong. Let it run daily, and whenever something looks odd.</p></li>
<li><h2 id="backups">Backups</h2>
<ul>
<li>Archive the write-ahead log continuously, so that you can restore to the second. What was acknowledged is in the database, and nowhere else.</li>
<li>Keep <code>MASTER_KEY</code> elsewhere. Without it the gateway refuses a restored database, and nothing that is sealed there can be opened.</li>
<li>Restore one, start a gateway on it that cannot reach the upstreams, and run <code>mbongo doctor</code>. A backup that was never restored is none.</li>
<li>After a real restore compare with what the upstreams say before payouts go on: <code>mbongo reconcile statement.csv --connector mtn-momo</code>.</li>
</ul></li>
<li><h2 id="running">Running it</h2>
<p>Start as many <code>mbongo serve --role api</code> and <code>--role worker</code> as you like over one database; at least two of each survive a machine. SIGTERM finishes what is under way within ten seconds; a kill at any instant loses nothing that was acknowledged. Keep the clocks right: signatures and codes depend on them. Watch <code>/metrics</code>, and alert when the last audit is older than five minutes or has findings.</p></li>
</ol>
${heading('support', 'When something goes wrong')}
<p>Every answer has an <code>X-Request-Id</code>, and every log line of that call has it too. <a href="/docs/errors">Every error</a> has a page that says what to do.</p>`;
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
