/**
 * The page about webhooks: what they say, how they are verified, tried again and replayed.
 *
 * Invariant: the schedule of tries is read from the domain, and the samples are the ones that tests run.
 */

import { DELIVERY_TIMEOUT_MS, RETRY_WAITS_MS } from '../../domain/webhook.ts';
import { html } from '../../messages/html.ts';
import { EVENT, NOTIFY_URL } from '../example.ts';
import { PAYOUT_WEBHOOK_BODY, WEBHOOK_BODY } from '../examples-money.ts';
import type { Guide } from './guide.ts';
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
      'six fields',
    ],
    ['`payment.refunded`', 'a refund is completed, a partial one too', 'the same six; `amount` is what was given back'],
    ['`payout.pending`', 'a line of a payout is made', 'that of a payout'],
    ['`payout.completed`, `payout.failed`', 'the line is final', 'that of a payout'],
  ],
);

const HEADERS = table(
  'Headers',
  ['Header', 'What'],
  [
    ['`webhook-id`', 'the event, the same on every try: drop one that you have seen'],
    ['`webhook-timestamp`', 'when this try was signed, in seconds'],
    [
      '`webhook-signature`',
      '`v1,` and the signature; two of them, separated by a blank, while a secret is being changed',
    ],
    ['`webhook-event`', 'the event’s name'],
    [
      '`webhook-sequence`',
      '1, 2, … per transaction: ignore the status of an earlier one than you have seen, and drop no refund by it',
    ],
  ],
);

export function webhooksGuide({ isSandbox }: { readonly isSandbox: boolean }): Guide {
  const seconds = DELIVERY_TIMEOUT_MS / 1_000;
  const main = html`<h1>Webhooks</h1>
<p class="lead">A POST to the <code>notify_url</code> of the call that began it. An event is committed together with the state it tells of: there is no final state without its event.</p>
${code('Webhook', POST)}
${heading('events', 'Events')}
${EVENTS}
${code('Body of a payout’s webhook', JSON.stringify(PAYOUT_WEBHOOK_BODY, null, 2))}
${heading('receive', 'Receive')}
<ol>
<li>Take the body as it came, and verify the signature before you parse it.</li>
<li>Answer any 2xx within ${seconds} seconds, and work afterwards. Redirects are not followed.</li>
<li>Drop a <code>webhook-id</code> that you have seen. Delivery is at least once, in no certain order: a smaller <code>webhook-sequence</code> of the same transaction tells of an older status, which does not take the place of a newer one. Count each <code>payment.refunded</code> all the same: it is a refund of its own.</li>
<li>Compare <code>amount</code>, <code>currency</code> and <code>customer_reference</code> with your order, then act on <code>status</code>. A <code>payment.refunded</code> carries the amount of that one refund: add it to those before.</li>
</ol>
${heading('verify', 'Verify')}
<p>Signatures are those of <a href="https://www.standardwebhooks.com" rel="noreferrer">Standard Webhooks</a>: HMAC-SHA256 over <code>id.timestamp.body</code>, with the bytes that stand in base64 behind <code>whsec_</code>. Its libraries verify them, and so does this, with nothing installed. The secret was shown when the merchant was made${isSandbox ? html`; the demo merchant’s is <code>webhook_secret</code> in <code>.data/demo.json</code>` : undefined}.</p>
${HEADERS}
${WEBHOOK_SAMPLES.map(
  (sample) => html`<h3 id="${sample.id}">${sample.language}</h3>
${code(sample.language, sample.code)}`,
)}
<p><code>mbongo webhook secret rotate</code> changes the secret. For the time of its grace both sign, so nothing is missed.</p>
${heading('tries', 'Tries')}
<p>What is not acknowledged is tried again after ${RETRY_WAITS_MS.map(spoken).join(', ')}, each up to a fifth later and never sooner: a receiver that is away for three days loses nothing. <code>Retry-After</code> is honoured up to a day. A 410 ends it at once. After the last try the event is <code>dead</code>, and can still be sent again. One slow receiver delays nobody else.</p>
${heading('again', 'Look, and send again')}
${code(
  'Shell',
  `curl -s "$API/internal/events?status=dead" -H "Authorization: Bearer $CREDENTIAL"

curl -s -X POST "$API/internal/events/${EVENT}/replay" -H "Authorization: Bearer $CREDENTIAL"

curl -s -X POST "$API/internal/events/replay" -H "Authorization: Bearer $CREDENTIAL" \\
  -H 'Content-Type: application/json' -d '{"from":"2026-11-20","to":"2026-11-21","status":"dead"}'`,
)}
<p>In the <a href="/docs/reference#webhooks">reference</a>: <a href="/docs/reference#listEvents">list</a>, <a href="/docs/reference#readEvent">read one with its tries</a>, <a href="/docs/reference#replayEvent">send one again</a>, <a href="/docs/reference#replayEvents">send a range again</a>.</p>`;
  const sections = [
    { id: 'events', title: 'Events' },
    { id: 'receive', title: 'Receive' },
    {
      id: 'verify',
      title: 'Verify',
      sections: WEBHOOK_SAMPLES.map(({ id, language }) => ({ id, title: language })),
    },
    { id: 'tries', title: 'Tries' },
    { id: 'again', title: 'Send again' },
  ];
  return { title: 'Webhooks', main, sections };
}

/** "5 min". */
function spoken(wait: number): string {
  if (wait < 60_000) return `${wait / 1_000} s`;
  return wait < 3_600_000 ? `${wait / 60_000} min` : `${wait / 3_600_000} h`;
}
