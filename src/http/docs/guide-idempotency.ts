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

export function idempotencyGuide(): Guide {
  const main = html`<h1>Idempotency</h1>
<p class="lead">Networks lose answers. Send every POST with a name for what you want done, and repeat it under the same name until you have an answer: it is done once.</p>
${code('Shell', TWICE)}
<p>The second answer is the first one, byte for byte, with the header <code>Idempotent-Replayed: true</code>.</p>
${heading('how', 'How it works')}
<ul>
<li><code>Idempotency-Key</code> has 1 to 255 visible ASCII characters. One name for one thing that you want done: <code>order-1-refund</code>, a UUID. A pair of quotes around it is left out; the header given twice is <a href="/docs/errors/1110">1110</a>.</li>
<li>Every POST that takes a credential honours it, for 24 hours.</li>
<li>Bodies are compared by what they mean: the order of fields and blanks does not matter. Another body, or another id in the path, under the same key is <a href="/docs/errors/1203">1203</a>.</li>
<li>Two that race get the same answer: one is carried out, the other waits for it, at most ten seconds. Then it is 1203 with <code>retryable: true</code>; ask again.</li>
<li>A process that dies in the middle changes nothing: the repeated call completes the first run.</li>
</ul>
${heading('scope', 'Whose key it is')}
${table(
  'Scope of a key',
  ['Call', 'A key counts for', 'Because'],
  [
    [
      'with the merchant’s credential, and `POST /payments/send`',
      'the merchant and the call',
      'a payout that is repeated under a fresh session must find its first run',
    ],
    [
      'any other with a session’s token',
      'the session and the call',
      'two customers whose devices both use the key `1` must not read each other',
    ],
  ],
)}
${heading('kept', 'What is kept')}
${table(
  'Which answers are kept',
  ['Answer', 'Kept', 'Repeat it with'],
  [
    ['2xx', 'yes', 'the same key: the same answer'],
    ['402, 404, 409', 'yes: refused for how things stand', 'a new key, once that has changed'],
    ['400, 401, 403, 413, 415', 'no', 'the same key, corrected'],
    ['429, 503', 'no', 'the same key, after `Retry-After`'],
    ['502', 'no: nothing was begun', 'the same key, also with another body'],
    ['500, or none at all', 'not as an answer', 'the same key: the first run is completed'],
  ],
)}
<p>Without a key a second POST is a second wish: another session, another payout, another refund as long as anything is left. A session all the same pays at most once, however many submits race on it.</p>`;
  const sections = [
    { id: 'how', title: 'How it works' },
    { id: 'scope', title: 'Whose key it is' },
    { id: 'kept', title: 'What is kept' },
  ];
  return { title: 'Idempotency', main, sections };
}
