/**
 * The page about money out: one call that pays up to a hundred people, what becomes of each, and who may make it.
 *
 * Invariant: its first commands, pasted after those of the first page, work as they stand; a test pastes them.
 */

import { MAX_BENEFICIARIES, MAX_PAID_AGAIN } from '../../domain/payout-order.ts';
import { MAX_OCCURRENCES } from '../../domain/schedule.ts';
import { html } from '../../messages/html.ts';
import type { Guide, Installation } from './guide.ts';
import { code, heading, table } from './prose.ts';

const READ = `curl -s "$API/internal/payouts/$BATCH" -H "Authorization: Bearer $CREDENTIAL"`;

const RETRY = `curl -s "$API/internal/payouts/$BATCH/retry" \\
  -H "Authorization: Bearer $CREDENTIAL" -H 'Content-Type: application/json' \\
  -H 'Idempotency-Key: salaries-11-again' -d '{}'`;

const LINES = table(
  'Statuses of a line',
  ['Status', 'Meaning'],
  [
    [
      '`pending`',
      'accepted: its date has not come, it is about to be sent, or its carrier cannot be reached at the moment',
    ],
    ['`processing`', 'handed to the carrier'],
    ['`completed`', 'final: the money has arrived'],
    [
      '`failed`',
      'final: the money has not arrived, and what was reserved for the line, including the fee, is available again',
    ],
  ],
);

const BATCHES = table(
  'Statuses of a batch',
  ['Status', 'Meaning'],
  [
    ['`pending`', 'nothing has started yet'],
    ['`processing`', 'some lines are still open, or still to come'],
    ['`completed`, `failed`', 'final: all lines have this status'],
    ['`partial_success`', 'final: some lines are completed, others have failed'],
  ],
);

const DATES = table(
  'When a payout runs',
  ['sending_type', 'Fields', 'Runs'],
  [
    ['`immediate`, or absent', 'nothing; without `sending_type`, dates are refused', 'now'],
    ['`scheduled`', `\`scheduled_dates\`: 1 to ${MAX_OCCURRENCES} dates`, 'once on each date'],
    [
      '`recurring`',
      '`recurring_start_date`, `recurring_frequency`, `recurring_occurrences`',
      '`daily`, `weekly`, `biweekly` or `monthly` from the start date on, that number of times',
    ],
  ],
);

const MONTHLY = `{
  "sending_type": "recurring",
  "recurring_frequency": "monthly",
  "recurring_start_date": "2030-01-31",
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

/** The page `/docs/payouts`. Its commands have their webhooks sent to the inbox of the sandbox. */
export function payoutsGuide({ sandbox }: Installation): Guide {
  const main = html`<h1>Pay people</h1>
