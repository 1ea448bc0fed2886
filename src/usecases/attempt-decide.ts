/**
 * An operator decides the outcome of an attempt whose upstream gives no answer.
 *
 * Invariant: the verdict passes through the same settlement as an upstream's answer, so that money, session, siblings and event
 * follow from it alike. An attempt that is closed, or has changed state since the operator looked at it, is left as it is. One
 * reference of an upstream is the evidence for one order. Who decided, and why, is in the log before the command answers.
 */

import type { AttemptAnswer } from '../domain/answer.ts';
import { hasAskedForMoney, isBeingAsked, isOpen } from '../domain/attempt.ts';
import type { SettlementContext } from '../domain/attempt-settlement.ts';
import { secondsUntil } from '../domain/elapsed.ts';
import { shardOf } from '../domain/ids.ts';
import { type OutgoingSettlement, settleOutgoing } from '../domain/outgoing.ts';
import { isProviderReference } from '../domain/provider-reference.ts';
import type { Attempt } from '../domain/records.ts';
import { type Settlement, settleAttempt } from '../domain/settlement.ts';
import { type FindDeps, findAttempt, isOrderLive } from './archive-find.ts';
import { soundAlarm } from './attempt-answer.ts';
import { readOrder, readOutgoing } from './attempt-outgoing.ts';
import { readSettlement } from './attempt-settle.ts';
import { requireSharedClock } from './clock-guard.ts';
import { type Deps, idsOf, type OperatorDeps } from './deps.ts';
import {
  claiming,
  lookUpMovement,
  movementOf,
  type NamedMovement,
  refundedFrom,
  requireDistinctive,
  requireUnused,
} from './movement-once.ts';
import { decideOnce, readAfter } from './operator-commit.ts';
import { OperatorError, UsageError } from './operator-error.ts';
import { requireAttribution, requireId } from './operator-input.ts';
import { refundOfAttempt } from './refund-read.ts';

/** An operator's decision about an attempt, and on what grounds. */
export interface AttemptVerdict {
  readonly paid: boolean;
  /** The upstream's own reference: the evidence that it was paid. */
  readonly providerReference: string | null;
  readonly by: string;
  readonly why: string | null;
}

/** The attempt once it is decided. */
export interface Decided {
  readonly attempt: Attempt;
  /** The status of the payment, payout line or refund that the attempt moves money for. */
  readonly orderStatus: string;
}

const ADVICE = 'see `mbongo attempt list`';

/**
 * @throws OperatorError when there is no such attempt, it is closed, its call is in flight, or the verdict contradicts it; when its
 *   evidence names another attempt; or when this machine's clock cannot tell whether its call is in flight
 */
export async function decideAttempt(
  deps: OperatorDeps & Pick<Deps, 'log' | 'alarmed' | 'payoutText'>,
  attemptId: string,
  verdict: AttemptVerdict,
): Promise<Decided> {
  const answer = answerOf(verdict);
  const cleaned = { ...verdict, ...requireAttribution(verdict) };
  await requireSharedClock(deps);
  const key = await requireAttempt(deps, attemptId);
  await requireLiveOrder(deps, key);
  const movement = await movementBy(deps, key, verdict);
  // If the upstream's own answer was committed first, this verdict loses and then finds the attempt closed.
  const { before, settled, orderStatus } = await decideOnce(deps, key.shard, ADVICE, async () => {
    const named = await lookUpMovement(deps, movement);
    const closing = await settle(deps, key, answer);
    const { change } = closing.settled;
    if (change === undefined) {
      const what = `${key.id} is ${closing.before.status}`;
      throw new OperatorError(`${what}: your verdict contradicts what the upstream has said about it`);
    }
    return { change: claiming(named, change, deps.clock.now()), answer: closing };
  });
  soundAlarm(deps, settled);
  const decided = { attempt: settled.attempt, orderStatus: await readAfter(deps, orderStatus, ADVICE) };
  logDecision(deps, before, decided, cleaned);
  return decided;
}

/** The live attempt with that id. @throws OperatorError when there is none, or it has been archived. */
export async function requireAttempt(deps: FindDeps, attemptId: string): Promise<Attempt> {
  requireId('att', attemptId, 'attempt');
  const attempt = await deps.store.attempt.get(shardOf(attemptId), attemptId);
  if (attempt !== undefined) return attempt;
  const archived = await findAttempt(deps, shardOf(attemptId), attemptId);
  if (archived === undefined) throw new OperatorError(`there is no attempt ${attemptId}: see \`mbongo attempt list\``);
  throw new OperatorError(`attempt ${attemptId} has been archived: it was ${archived.status}, and does not change`);
}

/**
 * Refuses a closed attempt, unless it was turned away and the verdict is that it was paid after all; one whose call may
 * still be in flight, because its outcome cannot be known yet.
 */
