/**
 * The page about webhooks: what they say, how they are verified, tried again and replayed.
 *
 * Invariant: the schedule of tries is read from the domain, and the samples are the ones that tests run.
 */

import { DELIVERY_TIMEOUT_MS, RETRY_WAITS_MS } from '../../domain/webhook.ts';
import { html } from '../../messages/html.ts';
import { EVENT, NOTIFY_URL } from '../example.ts';
import { PAYOUT_WEBHOOK_BODY, WEBHOOK_BODY } from '../examples-money.ts';
import type { Guide, Installation } from './guide.ts';
import { code, heading, table } from './prose.ts';
import { WEBHOOK_SAMPLES } from './webhook-samples.ts';

const { host, pathname } = new URL(NOTIFY_URL);

const POST = `POST ${pathname} HTTP/1.1
host: ${host}
content-type: application/json
webhook-id: ${EVENT}
webhook-timestamp: 1795176009
webhook-signature: v1,Ru6Q5zLx8yPq0c7mJg1h3nGm0g9xq2b6k4Jt5v8w1yA=
webhook-event: payment.approved
webhook-sequence: 1

${JSON.stringify(WEBHOOK_BODY)}`;

const EVENTS = table(
  'Events',
  ['Event', 'When', 'Body'],
  [
    [
      '`payment.approved`, `payment.declined`, `payment.failed`, `payment.cancelled`, `payment.expired`',
      'the payment is final',
      'the six fields shown above',
    ],
    [
      '`payment.refunded`',
      'a refund is completed, including a partial one',
      'the same six fields; `amount` is what this refund returned',
    ],
    ['`payout.pending`', 'a line of a payout is made', 'the payout’s, shown below'],
    ['`payout.completed`, `payout.failed`', 'the line is final', 'the payout’s, shown below'],
  ],
);

const HEADERS = table(
  'Headers',
  ['Header', 'Value'],
  [
    ['`webhook-id`', 'the event’s id, the same on every try: ignore an id that you have already processed'],
    ['`webhook-timestamp`', 'when this try was signed, in Unix seconds'],
    [
      '`webhook-signature`',
      '`v1,` and the signature; while a secret is being rotated there are two, separated by a space',
    ],
    ['`webhook-event`', 'the event’s name'],
    [
      '`webhook-sequence`',
      '1, 2, … per transaction: ignore the status in an event with a lower number than you have seen, but count every refund',
    ],
  ],
);

/** The page `/docs/webhooks`. Of a gateway with a sandbox it says where the secret of the demo merchant is kept. */
export function webhooksGuide({ isSandbox, demoFile }: Pick<Installation, 'isSandbox' | 'demoFile'>): Guide {
  const seconds = DELIVERY_TIMEOUT_MS / 1_000;
  const main = html`<h1>Webhooks</h1>
<p class="lead">The gateway reports what became of a payment, payout or refund with a POST to the <code>notify_url</code> of the call that began the payment or payout. An event is committed together with the state it reports: there is no final state without its event.</p>
${code('Webhook', POST)}
${heading('events', 'Events')}
${EVENTS}
${code('Body of a payout’s webhook', JSON.stringify(PAYOUT_WEBHOOK_BODY, null, 2))}
${heading('receive', 'Receive a webhook')}
<ol>
<li>Take the body exactly as it arrived, and verify the signature before you parse it.</li>
<li>Answer with any 2xx within ${seconds} seconds, and process the event afterwards. Redirects are not followed.</li>
<li>Ignore a <code>webhook-id</code> that you have already processed. Delivery is at least once, in no guaranteed order: of one transaction, an event with a lower <code>webhook-sequence</code> reports an older status, which must not replace a newer one. But count every <code>payment.refunded</code>: each reports a refund of its own.</li>
<li>Compare <code>amount</code>, <code>currency</code> and <code>customer_reference</code> with your order, then act on <code>status</code>. Of a <code>payment.refunded</code> act on <code>amount</code>, which is that of this one refund: add it to the earlier ones. Its <code>status</code> is <code>refunded</code> after a part, too, while the payment stays <code>approved</code> until all of it has been given back. Which refund it was, <a href="/docs/reference#listRefunds"><code>GET /internal/refunds?transaction_id=…</code></a> says.</li>
</ol>
${heading('verify', 'Verify the signature')}
<p>Webhooks are signed according to <a href="https://www.standardwebhooks.com" rel="noreferrer">Standard Webhooks</a>: the signature is HMAC-SHA256 over <code>id.timestamp.body</code>. The key is the bytes that follow <code>whsec_</code> in the secret, decoded from base64. Every Standard Webhooks library verifies these signatures, and so does the code below, which needs nothing installed. The secret was shown when the merchant was created${isSandbox ? html`; the demo merchant’s is <code>webhook_secret</code> in <code>${demoFile}</code>` : undefined}.</p>
${HEADERS}
${WEBHOOK_SAMPLES.map(
  (sample) => html`<h3 id="${sample.id}">${sample.language}</h3>
${code(sample.language, sample.code)}`,
)}
<p><code>mbongo webhook secret rotate</code> replaces the secret. During the grace period each webhook is signed with both secrets, so that no webhook fails to verify.</p>
${heading('tries', 'Retries')}
<p>An event that is not acknowledged is tried again after ${RETRY_WAITS_MS.map(spoken).join(', ')}. Each interval is lengthened by up to a fifth, never shortened: a receiver that is down for three days loses nothing. <code>Retry-After</code> is honoured, up to a day. If the receiver answers 410, no further try follows. If the last try fails, the event is <code>dead</code> (a dead letter); it can still be sent again. A slow receiver delays nobody else.</p>
${heading('again', 'List events and send them again')}
${code(
  'Shell',
  `curl -s "$API/internal/events?status=dead" -H "Authorization: Bearer $CREDENTIAL"

curl -s -X POST "$API/internal/events/${EVENT}/replay" -H "Authorization: Bearer $CREDENTIAL"

curl -s -X POST "$API/internal/events/replay" -H "Authorization: Bearer $CREDENTIAL" \\
  -H 'Content-Type: application/json' -d '{"from":"2026-11-20","to":"2026-11-21","status":"dead"}'`,
)}
<p>These calls are in the <a href="/docs/reference#webhooks">reference</a>: <a href="/docs/reference#listEvents">list events</a>, <a href="/docs/reference#readEvent">read an event with its tries</a>, <a href="/docs/reference#replayEvent">send an event again</a>, <a href="/docs/reference#replayEvents">send the events of a time span again</a>.</p>`;
  const sections = [
    { id: 'events', title: 'Events' },
    { id: 'receive', title: 'Receive' },
    {
      id: 'verify',
      title: 'Verify',
      sections: WEBHOOK_SAMPLES.map(({ id, language }) => ({ id, title: language })),
    },
    { id: 'tries', title: 'Retries' },
    { id: 'again', title: 'Send again' },
  ];
  return { title: 'Webhooks', main, sections };
}

/** "5 min". */
function spoken(wait: number): string {
  if (wait < 60_000) return `${wait / 1_000} s`;
  return wait < 3_600_000 ? `${wait / 60_000} min` : `${wait / 3_600_000} h`;
}