<p class="lead">One call pays up to ${MAX_BENEFICIARIES} people: at once, on dates, or repeatedly; by mobile money or into wallets. The gateway reserves amounts and fees before it sends anything, and pays each person once.</p>
${heading('send', 'One call')}
<p>Set <code>API</code> and <code>CREDENTIAL</code> as on <a href="/docs#credential">the first page</a>. In a sandbox every merchant begins with a balance to try this with; otherwise it comes from approved payments, or from the operator.</p>
${code('Shell', send(sandbox))}
<p>This is a <em>batch</em> of two <em>lines</em>. Each line has its own <code>transaction_id</code>. A moment later the first line, to a number that ends in 01, is completed; the second has failed, because a number that ends in 02 has no account. Other endings have <a href="/docs/test-numbers">other results</a>. To pay into wallets, send <code>"receipt_mode":"wallet"</code>, and for each person a <code>wallet_number</code> instead of the <code>phone_number</code>.</p>
${code('Shell', READ)}
<p>Send an <a href="/docs/idempotency"><code>Idempotency-Key</code></a>. Within 24 hours the same call with the same key gets the same batch; later, or without a key, a second call is a second payout, even with the same <code>customer_reference</code>. After a longer outage look first whether the batch is there: <a href="/docs/reference#listPayouts"><code>GET /internal/payouts?customer_reference=salaries-11</code></a>. Each path has its own keys: repeat a payout on the path where you began it.</p>
${heading('statuses', 'Statuses')}
${LINES}
<p>You get two <a href="/docs/webhooks">webhooks</a> for each line: <code>payout.pending</code> when it is made, and <code>payout.completed</code> or <code>payout.failed</code> when it is final. If a carrier gives no answer, the line stays <code>processing</code>: the gateway inquires until the outcome is known, and never sends the money a second time on a guess. Nor should you: pay a line again when it is <code>failed</code>, not when it takes long. Why it failed is its <code>reason</code> when you read the batch, one of <a href="/docs/errors#reasons">these codes</a>.</p>
${BATCHES}
${heading('again', 'Pay failed lines again')}
<p>This call makes a new batch of the failed lines, to the same people, at the current fees. Each failed line is paid again at most once, however often you call. A line that fails again can be paid again from the new batch, ${MAX_PAID_AGAIN} times in all. As long as no line has failed, the call is refused with <a href="/docs/errors/1205">1205</a>. That answer is stored under its key: use another key later.</p>
${code('Shell', RETRY)}
<p><code>{"transaction_ids":["txn_…"]}</code> in the body names some of them. A line that an operator has called off, or that the carrier has paid after all, is refused too; the refusal names the line. Pay a failed person again by this call rather than in another way: it looks at every line that the failed one pays again, back to the first. If you must, read them all first, and those of the batches that paid it again: <code>taken_after_all</code> must be false, and none may be <code>completed</code>.</p>
${heading('funds', 'Funds and fees')}
<ul>
<li>Your available balance pays amounts and fees (see <a href="/docs/reference#readBalances"><code>GET /internal/balances</code></a>). An immediate payout that it does not cover is refused with <a href="/docs/errors/1201">1201</a>, and nothing is made. If two calls compete for one balance, it is never overdrawn: the second is decided on what is left.</li>
<li>All phone numbers are checked before anything is made. If one is not a phone number, belongs to a carrier that is not connected, or occurs twice, the call is refused, and the refusal names it. A wallet that does not exist fails only its own line.</li>
<li>With <code>"dry_run": true</code> all of this is checked and the fees are quoted, but nothing is made: the answer has <code>"dry_run": true</code>, too. Unknown fields are ignored, so a misspelt <code>dry_run</code> pays. The answer is stored under its Idempotency-Key like any other: the payout itself needs another key.</li>
<li>If your operator has set an amount from which payouts need approval, a batch of that amount or more has <code>approval: waiting</code>, and nothing is sent until an operator has approved it.</li>
</ul>
${heading('dates', 'On dates')}
${DATES}
${code('Fields', MONTHLY)}
<p><code>monthly</code> keeps the day of the month, or takes the last day of a month that has no such day: 31 January, 28 February, 31 March. A date runs at the hour and in the time zone that your operator has set for you (06:00 UTC by default). Nothing is reserved in advance: funds are checked as each line starts, and a line without funds fails alone. The lines of a later date are made when it runs; their webhooks carry <code>occurrence</code> and <code>scheduled_date</code>. A date that was missed while the gateway was down runs once, when the gateway is back.</p>
${heading('stop', 'Stop a payout')}
<p>A payout has no call that stops it: your operator does, with <code>mbongo payout pause</code>, <code>resume</code> and <code>cancel</code>. Paused, no date runs; what has been started goes on. Cancelled, no further date runs, and every line that has not been handed to a carrier becomes <code>failed</code> with the reason <code>called_off</code>: what was reserved for it is available again, and you get its webhook. A line that is <code>processing</code> cannot be called back. The batch shows it in <code>paused_at</code> and <code>cancelled_at</code>. To leave one person out of later dates, have the batch cancelled, and send a new one without that person.</p>
${heading('who', 'Who may send')}
<p>Your backend, with the merchant credential, as above. <a href="/docs/reference#sendPayout"><code>POST /payments/send</code></a> does the same with a session token, and has its own keys: mint a session with <code>"scope":"payout"</code>, and keep its token on your backend. A session with the scope <code>collect</code>, one that has already collected, and one that is bound to a device are refused with <a href="/docs/errors/1003">1003</a>, because such tokens travel to phones.</p>`;
  const sections = [
    { id: 'send', title: 'One call' },
    { id: 'statuses', title: 'Statuses' },
    { id: 'again', title: 'Failed lines' },
    { id: 'funds', title: 'Funds and fees' },
    { id: 'dates', title: 'On dates' },
    { id: 'stop', title: 'Stop a payout' },
    { id: 'who', title: 'Who may send' },
  ];
  return { title: 'Pay people', main, sections };
}
