/**
 * Writes what an upstream said of a payment's attempt: for the answers to our own calls, to callbacks and to the inquiry round.
 *
 * Invariant: an answer is decided, again on fresh rows if need be, until its change commits; a later one finds the attempt settled.
 */

import type { AttemptAnswer } from '../domain/answer.ts';
import type { Inquired } from '../domain/attempt-settlement.ts';
import type { Attempt, Payment } from '../domain/records.ts';
import { needsSession, type Settlement, type SettlementRows, settleAttempt } from '../domain/settlement.ts';
import {
  type Asked,
  type Settling,
  settlementContext,
  upstreamOf,
  writeCallAnswer,
  writeInquiryAnswer,
} from './attempt-answer.ts';
import { cachedFirst, type Deps } from './deps.ts';
import { commitDecision } from './perform.ts';
import { readSessionPayments } from './session-payments.ts';
import type { InquiryResult } from './upstream-inquire.ts';

/** Reads the rows that a settlement needs. The session matters only while this attempt may still have to consume it. */
export async function readSettlement(
  deps: Pick<Deps, 'store'>,
  key: Pick<Attempt, 'shard' | 'id' | 'payment_id'>,
): Promise<SettlementRows> {
  const [attempt, payment] = await Promise.all([
    deps.store.attempt.get(key.shard, key.id),
    deps.store.payment.get(key.shard, key.payment_id),
  ]);
  if (attempt === undefined || payment === undefined) throw new Error(`attempt ${key.id} has lost its rows`);
  if (!needsSession(attempt, payment)) return { attempt, payment, session: undefined, sessionPayments: [] };
  const session = await deps.store.session.caller(payment.shard, payment.session_id);
  return { attempt, payment, session, sessionPayments: await readSessionPayments(deps, session) };
}

/**
 * Settles an attempt by the answer to an inquiry. Returns the payment as it is afterwards. `payment` was
 * read while the inquiry ran; if it is stale, the guards find out and it is read again. If the attempt has moved on meanwhile,
 * the inquiry no longer counts as due for its new state, only as a hint.
 */
export async function settleByInquiry(
  deps: Deps,
  attempt: Attempt,
  payment: Payment | undefined,
  { answer, at }: InquiryResult,
  why: Inquired,
): Promise<Payment> {
  const upstream = upstreamOf(deps, attempt);
  const fresh = (): Promise<SettlementRows> => readSettlement(deps, attempt);
  const settleOn = (read: () => Promise<SettlementRows>, settling: Settling): Promise<Settlement> =>
    commitDecision(deps.store, read, (rows) => {
      const inquiry = rows.attempt.status === attempt.status ? why : 'hint';
      const context = settlementContext(deps, upstream, { at, inquiry });
      const settlement = settling(settleAttempt(rows, answer, context));
      return { change: settlement.change, answer: settlement };
    });
  const settleFrom = (atHand: SettlementRows | undefined): Promise<Settlement> =>
    writeInquiryAnswer(deps, async (settling) => {
      const first = await settleOn(atHand === undefined ? fresh : cachedFirst(atHand, fresh), settling);
      // Without a write no guard is checked, so "nothing to write" must be confirmed on fresh rows.
      return first.change === undefined && atHand !== undefined ? settleOn(fresh, settling) : first;
    });
  // A final answer that arrives before the acceptance was written is committed together with it.
  const ends = answer.kind === 'approved' || answer.kind === 'declined';
  const ended = ends ? deps.acceptances.settledBy(attempt.id, settleFrom) : undefined;
  if (ended !== undefined) return (await ended).payment;
  await deps.acceptances.writtenOf(attempt.id);
  return (await settleFrom(rowsAtHand(deps, attempt, payment))).payment;
}

/**
 * An attempt's payment as this process last wrote it; undefined if it must be read. A cached row that does not name this
 * attempt is not used: judged by it, the payment's own money would be taken for late money.
 */
export function openOrder(deps: Pick<Deps, 'store'>, attempt: Attempt): Payment | undefined {
  const payment = deps.store.payment.recent(attempt.shard, attempt.payment_id);
  return payment?.attempt_id === attempt.id ? payment : undefined;
}

/**
 * The rows without another read: as this process last wrote them, or else as they were read. The newer version of the attempt is
 * taken, because a claim by the round bypasses this process's cache of its own writes. Undefined if the session matters: then
 * all rows are read.
 */
function rowsAtHand(
  deps: Pick<Deps, 'store'>,
  attempt: Attempt,
  read: Payment | undefined,
): SettlementRows | undefined {
  const written = deps.store.attempt.recent(attempt.shard, attempt.id);
  const current = written !== undefined && written.version > attempt.version ? written : attempt;
  const payment = openOrder(deps, attempt) ?? read;
  if (payment === undefined || needsSession(current, payment)) return undefined;
  return { attempt: current, payment, session: undefined, sessionPayments: [] };
}

/**
 * Settles an attempt by what the upstream answered to our own call, or by the outcome of its challenge, when no HTTP reply has to
 * be committed with it. Retried while the database is away. `atHand`: the rows as this process left them, if nobody is likely to
 * have written them since. Returns the payment as it is afterwards.
 */
export async function settleByAnswer(
  deps: Deps,
  key: Attempt,
  answer: Exclude<AttemptAnswer, { kind: 'not_found' }>,
  { at, threeDs, reason }: Omit<Asked, 'inquiry'>,
  atHand?: SettlementRows,
): Promise<Payment> {
  const connector = upstreamOf(deps, key);
  const fresh = (): Promise<SettlementRows> => readSettlement(deps, key);
  const read = atHand === undefined ? fresh : cachedFirst(atHand, fresh);
  const record = (settling: Settling): Promise<Settlement> =>
    commitDecision(deps.store, read, (rows) => {
      const context = settlementContext(deps, connector, { at, inquiry: false, threeDs, reason });
      const settlement = settling(settleAttempt(rows, answer, context));
      return { change: settlement.change, answer: settlement };
    });
  return (await writeCallAnswer(deps, record)).payment;
}
