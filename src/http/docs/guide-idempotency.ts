/**
 * The page about idempotency: how a call is repeated without being done twice.
 *
 * Invariant: it says what the pipeline does (contract §7).
 */

import { html } from '../../messages/html.ts';
import type { Guide } from './guide.ts';
import { code, heading, table } from './prose.ts';

const TWICE = `for attempt in 1 2; do
  curl -s -i "$API/internal/sessions/create" \\
    -H "Authorization: Bearer $CREDENTIAL" -H 'Content-Type: application/json' \\
    -H 'Idempotency-Key: order-1-session' \\
    -d '{"amount":"45.90","currency":"usd","customer_reference":"order-1"}'
done`;

/** The page `/docs/idempotency`, the same for every installation. */
export function idempotencyGuide(): Guide {
  const main = html`<h1>Idempotency</h1>
<p class="lead">Networks lose answers. Send every POST with an <code>Idempotency-Key</code> that names the operation, and repeat it with the same key until you have an answer: the operation is carried out once.</p>
${code('Shell', TWICE)}
<p>The second answer is identical to the first, byte for byte, and has the header <code>Idempotent-Replayed: true</code>.</p>
${heading('how', 'How it works')}
<ul>
<li>An <code>Idempotency-Key</code> has 1 to 255 visible ASCII characters. Use one key for each operation: <code>order-1-refund</code>, or a UUID. One pair of double quotes around the key is ignored; a call that has the header twice is refused with <a href="/docs/errors/1110">1110</a>.</li>
<li>Every POST that takes a credential honours the key, for 24 hours after its first use. A call that is repeated later is a new one. The key of a call with a session token is of use only while the session lives; afterwards the call is refused with <a href="/docs/errors/1005">1005</a>, which names the payment that was submitted with the session, if there is one. If you have been without an answer for longer, look first for what the call would have made: <a href="/docs/reference#listTransactions">payments</a> and <a href="/docs/reference#listPayouts">payouts</a> by <code>customer_reference</code>, <a href="/docs/reference#listRefunds">refunds</a> by <code>transaction_id</code>. <code>POST /payments/send</code> repeats its answer to a new session with the same key, if that session may pay out: one for collecting alone, one that has collected, and one that has shown a device may not, and learn nothing.</li>
<li>Bodies are compared as JSON values: the order of fields and the whitespace do not matter. The same key with another body, or with another id in the path, is refused with <a href="/docs/errors/1203">1203</a>.</li>
<li>Two concurrent calls with the same key get the same answer: one is carried out, and the other waits for its answer, ten seconds at most. After that it is refused with 1203 and <code>retryable: true</code>: send it again.</li>
<li>This holds even if a process of the gateway dies in the middle: the repeated call completes the first run.</li>
</ul>
${heading('scope', 'The scope of a key')}
${table(
  'Scope of a key',
  ['Call', 'A key is scoped to', 'Reason'],
  [
    [
      'with the merchant’s credential, and `POST /payments/send`',
      'the merchant and the call',
      'a payout that is repeated with a new session must find its first run',
    ],
    [
      'any other call with a session token',
      'the session and the call',
      'two customers whose devices both use the key `1` must not get each other’s answers',
    ],
  ],
)}
${heading('kept', 'Which answers are stored')}
${table(
  'Which answers are stored',
  ['Answer', 'Stored', 'Repeat the call with'],
  [
    ['2xx', 'yes', 'the same key: you get the same answer'],
    [
      '402, 404, 409',
      'yes, unless `retryable` is true: the state did not allow it',
      'a new key, once the state has changed',
    ],
    ['400, 401, 403, 413, 415', 'no', 'the same key, once the request is corrected'],
    ['429, 503', 'no', 'the same key, after `Retry-After`'],
    ['502', 'no: the key is free again', 'the same key; the body may differ'],
    ['500, or no answer at all', 'no, only that the run has begun', 'the same key: the first run is completed'],
  ],
)}
<p>Without a key, a second POST is a second operation: another session, another payout, another refund as long as anything is left to refund. A session still pays at most once, however many submits race on it.</p>`;
  const sections = [
    { id: 'how', title: 'How it works' },
    { id: 'scope', title: 'The scope of a key' },
    { id: 'kept', title: 'Which answers are stored' },
  ];
  return { title: 'Idempotency', main, sections };
}
