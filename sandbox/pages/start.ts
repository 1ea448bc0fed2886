/**
 * The start page: what the sandbox is, the numbers that decide by themselves, and a first payment in two minutes.
 * Invariant: its commands are complete; only what a person alone has (credential, tokens) is left as a shell variable.
 */
import type { FastifyInstance } from 'fastify';
import { expiries, type TestCard, testCards } from '../cardnet/cards.ts';
import { endings } from '../carriers/endings.ts';
import { phoneWords } from '../phone/words.ts';
import { html, type SafeHtml } from './html.ts';
import { sendPage } from './layout.ts';

const statuses: Readonly<Record<(typeof endings)[number], string>> = {
  '01': 'approved',
  '02': 'failed',
  '03': 'cancelled',
  '04': 'waits, then expires',
  '05': 'approved, found by asking',
  '06': 'not taken; try again',
  '07': 'approved, once',
  '08': 'approved, found by asking',
};

/** The outcome of money that is sent to the number. */
const payouts: Readonly<Record<(typeof endings)[number] | 'other', string>> = {
  '01': 'paid after 1 s',
  '02': 'fails, no such account',
  '03': 'fails, account blocked',
  '04': 'never decided',
  '05': 'paid, found by asking',
  '06': 'not taken; sent again later',
  '07': 'paid, once',
  '08': 'paid, found by asking',
  other: 'paid after 1 s',
};

const outcomes = ['The carrier', 'A payment from it ends', 'A payout to it ends'] as const;

function head(title: string): SafeHtml {
  return html`<th scope="col" role="columnheader">${title}</th>`;
}

/** Roles are given explicitly, because on a narrow screen the style makes a list of it, which browsers take for no table. */
function numbers(): SafeHtml {
  const words = phoneWords.en;
  const cell = (text: string, place: number) => html`<td role="cell" data-head="${outcomes[place] ?? ''}">${text}</td>`;
  const row = (address: string, number: string, cells: readonly string[]) =>
    html`<tr role="row"><th scope="row" role="rowheader"><a class="figure" href="/phone/${address}">${number}</a></th>${cells.map(cell)}</tr>`;
  const other = ['waits for the virtual phone, as with any other ending', 'as you decide there', payouts.other];
  return html`<table class="numbers stacked" role="table" aria-label="Numbers"><thead role="rowgroup"><tr role="row">${head('Number')}${outcomes.map(head)}</tr></thead><tbody role="rowgroup">
    ${endings.map((ending) => row(`2438100001${ending}`, `+243 810 000 1${ending}`, [words.endings[ending], statuses[ending], payouts[ending]]))}
    ${row('243810000042', '+243 810 000 042', other)}</tbody></table>`;
}

/** "5123 4500 0000 0008". */
function grouped(number: string): string {
  return number.replace(/(\d{4})(?=\d)/g, '$1 ');
}

function cards(): SafeHtml {
  const row = ({ number, about }: TestCard) =>
    html`<tr role="row"><th scope="row" role="rowheader">${grouped(number)}</th><td role="cell" data-head="What happens">${about}</td></tr>`;
  const dates = Object.entries(expiries).map(
    ([date, code]) => html`<tr><th scope="row">${date}</th><td><code>${code}</code></td></tr>`,
  );
  return html`<div class="columns broad">
    <table class="numbers stacked" role="table" aria-label="Card numbers"><thead role="rowgroup"><tr role="row">${head('Card')}${head('What happens')}</tr></thead><tbody role="rowgroup">${testCards.map(row)}</tbody></table>
    <div class="scroll" tabindex="0" role="region" aria-label="Expiry dates"><table class="numbers"><thead><tr><th scope="col">Expiry</th><th scope="col">The acquirer answers</th></tr></thead><tbody>${dates}</tbody></table></div></div>
    <p class="soft">Security code 100 matches, 101 is not processed, 102 does not match. Google Pay and Apple Pay: <code>tok_approved</code>, <code>tok_declined</code>, <code>tok_unavailable</code>, <code>tok_timeout</code>.</p>`;
}

