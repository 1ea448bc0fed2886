/**
 * The calls about a payment's code, as they are counted beside what is kept with the code.
 *
 * Invariant: a call is counted once, however often it is decided; a replay, which is not decided, is not.
 */

import type { Left } from '../domain/one-time-code.ts';
import type { Payment } from '../domain/records.ts';

export interface CodeCalls {
  /** Counts a call about this payment, whatever comes of it. @throws Refusal 1301 when there have been too many. */
  count(payment: Payment): void;
  /** Hears how many tries, or resends, the code has left, each time that is known better: the last word is the answer's. */
  tell(left: Left): void;
}

/** Counts the first time that it is called. */
export function countedOnce(calls: CodeCalls): (payment: Payment) => void {
  let isCounted = false;
  return (payment) => {
    if (!isCounted) calls.count(payment);
    isCounted = true;
  };
}
