/**
 * An operator's word about an attempt whose upstream does not give one.
 *
 * Invariant: it goes the same one way through as an upstream's word, so that money, session, siblings and event follow
 * from it alike; what is closed stays as it is, and what has taken a step since it was looked at, too. Who said so, and why, stands in the log before it is answered.
 */

import { isBeingAsked, isOpen } from '../domain/attempt.ts';
import { shardOf } from '../domain/ids.ts';
import type { Attempt } from '../domain/records.ts';
import { type Settlement, type SettlementRows, settleAttempt, type Word } from '../domain/settlement.ts';
import { readSettlement, soundAlarm } from './attempt-settle.ts';
import { type Deps, newId } from './deps.ts';
import { commitOnce, type OperatorDeps, OperatorError, requireId } from './operator.ts';

export interface AttemptVerdict {
  readonly paid: boolean;
  /** What the upstream calls it: the evidence that it was paid. */
  readonly providerReference: string | null;
  readonly by: string;
  readonly why: string | null;
}

/** Whoever loses against the upstream's own word finds the attempt closed the next time round. */
const MOST_ROUNDS = 20;

/** @throws OperatorError when there is no such attempt, it is closed, it is being made, or the verdict contradicts it. */
export async function decideAttempt(
  deps: OperatorDeps & Pick<Deps, 'log'>,
  attemptId: string,
  verdict: AttemptVerdict,
): Promise<Settlement> {
  const word = wordOf(verdict);
  const key = await requireAttempt(deps, attemptId);
  const commandId = newId(deps, 'evt', key.shard);
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const rows = await readSettlement(deps, key);
    requireDecidable(rows.attempt, deps.clock.now());
    requireUnmoved(key, rows.attempt);
    const settled = settle(deps, rows, word);
    if (settled.change === undefined) {
      throw new OperatorError(`${key.id} is ${rows.attempt.status}: that contradicts what the upstream has said of it`);
    }
    const look = 'see `mbongo attempt list`';
    if ((await commitOnce(deps, key.shard, commandId, settled.change, look)) === 'lost') continue;
    tell(deps, rows, settled, verdict);
    return settled;
  }
  throw new Error('a decision lost against its neighbours too often');
}

/** The attempt of that id. */
export async function requireAttempt(deps: Pick<Deps, 'store'>, attemptId: string): Promise<Attempt> {
  requireId('att', attemptId, 'attempt');
  const attempt = await deps.store.attempt.get(shardOf(attemptId), attemptId);
  if (attempt === undefined) throw new OperatorError(`there is no attempt ${attemptId}: see \`mbongo attempt list\``);
  return attempt;
}

/** Refuses what is closed, and what may only just be asked for: nobody can know yet how that ends. */
export function requireDecidable(attempt: Attempt, now: number): void {
  const { id, status, inquiries, next_inquiry_at: due } = attempt;
  if (!isOpen(status)) throw new OperatorError(`${id} is closed: it is ${status}`);
  const isUnasked = status === 'unknown' && inquiries === 0;
  if (due !== null && due > now && (isUnasked || isBeingAsked(attempt, now))) {
    const seconds = Math.ceil((due - now) / 1000);
    throw new OperatorError(`${id} is being asked for just now: look again in ${seconds} s`);
  }
}

/** The verdict was of the attempt as it was: a challenge, say, and not of the money that is asked for after it. */
function requireUnmoved({ id, status: before }: Attempt, { status }: Attempt): void {
  if (status === before) return;
  throw new OperatorError(`${id} was ${before}, and is ${status} meanwhile: look again, with \`mbongo attempt list\``);
}

function settle(deps: Pick<Deps, 'clock' | 'random'>, rows: SettlementRows, word: Word): Settlement {
  const now = deps.clock.now();
  return settleAttempt(rows, word, {
    now,
    askedAt: now,
    settleDelay: 0,
    newId: (prefix, shard) => newId(deps, prefix, shard),
    inquiry: false,
    reason: 'settled_by_operator',
  });
}

/** What upstreams call things is short, and visible ASCII. */
const REFERENCE = /^[\x21-\x7e]{1,64}$/;
const TEXT_MOST = 500;

function wordOf({ paid, providerReference, by, why }: AttemptVerdict): Word {
  if (providerReference !== null && !REFERENCE.test(providerReference)) {
    throw new OperatorError('a provider reference is 1 to 64 visible characters, as the upstream writes it');
  }
  if (paid && providerReference === null) {
    throw new OperatorError('say by which reference the upstream has paid it: --provider-reference');
  }
  for (const text of [by, why ?? 'nothing']) {
    if (text.trim() === '' || text.length > TEXT_MOST || /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(text)) {
      throw new OperatorError(`who says so, and why, are one line of 1 to ${TEXT_MOST} characters each`);
    }
  }
  return paid
    ? { kind: 'approved', providerReference }
    : { kind: 'declined', reason: 'carrier_failed', providerReference };
}

/** The timeline says that a person settled it; the log, who it was and on what grounds. */
function tell(deps: Pick<Deps, 'log'>, before: SettlementRows, settled: Settlement, verdict: AttemptVerdict): void {
  deps.log.warn('attempt_settled_by_operator', {
    attempt_id: settled.attempt.id,
    transaction_id: settled.payment.id,
    status_before: before.attempt.status,
    attempt_status: settled.attempt.status,
    payment_status: settled.payment.status,
    provider_reference: verdict.providerReference,
    by: verdict.by,
    why: verdict.why,
  });
  soundAlarm(deps, settled);
}