function commands(gateway: string, sandbox: string): SafeHtml {
  return html`<ol class="steps">
    <li><p>Mint a session with the merchant’s credential, and keep its <code>session_token</code> as <code>$SESSION</code>.</p>
      <pre tabindex="0">curl -X POST ${gateway}/api/v1/internal/sessions/create \\
  -H "Authorization: Bearer $CREDENTIAL" -H 'Content-Type: application/json' \\
  -d '{"amount":"45.90","currency":"usd","customer_reference":"order-2041",
       "scope":"collect"}'</pre></li>
    <li><p>Collect by mobile money, and keep the <code>payment_id</code> as <code>$PAYMENT</code>.</p>
      <pre tabindex="0">curl -X POST ${gateway}/api/v1/payments/collect \\
  -H "Authorization: Bearer $SESSION" -H 'Content-Type: application/json' \\
  -d '{"payment_method":"mobile_money","user_info":"full","payment_method_info":"full",
       "fee_covered_by":"buyer","delivery_behaviour":"direct_delivery",
       "first_name":"Grace","last_name":"Ilunga","email":"grace@example.com",
       "phone_number":"+243810000042","notify_url":"${sandbox}/inbox/demo"}'</pre></li>
    <li><p>Submit with the number to charge. Then answer on <a href="/phone/243810000042">its phone</a>, PIN <code>0000</code>.</p>
      <pre tabindex="0">curl -X POST ${gateway}/api/v1/payments/submit \\
  -H "Authorization: Bearer $SESSION" -H 'Content-Type: application/json' \\
  -d '{"payment_id":"'$PAYMENT'","payment_method_id":"mobile_money",
       "mobile_money_phone_number":"+243810000042"}'</pre></li>
    <li><p>See the result, and the signed webhook in <a href="/inbox/demo">the inbox</a>.</p>
      <pre tabindex="0">curl ${gateway}/api/v1/payments/mobile-money/status/$PAYMENT \\
  -H "Authorization: Bearer $SESSION"</pre></li>
  </ol>`;
}

export function startPage(app: FastifyInstance, gateway: string): void {
  app.get('/', (request, reply) => {
    const sandbox = `${request.protocol}://${request.host}`;
    const main = html`<div class="sheetless"><h1>The pretend outside world</h1>
      <p class="lead">Carriers, <a href="#cards">cards</a>, phones and webhook receivers that behave like the real ones, on your own machine. Nothing here moves money, and everything here can go wrong on request.</p>
      <a class="card tile" href="/shop"><strong>Shop</strong><span class="soft">Start here: buy something as a customer would. The shop mints a session, sends you to the payment page and believes only what the gateway answers or signs.</span></a>
      <div class="columns tiles">
        <a class="card tile" href="/phone/243810000042"><strong>Phone</strong><span class="soft">Approve or reject what a carrier pushes. The PIN is 0000.</span></a>
        <a class="card tile" href="/inbox/demo"><strong>Inbox</strong><span class="soft">Catch webhooks, read them live, see whether they verify.</span></a>
        <a class="card tile" href="/control"><strong>Control</strong><span class="soft">Delays, lost answers, duplicates; repeatable from a seed.</span></a></div>
      <section class="card stack"><h2>Numbers that decide by themselves</h2><p class="soft">The last two digits say what happens, whatever the country: to a payment from the number, and to a payout to it.</p>${numbers()}</section>
      <section class="card stack" id="cards"><h2>Test cards</h2><p class="soft">Any other number whose check digit is right works too: then its expiry decides, and any date that is not listed is approved.</p>${cards()}</section>
      <section class="card stack"><h2>Pay in two minutes</h2><p class="soft">The gateway is at <a href="${gateway}/docs">${gateway}</a>; its start printed a credential for <code>$CREDENTIAL</code>.</p>${commands(gateway, sandbox)}</section></div>`;
    return sendPage(reply, { title: 'Start', language: 'en', current: '/', sheet: 'tools', main });
  });
}
