/**
 * The page about books: how a merchant's own records are compared with what the gateway has booked.
 *
 * Invariant: it explains every cause that a statement can show.
 */

import type { MerchantCause } from '../../domain/transfer-cause.ts';
import { html } from '../../messages/html.ts';
import type { Guide } from './guide.ts';
import { code, heading, table } from './prose.ts';

const STATEMENT = `DAY=$(date -u +%F)
curl -s "$API/internal/statement?currency=usd&from=$DAY&to=$DAY" \\
  -H "Authorization: Bearer $CREDENTIAL" -H 'Accept: text/csv'`;

const LISTS = table(
  'Which call answers what',
  ['Question', 'Call', 'from and to go by'],
  [
    ['what moved on my balances, and why', '`GET /internal/statement`', 'when it moved'],
    ['which payments were begun', '`GET /internal/transactions`', 'when the payment was collected'],
    ['which refunds were asked for', '`GET /internal/refunds`', 'when the refund was made'],
    ['which payouts were ordered', '`GET /internal/payouts`', 'when the batch was made'],
    ['what I was told', '`GET /internal/events`', 'when the event was made'],
    ['how much I have now', '`GET /internal/balances`', 'the present moment'],
  ],
);

/** Each cause of a line: what moved, and on which balance. */
const CAUSES: { readonly [cause in MerchantCause]: readonly [moved: string, balances: string] } = {
  payment: [
    'a payment was approved: its `amount`, less the fee if you cover it; no line if that fee takes the whole amount. A fee that the buyer paid on top never was yours, and is in no line',
    '`available` + (`held` + with delayed delivery)',
  ],
  release: ['held money was released', '`held` −, `available` +'],
  refund_reserved: [
    'a refund began, by a carrier, the card network or a person; held money is taken first',
    '`available` − or `held` −, `reserved` +',
  ],
  refund: [
    'a refund was completed. One into a wallet is completed at once and was never reserved',
    '`reserved` −; into a wallet `available` − or `held` −',
  ],
  refund_returned: [
    'a refund failed; of a payment that has been released meanwhile, all of it becomes available',
    '`reserved` −, and where it came from +',
  ],
  payout_reserved: ['a payout line’s amount and fee were set aside', '`available` −, `reserved` +'],
  payout: ['the line was paid', '`reserved` −'],
  payout_fee: ['its fee', '`reserved` −'],
  payout_returned: ['the line failed: amount and fee are back', '`reserved` −, `available` +'],
  late_payment: [
    'money that came after its payment had ended, and that your operator has booked for you, less the fee if you cover it',
    '`available` +',
  ],
  late_payout: ['a payout line that was paid after it had failed', '`available` −'],
  late_payout_fee: ['its fee', '`available` −'],
  late_refund: ['a refund that was paid after it had failed', '`available` −'],
  settlement: ['your operator has paid you out, under its `reference`', '`available` −'],
  balance_credit: ['your operator has topped your balance up', '`available` +'],
  float: ['the money that a sandbox’s merchant begins with', '`available` +'],
};

const CAUSE_TABLE = table(
  'Causes of a statement’s lines',
  ['cause', 'What moved', 'On which balance'],
  Object.entries(CAUSES).map(([cause, [moved, balances]]) => [`\`${cause}\``, moved, balances]),
);

/** The page `/docs/reconcile`, the same for every installation. */
export function reconcileGuide(): Guide {
  const main = html`<h1>Reconcile</h1>
<p class="lead">Compare your own records with the gateway’s books once a day. The statement is the book: it has every amount that moved on your balances, when it moved, and what for.</p>
${heading('day', 'Compare a day')}
<p>Set <code>API</code> and <code>CREDENTIAL</code> as on <a href="/docs#credential">the first page</a>, and ask for the statement of the day:</p>
${code('Shell', STATEMENT)}
<ol>
<li>A day is a UTC day. For another zone name instants: Kinshasa’s 29 November is <code>from=2026-11-29T00:00:00%2B01:00</code> and <code>to=2026-11-29T23:59:59.999%2B01:00</code>.</li>
<li>The opening balance plus every line is the closing balance, and the closing balance of one day is the opening one of the next. A CSV without closing rows was cut off: ask again.</li>
<li>Match each line with your records by <code>transaction_id</code> or <code>refund_id</code>. <code>customer_reference</code> is your own name for it.</li>
<li>Look into each line that you have no record of: you may have missed its webhook. Of an order that has no line, read the status before you ask for its money again: a fee may have taken the whole amount, or the money may have come late.</li>
</ol>
<p>A statement of past days no longer changes.</p>
${heading('causes', 'What the lines mean')}
${CAUSE_TABLE}
<p>A fee, its rate and its fixed part together, is rounded once, to the smallest unit, half to even: 0.5 % of 1.00 is 0.00, of 3.00 it is 0.02.</p>
<p>By default the statement shows all three balances, so that what is set aside and paid later has its lines on <code>reserved</code>. With <code>balance=available</code> you see what can be spent; then a refund by a carrier shows as <code>refund_reserved</code> only.</p>
${heading('lists', 'Which call answers what')}
${LISTS}
<p>A payment collected before midnight and paid after it, or a bank transfer whose proof takes days, is in the list of one day and in the statement of another. To compare money, use the statement. In the list, what was sold are the payments that are <code>approved</code> or <code>refunded</code>: a payment that has been refunded whole changes its status, and its <code>completed_at</code> with it; its <a href="/docs/reference#readMerchantTransaction">timeline</a> keeps both instants.</p>
<p>Of each call the <a href="/docs/reference#readStatement">reference</a> has every field.</p>`;
  const sections = [
    { id: 'day', title: 'Compare a day' },
    { id: 'causes', title: 'What the lines mean' },
    { id: 'lists', title: 'Which call answers what' },
  ];
  return { title: 'Reconcile', main, sections };
}
