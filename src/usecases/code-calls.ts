/**
 * Counts calls about a payment's code against the rate limit, in addition to the tries and resends stored with the code.
 *
 * Invariant: a call is counted once, however often it is decided; a replay, which is not decided, is not counted.
 */

import type { Left } from '../domain/one-time-code.ts';
import type { Payment } from '../domain/records.ts';

/** The rate limit on calls about codes, as the use case of such a call sees it. */
export interface CodeCalls {
  /** Counts a call about this payment, whatever its outcome. @throws Refusal 1301 when there have been too many. */
  count(payment: Payment): void;
  /**
   * Is told how many tries, or resends, the code itself has left; may be told again, and the last value counts. Returns what the
   * caller has left: less than that if its calls are used up sooner.
   */
  tell(left: Left): Left;
}

/** Counts nothing: the hosted page's own routes count calls. */
export const UNCOUNTED: CodeCalls = { count: () => undefined, tell: (left) => left };

/** Returns a function that counts only the first time that it is called. */
export function countedOnce(calls: CodeCalls): (payment: Payment) => void {
  let isCounted = false;
  return (payment) => {
    if (!isCounted) calls.count(payment);
    isCounted = true;
  };
}
