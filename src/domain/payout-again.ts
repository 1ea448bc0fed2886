/**
 * A line that retries failed ones: what has become of those meanwhile.
 *
 * Invariant: it is not sent if one of them was accepted, or paid, after all; and recording that writes the failed line, whose
 * version guards decisions based on it.
 */

import { lateMoneyOf } from './late-money.ts';
import type { PayoutLine } from './outgoing-records.ts';
import type { Attempt } from './records.ts';

/** A failed line that is being paid again, directly or through other failed lines, and the attempt that it remembers. */
export interface EarlierLine {
  readonly line: PayoutLine;
  readonly late: Attempt | undefined;
}

/** What has become of the failed lines that a line pays again. */
export type BeforeIt =
  /** None of them was accepted, or has paid: the new line may be sent. */
  | { readonly kind: 'nothing' }
  /** This attempt's money, which waits in suspense, has paid it. */
  | { readonly kind: 'paid'; readonly by: Attempt }
  /** One remembers an attempt that was accepted or has paid, but whose money is not in suspense. */
  | { readonly kind: 'unclear' };

/** What has become of the failed lines that a line pays again: whether it may be sent. */
export function beforeIt(earlier: readonly EarlierLine[]): BeforeIt {
  const by = earlier.map(({ late }) => late).find((late) => late !== undefined && lateMoneyOf(late) === 'waits');
  if (by !== undefined) return { kind: 'paid', by };
  return earlier.some(({ line }) => line.late_attempt_id !== null) ? { kind: 'unclear' } : { kind: 'nothing' };
}
