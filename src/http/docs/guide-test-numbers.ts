/**
 * The page of test numbers: what fails on request, and the tools of the sandbox.
 *
 * Invariant: none of it works in production, and the page says so.
 */

import { html } from '../../messages/html.ts';
import type { Guide, Places } from './guide.ts';
import { code, heading, table } from './prose.ts';
import { CARDS, PHONES } from './test-numbers.ts';

export function testNumbersGuide({ sandbox }: Places): Guide {
  const main = html`<h1>Test numbers</h1>
<p class="lead">The sandbox stands in for carriers, the card network and your own receiver. It speaks their wire formats, keeps its own books, and can be made as bad as the real world. In production none of this works.</p>
${heading('phones', 'Phones')}
<p>The last two digits decide, whatever the country: of a payment from the number, and of a payout to it.</p>
${table(
  'Phone numbers',
  ['Number', 'The carrier', 'A payment ends', 'A payout ends'],
  [
    ...PHONES.map(({ ending, carrier, payment, payout }) => [
      html`<code>+2438100001${ending}</code>`,
      carrier,
      payment,
      payout,
    ]),
    ['any other ending', 'waits for the virtual phone', 'as you decide there', 'paid after a second'],
  ],
)}
<p>Numbers that begin with +243 81 always reach a carrier, in <code>usd</code> and <code>cdf</code>. The virtual phone of any number is at <a href="${sandbox}/phone/243810000042"><code>${sandbox}/phone/243810000042</code></a>; its PIN is <code>0000</code>. One-time codes arrive there too. For programs:</p>
${code(
  'Shell',
  `curl -s ${sandbox}/phone/243810000042/state

curl -s ${sandbox}/phone/243810000042/prompts/$PROMPT \\
  -H 'Content-Type: application/json' -d '{"answer":"approve","pin":"0000"}'`,
)}
${heading('cards', 'Cards')}
<p>With any later expiry and any security code.</p>
${table(
  'Card numbers',
  ['Card', 'What happens'],
  CARDS.map(({ number, what }) => [html`<code>${number}</code>`, what]),
)}
<p>More of them, and expiry dates that decide, are on <a href="${sandbox}/">the sandbox’s first page</a>.</p>
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
<p>The start prints those of the demo merchant, with PIN <code>1234</code>. This opens another one:</p>
${code('Shell', 'npx mbongo wallet open --pin 1234 --currency usd --balance 50.00 --phone +243810000042')}
${heading('tools', 'Tools')}
<ul class="tiles">
<li><a href="${sandbox}/shop"><strong>Shop</strong><span>Buy something as a customer would.</span></a></li>
<li><a href="${sandbox}/inbox/demo"><strong>Inbox</strong><span>Any address below <code>/inbox/</code> catches webhooks and checks their signatures.</span></a></li>
<li><a href="${sandbox}/control"><strong>Control</strong><span>Delays, lost answers, duplicates; the same ones again from the same seed.</span></a></li>
</ul>
<p><code>npx mbongo clock advance 30d</code> lets time pass: sessions expire, schedules run, webhooks are tried again.</p>`;
  const sections = [
    { id: 'phones', title: 'Phones' },
    { id: 'cards', title: 'Cards' },
    { id: 'native', title: 'Google Pay, Apple Pay' },
    { id: 'accounts', title: 'Wallets' },
    { id: 'tools', title: 'Tools' },
  ];
  return { title: 'Test numbers', main, sections };
}
