/**
 * The page about money out: one call that pays up to a hundred people, what becomes of each, and who may make it.
 *
 * Invariant: its first commands, pasted after those of the first page, work as they stand; a test pastes them.
 */

import { BENEFICIARIES_MOST, PAID_AGAIN_MOST } from '../../domain/payout-order.ts';
import { OCCURRENCES_MOST } from '../../domain/schedule.ts';
import { html } from '../../messages/html.ts';
import type { Guide, Places } from './guide.ts';
import { code, heading, table } from './prose.ts';

const READ = `curl -s "$API/internal/payouts/$BATCH" -H "Authorization: Bearer $CREDENTIAL"`;

const RETRY = `curl -s "$API/internal/payouts/$BATCH/retry" \\
  -H "Authorization: Bearer $CREDENTIAL" -H 'Content-Type: application/json' \\
  -H 'Idempotency-Key: salaries-11-again' -d '{}'`;

const LINES = table(
  'Statuses of a line',
  ['Status', 'Means'],
  [
    ['`pending`', 'accepted: its date has not come, it is about to be sent, or its carrier cannot be reached just now'],
    ['`processing`', 'handed to the carrier'],
    ['`completed`', 'final: the money has arrived'],
    ['`failed`', 'final: it has not, and what was put aside for it, fee included, is available to you again'],
  ],
);

const BATCHES = table(
  'Statuses of a batch',
  ['Status', 'Means'],
  [
    ['`pending`', 'nothing of it has started'],
    ['`processing`', 'something is under way, or still to come'],
    ['`completed`, `failed`', 'final: all lines have ended so'],
    ['`partial_success`', 'final: some arrived, and some did not'],
  ],
);

const DATES = table(
  'When a payout runs',
  ['sending_type', 'Takes', 'Runs'],
  [
    ['`immediate`, or absent', 'nothing', 'now'],
    ['`scheduled`', `\`scheduled_dates\`: 1 to ${OCCURRENCES_MOST} dates`, 'once on each of them'],
    [
      '`recurring`',
      '`recurring_start_date`, `recurring_frequency`, `recurring_occurrences`',
      '`daily`, `weekly`, `biweekly` or `monthly` from the start on, so many times',
    ],
  ],
);

const MONTHLY = `{
  "sending_type": "recurring",
  "recurring_frequency": "monthly",
  "recurring_start_date": "2027-01-31",
  "recurring_occurrences": 12
}`;

function send(sandbox: string): string {
  return `BATCH=$(curl -s "$API/internal/payouts" \\
  -H "Authorization: Bearer $CREDENTIAL" -H 'Content-Type: application/json' \\
  -H 'Idempotency-Key: salaries-11' \\
  -d '{"customer_reference":"salaries-11","currency":"usd",
       "receipt_mode":"mobile_money",
       "notify_url":"${sandbox}/inbox/demo",
       "beneficiaries":[
         {"phone_number":"+243810000101","amount":"20.00"},
         {"phone_number":"+243810000102","amount":"35.50"}]}' \\
  | sed -n 's/.*"batch_id":"\\([^"]*\\)".*/\\1/p')
echo "$BATCH"`;
}

export function payoutsGuide({ sandbox }: Places): Guide {
  const main = html`<h1>Pay people</h1>
<p class="lead">One call pays up to ${BENEFICIARIES_MOST} people: now, on dates, or again and again; to their phones or into wallets. What it costs is put aside before anything is sent, and each of them is paid once.</p>
${heading('send', 'One call')}
<p>With <code>API</code> and <code>CREDENTIAL</code> of <a href="/docs#credential">the first page</a>. The demo merchant has money to try it with; elsewhere approved payments bring it.</p>
${code('Shell', send(sandbox))}
<p>This is a <em>batch</em> of two <em>lines</em>. Each has a <code>transaction_id</code> of its own. A moment later the first one, to a number that ends in 01, has arrived; the second one has failed, because 02 has no account. Other endings do <a href="/docs/test-numbers">other things</a>. Into wallets it is <code>"receipt_mode":"wallet"</code>, and a <code>wallet_number</code> for each instead of the phone’s.</p>
${code('Shell', READ)}
<p>Send an <a href="/docs/idempotency"><code>Idempotency-Key</code></a>. The same call under the same key is the same batch; without one it is a second payout, whatever its <code>customer_reference</code> says. Keys count for one path: repeat a payout where you began it.</p>
${heading('statuses', 'What becomes of it')}
${LINES}
<p>Each line tells you twice by <a href="/docs/webhooks">webhook</a>: <code>payout.pending</code> when it is made, <code>payout.completed</code> or <code>payout.failed</code> when it is final. A carrier that gives no answer leaves it <code>processing</code>: it is asked until it is known, and the money is never sent a second time on a guess. Neither must you: pay a line again when it is <code>failed</code>, not when it takes long.</p>
${BATCHES}
${heading('again', 'Pay failed lines again')}
<p>Once the batch is over: a new one of what failed, to the same people at the fees of now. Each failed line is paid again at most once, however often this is called; what fails again is paid again from the new batch, ${PAID_AGAIN_MOST} times in all. While nothing has failed it is <a href="/docs/errors/1205">1205</a>, which is remembered under its key: take another key later.</p>
${code('Shell', RETRY)}
<p><code>{"transaction_ids":["txn_…"]}</code> names some of them. What an operator has called off, and what has arrived after all, is refused too, and the line is named.</p>
${heading('funds', 'Funds and fees')}
<ul>
<li>Your available balance pays amounts and fees: <a href="/docs/reference#readBalances"><code>GET /internal/balances</code></a>. What it does not cover is <a href="/docs/errors/1201">1201</a>, and nothing is made. Of two calls that race for one balance one wins.</li>
<li>All phone numbers are looked at before anything is made: where one is no number, has a carrier that is not connected or stands there twice, the call is refused and names it. A wallet that does not exist fails its own line only.</li>
<li>With <code>"dry_run": true</code> all of that is checked and the fees are quoted, and nothing is made. It remembers its key like any other call: the payout itself needs another one.</li>
<li>From the amount on that your operator has set, a batch has <code>approval: waiting</code>, and nothing is sent until a person has approved it.</li>
</ul>
${heading('dates', 'On dates')}
${DATES}
${code('Fields', MONTHLY)}
<p><code>monthly</code> keeps the day of the month, or takes the month’s last where it has no such day: 31 January, 28 February, 31 March. A date begins at the hour and in the time zone that your operator has set for you, 06:00 UTC otherwise. Nothing is put aside beforehand: funds are looked at as each line starts, and a line without them fails alone. The lines of a later date are made when it runs; their webhooks carry <code>occurrence</code> and <code>scheduled_date</code>. A date that was missed while the gateway was down is made up for, once.</p>
${heading('who', 'Who may send')}
<p>Your backend, with its credential, as above. <a href="/docs/reference#sendPayout"><code>POST /payments/send</code></a> is the same for a session, with keys of its own: mint one with <code>"scope":"payout"</code>, and keep it on your backend. A session for collecting, one that has collected, and one that a device is bound to are refused with <a href="/docs/errors/1003">1003</a>, because such tokens travel to phones.</p>`;
  const sections = [
    { id: 'send', title: 'One call' },
    { id: 'statuses', title: 'What becomes of it' },
    { id: 'again', title: 'Failed lines' },
    { id: 'funds', title: 'Funds and fees' },
    { id: 'dates', title: 'On dates' },
    { id: 'who', title: 'Who may send' },
  ];
  return { title: 'Pay people', main, sections };
}
