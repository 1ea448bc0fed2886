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
  'How each method is refunded',
  ['Paid by', 'Refunded', 'Carried out by'],
  [
    ['`wallet`, `flash`', 'at once: `completed` in the answer', 'the gateway’s own ledger'],
    ['`mobile_money`', 'to the number that paid', 'the carrier'],
    ['`card`, `google_pay`, `apple_pay`', 'to the card that paid', 'the card network'],
    ['`bank_transfer`', 'to the customer’s bank account', 'a person: `by_hand` is true'],
  ],
);

const STATUSES = table(
  'Statuses of a refund',
  ['Status', 'Meaning'],
  [
    ['`pending`', 'accepted; about to be sent, or waiting for the upstream or for a person'],
    ['`processing`', 'handed to the upstream; the gateway inquires until the outcome is known'],
    ['`completed`', 'final: the customer has the money'],
    ['`failed`', 'final: `failure` says why, and the amount is back in your balance'],
  ],
);

/** The page `/docs/refunds`, the same for every installation. */
export function refundsGuide(): Guide {
  const main = html`<h1>Give money back</h1>
<p class="lead">A refund returns the money of an approved payment, in whole or in part, to the payer, by the method that paid. The money comes from your balance, and is reserved before anything is sent.</p>
${heading('refund', 'One call')}
<p>Set <code>API</code> and <code>CREDENTIAL</code> as on <a href="/docs#credential">the first page</a>, and wait until the payment made there is approved. Its <code>transaction_id</code> was in the answers and in the webhook; this command finds it by your own reference:</p>
${code('Shell', FIND)}
<p>This refunds a part. Without an <code>amount</code>, all that is left is refunded.</p>
${code('Shell', REFUND)}
${code('Shell', READ)}
<p>Send an <a href="/docs/idempotency"><code>Idempotency-Key</code></a>: without a key, or with one that is older than 24 hours, a second call is a second refund, as long as anything is left. After a longer outage look first at the payment’s refunds: <a href="/docs/reference#listRefunds"><code>GET /internal/refunds?transaction_id=…</code></a>.</p>
${heading('ways', 'How the money is returned')}
${WAYS}
<p>A refund that no connected upstream can send is also carried out by hand (<code>by_hand</code> is true). While an upstream is down, refunds wait with their money reserved, and are sent when it is back. A refund without an answer is never sent again on a guess.</p>
${heading('statuses', 'Statuses')}
${STATUSES}
${heading('bounds', 'What can be refunded')}
<ul>
<li>All refunds of a payment together never exceed its <code>amount</code>. An amount above what is left is refused with <a href="/docs/errors/1202">1202</a>, which names what is left. A refund in progress counts until it fails.</li>
<li>Fees are not refunded: neither a fee that the buyer paid on top, nor a fee that you paid.</li>
<li>Money that is still held for the payment’s delivery is used first; the rest comes from your available balance. If that is too little, the refund is refused with <a href="/docs/errors/1201">1201</a>.</li>
<li>A payment can have at most ${REFUNDS_OF_A_PAYMENT} refunds, failed ones included; the next is refused with <a href="/docs/errors/1202">1202</a>. A refund of a payment that is not approved, or is already <code>refunded</code>, is refused with <a href="/docs/errors/1205">1205</a>.</li>
</ul>
${heading('told', 'How you learn the result')}
<p>Every completed refund, including a partial one, sends a <a href="/docs/webhooks#events">webhook</a> <code>payment.refunded</code>; its <code>amount</code> is what this one refund returned. Once everything has been refunded, the payment itself becomes <code>refunded</code>; until then it stays <code>approved</code>, and <a href="/docs/reference#readTransaction"><code>refunded_amount</code></a> says how much has been returned. A failed refund sends no webhook: read it with <a href="/docs/reference#readRefund"><code>GET /internal/refunds/{id}</code></a>, or watch for all of them with <a href="/docs/reference#listRefunds"><code>GET /internal/refunds?status=failed</code></a>.</p>
<p>The list is in the order in which refunds were made, and so are its <code>from</code> and <code>to</code>: one that fails late stands below newer ones. Let <code>from</code> reach back to your oldest refund that was still open. With a <code>transaction_id</code> the list has the refunds of that payment, also those whose ids you have lost.</p>
<p>Rarely, an upstream carries out a refund that it had turned down. The refund stays <code>failed</code>, and <code>taken_after_all</code> is true when you read it: do not send the money another way, and ask your operator.</p>`;
  const sections = [
    { id: 'refund', title: 'One call' },
    { id: 'ways', title: 'How the money is returned' },
    { id: 'statuses', title: 'Statuses' },
    { id: 'bounds', title: 'What can be refunded' },
    { id: 'told', title: 'How you learn the result' },
  ];
  return { title: 'Give money back', main, sections };
}