export function requireDecidable(attempt: Attempt, paid: boolean, now: number): void {
  const { id, status, inquiries, next_inquiry_at: due } = attempt;
  if (status === 'not_sent' && paid) {
    if (hasAskedForMoney(attempt)) return;
    throw new OperatorError(`${id} cannot have been paid: the upstream was never asked for its money`);
  }
  if (!isOpen(status)) throw new OperatorError(`${id} is closed: it is ${status}`);
  const isUnasked = status === 'unknown' && inquiries === 0;
  if (due !== null && due > now && (isUnasked || isBeingAsked(attempt, now))) {
    const seconds = secondsUntil(due, now);
    throw new OperatorError(`the upstream is being asked about ${id} at the moment: look again in ${seconds} s`);
  }
}

/** The verdict was about the earlier state: about a challenge, say, not about the money that is asked for after it. */
function requireUnmoved({ id, status: before }: Attempt, { status }: Attempt): void {
  if (status === before) return;
  throw new OperatorError(`${id} was ${before} and is now ${status}: look again with \`mbongo attempt list\``);
}

/** @throws OperatorError when what the attempt moved money for has been archived: then nothing can be booked on it any more. */
export async function requireLiveOrder(deps: FindDeps, attempt: Attempt): Promise<void> {
  if (await isOrderLive(deps, attempt)) return;
  throw new OperatorError(
    `what ${attempt.id} moved money for has been archived: see \`mbongo ${attempt.purpose} show\``,
  );
}

type Evidence = Pick<AttemptVerdict, 'paid' | 'providerReference'>;

/**
 * The evidence may be the upstream's word about another attempt: a line that was read twice, or the wrong one.
 *
 * @throws OperatorError when that upstream has named another attempt of the last 30 days so, or an operator ever has.
 */
export async function requireNamesNoOther(deps: FindDeps, attempt: Attempt, evidence: Evidence): Promise<void> {
  requireUnused(await lookUpMovement(deps, await movementBy(deps, attempt, evidence)));
}

/**
 * What the evidence names; undefined: the verdict needs none. A refund that its upstream has sent and one that a person has made
 * there have references of one kind: they are claimed alike.
 */
async function movementBy(
  deps: FindDeps,
  attempt: Attempt,
  { paid, providerReference: reference }: Evidence,
): Promise<NamedMovement | undefined> {
  if (!paid || reference === null) return undefined;
  const movement = movementOf(attempt, attempt.purpose, reference);
  if (attempt.purpose !== 'refund') return movement;
  const rows = await refundOfAttempt(deps, attempt.shard, attempt.payment_id);
  const { account } = await refundedFrom(deps, rows);
  return { ...movement, account };
}

interface Settled {
  /** The attempt before the verdict. */
  readonly before: Attempt;
  readonly settled: Settlement | OutgoingSettlement;
  orderStatus(): Promise<string>;
}

/** Decides on fresh rows, as if the upstream had said it. */
async function settle(
  deps: OperatorDeps & Pick<Deps, 'payoutText'>,
  key: Attempt,
  answer: AttemptAnswer,
): Promise<Settled> {
  const paid = answer.kind === 'approved';
  if (key.purpose === 'payment') {
    const rows = await readSettlement(deps, key);
    const settled = settleAttempt(rows, answer, contextAt(deps, key, rows.attempt, paid));
    return { before: rows.attempt, settled, orderStatus: () => Promise.resolve(settled.payment.status) };
  }
  const { attempt, order } = await readOutgoing(deps, key);
  const settled = settleOutgoing(attempt, order, answer, contextAt(deps, key, attempt, paid));
  return { before: attempt, settled, orderStatus: async () => (await readOrder(deps, key)).status };
}

/** @throws OperatorError when the attempt cannot be decided on now. */
function contextAt(
  deps: Pick<Deps, 'clock' | 'random'>,
  key: Attempt,
  attempt: Attempt,
  paid: boolean,
): SettlementContext {
  const now = deps.clock.now();
  requireDecidable(attempt, paid, now);
  requireUnmoved(key, attempt);
  return {
    now,
    askedAt: now,
    settleDelayMs: 0,
    newId: idsOf(deps),
    inquiry: false,
    reason: 'settled_by_operator',
  };
}

/** What a verdict amounts to. @throws UsageError when its evidence is missing or malformed */
export function answerOf({ paid, providerReference }: Evidence): AttemptAnswer {
  if (providerReference !== null && !isProviderReference(providerReference)) {
    throw new UsageError('the provider reference must be 1 to 64 visible characters, as the upstream writes it');
  }
  if (paid && providerReference === null) {
    throw new UsageError("--paid needs the upstream's reference: add --provider-reference");
  }
  if (paid && providerReference !== null) requireDistinctive(providerReference, '--provider-reference');
  return paid
    ? { kind: 'approved', providerReference }
    : { kind: 'declined', reason: 'carrier_failed', providerReference };
}

/** The timeline shows only that an operator settled it; the log says who, and on what grounds. */
function logDecision(deps: Pick<Deps, 'log'>, before: Attempt, decided: Decided, verdict: AttemptVerdict): void {
  const { attempt, orderStatus } = decided;
  deps.log.warn('attempt_settled_by_operator', {
    attempt_id: attempt.id,
    purpose: attempt.purpose,
    transaction_id: attempt.payment_id,
    status_before: before.status,
    attempt_status: attempt.status,
    payment_status: orderStatus,
    provider_reference: verdict.providerReference,
    by: verdict.by,
    why: verdict.why,
  });
}
