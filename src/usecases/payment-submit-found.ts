/** What the submit of every method is handed, once the payment has been found to be its session's. */

import type { Payment } from '../domain/records.ts';
import type { Submitted } from '../domain/submission.ts';
import type { SessionCaller } from './callers.ts';
import type { Answering } from './perform.ts';

/** A submit of a payment that was found. */
export interface FoundSubmit {
  readonly caller: SessionCaller;
  /** The payment as it was read, which may have changed since. */
  readonly payment: Payment;
  readonly answering: Answering<Submitted>;
}
