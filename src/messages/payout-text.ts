/**
 * The sentence that tells of a payout line, for its webhooks and for answers.
 *
 * Invariant: it says what is now, and where something failed or waits, why.
 */

import type { PayoutBatch, PayoutLine } from '../domain/outgoing-records.ts';
import { REASONS, type Reason } from '../domain/reason.ts';
import { languageOf, say } from './messages.ts';

/**
 * `language` is a stored one: an unknown one is said in the default language. `approval` is that of the line's batch; of one
 * that has begun it need not be looked for.
 */
export function payoutText(
  language: string,
  line: Pick<PayoutLine, 'status' | 'reason' | 'scheduled_date' | 'reserved_at' | 'next_start_at'>,
  approval: PayoutBatch['approval'] = 'none',
): string {
  const spoken = languageOf(language);
  const { status, reason, scheduled_date: date } = line;
  if (status === 'failed') {
    return say(spoken, 'payout.failed', { reason: isReason(reason) ? say(spoken, `reason.${reason}`) : '' });
  }
  if (status !== 'pending') return say(spoken, `payout.${status}`);
  if (reason !== null) return say(spoken, 'payout.waiting');
  // What pays at once is put aside at once, unless an operator has to approve it first.
  if (approval === 'waiting' || (date === null && line.reserved_at === null))
    return say(spoken, 'done.payout_approval');
  // A date is said, and not promised: it may be left out, or be made up for later. Once it has come the line is about to be sent.
  return date === null || line.next_start_at !== null
    ? say(spoken, 'payout.pending')
    : say(spoken, 'payout.scheduled', { date });
}

function isReason(text: string | null): text is Reason {
  return REASONS.some((reason) => reason === text);
}
