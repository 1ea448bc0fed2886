/**
 * The page about refunds: how money goes back, by which way, and what the merchant is told of it.
 *
 * Invariant: its commands, pasted after those of the first page, work as they stand; a test pastes them.
 */

import { REFUNDS_OF_A_PAYMENT } from '../../domain/refund-order.ts';
import { html } from '../../messages/html.ts';
import type { Guide } from './guide.ts';
import { code, heading, table } from './prose.ts';

const FIND = `TRANSACTION=$(curl -s "$API/internal/transactions?customer_reference=order-1&status=approved&limit=1" \\
  -H "Authorization: Bearer $CREDENTIAL" \\
  | sed -n 's/.*"transaction_id":"\\([^"]*\\)".*/\\1/p')
echo "$TRANSACTION"`;

const REFUND = `REFUND=$(curl -s "$API/internal/refunds" \\
  -H "Authorization: Bearer $CREDENTIAL" -H 'Content-Type: application/json' \\
  -H 'Idempotency-Key: order-1-refund-1' \\
  -d '{"transaction_id":"'"$TRANSACTION"'","amount":"5.00",
       "reason":"one item was missing"}' \\
  | sed -n 's/.*"refund_id":"\\([^"]*\\)".*/\\1/p')
echo "$REFUND"`;

const READ = `curl -s "$API/internal/refunds/$REFUND" -H "Authorization: Bearer $CREDENTIAL"`;

const WAYS = table(
  'By which way money goes back',
  ['Paid by', 'Given back', 'By'],
  [
    ['`wallet`, `flash`', 'at once: `completed` in the answer', 'the gateway’s own ledger'],
    ['`mobile_money`', 'to the number that paid', 'the carrier'],
    ['`card`, `google_pay`, `apple_pay`', 'to the card that paid', 'the card network'],
    ['`bank_transfer`', 'to the customer’s account', 'a person: `by_hand` is true'],
  ],
);

const STATUSES = table(
  'Statuses of a refund',
  ['Status', 'Means'],
  [
    ['`pending`', 'accepted; about to be sent, or waiting for the upstream or for a person'],
    ['`processing`', 'handed to the upstream; it is asked until it is known'],
    ['`completed`', 'final: the customer has the money'],
    ['`failed`', 'final: `failure` says why, and the amount is yours again'],
  ],
);

export function refundsGuide(): Guide {
  const main = html`<h1>Give money back</h1>
<p class="lead">An approved payment goes back whole or in part, to whoever paid it, by the way it came. It is paid from your balance and put aside before anything is sent.</p>
${heading('refund', 'One call')}
<p>With <code>API</code> and <code>CREDENTIAL</code> of <a href="/docs#credential">the first page</a>, once the payment there is approved. Its <code>transaction_id</code> stood in the answers and in the webhook; this finds it by your own reference:</p>
${code('Shell', FIND)}
<p>Without an <code>amount</code> all that is left goes back.</p>
${code('Shell', REFUND)}
${code('Shell', READ)}
<p>Send an <a href="/docs/idempotency"><code>Idempotency-Key</code></a>: without one a second call is a second refund, as long as anything is left.</p>
${heading('ways', 'By which way')}
${WAYS}
<p>What no upstream that is connected can send goes back by hand too, as <code>by_hand</code> says. While a carrier is down the refund waits, its money put aside, and goes out when it is back. One without an answer is never sent again on a guess.</p>
${heading('statuses', 'Statuses')}
${STATUSES}
${heading('bounds', 'What may be given back')}
<ul>
<li>All refunds of a payment together never exceed its <code>amount</code>; more than is left is <a href="/docs/errors/1202">1202</a> and says how much that is. What is on its way counts until it fails.</li>
<li>A fee that the buyer paid on top is not given back, and a fee that you paid does not return.</li>
<li>Money that is still held for delivery goes back first; the rest comes from your available balance. Too little is <a href="/docs/errors/1201">1201</a>.</li>
<li>One payment goes back in ${REFUNDS_OF_A_PAYMENT} parts at most, failed ones too, then it is <a href="/docs/errors/1202">1202</a>. A payment that is not approved, or is <code>refunded</code> already, is <a href="/docs/errors/1205">1205</a>.</li>
</ul>
${heading('told', 'What you are told')}
<p>Every refund that is completed, a partial one too, is a <a href="/docs/webhooks#events">webhook</a> <code>payment.refunded</code>; its <code>amount</code> is what this one gave back. When everything is back the payment itself is <code>refunded</code>; until then it stays <code>approved</code>, and <a href="/docs/reference#readTransaction"><code>refunded_amount</code></a> says how much is back. A refund that fails is not told by webhook: read it at <a href="/docs/reference#readRefund"><code>GET /internal/refunds/{id}</code></a>.</p>`;
  const sections = [
    { id: 'refund', title: 'One call' },
    { id: 'ways', title: 'By which way' },
    { id: 'statuses', title: 'Statuses' },
    { id: 'bounds', title: 'What may be given back' },
    { id: 'told', title: 'What you are told' },
  ];
  return { title: 'Give money back', main, sections };
}
