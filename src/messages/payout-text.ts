/**
 * The sentence that tells of a payout line, for its webhooks and for answers.
 *
 * Invariant: it says what is now, and where something failed or waits, why.
 */

import type { PayoutLine } from '../domain/outgoing-records.ts';
import { REASONS, type Reason } from '../domain/reason.ts';
import { languageOf, say } from './messages.ts';

/** `language` is a stored one: an unknown one is said in the default language. */
export function payoutText(
  language: string,
  line: Pick<PayoutLine, 'status' | 'reason' | 'scheduled_date' | 'reserved_at'>,
): string {
  const spoken = languageOf(language);
  const { status, reason, scheduled_date: date } = line;
  if (status === 'failed') {
    return say(spoken, 'payout.failed', { reason: isReason(reason) ? say(spoken, `reason.${reason}`) : '' });
  }
  if (status !== 'pending') return say(spoken, `payout.${status}`);
  if (reason !== null) return say(spoken, 'payout.waiting');
  if (date !== null) return say(spoken, 'payout.scheduled', { date });
  // What pays at once is put aside at once, unless an operator has to approve it first.
  return say(spoken, line.reserved_at === null ? 'done.payout_approval' : 'payout.pending');
}

function isReason(text: string | null): text is Reason {
  return REASONS.some((reason) => reason === text);
}
