/**
 * What submits by an upstream have in common: the attempt is opened, and concurrent submits wait for its outcome.
 *
 * Invariant: a refusal to open it is remembered with its key; a submit takes the session's turn only once its attempt is open.
 */

import type { Payment } from '../domain/records.ts';
import { Refusal } from '../domain/refusal.ts';
import type { Submitted } from '../domain/submission.ts';
import { type Conditions, type Intended, type Intention, intendAttempt } from './attempt-intend.ts';
import type { SessionCaller } from './callers.ts';
import type { Deps } from './deps.ts';
import { type Answering, type Reply, refuse } from './perform.ts';

/** A submit whose payment, upstream, and number or form are known. */
export interface Submitting extends Conditions {
  readonly caller: SessionCaller;
  readonly payment: Payment;
  readonly intention: Intention;
  readonly answering: Answering<Submitted>;
}

/** Opens the attempt, then runs `rest` with it. @throws Refusal and SubmitUnderWay as `intendAttempt`, and what `rest` throws. */
export async function submitByAttempt(
  deps: Deps,
  { caller, payment, intention, answering, ...conditions }: Submitting,
  rest: (intended: Intended) => Promise<Reply>,
): Promise<Reply> {
  const intending = intendAttempt(deps, caller, payment, intention, answering.receipt, conditions);
  const intended = await intending.catch((error: unknown) => {
    if (error instanceof Refusal) return error;
    throw error;
  });
  if (intended instanceof Refusal) return refuse(deps.store, answering, intended);
  return deps.sessionTurns.take(payment.session_id, () => rest(intended));
}
