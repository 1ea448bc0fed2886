/**
 * The sentence about a payout line, for its webhooks and for answers.
 *
 * Invariant: it says how the line stands now, and why if it has failed or waits.
 */

import { isTakenAfterAll } from '../domain/outgoing.ts';
import type { PayoutBatch, PayoutLine } from '../domain/outgoing-records.ts';
import { REASONS, type Reason } from '../domain/reason.ts';
import { languageOf, say } from './messages.ts';

/**
 * `language` is a stored one: an unknown one becomes the default language. `approval` is that of the line's batch; it need not be
 * looked up for a batch that has begun.
 */
export function payoutText(
  language: string,
  line: Pick<PayoutLine, 'status' | 'reason' | 'scheduled_date' | 'reserved_at' | 'next_start_at' | 'late_attempt_id'>,
  approval: PayoutBatch['approval'] = 'none',
): string {
  const spoken = languageOf(language);
  const { status, reason, scheduled_date: date } = line;
  if (status === 'failed') {
    const key = isTakenAfterAll(line) ? 'payout.taken_after_all' : 'payout.failed';
    return say(spoken, key, { reason: isReason(reason) ? say(spoken, `reason.${reason}`) : '' });
  }
  if (status !== 'pending') return say(spoken, `payout.${status}`);
  if (reason !== null) return say(spoken, 'payout.waiting');
  // An immediate line's money is put aside at once, unless an operator has to approve the batch first.
  if (approval === 'waiting' || (date === null && line.reserved_at === null))
    return say(spoken, 'done.payout_approval');
  // A date is named, not promised: it may be left out, or made up for later. Once it has come, the line is about to be sent.
  return date === null || line.next_start_at !== null
    ? say(spoken, 'payout.pending')
    : say(spoken, 'payout.scheduled', { date });
}

function isReason(text: string | null): text is Reason {
  return REASONS.some((reason) => reason === text);
}
