/**
 * Asks upstreams about open attempts: when a callback hints at news, and on a schedule when none comes.
 *
 * Invariant: nothing counts but an inquiry's answer. An attempt is inquired about until it is settled.
 */

import { isBeingAsked } from '../domain/attempt.ts';
import type { Inquired } from '../domain/attempt-settlement.ts';
import type { Attempt } from '../domain/records.ts';
import { findAttempt, isOrderLive } from './archive-find.ts';
import { attemptOfSegment } from './attempt-address.ts';
import { settleOutgoingInquiry } from './attempt-outgoing.ts';
import { openOrder, settleByInquiry } from './attempt-settle.ts';
import { resumeChallenge } from './card-pay.ts';
import type { Deps } from './deps.ts';
import { PATIENCE_MS } from './idle.ts';
import { type InquiryResult, inquireUpstream } from './upstream-inquire.ts';

/** Inquires about one attempt and writes what the upstream says. */
export async function inquireAttempt(deps: Deps, attempt: Attempt, inquiry: Inquired = 'hint'): Promise<void> {
  if (attempt.status === 'challenged') return inquireChallenge(deps, attempt, inquiry);
  const asking = inquireUpstream(deps, attempt);
  if (attempt.purpose !== 'payment') {
    const result = await asking;
    if (provesNothing(result, attempt, inquiry)) return;
    const settled = await settleOutgoingInquiry(deps, attempt, result, inquiry);
    const fields = { purpose: attempt.purpose, attempt_status: settled.attempt.status };
    deps.log.debug('attempt_inquired', { attempt_id: attempt.id, answer: result.answer.kind, ...fields });
    return;
  }
  const known = openOrder(deps, attempt) ?? deps.store.payment.get(attempt.shard, attempt.payment_id);
  const [result, order] = await Promise.all([asking, known]);
  if (provesNothing(result, attempt, inquiry)) return;
  const payment = await settleByInquiry(deps, attempt, order, result, inquiry);
  const fields = { answer: result.answer.kind, payment_status: payment.status };
  deps.log.debug('attempt_inquired', { attempt_id: attempt.id, ...fields });
}

/**
 * "Not found" proves nothing while our own call may not have reached the upstream, nor if that call has been answered
 * meanwhile. Only a round that finds the attempt due takes it as evidence.
 */
function provesNothing({ answer, at }: InquiryResult, attempt: Attempt, inquiry: Inquired): boolean {
  return answer.kind === 'not_found' && inquiry === 'hint' && isBeingAsked(attempt, at);
}

/** While the challenge is open, no money has been asked for: the network is asked about the authentication. */
async function inquireChallenge(deps: Deps, attempt: Attempt, inquiry: Inquired): Promise<void> {
  const known = await deps.store.payment.get(attempt.shard, attempt.payment_id);
  if (known === undefined) throw new Error(`attempt ${attempt.id} has lost its payment`);
  const payment = await resumeChallenge(deps, attempt, known, inquiry);
  deps.log.debug('challenge_inquired', { attempt_id: attempt.id, payment_status: payment.status });
}

/** 30 s, longer than an inquiry can take: when the lease runs out, another process may take the attempt over. */
const LEASE_MS = 30_000;
/** 32 inquiries at most in flight at one upstream, so that a slow upstream holds up no other. */
const MAX_AT_ONE = 32;
/** 16 attempts per claim, never more than can be inquired about at once: no lease runs out in a queue. */
const CLAIMED_AT_ONCE = 16;
/** 64 claims at most per run, so that the round can be stopped even during a large backlog. */
const MAX_CLAIMS = 64;

/** The inquiry round of a process. Each run inquires about the attempts that are due, and returns how many there were. */
export function openInquiries(deps: Deps): () => Promise<number> {
  const busy = new Map<string, number>();
  const underWay = new Set<Promise<void>>();
  const fullOnes = (): string[] =>
    [...busy].filter(([, calls]) => calls > MAX_AT_ONE - CLAIMED_AT_ONCE).map(([name]) => name);

  function begin(attempt: Attempt): void {
    const { connector, id } = attempt;
    busy.set(connector, (busy.get(connector) ?? 0) + 1);
    const asking = inquireAttempt(deps, attempt, 'due')
      .catch((error: unknown) => deps.log.error('inquiry_failed', { attempt_id: id }, error))
      .finally(() => {
        busy.set(connector, (busy.get(connector) ?? 1) - 1);
        underWay.delete(asking);
      });
    underWay.add(asking);
    deps.background(asking);
  }

  /** Waits until `reached`, checking whenever a call ends. Returns false if `PATIENCE_MS` passed first. */
  async function waitUntil(reached: () => boolean): Promise<boolean> {
    let isOver = false;
    let cancel = (): void => undefined;
    const over = new Promise<void>((done) => {
      cancel = deps.clock.after(PATIENCE_MS, () => {
        isOver = true;
        done();
      });
    });
    while (!isOver && !reached()) await Promise.race([over, ...underWay]);
    cancel();
    return !isOver;
  }

  return async () => {
    let found = 0;
    for (let claims = 0; claims < MAX_CLAIMS; claims += 1) {
      const full = fullOnes();
      const now = deps.clock.now();
      const due = await deps.store.attempt.leaseDue(now, now + LEASE_MS, CLAIMED_AT_ONCE, full);
      for (const attempt of due) begin(attempt);
      found += due.length;
      if (due.length === CLAIMED_AT_ONCE) continue;
      // Nothing more is due at the upstreams that have room.
      const reached = full.length === 0 ? () => underWay.size === 0 : () => fullOnes().length < full.length;
      if (!(await waitUntil(reached)) || full.length === 0) break;
    }
    return found;
  };
}

/**
 * Takes a callback as a hint to inquire. Returns false if its address is not one of ours, or the order has been archived;
 * otherwise the upstream has been asked if there was anything to learn, and its answer is written.
 */
export async function hintAttempt(deps: Deps, connectorName: string, segment: string): Promise<boolean> {
  const key = attemptOfSegment(deps, 'callback_path', segment);
  if (key === undefined) return false;
  const live = openPaymentAttempt(deps, key) ?? (await deps.store.attempt.get(key.shard, key.id));
  const attempt = live ?? (await findAttempt(deps, key.shard, key.id));
  if (attempt === undefined || attempt.connector !== connectorName) return false;
  // For an approved attempt there is nothing to learn; one that ended otherwise is inquired about, in case money came late.
  if (live !== undefined && attempt.status === 'approved') return true;
  if (live === undefined || !(await isOrderLive(deps, attempt))) {
    // Its order has been archived, perhaps before it: nothing can be written any more, but an operator may want to know.
    deps.log.warn('callback_of_archived', { attempt_id: attempt.id, transaction_id: attempt.payment_id });
    return false;
  }
  await inquireAttempt(deps, attempt);
  return true;
}

/**
 * A payment's attempt as this process last wrote it; it was open then, because closed ones are not cached. If another process
 * has closed it since, one inquiry is wasted, and the guards keep what is written correct.
 */
function openPaymentAttempt(deps: Pick<Deps, 'store'>, key: Pick<Attempt, 'shard' | 'id'>): Attempt | undefined {
  const attempt = deps.store.attempt.recent(key.shard, key.id);
  return attempt?.purpose === 'payment' ? attempt : undefined;
}
