/**
 * Asks upstreams about open attempts: when a callback hints at news, and on a schedule when none comes.
 *
 * Invariant: nothing is believed but an inquiry's answer. An attempt is asked about until it is settled.
 */

import type { InquiryAnswer } from '../connectors/connector.ts';
import { isBeingAsked } from '../domain/attempt.ts';
import type { Inquired } from '../domain/attempt-settlement.ts';
import type { Attempt } from '../domain/records.ts';
import { isOld } from './archive-find.ts';
import { attemptOfSegment } from './attempt-address.ts';
import { settleOutgoingInquiry } from './attempt-outgoing.ts';
import { openOrder, settleByInquiry } from './attempt-settle.ts';
import { carryOn } from './card-pay.ts';
import type { Deps } from './deps.ts';
import { askUpstream } from './upstream-inquire.ts';

/** Longer than an inquiry can take: then another process may take the attempt over. */
const LEASE_MS = 30_000;

/** Inquires about one attempt and writes what the upstream says. */
export async function inquireAttempt(deps: Deps, attempt: Attempt, inquiry: Inquired = 'hint'): Promise<void> {
  if (attempt.status === 'challenged') return inquireChallenge(deps, attempt, inquiry);
  const asked = { at: deps.clock.now(), inquiry };
  const asking = askUpstream(deps, attempt);
  if (attempt.purpose !== 'payment') {
    const word = await asking;
    if (saysNothing(word, attempt, asked)) return;
    const settled = await settleOutgoingInquiry(deps, attempt, word, asked);
    const fields = { purpose: attempt.purpose, attempt_status: settled.attempt.status };
    deps.log.debug('attempt_inquired', { attempt_id: attempt.id, word: word.kind, ...fields });
    return;
  }
  const known = openOrder(deps, attempt) ?? deps.store.payment.get(attempt.shard, attempt.payment_id);
  const [word, order] = await Promise.all([asking, known]);
  if (saysNothing(word, attempt, asked)) return;
  const payment = await settleByInquiry(deps, attempt, order, word, asked);
  deps.log.debug('attempt_inquired', { attempt_id: attempt.id, word: word.kind, payment_status: payment.status });
}

/**
 * "Not found" proves nothing while our own call may not have reached the upstream, nor if that call has been answered
 * meanwhile. Only a round that finds the attempt due takes it as evidence.
 */
function saysNothing(
  word: InquiryAnswer,
  attempt: Attempt,
  { at, inquiry }: { readonly at: number; readonly inquiry: Inquired },
): boolean {
  return word.kind === 'not_found' && inquiry === 'hint' && isBeingAsked(attempt, at);
}

/** No money has been asked for: it is the authentication that the network knows of. */
async function inquireChallenge(deps: Deps, attempt: Attempt, inquiry: Inquired): Promise<void> {
  const known = await deps.store.payment.get(attempt.shard, attempt.payment_id);
  if (known === undefined) throw new Error(`attempt ${attempt.id} has lost its payment`);
  const payment = await carryOn(deps, attempt, known, inquiry);
  deps.log.debug('challenge_inquired', { attempt_id: attempt.id, payment_status: payment.status });
}

/** How many inquiries run at one upstream at once, so that a slow one holds up no other. */
const MOST_AT_ONE = 32;
/** So many are claimed at a time, and no more than are asked about at once: no lease runs out in a queue. */
const CLAIMED_AT_ONCE = 16;
/** So many claims a run, so that a great backlog does not keep the round from being stopped. */
const MOST_CLAIMS = 64;
/** A run waits this long for upstreams; what is still being asked then goes on beside the next one. */
const PATIENCE_MS = 1_000;

/** The inquiry round of a process. Each run inquires about what is due, and returns how many attempts there were. */
export function openInquiries(deps: Deps): () => Promise<number> {
  const busy = new Map<string, number>();
  const underWay = new Set<Promise<void>>();
  const fullOnes = (): string[] =>
    [...busy].filter(([, calls]) => calls > MOST_AT_ONE - CLAIMED_AT_ONCE).map(([name]) => name);

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

  /** Waits until `reached`, looking whenever a call has ended. Returns false when patience was over first. */
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
    for (let claims = 0; claims < MOST_CLAIMS; claims += 1) {
      const full = fullOnes();
      const now = deps.clock.now();
      const due = await deps.store.attempt.claimDue(now, now + LEASE_MS, CLAIMED_AT_ONCE, full);
      for (const attempt of due) begin(attempt);
      found += due.length;
      if (due.length === CLAIMED_AT_ONCE) continue;
      // Of those that have room nothing more is due.
      const reached = full.length === 0 ? () => underWay.size === 0 : () => fullOnes().length < full.length;
      if (!(await waitUntil(reached)) || full.length === 0) break;
    }
    return found;
  };
}

/**
 * A callback arrived: a hint. Returns false when its address is none of ours; otherwise the upstream has been asked
 * and the answer is written.
 */
export async function hintAttempt(deps: Deps, connectorName: string, segment: string): Promise<boolean> {
  const key = attemptOfSegment(deps, 'callback_path', segment);
  if (key === undefined) return false;
  const attempt = openPaymentAttempt(deps, key) ?? (await deps.store.attempt.get(key.shard, key.id));
  if (attempt === undefined || attempt.connector !== connectorName) return false;
  // An approved attempt has nothing to learn; one that ended otherwise is asked about again, in case money came late.
  if (attempt.status === 'approved') return true;
  if (isOld(deps, attempt.id) && !(await isOrderLive(deps, attempt))) {
    // It has left for the archive without its attempt: nothing can be written any more, but somebody may want to know.
    deps.log.warn('callback_of_archived', { attempt_id: attempt.id, transaction_id: attempt.payment_id });
    return false;
  }
  await inquireAttempt(deps, attempt);
  return true;
}

async function isOrderLive(
  { store }: Pick<Deps, 'store'>,
  { shard, payment_id: id, purpose }: Attempt,
): Promise<boolean> {
  const order = { payment: store.payment, payout: store.payoutLine, refund: store.refund }[purpose];
  return (await order.get(shard, id)) !== undefined;
}

/**
 * A payment's attempt as this process last wrote it; it was open then, because closed ones are not cached. If another process
 * has closed it since, one inquiry is wasted, and the guards keep what is written correct.
 */
function openPaymentAttempt(deps: Pick<Deps, 'store'>, key: Pick<Attempt, 'shard' | 'id'>): Attempt | undefined {
  const attempt = deps.store.attempt.recent(key.shard, key.id);
  return attempt?.purpose === 'payment' ? attempt : undefined;
}
