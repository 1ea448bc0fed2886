/**
 * The page of test numbers: what fails on request, and the tools of the sandbox.
 *
 * Invariant: none of it works in production, and the page says so.
 */

import { dirname } from 'node:path';
import { html } from '../../messages/html.ts';
import { quoted } from './curl.ts';
import type { Guide, Installation } from './guide.ts';
import { code, heading, table } from './prose.ts';
import { CARDS, PHONES } from './test-numbers.ts';

/** Where commands look for the database by themselves. */
const DEFAULT_FOLDER = '.data';

/** The command line, told where this gateway's database is if that is not where it looks by itself: it would make another. */
function commandFor(demoFile: string): string {
  const folder = dirname(demoFile);
  return folder === DEFAULT_FOLDER ? 'npx mbongo' : `DATA_DIR=${quoted(folder)} npx mbongo`;
}

/** The page `/docs/test-numbers`. It links to the tools of the sandbox, by its address. */
export function testNumbersGuide({ sandbox, demoFile }: Installation): Guide {
  const command = commandFor(demoFile);
  const main = html`<h1>Test numbers</h1>
<p class="lead">The sandbox simulates carriers, the card network and your own webhook receiver. It speaks their wire formats, keeps its own books, and can be made as unreliable as the real world. None of this works in production.</p>
${heading('phones', 'Phones')}
<p>The last two digits of a number decide the result of a payment from it, and of a payout to it, in every country.</p>
${table(
  'Phone numbers',
  ['Number', 'The carrier', 'Result of a payment', 'Result of a payout'],
  [
    ...PHONES.map(({ ending, carrier, payment, payout }) => [
      html`<code>+2438100001${ending}</code>`,
      carrier,
      payment,
      payout,
    ]),
    ['any other ending', 'waits for the virtual phone', 'what you choose there', 'paid after a second'],
  ],
)}
<p>Numbers that begin with +243 81 always belong to a carrier, in <code>usd</code> and <code>cdf</code>. Every number has a virtual phone, for example <a href="${sandbox}/phone/243810000042"><code>${sandbox}/phone/243810000042</code></a>; its PIN is <code>0000</code>. One-time codes arrive there too. Programs can use it as well; this takes the newest request on that phone, and approves it:</p>
${code(
  'Shell',
  `PROMPT=$(curl -s ${sandbox}/phone/243810000042/state \\
  | sed -n 's/.*"prompts":\\[{"id":"\\([^"]*\\)".*/\\1/p')
echo "$PROMPT"

curl -s ${sandbox}/phone/243810000042/prompts/$PROMPT \\
  -H 'Content-Type: application/json' -d '{"answer":"approve","pin":"0000"}'`,
)}
${heading('cards', 'Cards')}
<p>Use any expiry date in the future, and any security code.</p>
${table(
  'Card numbers',
  ['Card', 'What happens'],
  CARDS.map(({ number, what }) => [html`<code>${number}</code>`, what]),
)}
<p>More card numbers, and expiry dates that decide the result, are on <a href="${sandbox}/">the sandbox’s first page</a>.</p>
${heading('native', 'Google Pay and Apple Pay')}
${table(
  'Tokens',
  ['native_pay_token', 'What happens'],
  [
    ['`tok_approved`', 'approved'],
    ['`tok_declined`', 'declined'],
    ['`tok_unavailable`', 'the network cannot be reached'],
  ],
)}
${heading('accounts', 'Wallets and flash accounts')}
<p><code>npm start</code> prints those of the demo merchant; their PIN is <code>1234</code>. This opens another wallet:</p>
${code('Shell', `${command} wallet open --pin 1234 --currency usd --balance 50.00 --phone +243810000042`)}
${heading('tools', 'Tools')}
<ul class="tiles">
<li><a href="${sandbox}/shop"><strong>Shop</strong><span>Buy something as a customer would.</span></a></li>
<li><a href="${sandbox}/inbox/demo"><strong>Inbox</strong><span>Every address below <code>/inbox/</code> receives webhooks and checks their signatures.</span></a></li>
<li><a href="${sandbox}/control"><strong>Control</strong><span>Delays, lost answers and duplicates, reproducible with a seed.</span></a></li>
</ul>
<p><code>${command} clock advance 30d</code> moves the test clock forward: sessions expire, schedules run, webhooks are retried.</p>`;
  const sections = [
    { id: 'phones', title: 'Phones' },
    { id: 'cards', title: 'Cards' },
    { id: 'native', title: 'Google Pay, Apple Pay' },
    { id: 'accounts', title: 'Wallets' },
    { id: 'tools', title: 'Tools' },
  ];
  return { title: 'Test numbers', main, sections };
}
