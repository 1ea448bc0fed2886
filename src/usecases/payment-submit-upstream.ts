/**
 * What submits by an upstream have in common: the attempt is opened, concurrent submits wait for its outcome, and what the upstream
 * answers is written with the reply.
 *
 * Invariant: a refusal to open it is remembered with its key; a submit takes the session's turn only once its attempt is open.
 */

import { Refusal } from '../domain/refusal.ts';
import type { SettlementRows } from '../domain/settlement.ts';
import type { Submitted } from '../domain/submission.ts';
import { type Settling, writeCallAnswer } from './attempt-answer.ts';
import { type Intended, type Intending, intendAttempt } from './attempt-intend.ts';
import { readSettlement } from './attempt-settle.ts';
import { cachedFirst, type Deps } from './deps.ts';
import { type Answering, type Decision, perform, type Reply, refuse } from './perform.ts';
import { hasOnePayment } from './session-payments.ts';

/** A submit whose payment, upstream, and number or form are known. */
export interface Submitting extends Intending {
  readonly answering: Answering<Submitted>;
}

/** Opens the attempt, then runs `rest` with it. @throws Refusal and SubmitAgain as `intendAttempt`, and what `rest` throws. */
export async function submitByAttempt(
  deps: Deps,
  submitting: Submitting,
  rest: (intended: Intended) => Promise<Reply>,
): Promise<Reply> {
  const { payment, answering } = submitting;
  const intended = await intendAttempt(deps, submitting).catch((error: unknown) => {
    if (error instanceof Refusal) return error;
    throw error;
  });
  if (intended instanceof Refusal) return refuse(deps.store, answering, intended);
  return deps.sessionTurns.take(payment.session_id, () => rest(intended));
}

/**
 * Writes what `decide` makes of the upstream's answer, with the reply to remember; retried while the database is away. Decides first
 * on the rows as they were intended, unless other payments of the session have to be read. `decide` passes its settlement through
 * `settling` (`writeCallAnswer`).
 */
export function writeOutcome(
  deps: Deps,
  intended: Intended,
  answering: Answering<Submitted>,
  decide: (rows: SettlementRows, settling: Settling) => Decision<Submitted>,
): Promise<Reply> {
  const { attempt, session } = intended;
  const fresh = (): Promise<SettlementRows> => readSettlement(deps, attempt);
  const read = hasOnePayment(session) ? cachedFirst<SettlementRows>(intended, fresh) : fresh;
  return writeCallAnswer(deps, (settling) => perform(deps.store, answering, read, (rows) => decide(rows, settling)));
}
